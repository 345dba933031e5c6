// Rows brought to unit length.
#pragma once

#include <vector>

#include "core/csr.hpp"
#include "trees/rows.hpp"

namespace longtail {

/// The values of `rows` with every row scaled to length 1, but those left alone that are so within 1e-5 already or hold
/// zeros only; nothing if that is all of them, as with embeddings and tf-idf. Throws std::invalid_argument on a value that is not finite.
std::vector<float> unit_values(const CsrView& rows, int threads);
std::vector<float> unit_values(const DenseView& rows, int threads);

/// What a row is divided by, from the sum of its squares: 1 for one that is left alone.
double unit_length(double square);

}  // namespace longtail
