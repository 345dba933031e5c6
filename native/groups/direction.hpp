// The direction of one label while it is learnt.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/bits.hpp"
#include "groups/unit_rows.hpp"

namespace longtail {

/// e = u / |u| with u = rest + weight * chosen, where `chosen` is the sum of the samples taken at present. A step changes
/// only `weight`, so it costs nothing per feature; a sample that is taken or let go costs its own entries.
template <class Rows>
class Direction {
 public:
  explicit Direction(const Rows& rows) : rows_(rows) {
    const auto n = static_cast<size_t>(rows.n_cols());
    w_.resize(n);
    flat_.resize(n);
    words_.resize((n + 63) / 64);
    summary_.resize((words_.size() + 63) / 64);
  }

  /// Back to nothing. `crowded`: most features will be touched, so it does not pay to note which.
  void clear(bool crowded) {
    visit_touched([&](size_t f) {
      w_[f] = Halves{};
      flat_[f] = 0.0f;
      if (!pairs_.empty()) pairs_[2 * f] = pairs_[2 * f + 1] = 0.0f;
    });
    for (size_t s = 0; s < summary_.size(); ++s) {
      for (uint64_t upper = summary_[s]; upper != 0; upper &= upper - 1)
        words_[s * 64 + static_cast<size_t>(lowest_bit(upper))] = 0;
      summary_[s] = 0;
    }
    crowded_ = crowded;
    weight_ = u2_ = g2_ = ug_ = 0.0;
    reference_ = Reference{};
  }

  /// Adds values of features to the start, `times` over.
  void start_with(const int32_t* features, const double* values, int64_t n, double times) {
    if (crowded_) {
      for (int64_t i = 0; i < n; ++i) w_[static_cast<uint32_t>(features[i])].rest += times * values[i];
    } else {
      for (int64_t i = 0; i < n; ++i) touch(features[i]).rest += times * values[i];
    }
  }
  /// Adds a row to the start, `times` over.
  void start_with(int32_t row, double times) {
    rows_.each(row, [&](int32_t f, double v) { touch(f).rest += times * v; });
  }

  /// The start is complete: `total` rows. False when they cancel out, so that the start says nothing.
  bool begin(double total) {
    u2_ = 0.0;
    each([&](int32_t, double u) { u2_ += u * u; });
    return u2_ > 1e-14 * total * total;
  }

  /// Multiplies every feature touched.
  void scale_features(const double* factors, double by) {
    visit_touched([&](size_t f) { w_[f].rest *= factors[f] * by; });
  }

  double length() const { return std::sqrt(u2_); }
  /// The inner product of a unit row with u.
  double dot(int32_t row) const {
    const Halves h = rows_.dot(row, w_.data());
    return h.rest + weight_ * h.chosen;
  }

  /// e in float32, by features; good until the next change.
  const float* flat() {
    const double by = 1.0 / length();
    each([&](int32_t f, double u) { flat_[static_cast<size_t>(f)] = static_cast<float>(u * by); });
    return flat_.data();
  }
  /// e and unit(chosen) side by side, likewise; the latter zeros if what is chosen cancels out.
  const float* flat_pairs() {
    pairs_.resize(2 * w_.size());
    const double by = 1.0 / length(), chosen_by = g2_ > kNothing ? 1.0 / std::sqrt(g2_) : 0.0;
    visit_touched([&](size_t f) {
      pairs_[2 * f] = static_cast<float>((w_[f].rest + weight_ * w_[f].chosen) * by);
      pairs_[2 * f + 1] = static_cast<float>(w_[f].chosen * chosen_by);
    });
    return pairs_.data();
  }
  bool anything_chosen() const { return g2_ > kNothing; }

  /// The present e and unit(chosen) become the reference.
  void refer() {
    reference_ = Reference{};
    reference_.e = length();
    reference_.length = g2_ > kNothing ? std::sqrt(g2_) : 0.0;
    reference_.drift2 = g2_ > kNothing ? 0.0 : std::max(g2_, 0.0);
  }
  /// An inner product with e is e() times that with the e of the reference, chosen() times that with its unit(chosen), and
  /// a part that is off() at most for a vector of length 1.
  double of_e() const { return reference_.e / length(); }
  double of_chosen() const { return reference_.weight * reference_.length / length(); }
  double off() const { return reference_.off / length(); }

  /// Takes a sample (sign 1) or lets it go (sign -1); e stays. IN along: its inner product with the reference's unit(chosen),
  /// roughly.
  void choose(int32_t row, double sign, double along) {
    const Halves h = rows_.dot(row, w_.data());
    g2_ += 2.0 * sign * h.chosen + rows_.squared_length(row);
    ug_ += sign * (h.rest + weight_ * h.chosen);
    const double changed = h.chosen - along * reference_.length;
    reference_.drift2 += 2.0 * sign * changed + rows_.squared_length(row) + kRough * reference_.length;
    rows_.each(row, [&](int32_t f, double v) {
      Halves& at = touch(f);
      at.chosen += sign * v;
      at.rest -= weight_ * sign * v;
    });
  }

  /// e = unit(e + rate * unit(chosen)). False if the samples taken cancel out, so that there is nowhere to go.
  bool step(double rate) {
    if (!(g2_ > kNothing)) return false;
    const double along = rate * std::sqrt(u2_ / g2_);
    u2_ += 2.0 * along * ug_ + along * along * g2_;
    ug_ += along * g2_;
    weight_ += along;
    reference_.weight += along;
    reference_.off += along * std::sqrt(std::max(reference_.drift2, 0.0));
    if (u2_ > 1e40) shrink();
    return true;
  }

  /// visit(feature, value of u) for every feature touched (and perhaps others, whose value is 0), rising.
  template <class Visit>
  void each(Visit visit) const {
    visit_touched([&](size_t f) { visit(static_cast<int32_t>(f), w_[f].rest + weight_ * w_[f].chosen); });
  }

 private:
  static constexpr double kNothing = 1e-14;  // a squared length
  static constexpr double kRough = 2e-5;     // twice the error of `along`, and more

  /// An earlier state that u is seen from: u = e * (its e) + weight * (its chosen) + a rest no longer than `off`. The rest
  /// is only what was chosen since and was not then, or the other way about: |chosen - its chosen|^2 <= drift2.
  struct Reference {
    double e = 0.0, weight = 0.0, length = 0.0;  // length: of its chosen
    double drift2 = 0.0, off = 0.0;
  };

  /// u becomes e: it grows with every step and must not overflow.
  void shrink() {
    const double by = 1.0 / length();
    visit_touched([&](size_t f) { w_[f].rest *= by; });
    weight_ *= by;
    ug_ *= by;
    u2_ = 1.0;
    reference_.e *= by;
    reference_.weight *= by;
    reference_.off *= by;
  }

  template <class Visit>
  void visit_touched(Visit visit) const {
    if (crowded_) {
      for (size_t f = 0; f < w_.size(); ++f) visit(f);
      return;
    }
    for (size_t s = 0; s < summary_.size(); ++s)
      for (uint64_t upper = summary_[s]; upper != 0; upper &= upper - 1) {
        const size_t at = s * 64 + static_cast<size_t>(lowest_bit(upper));
        for (uint64_t word = words_[at]; word != 0; word &= word - 1)
          visit(at * 64 + static_cast<size_t>(lowest_bit(word)));
      }
  }

  Halves& touch(int32_t feature) {
    const auto f = static_cast<uint32_t>(feature);
    if (crowded_) return w_[f];
    const uint64_t before = words_[f >> 6];
    words_[f >> 6] = before | (uint64_t{1} << (f & 63));
    if (before == 0) summary_[f >> 12] |= uint64_t{1} << ((f >> 6) & 63);
    return w_[f];
  }

  const Rows& rows_;
  std::vector<Halves> w_;    // of every feature; zero but for those touched
  std::vector<float> flat_, pairs_;  // likewise
  std::vector<uint64_t> words_, summary_;  // a bitmap of the features touched, and one of its words
  bool crowded_ = false;
  double weight_ = 0.0;
  double u2_ = 0.0, g2_ = 0.0, ug_ = 0.0;  // |u|², |chosen|², u · chosen
  Reference reference_;
};

}  // namespace longtail
