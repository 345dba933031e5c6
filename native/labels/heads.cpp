#include "labels/heads.hpp"

#include <cstddef>
#include <queue>
#include <utility>

#include "labels/transpose.hpp"

namespace longtail {

namespace {

struct Entry {
  double weight;
  int32_t label;
};

struct Lower {
  bool operator()(const Entry& a, const Entry& b) const {
    return a.weight != b.weight ? a.weight < b.weight : a.label > b.label;
  }
};

}  // namespace

std::vector<double> greedy_heads(const CsrView& y, const double* weights) {
  const auto n_labels = static_cast<size_t>(y.n_cols);
  std::vector<int64_t> starts;
  std::vector<int32_t> contexts;
  transpose_pattern(y, starts, contexts);
  std::vector<double> heads(n_labels, 0.0), left(n_labels, 0.0);
  std::vector<int64_t> count(n_labels, 0);  // contexts left: weights of subtracted sums may not reach zero
  std::vector<uint8_t> gone(static_cast<size_t>(y.n_rows), 0);
  std::vector<Entry> entries;
  for (size_t l = 0; l < n_labels; ++l) {
    for (int64_t p = starts[l]; p < starts[l + 1]; ++p) left[l] += weights[contexts[p]];
    count[l] = starts[l + 1] - starts[l];
    if (left[l] > 0.0) entries.push_back({left[l], static_cast<int32_t>(l)});
  }
  std::priority_queue<Entry, std::vector<Entry>, Lower> heap(Lower{}, std::move(entries));
  while (!heap.empty()) {
    const Entry top = heap.top();
    heap.pop();
    const auto label = static_cast<size_t>(top.label);
    if (count[label] == 0 || left[label] <= 0.0) continue;
    if (left[label] < top.weight) {
      heap.push({left[label], top.label});
      continue;
    }
    double sum = 0.0;
    for (int64_t p = starts[label]; p < starts[label + 1]; ++p) {
      const int32_t context = contexts[p];
      if (gone[context]) continue;
      gone[context] = 1;
      sum += weights[context];
      for (int64_t q = y.indptr[context]; q < y.indptr[context + 1]; ++q) {
        left[y.indices[q]] -= weights[context];
        --count[y.indices[q]];
      }
    }
    heads[label] = sum;
  }
  return heads;
}

}  // namespace longtail
