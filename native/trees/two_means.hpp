// One balanced spherical 2-means over some rows of a matrix.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/csr.hpp"
#include "core/parallel.hpp"
#include "trees/grow.hpp"
#include "trees/rows.hpp"

namespace longtail {

/// Who works on one split. Without `bounds` that is the calling thread.
struct SplitTeam {
  int threads = 1;
  Watch* watch = nullptr;
  std::vector<int32_t> bounds;  // [parts + 1], rising from 0 to n_cols: how sums are shared out by features
};

inline bool is_zero_row(const CsrView& rows, int32_t id) {
  for (int64_t p = rows.indptr[id]; p < rows.indptr[id + 1]; ++p)
    if (rows.data[p] != 0.0f) return false;
  return true;
}

inline bool is_zero_row(const DenseView& rows, int32_t id) {
  const float* row = rows.data + id * rows.n_cols;
  return std::all_of(row, row + rows.n_cols, [](float v) { return v == 0.0f; });
}

/// sum[feature] += sign * value for the features in [begin, end) of one row.
inline void add_row(const CsrView& rows, int32_t id, double sign, double* sum, int32_t begin, int32_t end) {
  int64_t p = rows.indptr[id], stop = rows.indptr[id + 1];
  if (begin > 0) p = std::lower_bound(rows.indices + p, rows.indices + stop, begin) - rows.indices;
  if (end < rows.n_cols) stop = std::lower_bound(rows.indices + p, rows.indices + stop, end) - rows.indices;
  for (; p < stop; ++p) sum[rows.indices[p]] += sign * rows.data[p];
}

inline void add_row(const DenseView& rows, int32_t id, double sign, double* sum, int32_t begin, int32_t end) {
  const float* row = rows.data + id * rows.n_cols;
  for (int32_t j = begin; j < end; ++j) sum[j] += sign * row[j];
}

/// Splits ranges of rows, one after another; its arrays are used again.
template <class Rows>
class TwoMeans {
 public:
  TwoMeans(int rounds, double tol) : rounds_(rounds), tol_(tol) {}

  /// IN/OUT ids [n]: rising; afterwards both sides, each rising. Gives the size of the first side.
  int64_t split(const Rows& rows, int32_t* ids, int64_t n, CutSize cut, uint64_t seed, const SplitTeam& team) {
    rows_ = &rows, ids_ = ids, n_ = n, cut_ = cut, team_ = &team;
    begin(seed);
    score();
    assign();
    sum_sides();
    double cosine = mean_cosine();
    for (int round = 1; round < rounds_; ++round) {
      if (!point_between_centres()) break;
      score();
      if (!assign()) break;
      sum_moved();
      const double now = mean_cosine();
      const bool settled = now - cosine < tol_;
      cosine = now;
      if (settled) break;
    }
    return put_in_place();
  }

 private:
  static constexpr int kCandidates = 16;  // draws for the second of the two labels that a split starts from

  struct Key {
    float score;
    int32_t at;
  };
  static bool before(const Key& a, const Key& b) { return a.score != b.score ? a.score > b.score : a.at < b.at; }

  /// The first direction leads from one label to another: a label is drawn, and of kCandidates more the one that is least
  /// like it. Labels of zeros are left out; without two others the direction is zero, and ties decide.
  void begin(uint64_t seed) {
    const auto d = static_cast<size_t>(rows_->n_cols);
    direction_.assign(d, 0.0f);
    plus_.assign(d, 0.0);
    minus_.assign(d, 0.0);
    scores_.resize(static_cast<size_t>(std::max<int64_t>(n_, kCandidates)));
    keys_.resize(static_cast<size_t>(n_));
    on_first_.assign(static_cast<size_t>(n_), 0);
    alive_.clear();
    for (int64_t i = 0; i < n_; ++i)
      if (!is_zero_row(*rows_, ids_[i])) alive_.push_back(ids_[i]);
    if (alive_.size() < 2) return;
    const uint64_t count = alive_.size(), first = mix(seed) % count;
    int32_t candidates[kCandidates];
    for (uint64_t c = 0; c < kCandidates; ++c)
      candidates[c] = alive_[(first + 1 + mix(seed + 1 + c) % (count - 1)) % count];
    const auto end = static_cast<int32_t>(d);
    std::vector<double>& sum = plus_;  // not in use yet
    add_row(*rows_, alive_[first], 1.0, sum.data(), 0, end);
    for (size_t j = 0; j < d; ++j) direction_[j] = static_cast<float>(sum[j]);
    LT_DISPATCH(score_rows, *rows_, candidates, kCandidates, direction_.data(), scores_.data());
    const auto least = std::min_element(scores_.begin(), scores_.begin() + kCandidates) - scores_.begin();
    add_row(*rows_, candidates[least], -1.0, sum.data(), 0, end);
    for (size_t j = 0; j < d; ++j) direction_[j] = static_cast<float>(sum[j]);
    std::fill(plus_.begin(), plus_.end(), 0.0);
  }

  void score() {
    if (team_->bounds.empty()) return LT_DISPATCH(score_rows, *rows_, ids_, n_, direction_.data(), scores_.data());
    parallel_blocks(n_, 256, team_->threads, [&](int64_t from, int64_t to, int) {
      LT_DISPATCH(score_rows, *rows_, ids_ + from, to - from, direction_.data(), scores_.data() + from);
    }, team_->watch);
  }

  /// The labels with the largest scores go first, ties by id. Remembers who moved; false if nobody did.
  bool assign() {
    for (int64_t i = 0; i < n_; ++i) keys_[i] = {scores_[i], static_cast<int32_t>(i)};
    first_size_ = cut_.size;
    if (first_size_ < n_) {
      std::nth_element(keys_.begin(), keys_.begin() + first_size_, keys_.end(), before);
      if (cut_.either && keys_[first_size_].score > 0.0f) ++first_size_;
    }
    moved_.clear();
    for (int64_t k = 0; k < n_; ++k) {
      const uint8_t first = k < first_size_ ? 1 : 0;
      if (on_first_[keys_[k].at] == first) continue;
      on_first_[keys_[k].at] = first;
      moved_.push_back(keys_[k].at);
    }
    std::sort(moved_.begin(), moved_.end());
    return !moved_.empty();
  }

  template <class Add>
  void share_features(Add add) {
    if (team_->bounds.empty()) return add(0, static_cast<int32_t>(rows_->n_cols));
    parallel_for(static_cast<int64_t>(team_->bounds.size()) - 1, team_->threads,
                 [&](int64_t part, int) { add(team_->bounds[part], team_->bounds[part + 1]); }, team_->watch);
  }

  void sum_sides() {
    share_features([&](int32_t begin, int32_t end) {
      for (int64_t i = 0; i < n_; ++i)
        add_row(*rows_, ids_[i], 1.0, on_first_[i] ? plus_.data() : minus_.data(), begin, end);
    });
  }

  void sum_moved() {
    share_features([&](int32_t begin, int32_t end) {
      for (const int32_t i : moved_) {
        const double sign = on_first_[i] ? 1.0 : -1.0;
        add_row(*rows_, ids_[i], sign, plus_.data(), begin, end);
        add_row(*rows_, ids_[i], -sign, minus_.data(), begin, end);
      }
    });
  }

  /// Mean over the labels of the cosine to the centre of their side, given the best centres: (|Σ₊| + |Σ₋|) / n.
  double mean_cosine() {
    plus_norm_ = norm(plus_);
    minus_norm_ = norm(minus_);
    return (plus_norm_ + minus_norm_) / static_cast<double>(n_);
  }

  static double norm(const std::vector<double>& v) {
    double lanes[8] = {};
    size_t j = 0;
    for (; j + 8 <= v.size(); j += 8)
      for (size_t k = 0; k < 8; ++k) lanes[k] += v[j + k] * v[j + k];
    for (size_t k = 0; j < v.size(); ++j, ++k) lanes[k] += v[j] * v[j];
    for (size_t width = 4; width > 0; width /= 2)
      for (size_t k = 0; k < width; ++k) lanes[k] += lanes[k + width];
    return std::sqrt(lanes[0]);
  }

  bool point_between_centres() {
    if (plus_norm_ <= 0.0 && minus_norm_ <= 0.0) return false;
    const double p = plus_norm_ > 0.0 ? 1.0 / plus_norm_ : 0.0, m = minus_norm_ > 0.0 ? 1.0 / minus_norm_ : 0.0;
    for (size_t j = 0; j < direction_.size(); ++j) direction_[j] = static_cast<float>(plus_[j] * p - minus_[j] * m);
    return true;
  }

  int64_t put_in_place() {
    alive_.clear();  // used again for the second side
    int64_t k = 0;
    for (int64_t i = 0; i < n_; ++i) {
      if (on_first_[i]) ids_[k++] = ids_[i];
      else alive_.push_back(ids_[i]);
    }
    std::copy(alive_.begin(), alive_.end(), ids_ + k);
    return k;
  }

  int rounds_;
  double tol_;
  const Rows* rows_ = nullptr;
  int32_t* ids_ = nullptr;
  int64_t n_ = 0, first_size_ = 0;
  CutSize cut_{0, false};
  const SplitTeam* team_ = nullptr;
  double plus_norm_ = 0.0, minus_norm_ = 0.0;
  std::vector<float> direction_, scores_;  // [n_cols], [n]
  std::vector<double> plus_, minus_;       // [n_cols]: sums of both sides
  std::vector<Key> keys_;
  std::vector<uint8_t> on_first_;  // [n]
  std::vector<int32_t> moved_, alive_;
};

}  // namespace longtail
