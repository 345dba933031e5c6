// A sparse matrix by rows, as kernels see it. Nothing is owned.
#pragma once

#include <cstdint>

namespace longtail {

struct CsrView {
  int64_t n_rows = 0;
  int64_t n_cols = 0;
  const int64_t* indptr = nullptr;   // [n_rows + 1]
  const int32_t* indices = nullptr;  // [nnz], column ids
  const float* data = nullptr;       // [nnz], or null for a pattern

  int64_t nnz() const { return n_rows == 0 ? 0 : indptr[n_rows]; }
  int64_t row_nnz(int64_t i) const { return indptr[i + 1] - indptr[i]; }
};

}  // namespace longtail
