// How an interpolated split weighs labels and cuts them: one knob from balanced 2-means over weighted 2-means to Fano.
//
// In a node of n labels, with f and g (the frequencies of the heads) brought to sum 1 there, label l weighs
//
//   w_l ∝ (2-λ) f_l^min(λ,1) + (λ-1)₊ g_l + γ/n,   Σ w = 1
//
// and the split maximises  Σ_l w_l (2-λ)/2 cos(v_l, μ of its side) + (λ-1)₊/2 Σ_l ±w_l²  with half the weight on either
// side. For given centres that is a linear programme with one constraint, so the labels with the largest
// (2-λ)/2 v_l·(μ₊ - μ₋) + (λ-1)₊ w_l go first until their weight reaches the half, and one label at most is torn. It goes
// where more of it lies; in the middle, where its key points. Weights are summed in whole units, so equal weights tie
// exactly and the order of a sum does not matter.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace longtail {

/// What is known of all labels.
struct LabelMass {
  const double* f;      // [n_labels], finite, >= 0
  const double* power;  // [n_labels], f^min(λ, 1)
  const double* heads;  // [n_labels], finite, >= 0
};

struct Knob {
  double tradeoff;  // λ in [0, 2]
  double gamma;
  bool midpoint;  // false: from 2-means to Fano directly, w_l ∝ (1-λ/2)/n + λ/2 g_l + γ/n and λ/2 in place of (λ-1)₊

  double likeness() const { return (2.0 - tradeoff) / 2.0; }
  double coding() const { return midpoint ? std::max(tradeoff - 1.0, 0.0) : tradeoff / 2.0; }
  double exponent() const { return std::min(tradeoff, 1.0); }
};

class MassRule {
 public:
  struct Key {
    double score;
    int32_t at;
  };
  static constexpr bool kMayFall = true;  // by the torn label

  explicit MassRule(const Knob& knob) : knob_(knob), likeness_(knob.likeness()), coding_(knob.coding()) {}

  /// IN ids [n]: rows; labels: the label of each row, or null. The first side is to get first / parts of the weight.
  void weigh(const LabelMass& mass, const int32_t* ids, const int32_t* labels, int64_t n, int64_t first, int64_t parts) {
    first_ = first, parts_ = parts;
    weight_.resize(static_cast<size_t>(n));
    double f_sum = 0.0, head_sum = 0.0;
    for (int64_t i = 0; i < n; ++i) {
      const int32_t label = labels == nullptr ? ids[i] : labels[ids[i]];
      f_sum += mass.f[label];
      head_sum += mass.heads[label];
    }
    // A node whose labels have no frequency is ruled by the smoothing alone.
    const auto count = static_cast<double>(n);
    const bool powers = knob_.midpoint && (f_sum > kNothing || knob_.exponent() == 0.0);
    const double by_power = powers ? 2.0 * likeness_ * std::pow(std::max(f_sum, kNothing), -knob_.exponent()) : 0.0;
    const double by_head = head_sum > kNothing ? coding_ / head_sum : 0.0;
    const double all = (knob_.gamma + (knob_.midpoint ? 0.0 : likeness_)) / count;
    double sum = 0.0, low = INFINITY, high = 0.0;
    for (int64_t i = 0; i < n; ++i) {
      const int32_t label = labels == nullptr ? ids[i] : labels[ids[i]];
      const double w = (powers ? by_power * mass.power[label] : 0.0) + by_head * mass.heads[label] + all;
      weight_[i] = w;
      sum += w, low = std::min(low, w), high = std::max(high, w);
    }
    if (low == high)  // all alike, or all nothing
      std::fill(weight_.begin(), weight_.end(), 1.0);
    else
      for (double& w : weight_) w *= count / sum;
    count_units();
  }

  Key key(float score, int32_t i) const {
    return {likeness_ * static_cast<double>(score) + coding_ * weight_[i] / static_cast<double>(weight_.size()), i};
  }
  static bool before(const Key& a, const Key& b) { return a.score != b.score ? a.score > b.score : a.at < b.at; }
  /// Of label i, in a scale where the mean is 1.
  double weight(int32_t i) const { return weight_[i]; }
  bool looks_at_rows() const { return likeness_ > 0.0; }

  int64_t cut(std::vector<Key>& keys) const {
    const auto n = static_cast<int64_t>(keys.size());
    // The label that is torn lies in [low, high); those before it weigh `before` units.
    int64_t low = 0, high = n, before = 0;
    while (high - low > 1) {
      const int64_t middle = low + (high - low) / 2;
      std::nth_element(keys.begin() + low, keys.begin() + middle, keys.begin() + high, MassRule::before);
      int64_t inside = 0;
      for (int64_t k = low; k < middle; ++k) inside += units_[keys[k].at];
      if ((before + inside) * parts_ > total_ * first_) {
        high = middle;
      } else {
        before += inside;
        low = middle;
      }
    }
    const int64_t reached = (2 * before + units_[keys[low].at]) * parts_, wanted = 2 * total_ * first_;
    const bool joins = reached < wanted || (reached == wanted && keys[low].score > 0.0);
    return std::clamp<int64_t>(low + (joins ? 1 : 0), 1, n - 1);
  }

  double objective(double plus, double minus, const std::vector<uint8_t>& on_first) const {
    const auto n = static_cast<double>(on_first.size());
    double squares = 0.0;
    if (coding_ > 0.0)
      for (size_t i = 0; i < on_first.size(); ++i) squares += (on_first[i] ? 1.0 : -1.0) * weight_[i] * weight_[i];
    return likeness_ * (plus + minus) / n + coding_ / 2.0 * squares / (n * n);
  }

 private:
  static constexpr double kNothing = 1e-290;            // sums below are no sums: their inverse may overflow
  static constexpr double kUnits = 4503599627370496.0;  // 2^52: times 2 · 64 parts it stays within 63 bits

  void count_units() {
    const double unit = kUnits / static_cast<double>(weight_.size());
    units_.resize(weight_.size());
    total_ = 0;
    for (size_t i = 0; i < weight_.size(); ++i) total_ += units_[i] = std::llround(weight_[i] * unit);
  }

  const Knob knob_;
  const double likeness_, coding_;
  int64_t first_ = 1, parts_ = 2, total_ = 0;
  std::vector<double> weight_;
  std::vector<int64_t> units_;
};

}  // namespace longtail
