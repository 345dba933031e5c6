// Sparse rows as text, the inverse of sparse_lines.hpp. Values are written so that they read back as the same float32.
#pragma once

#include <string>

#include "core/csr.hpp"

namespace longtail {

/// `l,l f:v f:v` per row. A row without labels begins with a blank. With `svmlight`, feature ids are written plus `base`
/// and a row with neither labels nor features as ` base:0`, for a blank line would not be a row.
std::string write_labelled_rows(const CsrView& y, const CsrView& x, bool svmlight, int base, int threads);

/// `i:v i:v` per row.
std::string write_matrix_rows(const CsrView& m, int threads);

}  // namespace longtail
