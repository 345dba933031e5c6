// One thread's work: the labels of a family, one after the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <vector>

#include "groups/direction.hpp"
#include "groups/eagle.hpp"

namespace longtail {

/// The sum of the unit rows of each group, by groups, so that labels need not add them up again.
struct GroupSums {
  std::vector<int64_t> indptr;
  std::vector<int32_t> features;
  std::vector<double> values;
};

template <class Rows>
class Learner {
 public:
  /// `sums` may be null. `spread`: how far two unit rows can lie apart; √2 if no value is negative, else 2.
  Learner(const Rows& rows, const Grouping& grouping, const EagleSettings& settings, const GroupSums* sums, double spread)
      : rows_(rows), grouping_(grouping), settings_(settings), sums_(sums), spread_(spread), direction_(rows) {}

  /// Lays out the samples of the groups that all labels of the family have.
  void begin_family(int64_t family) {
    label_ = grouping_.members[grouping_.family_indptr[family]];
    everywhere_ = grouping_.everywhere[family] != 0;
    samples_.clear();
    starts_.assign(1, 0);
    for (int64_t p = grouping_.label_indptr[label_]; p < grouping_.label_indptr[label_ + 1]; ++p) {
      const int32_t group = grouping_.groups[p];
      samples_.insert(samples_.end(), grouping_.samples + grouping_.group_indptr[group],
                      grouping_.samples + grouping_.group_indptr[group + 1]);
      starts_.push_back(static_cast<int64_t>(samples_.size()));
    }
    taken_.assign(samples_.size(), 0);
    int64_t entries = 0;
    for (const int32_t row : samples_) entries += rows_.entries(row);
    crowded_ = entries > rows_.n_cols();
  }

  /// Learns the direction of the family's label number `rank` and finds its samples (rising, unique).
  void learn(int64_t rank, std::vector<int32_t>& found) {
    direction_.clear(crowded_);
    background_ = nullptr;
    scores_.assign(samples_.size(), 0.0f);
    if (!contrast()) {
      start(rank);
      take_steps();
    }
    found.clear();
    if (direction_.length() > 0.0) score([](int64_t) { return true; });
    for (int64_t g = 0; g < n_groups(); ++g) take_nearest(g, found);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
  }

  /// The direction learnt, in float32: visit(feature, value), without zeros.
  template <class Visit>
  void each(Visit visit) const {
    const double length = direction_.length();
    if (!(length > 0.0)) return;
    direction_.each([&](int32_t f, double u) {
      const auto value = static_cast<float>(u / length);
      if (value != 0.0f) visit(f, value);
    });
  }

 private:
  // Scores are sums in float32; those that are closer than kNear are summed again in double, and are ties within kTie.
  static constexpr double kNear = 4e-6, kTie = 1e-9;

  int64_t n_groups() const { return static_cast<int64_t>(starts_.size()) - 1; }
  int32_t count(int64_t group) const { return grouping_.counts[grouping_.label_indptr[label_] + group]; }
  int32_t group(int64_t g) const { return grouping_.groups[grouping_.label_indptr[label_] + g]; }

  void start_with_group(int64_t g, double times) {
    if (sums_ == nullptr) {
      for (int64_t i = starts_[g]; i < starts_[g + 1]; ++i) direction_.start_with(samples_[i], times);
      return;
    }
    const int64_t begin = sums_->indptr[group(g)];
    direction_.start_with(sums_->features.data() + begin, sums_->values.data() + begin, sums_->indptr[group(g) + 1] - begin,
                          times);
  }

  /// Points along the mean of the groups' samples less that of all. False where that says nothing.
  bool contrast() {
    if (settings_.feature_weights == nullptr || everywhere_) return false;
    double total = 0.0;
    for (int64_t g = 0; g < n_groups(); ++g) {
      start_with_group(g, count(g));
      total += static_cast<double>(count(g)) * static_cast<double>(starts_[g + 1] - starts_[g]);
    }
    if (!direction_.begin(total)) {
      direction_.clear(crowded_);
      return false;
    }
    direction_.scale_features(settings_.feature_weights, 1.0 / total);
    direction_.begin(1.0);
    background_ = settings_.background;
    return true;
  }

  /// The sum of all samples. Where it is nothing, or where all groups have the label and so have its whole family, the
  /// family's labels start apart: each from the samples that those before it have left.
  void start(int64_t rank) {
    const bool left = std::find(taken_.begin(), taken_.end(), 0) != taken_.end();
    if (rank > 0 && everywhere_ && left) {
      for (size_t i = 0; i < samples_.size(); ++i)
        if (taken_[i] == 0) direction_.start_with(samples_[i], 1.0);
    } else {
      for (int64_t g = 0; g < n_groups(); ++g) start_with_group(g, 1.0);
    }
    if (direction_.begin(static_cast<double>(samples_.size()))) return;
    direction_.clear(crowded_);
    std::vector<int32_t> usable;  // a group's samples that are not all zero
    for (int64_t g = 0; g < n_groups() && usable.empty(); ++g)
      std::copy_if(samples_.begin() + starts_[g], samples_.begin() + starts_[g + 1], std::back_inserter(usable),
                   [&](int32_t row) { return rows_.squared_length(row) > 0.0; });
    if (usable.empty()) return;
    direction_.start_with(usable[static_cast<size_t>(rank) % usable.size()], 1.0);
    direction_.begin(1.0);
  }

  /// A group whose best sample leads by more than e has moved since need not be looked at again.
  void take_steps() {
    if (!(direction_.length() > 0.0)) return;
    safe_until_.assign(static_cast<size_t>(n_groups()), -1.0);
    chosen_.assign(samples_.size(), 0);
    double moved = 0.0;
    for (int64_t t = 0; t < settings_.steps; ++t) {
      score([&](int64_t g) { return moved > safe_until_[g]; });
      for (int64_t g = 0; g < n_groups(); ++g)
        if (moved > safe_until_[g]) choose_nearest(g, moved);
      const double step = direction_.step(settings_.rate);
      if (step == 0.0) break;  // nowhere to go
      moved += step;
    }
  }

  /// Scores the samples of the groups that are wanted, run by run.
  template <class Wanted>
  void score(Wanted wanted) {
    const float* e = nullptr;
    for (int64_t g = 0; g < n_groups();) {
      int64_t end = g;
      while (end < n_groups() && wanted(end)) ++end;
      if (end > g) {
        if (e == nullptr) e = direction_.flat();
        rows_.scores(samples_.data() + starts_[g], starts_[end] - starts_[g], e, scores_.data() + starts_[g]);
      }
      g = end + 1;
    }
    if (e == nullptr || background_ == nullptr) return;
    const double length = direction_.length();
    for (size_t i = 0; i < samples_.size(); ++i) scores_[i] -= static_cast<float>(background_[samples_[i]] / length);
  }

  double exact_score(int64_t i) const {
    const double along = direction_.dot(samples_[i]);
    return (along - (background_ == nullptr ? 0.0 : background_[samples_[i]])) / direction_.length();
  }

  /// The best samples of a group, `nearest_`, which are ties; and how far the next one is behind.
  double find_nearest(int64_t group) {
    const int64_t begin = starts_[group], end = starts_[group + 1];
    const float best = end > begin ? *std::max_element(scores_.begin() + begin, scores_.begin() + end) : 0.0f;
    double lead = std::numeric_limits<double>::infinity();
    nearest_.clear();
    for (int64_t i = begin; i < end; ++i) {
      const double behind = static_cast<double>(best) - scores_[i];
      if (behind <= kNear) nearest_.push_back(i);
      else lead = std::min(lead, behind);
    }
    lead = std::max(0.0, lead - 2 * kNear);
    if (nearest_.size() < 2) return lead;
    exact_.clear();
    for (const int64_t i : nearest_) exact_.push_back(exact_score(i));
    const double top = *std::max_element(exact_.begin(), exact_.end());
    size_t kept = 0;
    for (size_t i = 0; i < nearest_.size(); ++i) {
      if (exact_[i] >= top - kTie) nearest_[kept++] = nearest_[i];
      else lead = 0.0;
    }
    nearest_.resize(kept);
    return kept > 1 ? 0.0 : lead;  // ties may part at the next step
  }

  void choose_nearest(int64_t group, double moved) {
    safe_until_[group] = moved + find_nearest(group) / spread_;
    auto next = nearest_.cbegin();
    for (int64_t i = starts_[group]; i < starts_[group + 1]; ++i) {
      const bool now = next != nearest_.cend() && *next == i;
      if (now) ++next;
      if (now != (chosen_[i] != 0)) direction_.choose(samples_[i], now ? 1.0 : -1.0);
      chosen_[i] = now;
    }
  }

  /// The label's samples in a group: as many as the group has the label, the nearest first, the earlier of equals.
  void take_nearest(int64_t group, std::vector<int32_t>& found) {
    const int64_t begin = starts_[group], size = starts_[group + 1] - begin;
    const int64_t wanted = std::min<int64_t>(count(group), size);
    if (size == 0) return;
    if (wanted == 1) {
      find_nearest(group);
    } else {
      nearest_.resize(static_cast<size_t>(size));
      std::iota(nearest_.begin(), nearest_.end(), begin);
    }
    if (wanted > 1 && wanted < size) {
      exact_.resize(static_cast<size_t>(size));
      for (int64_t i = 0; i < size; ++i) exact_[i] = std::floor(exact_score(begin + i) / kTie);
      std::partial_sort(nearest_.begin(), nearest_.begin() + wanted, nearest_.end(), [&](int64_t a, int64_t b) {
        const double left = exact_[a - begin], right = exact_[b - begin];
        return left != right ? left > right : a < b;
      });
    }
    for (int64_t i = 0; i < wanted; ++i) {
      taken_[nearest_[i]] = 1;
      found.push_back(samples_[nearest_[i]]);
    }
  }

  const Rows& rows_;
  const Grouping& grouping_;
  const EagleSettings& settings_;
  const GroupSums* const sums_;
  const double spread_;
  Direction<Rows> direction_;
  const double* background_ = nullptr;  // while the direction is a contrast
  int64_t label_ = 0;                   // any of the family: their groups are the same
  bool everywhere_ = false, crowded_ = false;
  std::vector<int32_t> samples_;  // of all groups of the family
  std::vector<int64_t> starts_;   // where each group begins in samples_
  std::vector<float> scores_;
  std::vector<uint8_t> chosen_, taken_;
  std::vector<double> safe_until_, exact_;
  std::vector<int64_t> nearest_;
};

}  // namespace longtail
