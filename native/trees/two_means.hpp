// One spherical 2-means over some rows of a matrix. A rule says how rows are weighed and where they are cut:
//
//   Key, key(score, i), before(a, b)   what row i is sorted by; its score is x·(μ₊ - μ₋)
//   cut(keys)                          brings the keys of the first side to the front and gives their number
//   weight(i)                          of row i in the centres
//   objective(plus, minus, on_first)   given the lengths of both weighted sums; rounds go on while it rises
//   looks_at_rows()                    false if scores do not matter
//   kMayFall                           whether a cut can lower the objective, and must be taken back then
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

/// sum[feature] += factor * value for the features in [begin, end) of one row.
inline void add_row(const CsrView& rows, int32_t id, double factor, double* sum, int32_t begin, int32_t end) {
  int64_t p = rows.indptr[id], stop = rows.indptr[id + 1];
  if (begin > 0) p = std::lower_bound(rows.indices + p, rows.indices + stop, begin) - rows.indices;
  if (end < rows.n_cols) stop = std::lower_bound(rows.indices + p, rows.indices + stop, end) - rows.indices;
  for (; p < stop; ++p) sum[rows.indices[p]] += factor * rows.data[p];
}

inline void add_row(const DenseView& rows, int32_t id, double factor, double* sum, int32_t begin, int32_t end) {
  const float* row = rows.data + id * rows.n_cols;
  for (int32_t j = begin; j < end; ++j) sum[j] += factor * row[j];
}

/// Sides of sizes that are given: the rows with the largest scores go first, ties by position.
class SizeRule {
 public:
  struct Key {
    float score;
    int32_t at;
  };
  static constexpr bool kMayFall = false;

  explicit SizeRule(CutSize cut) : cut_(cut) {}

  static Key key(float score, int32_t i) { return {score, i}; }
  static bool before(const Key& a, const Key& b) { return a.score != b.score ? a.score > b.score : a.at < b.at; }
  static double weight(int32_t) { return 1.0; }
  static bool looks_at_rows() { return true; }

  int64_t cut(std::vector<Key>& keys) const {
    int64_t first = cut_.size;
    if (first < static_cast<int64_t>(keys.size())) {
      std::nth_element(keys.begin(), keys.begin() + first, keys.end(), before);
      if (cut_.either && keys[first].score > 0.0f) ++first;
    }
    return first;
  }

  /// Mean over the rows of the cosine to the centre of their side, given the best centres: (|Σ₊| + |Σ₋|) / n.
  static double objective(double plus, double minus, const std::vector<uint8_t>& on_first) {
    return (plus + minus) / static_cast<double>(on_first.size());
  }

 private:
  CutSize cut_;
};

/// Splits ranges of rows, one after another; its arrays are used again.
template <class Rows, class Rule>
class TwoMeans {
 public:
  TwoMeans(int rounds, double tol) : rounds_(rounds), tol_(tol) {}

  /// IN/OUT ids [n]: rising; afterwards both sides, each rising. Gives the size of the first side.
  int64_t split(const Rows& rows, int32_t* ids, int64_t n, const Rule& rule, uint64_t seed, const SplitTeam& team) {
    rows_ = &rows, ids_ = ids, n_ = n, rule_ = &rule, team_ = &team;
    make_room();
    if (rule.looks_at_rows()) {
      climb(seed);
    } else {
      std::fill(scores_.begin(), scores_.end(), 0.0f);
      assign();
    }
    return put_in_place();
  }

 private:
  static constexpr double kLopsided = 1e-6;
  static constexpr double kNoise = 1e-9;  // of sums: an objective that falls by less has stayed

  using Key = typename Rule::Key;

  void make_room() {
    scores_.resize(static_cast<size_t>(n_));
    keys_.resize(static_cast<size_t>(n_));
    on_first_.assign(static_cast<size_t>(n_), 0);
  }

  /// Centres for the sides and sides for the centres, until the objective hardly rises.
  void climb(uint64_t seed) {
    begin(seed);
    score();
    assign();
    sum_sides();
    double best = objective();
    for (int round = 1; round < rounds_; ++round) {
      if (!point_between_centres()) break;
      score();
      if (!assign()) break;
      sum_moved();
      double now = objective();
      if (std::min(plus_norm_, minus_norm_) < kLopsided * std::max(plus_norm_, minus_norm_)) {
        sum_sides();  // what little is left of one side could be what rounding left over
        now = objective();
      }
      if (Rule::kMayFall && now < best - kNoise) {
        for (const int32_t i : moved_) on_first_[i] ^= 1;
        break;
      }
      const bool settled = now - best < tol_;
      best = now;
      if (settled) break;
    }
  }

  /// The first direction leads from one label to another, both drawn at random: starting from labels that are unlike each
  /// other finds splits of a higher cosine and no better precision. Labels of zeros are left out; without two others the
  /// direction is zero, and ties decide.
  void begin(uint64_t seed) {
    const auto d = static_cast<size_t>(rows_->n_cols);
    direction_.assign(d, 0.0f);
    plus_.assign(d, 0.0);
    minus_.resize(d);
    alive_.clear();
    for (int64_t i = 0; i < n_; ++i)
      if (!is_zero_row(*rows_, ids_[i])) alive_.push_back(ids_[i]);
    if (alive_.size() < 2) return;
    const uint64_t count = alive_.size(), first = mix(seed) % count;
    const uint64_t second = (first + 1 + mix(seed + 1) % (count - 1)) % count;
    const auto end = static_cast<int32_t>(d);
    std::vector<double>& sum = plus_;  // not in use yet
    add_row(*rows_, alive_[first], 1.0, sum.data(), 0, end);
    add_row(*rows_, alive_[second], -1.0, sum.data(), 0, end);
    for (size_t j = 0; j < d; ++j) direction_[j] = static_cast<float>(sum[j]);
  }

  void score() {
    if (team_->bounds.empty()) return LT_DISPATCH(score_rows, *rows_, ids_, n_, direction_.data(), scores_.data());
    parallel_blocks(n_, 256, team_->threads, [&](int64_t from, int64_t to, int) {
      LT_DISPATCH(score_rows, *rows_, ids_ + from, to - from, direction_.data(), scores_.data() + from);
    }, team_->watch);
  }

  /// The labels whose keys come first go first. Remembers who moved; false if nobody did.
  bool assign() {
    for (int64_t i = 0; i < n_; ++i) keys_[i] = rule_->key(scores_[i], static_cast<int32_t>(i));
    const int64_t first_size = rule_->cut(keys_);
    moved_.clear();
    for (int64_t k = 0; k < n_; ++k) {
      const uint8_t first = k < first_size ? 1 : 0;
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
    std::fill(plus_.begin(), plus_.end(), 0.0);
    std::fill(minus_.begin(), minus_.end(), 0.0);
    share_features([&](int32_t begin, int32_t end) {
      for (int64_t i = 0; i < n_; ++i)
        add_row(*rows_, ids_[i], rule_->weight(static_cast<int32_t>(i)), on_first_[i] ? plus_.data() : minus_.data(),
                begin, end);
    });
  }

  void sum_moved() {
    share_features([&](int32_t begin, int32_t end) {
      for (const int32_t i : moved_) {
        const double change = on_first_[i] ? rule_->weight(i) : -rule_->weight(i);
        add_row(*rows_, ids_[i], change, plus_.data(), begin, end);
        add_row(*rows_, ids_[i], -change, minus_.data(), begin, end);
      }
    });
  }

  double objective() {
    plus_norm_ = norm(plus_);
    minus_norm_ = norm(minus_);
    return rule_->objective(plus_norm_, minus_norm_, on_first_);
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
  int64_t n_ = 0;
  const Rule* rule_ = nullptr;
  const SplitTeam* team_ = nullptr;
  double plus_norm_ = 0.0, minus_norm_ = 0.0;
  std::vector<float> direction_, scores_;  // [n_cols], [n]
  std::vector<double> plus_, minus_;       // [n_cols]: sums of both sides
  std::vector<Key> keys_;
  std::vector<uint8_t> on_first_;  // [n]
  std::vector<int32_t> moved_, alive_;
};

}  // namespace longtail
