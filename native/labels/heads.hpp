// The frequency of labels as the first that a context needs.
#pragma once

#include <cstdint>
#include <vector>

#include "core/csr.hpp"

namespace longtail {

/// IN y: contexts by labels, a pattern; weights [contexts]: finite, >= 0.
/// Again and again the label with the most weight left gets that weight, and the contexts that carry it are gone (ties:
/// the label with the lowest number). OUT [labels]: what each got.
///
/// Weights only fall, so a heap may keep old ones: what comes up with an old weight goes back with its new one.
std::vector<double> greedy_heads(const CsrView& y, const double* weights);

}  // namespace longtail
