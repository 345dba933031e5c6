#include "labels/pifa.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace longtail {

namespace {

constexpr int64_t kTaskEntries = int64_t{1} << 20;  // entries of X that one task adds up, roughly
constexpr int64_t kTaskLabels = 4096;

int lowest_bit(uint64_t word) {
#if defined(__GNUC__) || defined(__clang__)
  return __builtin_ctzll(word);
#else
  int bit = 0;
  while ((word & 1) == 0) word >>= 1, ++bit;
  return bit;
#endif
}

/// Sums over few of many features. A bitmap of two levels gives them back in rising order without a sort.
class SparseSum {
 public:
  void resize(int64_t n) {
    const auto words = static_cast<size_t>((n + 63) / 64);
    sum_.assign(static_cast<size_t>(n), 0.0);
    words_.assign(words, 0);
    summary_.assign((words + 63) / 64, 0);
  }

  void add(int32_t feature, double value) {
    const auto f = static_cast<uint32_t>(feature);
    sum_[f] += value;
    const uint64_t before = words_[f >> 6];
    words_[f >> 6] = before | (uint64_t{1} << (f & 63));
    if (before == 0) summary_[f >> 12] |= uint64_t{1} << ((f >> 6) & 63);
  }

  /// Calls visit(feature, sum) in rising order for every feature that was added to.
  template <class Visit>
  void each(Visit visit) const {
    for (size_t s = 0; s < summary_.size(); ++s)
      for (uint64_t upper = summary_[s]; upper != 0; upper &= upper - 1) {
        const size_t w = s * 64 + static_cast<size_t>(lowest_bit(upper));
        for (uint64_t word = words_[w]; word != 0; word &= word - 1) {
          const size_t f = w * 64 + static_cast<size_t>(lowest_bit(word));
          visit(static_cast<int32_t>(f), sum_[f]);
        }
      }
  }

  void clear() {
    for (size_t s = 0; s < summary_.size(); ++s) {
      for (uint64_t upper = summary_[s]; upper != 0; upper &= upper - 1) {
        const size_t w = s * 64 + static_cast<size_t>(lowest_bit(upper));
        for (uint64_t word = words_[w]; word != 0; word &= word - 1)
          sum_[w * 64 + static_cast<size_t>(lowest_bit(word))] = 0.0;
        words_[w] = 0;
      }
      summary_[s] = 0;
    }
  }

 private:
  std::vector<double> sum_;
  std::vector<uint64_t> words_, summary_;
};

/// Labels [begin, end) of one task, and what comes out of it.
struct Task {
  int64_t begin, end, cost;
  std::unique_ptr<int32_t[]> indices;
  std::unique_ptr<float[]> data;
};

std::vector<Task> make_tasks(const RowsOfLabels& y, const std::vector<int64_t>& cost_of_row) {
  std::vector<Task> tasks;
  int64_t begin = 0, cost = 0;
  for (int64_t l = 0; l < y.n_labels; ++l) {
    for (int64_t p = y.indptr[l]; p < y.indptr[l + 1]; ++p) cost += cost_of_row[y.rows[p]];
    if (cost >= kTaskEntries || l + 1 - begin >= kTaskLabels || l + 1 == y.n_labels) {
      tasks.push_back({begin, l + 1, cost, nullptr, nullptr});
      begin = l + 1;
      cost = 0;
    }
  }
  return tasks;
}

/// Task numbers, the dearest first: the label that half of all rows carry must not be started last.
std::vector<size_t> dearest_first(const std::vector<Task>& tasks) {
  std::vector<size_t> order(tasks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return tasks[a].cost > tasks[b].cost; });
  return order;
}

/// What each row is multiplied with: weight / norm, or 0 for a row of zeros.
template <class NormSquared>
std::vector<double> row_scales(int64_t n_rows, const float* weights, int threads, NormSquared norm_squared) {
  std::vector<double> scale(static_cast<size_t>(n_rows));
  parallel_blocks(n_rows, 4096, threads, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      const double square = norm_squared(i);
      const double weight = weights == nullptr ? 1.0 : static_cast<double>(weights[i]);
      scale[i] = square > 0.0 ? weight / std::sqrt(square) : 0.0;
    }
  });
  return scale;
}

}  // namespace

OwnedCsr pifa_sparse(const CsrView& x, const RowsOfLabels& y, const float* weights, int threads, Watch* watch) {
  const auto scale = row_scales(x.n_rows, weights, threads, [&](int64_t i) {
    double square = 0.0;
    for (int64_t p = x.indptr[i]; p < x.indptr[i + 1]; ++p) square += static_cast<double>(x.data[p]) * x.data[p];
    return square;
  });
  std::vector<int64_t> cost(static_cast<size_t>(x.n_rows));
  for (int64_t i = 0; i < x.n_rows; ++i) cost[i] = x.row_nnz(i) + 1;
  auto tasks = make_tasks(y, cost);
  const auto queue = dearest_first(tasks);

  OwnedCsr out;
  out.indptr.assign(static_cast<size_t>(y.n_labels) + 1, 0);
  struct Scratch {
    SparseSum sum;
    bool ready = false;
    std::vector<int32_t> indices;
    std::vector<float> data;
  };
  std::vector<Scratch> scratch(static_cast<size_t>(std::max(threads, 1)));

  auto embed = [&](int64_t label, Scratch& s) {
    for (int64_t q = y.indptr[label]; q < y.indptr[label + 1]; ++q) {
      const int64_t row = y.rows[q];
      const double factor = scale[row];
      if (factor == 0.0) continue;
      for (int64_t p = x.indptr[row]; p < x.indptr[row + 1]; ++p) s.sum.add(x.indices[p], factor * x.data[p]);
    }
    double square = 0.0;
    s.sum.each([&](int32_t, double value) { square += value * value; });
    const size_t before = s.indices.size();
    if (square > 0.0) {
      const double factor = 1.0 / std::sqrt(square);
      s.sum.each([&](int32_t feature, double value) {
        const float scaled = static_cast<float>(value * factor);
        if (scaled == 0.0f) return;  // cancelled out, or a zero that X stores
        s.indices.push_back(feature);
        s.data.push_back(scaled);
      });
    }
    s.sum.clear();
    out.indptr[label + 1] = static_cast<int64_t>(s.indices.size() - before);
  };

  parallel_for(static_cast<int64_t>(tasks.size()), threads, [&](int64_t i, int worker) {
    Task& task = tasks[queue[i]];
    Scratch& s = scratch[worker];
    if (!s.ready) s.sum.resize(x.n_cols), s.ready = true;
    s.indices.clear();
    s.data.clear();
    for (int64_t label = task.begin; label < task.end; ++label) embed(label, s);
    const size_t count = s.indices.size();
    task.indices.reset(new int32_t[count]);
    task.data.reset(new float[count]);
    std::copy(s.indices.begin(), s.indices.end(), task.indices.get());
    std::copy(s.data.begin(), s.data.end(), task.data.get());
    if (watch != nullptr) watch->done += task.end - task.begin;
  }, watch);

  for (int64_t l = 0; l < y.n_labels; ++l) out.indptr[l + 1] += out.indptr[l];
  const auto nnz = static_cast<size_t>(out.indptr[y.n_labels]);
  out.indices.reset(new int32_t[nnz]);
  out.data.reset(new float[nnz]);
  // Each part is freed as soon as it is copied, so the peak stays near one output.
  parallel_for(static_cast<int64_t>(tasks.size()), threads, [&](int64_t i, int) {
    Task& task = tasks[i];
    const int64_t at = out.indptr[task.begin], count = out.indptr[task.end] - at;
    std::copy(task.indices.get(), task.indices.get() + count, out.indices.get() + at);
    std::copy(task.data.get(), task.data.get() + count, out.data.get() + at);
    task.indices.reset();
    task.data.reset();
  });
  return out;
}

void pifa_dense(const float* x, int64_t n_rows, int64_t n_cols, const RowsOfLabels& y, const float* weights,
                float* embedding, int threads, Watch* watch) {
  const auto scale = row_scales(n_rows, weights, threads, [&](int64_t i) {
    double square = 0.0;
    for (int64_t j = 0; j < n_cols; ++j) square += static_cast<double>(x[i * n_cols + j]) * x[i * n_cols + j];
    return square;
  });
  auto tasks = make_tasks(y, std::vector<int64_t>(static_cast<size_t>(n_rows), n_cols + 1));
  const auto queue = dearest_first(tasks);
  std::vector<std::vector<double>> sums(static_cast<size_t>(std::max(threads, 1)));
  parallel_for(static_cast<int64_t>(tasks.size()), threads, [&](int64_t i, int worker) {
    const Task& task = tasks[queue[i]];
    auto& sum = sums[worker];
    for (int64_t label = task.begin; label < task.end; ++label) {
      sum.assign(static_cast<size_t>(n_cols), 0.0);
      for (int64_t q = y.indptr[label]; q < y.indptr[label + 1]; ++q) {
        const float* row = x + y.rows[q] * n_cols;
        const double factor = scale[y.rows[q]];
        for (int64_t j = 0; j < n_cols; ++j) sum[j] += factor * row[j];
      }
      double square = 0.0;
      for (double value : sum) square += value * value;
      const double factor = square > 0.0 ? 1.0 / std::sqrt(square) : 0.0;
      for (int64_t j = 0; j < n_cols; ++j) embedding[label * n_cols + j] = static_cast<float>(sum[j] * factor);
    }
    if (watch != nullptr) watch->done += task.end - task.begin;
  }, watch);
}

}  // namespace longtail
