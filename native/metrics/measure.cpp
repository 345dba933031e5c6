#include "metrics/measure.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <memory>

#include "core/parallel.hpp"

namespace longtail {

namespace {

constexpr int64_t kRowsPerBlock = 2048;
constexpr int64_t kLinearUpTo = 16;  // rows of truth this short are searched without halving

/// Counts that several threads add to. Whole numbers add up to the same in any order.
class SharedCounts {
 public:
  explicit SharedCounts(int64_t n) : counts_(new std::atomic<int32_t>[static_cast<size_t>(n)]()) {}
  void add(int64_t i) { counts_[static_cast<size_t>(i)].fetch_add(1, std::memory_order_relaxed); }
  int32_t operator[](int64_t i) const { return counts_[static_cast<size_t>(i)].load(std::memory_order_relaxed); }

 private:
  std::unique_ptr<std::atomic<int32_t>[]> counts_;
};

/// Counts of all labels. A label's two counts at k lie side by side, as a hit is always a prediction too.
struct LabelCounts {
  LabelCounts(int64_t n_ks, int64_t n_labels) : at_k(2 * n_ks * n_labels), truths(n_labels) {}
  SharedCounts at_k;  // [ks × labels × (predicted, hits)]
  SharedCounts truths;
};

bool contains(const CsrView& m, int64_t row, int32_t label) {
  const int32_t* begin = m.indices + m.indptr[row];
  const int32_t* end = m.indices + m.indptr[row + 1];
  if (end - begin <= kLinearUpTo) return std::find(begin, end, label) != end;
  return std::binary_search(begin, end, label);
}

/// What does not depend on the row: discounts by rank, the best discounted gain of a list of n hits.
struct Ranks {
  std::vector<double> discount;  // [max k + 1], discount[j] of rank j
  std::vector<double> ideal;     // [max k + 1]
  std::vector<int32_t> bucket;   // [max k + 1], position of the smallest k that holds rank j

  explicit Ranks(const std::vector<int32_t>& ks) {
    const size_t n = static_cast<size_t>(ks.back()) + 1;
    discount.assign(n, 0.0);
    ideal.assign(n, 0.0);
    bucket.assign(n, 0);
    int32_t q = 0;
    for (size_t j = 1; j < n; ++j) {
      discount[j] = 1.0 / std::log2(static_cast<double>(j) + 1.0);
      ideal[j] = ideal[j - 1] + discount[j];
      while (ks[static_cast<size_t>(q)] < static_cast<int32_t>(j)) ++q;
      bucket[j] = q;
    }
  }
};

/// One thread's work on one row after another.
class RowMeasurer {
 public:
  RowMeasurer(const MeasureInput& in, const Ranks& ranks)
      : in_(in), ranks_(ranks), max_k_(in.ks.back()), n_ks_(in.ks.size()), is_hit_(static_cast<size_t>(max_k_) + 1) {
    kept_.reserve(static_cast<size_t>(max_k_));
  }

  /// The list without excluded labels, which of it are hits, and how many labels are true.
  int64_t look_up(int64_t row) {
    kept_.clear();
    const int32_t* list = in_.labels + row * in_.width;
    for (int64_t j = 0; j < in_.width && list[j] >= 0 && static_cast<int32_t>(kept_.size()) < max_k_; ++j) {
      if (in_.exclude != nullptr && contains(*in_.exclude, row, list[j])) continue;
      kept_.push_back(list[j]);
      is_hit_[kept_.size()] = contains(in_.truth, row, list[j]);
    }
    n_true_ = in_.truth.row_nnz(row);
    if (in_.exclude != nullptr)
      for (int64_t p = in_.truth.indptr[row]; p < in_.truth.indptr[row + 1]; ++p)
        n_true_ -= contains(*in_.exclude, row, in_.truth.indices[p]) ? 1 : 0;
    return n_true_;
  }

  /// OUT values [values × ks]. Rows without true labels give zeros.
  void plain_values(double* values) const {
    const auto at = [&](int value, size_t q) -> double& { return values[static_cast<size_t>(value) * n_ks_ + q]; };
    double gain = 0.0, reciprocal = 0.0, average = 0.0;
    int64_t hits = 0;
    size_t q = 0;
    for (int32_t j = 1; j <= max_k_; ++j) {
      if (hit(j)) {
        ++hits;
        gain += ranks_.discount[static_cast<size_t>(j)];
        average += static_cast<double>(hits) / static_cast<double>(j);
        if (hits == 1) reciprocal = 1.0 / static_cast<double>(j);
      }
      if (j != in_.ks[q]) continue;
      const int64_t reachable = std::min<int64_t>(j, n_true_);
      at(kPrecision, q) = static_cast<double>(hits) / static_cast<double>(j);
      at(kRecall, q) = n_true_ == 0 ? 0.0 : static_cast<double>(hits) / static_cast<double>(n_true_);
      at(kNdcg, q) = reachable == 0 ? 0.0 : gain / ranks_.ideal[static_cast<size_t>(reachable)];
      at(kHit, q) = hits > 0 ? 1.0 : 0.0;
      at(kReciprocal, q) = reciprocal;
      at(kAverage, q) = reachable == 0 ? 0.0 : average / static_cast<double>(reachable);
      ++q;
    }
  }

  void propensity_values(int64_t row, double* values) {
    best_.clear();
    for (int64_t p = in_.truth.indptr[row]; p < in_.truth.indptr[row + 1]; ++p) {
      const int32_t label = in_.truth.indices[p];
      if (in_.exclude == nullptr || !contains(*in_.exclude, row, label)) best_.push_back(in_.weights[label]);
    }
    const auto top = std::min<size_t>(best_.size(), static_cast<size_t>(max_k_));
    std::partial_sort(best_.begin(), best_.begin() + static_cast<std::ptrdiff_t>(top), best_.end(), std::greater<double>());
    const auto got = [&](int32_t j) { return hit(j) ? in_.weights[kept_[static_cast<size_t>(j) - 1]] : 0.0; };
    const auto best = [&](int32_t j) { return static_cast<size_t>(j) <= top ? best_[static_cast<size_t>(j) - 1] : 0.0; };
    propensity_list(got, kPspGot, kPsndcgGot, kPsrGot, values);
    propensity_list(best, kPspBest, kPsndcgBest, kPsrBest, values);
  }

  /// Adds the row to the counts by label.
  void count(int64_t row, LabelCounts& counts) const {
    const int64_t n_labels = in_.truth.n_cols;
    for (size_t j = 1; j <= kept_.size(); ++j) {
      const int64_t cell = 2 * (ranks_.bucket[j] * n_labels + kept_[j - 1]);
      counts.at_k.add(cell);
      if (is_hit_[j]) counts.at_k.add(cell + 1);
    }
    for (int64_t p = in_.truth.indptr[row]; p < in_.truth.indptr[row + 1]; ++p) {
      const int32_t label = in_.truth.indices[p];
      if (in_.exclude == nullptr || !contains(*in_.exclude, row, label)) counts.truths.add(label);
    }
  }

 private:
  bool hit(int32_t j) const { return static_cast<size_t>(j) <= kept_.size() && is_hit_[static_cast<size_t>(j)] != 0; }

  template <class Weight>
  void propensity_list(const Weight& weight, int psp, int psndcg, int psr, double* values) const {
    double sum = 0.0, gain = 0.0;
    size_t q = 0;
    for (int32_t j = 1; j <= max_k_; ++j) {
      const double w = weight(j);
      sum += w;
      gain += w * ranks_.discount[static_cast<size_t>(j)];
      if (j != in_.ks[q]) continue;
      const int64_t reachable = std::min<int64_t>(j, n_true_);
      values[static_cast<size_t>(psp) * n_ks_ + q] = sum / static_cast<double>(j);
      values[static_cast<size_t>(psndcg) * n_ks_ + q] =
          reachable == 0 ? 0.0 : gain / ranks_.ideal[static_cast<size_t>(reachable)];
      values[static_cast<size_t>(psr) * n_ks_ + q] = n_true_ == 0 ? 0.0 : sum / static_cast<double>(n_true_);
      ++q;
    }
  }

  const MeasureInput& in_;
  const Ranks& ranks_;
  int32_t max_k_;
  size_t n_ks_;
  std::vector<int32_t> kept_;
  std::vector<uint8_t> is_hit_;  // by rank, from 1
  std::vector<double> best_;
  int64_t n_true_ = 0;
};

/// Sixty-four random bits, one after another (SplitMix64).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  /// A number in [0, n) for n below 2^32: the high part of a product.
  uint64_t below(uint64_t n) {
    const uint64_t r = next();
    return ((r >> 32) * n + (((r & 0xFFFFFFFFULL) * n) >> 32)) >> 32;
  }

 private:
  uint64_t state_;
};

}  // namespace

void measure(const MeasureInput& in, const MeasureOutput& out, int threads) {
  const int64_t rows = in.truth.n_rows;
  const int64_t n_labels = in.truth.n_cols;
  const auto n_ks = static_cast<int64_t>(in.ks.size());
  const int64_t columns = (in.weights != nullptr ? kAllRowValues : kPlainRowValues) * n_ks;
  const int64_t n_blocks = (rows + kRowsPerBlock - 1) / kRowsPerBlock;
  const Ranks ranks(in.ks);
  std::vector<double> block_sums(static_cast<size_t>(n_blocks * columns), 0.0);
  const bool counting = out.hits != nullptr;
  LabelCounts counts(counting ? n_ks : 0, counting ? n_labels : 0);

  parallel_blocks(rows, kRowsPerBlock, threads, [&](int64_t begin, int64_t end, int) {
    RowMeasurer row_measurer(in, ranks);
    std::vector<double> values(static_cast<size_t>(columns));
    double* sums = block_sums.data() + begin / kRowsPerBlock * columns;
    for (int64_t row = begin; row < end; ++row) {
      const int64_t n_true = row_measurer.look_up(row);
      out.n_true[row] = static_cast<int32_t>(n_true);
      row_measurer.plain_values(values.data());
      if (in.weights != nullptr) row_measurer.propensity_values(row, values.data());
      for (int64_t c = 0; c < columns; ++c) sums[c] += values[static_cast<size_t>(c)];
      if (out.row_values != nullptr)
        for (size_t w = 0; w < in.wanted.size(); ++w)
          out.row_values[static_cast<size_t>(row) * in.wanted.size() + w] = values[static_cast<size_t>(in.wanted[w])];
      if (counting && !(in.skip_empty && n_true == 0)) row_measurer.count(row, counts);
    }
  });

  std::fill(out.sums, out.sums + columns, 0.0);
  for (int64_t b = 0; b < n_blocks; ++b)
    for (int64_t c = 0; c < columns; ++c) out.sums[c] += block_sums[static_cast<size_t>(b * columns + c)];
  if (!counting) return;
  for (int64_t i = 0; i < n_ks * n_labels; ++i) {
    const int64_t below = i < n_labels ? -1 : i - n_labels;  // counts at k hold those at the k before
    out.predicted[i] = counts.at_k[2 * i] + (below < 0 ? 0 : out.predicted[below]);
    out.hits[i] = counts.at_k[2 * i + 1] + (below < 0 ? 0 : out.hits[below]);
  }
  for (int64_t label = 0; label < n_labels; ++label) out.truths[label] = counts.truths[label];
}

void bootstrap_sums(const double* values, int64_t rows, int64_t columns, int64_t resamples, uint64_t seed, int threads,
                    double* sums) {
  constexpr int64_t kAtOnce = 8;  // resamples that share one pass over the values
  parallel_blocks(resamples, kAtOnce, threads, [&](int64_t begin, int64_t end, int) {
    const auto lanes = static_cast<size_t>(end - begin);
    std::vector<std::vector<uint32_t>> counts(lanes, std::vector<uint32_t>(static_cast<size_t>(rows), 0));
    for (size_t lane = 0; lane < lanes; ++lane) {
      Random scramble(seed);
      Random random(scramble.next() ^ Random(static_cast<uint64_t>(begin) + lane).next());
      for (int64_t i = 0; i < rows; ++i) ++counts[lane][random.below(static_cast<uint64_t>(rows))];
    }
    double* out = sums + begin * columns;
    std::fill(out, out + static_cast<int64_t>(lanes) * columns, 0.0);
    for (int64_t i = 0; i < rows; ++i) {
      const double* row = values + i * columns;
      for (size_t lane = 0; lane < lanes; ++lane) {
        const auto times = static_cast<double>(counts[lane][static_cast<size_t>(i)]);
        double* sum = out + static_cast<int64_t>(lane) * columns;
        for (int64_t c = 0; c < columns; ++c) sum[c] += times * row[c];
      }
    }
  });
}

}  // namespace longtail
