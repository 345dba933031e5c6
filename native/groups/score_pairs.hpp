// Rows, sparse or dense, against two dense vectors in one pass.
#pragma once

#include <cstdint>

#include "core/csr.hpp"
#include "core/isa.hpp"
#include "trees/rows.hpp"

namespace longtail {

/// IN rows [n]: row numbers, pairs [n_cols × 2]: the two vectors, side by side. OUT first, second [n]: the dot products.
/// Products go to one of 8 sums by their position modulo 8, and these are added as a tree: the same bits at every level.
LT_DECLARE(void score_pairs(const CsrView& x, const int32_t* rows, int64_t n, const float* pairs, float* first, float* second))
LT_DECLARE(void score_pairs(const DenseView& x, const int32_t* rows, int64_t n, const float* pairs, float* first, float* second))

}  // namespace longtail
