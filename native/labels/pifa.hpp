// Positive instance feature aggregation: what the rows that carry a label have in common.
//
// The embedding of label l is the sum of the L2-normalised rows of X that carry l, each times its weight, then
// L2-normalised. Sums are in double, row after row, so the bits depend on neither threads nor instruction set.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/csr.hpp"
#include "core/parallel.hpp"

namespace longtail {

/// A sparse result whose entries are not cleared before they are written.
struct OwnedCsr {
  std::vector<int64_t> indptr;
  std::unique_ptr<int32_t[]> indices;
  std::unique_ptr<float[]> data;
};

/// The rows that carry each label: see transpose_pattern.
struct RowsOfLabels {
  int64_t n_labels = 0;
  const int64_t* indptr = nullptr;
  const int32_t* rows = nullptr;
};

/// IN x: n × D with ids sorted or not, weights [n] or null. Gives L × D, ids rising. `watch` counts labels.
OwnedCsr pifa_sparse(const CsrView& x, const RowsOfLabels& y, const float* weights, int threads, Watch* watch);

/// IN x [n × D] row-major, weights [n] or null. OUT embedding [L × D].
void pifa_dense(const float* x, int64_t n_rows, int64_t n_cols, const RowsOfLabels& y, const float* weights,
                float* embedding, int threads, Watch* watch);

}  // namespace longtail
