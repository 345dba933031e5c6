// The pattern of a label matrix by columns: which rows carry each label.
#pragma once

#include <cstdint>
#include <vector>

#include "core/csr.hpp"

namespace longtail {

/// IN y: pattern, n_rows × n_cols. OUT indptr [n_cols + 1], rows [nnz]: the rows of column c, rising, are
/// rows[indptr[c]:indptr[c + 1]].
void transpose_pattern(const CsrView& y, std::vector<int64_t>& indptr, std::vector<int32_t>& rows);

}  // namespace longtail
