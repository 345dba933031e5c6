// One thread's work: the labels of a family, one after the other.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>
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
    reach_ = kNear;
    if (contrast()) {
      look_past_background();
    } else {
      start(rank);
      take_steps();
    }
    found.clear();
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
  // What an exact score costs and what a look at one sample costs.
  static constexpr double kExactCost = 2.0, kLookCost = 1.3;

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

  void look_past_background() {
    const double length = direction_.length();
    if (!(length > 0.0)) return;
    rows_.scores(samples_.data(), static_cast<int64_t>(samples_.size()), direction_.flat(), scores_.data());
    for (size_t i = 0; i < samples_.size(); ++i) scores_[i] -= static_cast<float>(background_[samples_[i]] / length);
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

  void take_steps() {
    if (!(direction_.length() > 0.0)) return;
    chosen_.assign(samples_.size(), 0);
    look();
    for (int64_t t = 0; t < settings_.steps; ++t) {
      for (int64_t g = 0; g < n_groups(); ++g) choose_nearest(g);
      if (!direction_.step(settings_.rate)) break;
      estimate();
    }
  }

  /// Scores all samples along the direction; and, for estimates of later scores, along the samples chosen.
  void look() {
    const auto n = static_cast<int64_t>(samples_.size());
    along_e_.resize(samples_.size());
    along_chosen_.resize(samples_.size());
    if (direction_.anything_chosen()) {
      rows_.score_pairs(samples_.data(), n, direction_.flat_pairs(), along_e_.data(), along_chosen_.data());
    } else {
      rows_.scores(samples_.data(), n, direction_.flat(), along_e_.data());
      std::fill(along_chosen_.begin(), along_chosen_.end(), 0.0f);
    }
    direction_.refer();
    scores_ = along_e_;
    reach_ = kNear;
    spent_ = 0.0;
  }

  /// Scores without a look at any sample, as far as they follow from the last look; where too many could be the best of their
  /// group by them, another look.
  void estimate() {
    const double of_e = direction_.of_e(), of_chosen = direction_.of_chosen();
    const auto e = static_cast<float>(of_e), c = static_cast<float>(of_chosen);
    for (size_t i = 0; i < scores_.size(); ++i) scores_[i] = e * along_e_[i] + c * along_chosen_[i];
    reach_ = kNear * (of_e + of_chosen) + spread_ * direction_.off();
    for (int64_t g = 0; g < n_groups(); ++g) {
      int64_t near = 0;
      const float least = best(g) - static_cast<float>(reach_);
      for (int64_t i = starts_[g]; i < starts_[g + 1]; ++i) near += scores_[i] >= least;
      if (near > 1) spent_ += kExactCost * static_cast<double>(near);
    }
    if (spent_ > kLookCost * static_cast<double>(samples_.size())) look();
  }

  float best(int64_t group) const {
    float most = -std::numeric_limits<float>::infinity();
    for (int64_t i = starts_[group]; i < starts_[group + 1]; ++i) most = std::max(most, scores_[i]);
    return most;
  }

  double exact_score(int64_t i) const {
    if (!(direction_.length() > 0.0)) return 0.0;
    const double along = direction_.dot(samples_[i]);
    return (along - (background_ == nullptr ? 0.0 : background_[samples_[i]])) / direction_.length();
  }

  /// The best samples of a group, `nearest_`, which are ties.
  void find_nearest(int64_t group) {
    const double least = static_cast<double>(best(group)) - reach_;
    nearest_.clear();
    for (int64_t i = starts_[group]; i < starts_[group + 1]; ++i)
      if (scores_[i] >= least) nearest_.push_back(i);
    if (nearest_.size() < 2) return;
    exact_.clear();
    for (const int64_t i : nearest_) exact_.push_back(exact_score(i));
    const double top = *std::max_element(exact_.begin(), exact_.end());
    size_t kept = 0;
    for (size_t i = 0; i < nearest_.size(); ++i)
      if (exact_[i] >= top - kTie) nearest_[kept++] = nearest_[i];
    nearest_.resize(kept);
  }

  void choose_nearest(int64_t group) {
    find_nearest(group);
    auto next = nearest_.cbegin();
    for (int64_t i = starts_[group]; i < starts_[group + 1]; ++i) {
      const bool now = next != nearest_.cend() && *next == i;
      if (now) ++next;
      if (now != (chosen_[i] != 0)) direction_.choose(samples_[i], now ? 1.0 : -1.0, along_chosen_[i]);
      chosen_[i] = now;
    }
  }

  /// The label's samples in a group: as many as the group has the label, the nearest first, the earlier of equals.
  void take_nearest(int64_t group, std::vector<int32_t>& found) {
    const int64_t begin = starts_[group], size = starts_[group + 1] - begin;
    const int64_t wanted = std::min<int64_t>(count(group), size);
    if (size == 0) return;
    nearest_.clear();
    if (wanted == 1) find_nearest(group);
    else if (wanted < size) find_several(group, wanted);
    else
      for (int64_t i = begin; i < begin + size; ++i) nearest_.push_back(i);
    for (int64_t i = 0; i < wanted; ++i) {
      taken_[nearest_[i]] = 1;
      found.push_back(samples_[nearest_[i]]);
    }
  }

  /// The `wanted` best of a group, `nearest_`, more than one of them. Only those near the last one that is taken are summed
  /// in double.
  void find_several(int64_t group, int64_t wanted) {
    ranked_.assign(scores_.begin() + starts_[group], scores_.begin() + starts_[group + 1]);
    std::nth_element(ranked_.begin(), ranked_.begin() + (wanted - 1), ranked_.end(), std::greater<float>());
    const double last = ranked_[static_cast<size_t>(wanted - 1)], near = reach_ + 2 * kTie;
    doubtful_.clear();
    for (int64_t i = starts_[group]; i < starts_[group + 1]; ++i) {
      if (scores_[i] > last + near) nearest_.push_back(i);
      else if (scores_[i] >= last - near) doubtful_.push_back({0.0, i});
    }
    const int64_t left = wanted - static_cast<int64_t>(nearest_.size());
    if (left < static_cast<int64_t>(doubtful_.size())) {
      for (auto& [score, i] : doubtful_) score = -std::floor(exact_score(i) / kTie);
      std::partial_sort(doubtful_.begin(), doubtful_.begin() + left, doubtful_.end());
    }
    for (int64_t i = 0; i < left; ++i) nearest_.push_back(doubtful_[static_cast<size_t>(i)].second);
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
  std::vector<float> scores_;               // at present; two of one group are right but for reach_ in their difference
  std::vector<float> along_e_, along_chosen_;  // at the last look
  double reach_ = 0.0, spent_ = 0.0;           // spent: on exact scores since the last look
  std::vector<uint8_t> chosen_, taken_;
  std::vector<double> exact_;
  std::vector<int64_t> nearest_;
  std::vector<float> ranked_;
  std::vector<std::pair<double, int64_t>> doubtful_;
};

}  // namespace longtail
