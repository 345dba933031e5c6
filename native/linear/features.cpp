#include "linear/features.hpp"

#include <algorithm>
#include <numeric>

#include "core/parallel.hpp"

namespace longtail {

namespace {

constexpr int64_t kRows = 4096;

}  // namespace

std::vector<float> square_norms(const Examples& x, int threads) {
  std::vector<float> norms(static_cast<size_t>(x.n_rows));
  parallel_blocks(x.n_rows, kRows, threads, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      const float* v = x.dense ? x.values + i * x.n_features : x.sparse.data + x.sparse.indptr[i];
      const int64_t n = x.dense ? x.n_features : x.sparse.row_nnz(i);
      double sum = 0;
      for (int64_t p = 0; p < n; ++p) sum += static_cast<double>(v[p]) * static_cast<double>(v[p]);
      norms[static_cast<size_t>(i)] = static_cast<float>(sum);
    }
  });
  return norms;
}

int64_t rank_features(const Examples& x, int threads, std::vector<int32_t>& rank) {
  const auto d = static_cast<size_t>(x.n_features);
  std::vector<std::vector<int64_t>> counts(static_cast<size_t>(std::max(threads, 1)));
  parallel_blocks(x.n_rows, kRows, threads, [&](int64_t begin, int64_t end, int w) {
    auto& mine = counts[static_cast<size_t>(w)];
    mine.resize(d, 0);
    if (x.dense) {
      for (int64_t i = begin; i < end; ++i)
        for (size_t f = 0; f < d; ++f) mine[f] += x.values[static_cast<size_t>(i) * d + f] != 0.0f;
    } else {
      for (int64_t p = x.sparse.indptr[begin]; p < x.sparse.indptr[end]; ++p)
        mine[static_cast<size_t>(x.sparse.indices[p])] += x.sparse.data[p] != 0.0f;
    }
  });
  std::vector<int64_t> total(d, 0);
  for (const auto& mine : counts)
    for (size_t f = 0; f < mine.size(); ++f) total[f] += mine[f];
  std::vector<int32_t> order(d);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return total[static_cast<size_t>(a)] > total[static_cast<size_t>(b)];
  });
  rank.assign(d, -1);
  int64_t n = 0;
  for (const int32_t f : order)
    if (total[static_cast<size_t>(f)] > 0) rank[static_cast<size_t>(f)] = static_cast<int32_t>(n++);
  return n;
}

}  // namespace longtail
