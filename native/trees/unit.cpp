#include "trees/unit.hpp"

#include <atomic>
#include <cmath>
#include <stdexcept>
#include <string>

#include "core/parallel.hpp"

namespace longtail {

namespace {

constexpr int64_t kBlock = 1024;
constexpr double kNearOne = 1e-5;

}  // namespace

double unit_length(double square) {
  const double length = std::sqrt(square);
  return square == 0.0 || std::fabs(length - 1.0) <= kNearOne ? 1.0 : length;
}

namespace {

/// `span(i)` gives where row i begins and ends in `data`.
template <class Span>
std::vector<float> scaled(const float* data, int64_t n_rows, int64_t n_values, int threads, Span span) {
  std::vector<double> length(static_cast<size_t>(n_rows));
  std::atomic<bool> all_unit{true};
  parallel_blocks(n_rows, kBlock, threads, [&](int64_t from, int64_t to, int) {
    for (int64_t i = from; i < to; ++i) {
      const auto [begin, end] = span(i);
      double square = 0.0;
      for (int64_t p = begin; p < end; ++p) square += static_cast<double>(data[p]) * data[p];
      if (!std::isfinite(square)) throw std::invalid_argument("row " + std::to_string(i) + " has a value that is not finite");
      // Whether a row is left alone depends on nothing but the row: asked alone or in a batch it is the same.
      length[i] = unit_length(square);
      if (length[i] != 1.0) all_unit = false;
    }
  });
  std::vector<float> out;
  if (all_unit) return out;
  out.resize(static_cast<size_t>(n_values));
  parallel_blocks(n_rows, kBlock, threads, [&](int64_t from, int64_t to, int) {
    for (int64_t i = from; i < to; ++i) {
      const auto [begin, end] = span(i);
      for (int64_t p = begin; p < end; ++p)
        out[p] = static_cast<float>(static_cast<double>(data[p]) / length[i]);
    }
  });
  return out;
}

struct Range {
  int64_t begin, end;
};

}  // namespace

std::vector<float> unit_values(const CsrView& rows, int threads) {
  return scaled(rows.data, rows.n_rows, rows.nnz(), threads,
                [&](int64_t i) { return Range{rows.indptr[i], rows.indptr[i + 1]}; });
}

std::vector<float> unit_values(const DenseView& rows, int threads) {
  return scaled(rows.data, rows.n_rows, rows.n_rows * rows.n_cols, threads,
                [&](int64_t i) { return Range{i * rows.n_cols, (i + 1) * rows.n_cols}; });
}

}  // namespace longtail
