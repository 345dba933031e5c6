// Rows of embeddings against one dense vector.
#pragma once

#include <cstdint>

#include "core/csr.hpp"
#include "core/isa.hpp"

namespace longtail {

/// A dense matrix by rows, seen.
struct DenseView {
  int64_t n_rows = 0;
  int64_t n_cols = 0;
  const float* data = nullptr;
};

/// IN rows, ids [n]: row numbers, direction [n_cols]. OUT scores [n]: the dot products. Every product goes to one of 16
/// sums by its position modulo 16, and these are added as a tree: the same bits at every level.
LT_DECLARE(void score_rows(const CsrView& rows, const int32_t* ids, int64_t n, const float* direction, float* scores))
LT_DECLARE(void score_rows(const DenseView& rows, const int32_t* ids, int64_t n, const float* direction, float* scores))

}  // namespace longtail
