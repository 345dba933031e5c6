#include "metrics/lists.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "core/parallel.hpp"

namespace longtail {

namespace {

constexpr int64_t kRowsPerTask = 4096;
constexpr int64_t kPairwiseUpTo = 24;  // lists this short are searched for repeated labels without sorting

/// Column of the second of two equal labels among the first `length`, or -1.
int64_t repeated_label(const int32_t* row, int64_t length, std::vector<int32_t>& scratch) {
  if (length <= kPairwiseUpTo) {
    for (int64_t j = 1; j < length; ++j)
      for (int64_t i = 0; i < j; ++i)
        if (row[i] == row[j]) return j;
    return -1;
  }
  scratch.assign(row, row + length);
  std::sort(scratch.begin(), scratch.end());
  const auto twice = std::adjacent_find(scratch.begin(), scratch.end());
  if (twice == scratch.end()) return -1;
  const int32_t* first = std::find(row, row + length, *twice);
  return std::find(first + 1, row + length, *twice) - row;
}

ListFinding check_row(const int32_t* row, const float* scores, int64_t index, int64_t k, int64_t n_labels,
                      std::vector<int32_t>& scratch) {
  int64_t length = 0;
  while (length < k && row[length] >= 0) ++length;
  for (int64_t j = 0; j < k; ++j) {
    if (row[j] < -1) return {ListFault::negative_label, index, j};
    if (row[j] >= n_labels) return {ListFault::label_too_large, index, j};
    if (j > length && row[j] >= 0) return {ListFault::label_after_pad, index, j};
  }
  if (scores != nullptr) {
    for (int64_t j = 0; j < length; ++j)
      if (!std::isfinite(scores[j])) return {ListFault::score_not_finite, index, j};
    for (int64_t j = 1; j < length; ++j) {
      if (scores[j] > scores[j - 1]) return {ListFault::score_rises, index, j};
      if (scores[j] == scores[j - 1] && row[j] < row[j - 1]) return {ListFault::tie_order, index, j};
    }
  }
  const int64_t twice = repeated_label(row, length, scratch);
  if (twice >= 0) return {ListFault::label_twice, index, twice};
  return {};
}

}  // namespace

ListFinding check_lists(const int32_t* labels, const float* scores, int64_t rows, int64_t k, int64_t n_labels,
                        int threads) {
  const int64_t n_tasks = (rows + kRowsPerTask - 1) / kRowsPerTask;
  std::vector<ListFinding> found(static_cast<size_t>(n_tasks));
  parallel_for(n_tasks, threads, [&](int64_t task, int) {
    std::vector<int32_t> scratch;
    const int64_t end = std::min(rows, (task + 1) * kRowsPerTask);
    for (int64_t i = task * kRowsPerTask; i < end; ++i) {
      const float* row_scores = scores == nullptr ? nullptr : scores + i * k;
      const ListFinding finding = check_row(labels + i * k, row_scores, i, k, n_labels, scratch);
      if (finding.fault != ListFault::none) {
        found[static_cast<size_t>(task)] = finding;
        return;
      }
    }
  });
  for (const ListFinding& finding : found)
    if (finding.fault != ListFault::none) return finding;
  return {};
}

void top_k(const CsrView& scores, int64_t k, int threads, int32_t* labels, float* list_scores) {
  parallel_blocks(scores.n_rows, kRowsPerTask, threads, [&](int64_t begin, int64_t end, int) {
    std::vector<int64_t> order;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = scores.indptr[i];
      const int64_t count = scores.row_nnz(i);
      order.resize(static_cast<size_t>(count));
      for (int64_t p = 0; p < count; ++p) order[static_cast<size_t>(p)] = first + p;
      const auto better = [&](int64_t a, int64_t b) {
        if (scores.data[a] != scores.data[b]) return scores.data[a] > scores.data[b];
        return scores.indices[a] < scores.indices[b];
      };
      const int64_t kept = std::min(k, count);
      std::partial_sort(order.begin(), order.begin() + kept, order.end(), better);
      for (int64_t j = 0; j < k; ++j) {
        const bool real = j < kept;
        labels[i * k + j] = real ? scores.indices[order[static_cast<size_t>(j)]] : -1;
        list_scores[i * k + j] =
            real ? scores.data[order[static_cast<size_t>(j)]] : -std::numeric_limits<float>::infinity();
      }
    }
  });
}

}  // namespace longtail
