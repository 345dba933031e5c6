// Rows of X as unit vectors, sparse or dense, against a direction in two halves.
#pragma once

#include <cstdint>

#include "core/csr.hpp"
#include "groups/eagle.hpp"
#include "groups/score_pairs.hpp"
#include "trees/rows.hpp"

namespace longtail {

/// Two numbers per feature, side by side, so that both dot products cost one pass.
struct Halves {
  double rest = 0.0;
  double chosen = 0.0;
};

class SparseUnitRows {
 public:
  SparseUnitRows(const CsrView& x, const double* scale) : x_(x), scale_(scale) {}
  int64_t n_rows() const { return x_.n_rows; }
  int64_t n_cols() const { return x_.n_cols; }
  int64_t entries(int32_t row) const { return x_.row_nnz(row); }
  double squared_length(int32_t row) const { return scale_[row] > 0.0 ? 1.0 : 0.0; }

  Halves dot(int32_t row, const Halves* w) const {
    const int64_t end = x_.indptr[row + 1];
    int64_t p = x_.indptr[row];
    Halves a, b;  // two chains of additions run side by side
    for (; p + 2 <= end; p += 2) {
      const double u = x_.data[p], v = x_.data[p + 1];
      const Halves &first = w[x_.indices[p]], &second = w[x_.indices[p + 1]];
      a.rest += u * first.rest;
      a.chosen += u * first.chosen;
      b.rest += v * second.rest;
      b.chosen += v * second.chosen;
    }
    if (p < end) {
      a.rest += x_.data[p] * w[x_.indices[p]].rest;
      a.chosen += x_.data[p] * w[x_.indices[p]].chosen;
    }
    return {scale_[row] * (a.rest + b.rest), scale_[row] * (a.chosen + b.chosen)};
  }

  /// OUT scores [n]: the dot products of rows with a direction in float32.
  void scores(const int32_t* rows, int64_t n, const float* w, float* scores) const {
    LT_DISPATCH(score_rows, x_, rows, n, w, scores);
    for (int64_t i = 0; i < n; ++i) scores[i] *= static_cast<float>(scale_[rows[i]]);
  }

  /// OUT first, second [n]: the dot products of rows with two vectors in float32, which lie side by side.
  void score_pairs(const int32_t* rows, int64_t n, const float* pairs, float* first, float* second) const {
    LT_DISPATCH(score_pairs, x_, rows, n, pairs, first, second);
    for (int64_t i = 0; i < n; ++i) {
      first[i] *= static_cast<float>(scale_[rows[i]]);
      second[i] *= static_cast<float>(scale_[rows[i]]);
    }
  }

  /// visit(feature, value) for every entry.
  template <class Visit>
  void each(int32_t row, Visit visit) const {
    for (int64_t p = x_.indptr[row]; p < x_.indptr[row + 1]; ++p) visit(x_.indices[p], scale_[row] * x_.data[p]);
  }

 private:
  CsrView x_;
  const double* scale_;
};

class DenseUnitRows {
 public:
  DenseUnitRows(const DenseRows& x, const double* scale) : x_(x), scale_(scale) {}
  int64_t n_rows() const { return x_.n_rows; }
  int64_t n_cols() const { return x_.n_cols; }
  int64_t entries(int32_t) const { return x_.n_cols; }
  double squared_length(int32_t row) const { return scale_[row] > 0.0 ? 1.0 : 0.0; }

  Halves dot(int32_t row, const Halves* w) const {
    const float* values = x_.data + row * x_.n_cols;
    Halves a, b;
    int64_t j = 0;
    for (; j + 2 <= x_.n_cols; j += 2) {
      const double u = values[j], v = values[j + 1];
      a.rest += u * w[j].rest;
      a.chosen += u * w[j].chosen;
      b.rest += v * w[j + 1].rest;
      b.chosen += v * w[j + 1].chosen;
    }
    if (j < x_.n_cols) {
      a.rest += values[j] * w[j].rest;
      a.chosen += values[j] * w[j].chosen;
    }
    return {scale_[row] * (a.rest + b.rest), scale_[row] * (a.chosen + b.chosen)};
  }

  void scores(const int32_t* rows, int64_t n, const float* w, float* scores) const {
    LT_DISPATCH(score_rows, DenseView{x_.n_rows, x_.n_cols, x_.data}, rows, n, w, scores);
    for (int64_t i = 0; i < n; ++i) scores[i] *= static_cast<float>(scale_[rows[i]]);
  }

  void score_pairs(const int32_t* rows, int64_t n, const float* pairs, float* first, float* second) const {
    LT_DISPATCH(score_pairs, DenseView{x_.n_rows, x_.n_cols, x_.data}, rows, n, pairs, first, second);
    for (int64_t i = 0; i < n; ++i) {
      first[i] *= static_cast<float>(scale_[rows[i]]);
      second[i] *= static_cast<float>(scale_[rows[i]]);
    }
  }

  template <class Visit>
  void each(int32_t row, Visit visit) const {
    const float* values = x_.data + row * x_.n_cols;
    for (int64_t j = 0; j < x_.n_cols; ++j) visit(static_cast<int32_t>(j), scale_[row] * values[j]);
  }

 private:
  DenseRows x_;
  const double* scale_;
};

}  // namespace longtail
