#include "labels/transpose.hpp"

#include <stdexcept>

namespace longtail {

void transpose_pattern(const CsrView& y, std::vector<int64_t>& indptr, std::vector<int32_t>& rows) {
  if (y.n_rows > INT32_MAX) throw std::invalid_argument("transpose: at most 2^31 - 1 rows are supported");
  const int64_t nnz = y.nnz();
  indptr.assign(static_cast<size_t>(y.n_cols) + 1, 0);
  rows.resize(static_cast<size_t>(nnz));
  for (int64_t p = 0; p < nnz; ++p) ++indptr[static_cast<size_t>(y.indices[p]) + 1];
  for (int64_t c = 0; c < y.n_cols; ++c) indptr[c + 1] += indptr[c];
  // Columns are filled from their starts; afterwards each start has become the next column's, so shift back.
  for (int64_t i = 0; i < y.n_rows; ++i)
    for (int64_t p = y.indptr[i]; p < y.indptr[i + 1]; ++p) rows[indptr[y.indices[p]]++] = static_cast<int32_t>(i);
  for (int64_t c = y.n_cols; c > 0; --c) indptr[c] = indptr[c - 1];
  indptr[0] = 0;
}

}  // namespace longtail
