// See solver.hpp. Weights are laid out [feature][16 labels]: one cache line a feature, one pass over the rows for all
// sixteen labels. Lanes that have converged are masked out; once half of them or more are, or if there never were more than
// eight, those at work are repacked into eight or four lanes. A lane's arithmetic is the same in every width.
#include "linear/solver.hpp"

#include <algorithm>
#include <limits>

#include "core/bits.hpp"
#include "core/random.hpp"
#include "core/simd_headers.hpp"

#include "core/isa_begin.hpp"
#include "core/simd16.hpp"
#include "core/simd_narrow.hpp"

namespace longtail {
namespace LT_ISA {

namespace {

// Rows were shuffled when they were gathered. A pass visits runs of them in a new random order: nearly as random as
// single rows, and the memory is read in streams.
constexpr int64_t kRun = 16;
// How many runs pass between two looks at whether to stop: a millisecond or so.
constexpr int64_t kRunsPerLook = 256;

struct Row {
  const uint32_t* index;
  const float* value;
  int64_t n;
};

template <bool dense>
inline Row row_at(const NodeRows& rows, int64_t i) {
  if (dense) return {nullptr, rows.value.data() + i * rows.n_features, rows.n_features};
  const int64_t begin = rows.row_ptr[i];
  return {rows.index.data() + begin, rows.value.data() + begin, rows.row_ptr[i + 1] - begin};
}

template <class V, bool dense>
inline const float* weights_of(const float* weights, const Row& row, int64_t p) {
  return weights + kWidth<V> * static_cast<size_t>(dense ? p : row.index[p]);
}

// Four sums side by side hide the latency of addition; their order is part of the result.
template <class V, bool dense>
inline V dot(const float* weights, const Row& row, V start) {
  const V zero = fill_lanes<V>(0.0f);
  V a = start, b = zero, c = zero, d = zero;
  const auto product = [&](int64_t p) {
    return load_lanes<V>(weights_of<V, dense>(weights, row, p)) * fill_lanes<V>(row.value[p]);
  };
  int64_t p = 0;
  for (; p + 4 <= row.n; p += 4) {
    a = a + product(p);
    b = b + product(p + 1);
    c = c + product(p + 2);
    d = d + product(p + 3);
  }
  for (; p < row.n; ++p) a = a + product(p);
  return (a + b) + (c + d);
}

template <class V, bool dense>
inline void add_row(float* weights, const Row& row, V step) {
  for (int64_t p = 0; p < row.n; ++p) {
    float* w = weights + kWidth<V> * static_cast<size_t>(dense ? p : row.index[p]);
    store(w, load_lanes<V>(w) + step * fill_lanes<V>(row.value[p]));
  }
}

// The weights of a row are spread over memory, and for many features they lie beyond the second cache: rows that come up
// soon are fetched while this one is worked on.
constexpr int64_t kAhead = 4;
constexpr int64_t kFetchedEntries = 64;
constexpr int64_t kNearBytes = int64_t{1} << 18;  // weights so few are near enough; fetching them takes longer than it saves

template <class V, bool dense>
inline void fetch_row(const NodeRows& rows, int64_t i, const float* weights, const float* dual) {
  prefetch(dual + kWidth<V> * i);
  if (dense) return;
  const int64_t begin = rows.row_ptr[i];
  const int64_t end = std::min(rows.row_ptr[i + 1], begin + kFetchedEntries);
  for (int64_t p = begin; p < end; ++p) prefetch(weights + kWidth<V> * static_cast<size_t>(rows.index[p]));
}

/// Sums over rows of one kind, lane by lane: what the best common α depends on.
struct Side {
  F16x cost = fill(0.0f);    // Σ c
  F16x square = fill(0.0f);  // ‖Σ c·x‖²
};

/// Starts from the best dual point at which all positive rows of a lane have the same α/c, and all negative ones.
///
/// From zero, the first rows of the first pass would take all the weight on the bias and on frequent features, and many
/// passes would go by until it is shared out again.
template <bool dense>
void start_evenly(const NodeRows& rows, const uint16_t* positive, float bias, float* weights, float* dual) {
  const F16x zero = fill(0.0f);
  const size_t n_weights = (static_cast<size_t>(rows.n_features) + 1) * 16;
  std::fill(weights, weights + n_weights, 0.0f);
  float* bias_weights = weights + n_weights - 16;
  Side pos, neg;
  for (int64_t i = 0; i < rows.n_rows; ++i) {
    const F16x cost = fill(rows.cost[i]), own = fill(rows.cost[i] * rows.cost[i] * rows.own[i]);
    const F16x cost_if = keep(positive[i], cost), own_if = keep(positive[i], own);
    pos.cost = pos.cost + cost_if;
    pos.square = pos.square + own_if;
    neg.cost = neg.cost + (cost - cost_if);
    neg.square = neg.square + (own - own_if);
    if (positive[i] != 0) add_row<F16x, dense>(weights, row_at<dense>(rows, i), cost_if);
  }
  store(bias_weights, pos.cost * fill(bias));
  F16x across = zero;
  const auto add = [&](const F16x p, const F16x n) {
    pos.square = pos.square + p * p;
    neg.square = neg.square + n * n;
    across = across + p * n;
  };
  for (int32_t f = 0; f < rows.n_features; ++f) {
    const F16x p = load(weights + 16 * static_cast<size_t>(f));
    add(p, fill(rows.sum[f]) - p);
  }
  add(pos.cost * fill(bias), neg.cost * fill(bias));

  // The quadratic problem in the two values, its gradient set to zero; a value below zero is at its bound.
  const F16x a = pos.square + pos.cost * fill(0.5f), d = neg.square + neg.cost * fill(0.5f);
  const F16x tiny = fill(1e-30f);
  const F16x determinant = max(a * d - across * across, tiny);
  F16x p = (pos.cost * d + neg.cost * across) / determinant, n = (neg.cost * a + pos.cost * across) / determinant;
  const Mask no_p = ~greater(p, zero) | ~greater(a, zero), no_n = ~greater(n, zero) | ~greater(d, zero);
  const F16x p_alone = pos.cost / max(a, tiny), n_alone = neg.cost / max(d, tiny);
  p = blend(no_p & kAllLanes, blend(no_n & kAllLanes, p, p_alone), zero);
  n = blend(no_n & kAllLanes, blend(no_p & kAllLanes, n, n_alone), zero);

  const F16x both = p + n;
  for (int32_t f = 0; f < rows.n_features; ++f) {
    float* w = weights + 16 * static_cast<size_t>(f);
    store(w, load(w) * both - fill(rows.sum[f]) * n);
  }
  store(bias_weights, (pos.cost * p - neg.cost * n) * fill(bias));
  for (int64_t i = 0; i < rows.n_rows; ++i) store(dual + 16 * i, blend(positive[i], n, p) * fill(rows.cost[i]));
}

/// One row of the squared hinge's dual: 0 ≤ α, gradient y·w·x - 1 + α/(2c).
template <class V>
struct SquaredHinge {
  using Vector = V;
  template <class W>
  using Of = SquaredHinge<W>;  // the same in another width
  static constexpr bool kNarrows = true;

  template <bool dense>
  static void start(const NodeRows& rows, const uint16_t* positive, float bias, float* weights, float* dual) {
    start_evenly<dense>(rows, positive, bias, weights, dual);
  }

  static V all(float x) { return fill_lanes<V>(x); }

  V lowest = all(std::numeric_limits<float>::infinity());
  V highest = all(-std::numeric_limits<float>::infinity());
  Mask unfinished(float tol) const { return greater(highest - lowest, all(tol)); }

  /// `margin` is without what the row's own features add.
  inline V step(V margin, V sign, V& alpha, float cost, float square_norm, float own, Mask active) {
    const float diagonal = 0.5f / cost;
    const V zero = all(0.0f);
    const V gradient = (sign * margin - all(1.0f)) + alpha * all(diagonal + own);
    const Mask at_bound = ~greater(alpha, zero) & kAllLanes;
    const V projected = blend(at_bound, gradient, min(gradient, zero));
    lowest = min(lowest, projected);
    highest = max(highest, projected);
    const V next = max(alpha - gradient * all(1.0f / (square_norm + diagonal)), zero);
    const V change = keep(active, next - alpha);
    alpha = alpha + change;
    return change * sign;
  }

  static F16x alpha_of(F16x alpha, float) { return alpha; }
};

/// One row of the logistic loss's dual: 0 < α < c. It is kept as u with α = c·sigmoid(u), in which the gradient is
/// u + y·w·x, and the one-dimensional problem has a root that a few guarded Newton steps find.
struct Logistic {
  using Vector = F16x;
  static constexpr bool kNarrows = false;  // its time goes into exponentials, and few ask for it

  static F16x start() { return fill(-20.0f); }
  template <bool>
  static void start(const NodeRows& rows, const uint16_t*, float, float* weights, float* dual) {
    std::fill(weights, weights + 16 * (static_cast<size_t>(rows.n_features) + 1), 0.0f);
    for (int64_t i = 0; i < rows.n_rows; ++i) store(dual + 16 * i, start());
  }

  F16x largest = fill(0.0f);
  Mask unfinished(float tol) const { return greater(largest, fill(tol)); }

  inline F16x step(F16x margin, F16x sign, F16x& u, float cost, float square_norm, float own, Mask active) {
    const F16x old = alpha_of(u, cost);
    const F16x signed_margin = sign * margin + old * fill(own);
    const F16x gradient = u + signed_margin;
    // At the starting value α is zero as far as floats can tell, and only a wish to grow counts.
    const Mask at_start = ~greater(u, start()) & kAllLanes;
    const F16x projected = blend(at_start, gradient, min(gradient, fill(0.0f)));
    largest = max(largest, abs(projected));
    if ((greater(abs(projected), fill(1e-6f)) & active) == 0) return fill(0.0f);

    const F16x base = signed_margin - old * fill(square_norm);
    F16x low = fill(0.0f) - base - fill(square_norm * cost), high = fill(0.0f) - base;
    F16x v = min(max(u, low), high);
    for (int i = 0; i < 12; ++i) {
      const F16x e = exp(fill(0.0f) - abs(v));
      const F16x tail = e / (fill(1.0f) + e);  // sigmoid(-|v|)
      const F16x s = blend(greater(v, fill(0.0f)), tail, fill(1.0f) - tail);
      const F16x value = (v + base) + s * fill(square_norm * cost);
      const F16x slope = fill(1.0f) + (tail * (fill(1.0f) - tail)) * fill(square_norm * cost);
      const Mask above = greater(value, fill(0.0f));
      high = blend(above, high, v);
      low = blend(above, v, low);
      F16x next = v - value / slope;
      const Mask outside = greater(low, next) | greater(next, high);
      next = blend(outside, next, (low + high) * fill(0.5f));
      const Mask moving = greater(abs(next - v), fill(1e-5f) * max(abs(v), fill(1.0f))) & active;
      v = next;
      if (moving == 0) break;
    }
    v = max(v, start());
    v = blend(active, u, v);
    const F16x change = keep(active, alpha_of(v, cost) - old);
    u = v;
    return change * sign;
  }

  static inline F16x alpha_of(F16x u, float cost) {
    const F16x e = exp(fill(0.0f) - abs(u));
    const F16x tail = e / (fill(1.0f) + e);
    const F16x alpha = blend(greater(u, fill(0.0f)), tail, fill(1.0f) - tail) * fill(cost);
    return keep(greater(u, start()), alpha);
  }
};

/// Runs of rows in the order of a pass.
class RunOrder {
 public:
  RunOrder(int64_t n_rows, uint64_t seed) : random_(seed), runs_(static_cast<size_t>((n_rows + kRun - 1) / kRun)) {
    for (size_t r = 0; r < runs_.size(); ++r) runs_[r] = static_cast<int64_t>(r);
  }
  void shuffle() { random_.shuffle(runs_.data(), size()); }
  int64_t size() const { return static_cast<int64_t>(runs_.size()); }
  int64_t first_row(int64_t r) const { return runs_[static_cast<size_t>(r)] * kRun; }

 private:
  Random random_;
  std::vector<int64_t> runs_;
};

/// Where a block stands.
struct Progress {
  RunOrder order;
  int pass = 0;
  Mask active;  // lanes at work
};

/// Passes over the rows until no more than `few` lanes are at work.
template <class LossStep, bool dense>
void descend(const NodeRows& rows, const uint16_t* positive, const SolverParams& params, int few, Progress& now,
             float* weights, float* dual) {
  using V = typename LossStep::Vector;
  constexpr int width = kWidth<V>;
  float* bias_weights = weights + width * static_cast<size_t>(rows.n_features);
  const V bias = fill_lanes<V>(params.bias), zero = fill_lanes<V>(0.0f), one = fill_lanes<V>(1.0f);
  const V minus_one = fill_lanes<V>(-1.0f);
  RunOrder& order = now.order;
  const bool far = int64_t{width} * rows.n_features * static_cast<int64_t>(sizeof(float)) > kNearBytes;
  while (now.pass < params.max_iter && count_bits(now.active) > few) {
    ++now.pass;
    order.shuffle();
    LossStep loss;
    for (int64_t r = 0; r < order.size(); ++r) {
      if (r % kRunsPerLook == 0 && params.stop != nullptr && *params.stop) {
        now.active = 0;
        return;
      }
      const int64_t begin = order.first_row(r);
      const int64_t end = std::min(begin + kRun, rows.n_rows);
      const int64_t following = r + 1 < order.size() ? order.first_row(r + 1) : begin;
      for (int64_t i = begin; i < end; ++i) {
        const int64_t ahead = i + kAhead < end ? i + kAhead : std::min(following + (i + kAhead - end), rows.n_rows - 1);
        if (far) fetch_row<V, dense>(rows, ahead, weights, dual);
        const Row row = row_at<dense>(rows, i);
        const V margin = dot<V, dense>(weights, row, load_lanes<V>(bias_weights) * bias);
        const V sign = blend(positive[i], minus_one, one);
        V alpha = load_lanes<V>(dual + width * i);
        const V step = loss.step(margin, sign, alpha, rows.cost[i], rows.square_norm[i], rows.own[i], now.active);
        if (greater(abs(step), zero) == 0) continue;
        store(dual + width * i, alpha);
        add_row<V, dense>(weights, row, step);
        store(bias_weights, load_lanes<V>(bias_weights) + step * bias);
      }
    }
    now.active &= loss.unfinished(params.tol);
  }
}

/// The same for the lanes at work alone, repacked. IN/OUT weights, dual: all sixteen lanes.
template <class LossStep, bool dense>
void descend_narrow(const NodeRows& rows, const uint16_t* positive, const SolverParams& params, int few, Progress& now,
                    float* weights, float* dual, const NarrowRoom& room) {
  constexpr int width = kWidth<typename LossStep::Vector>;
  int from[width], n = 0;
  for (Mask rest = now.active; rest != 0; rest &= rest - 1) from[n++] = lowest_bit(rest);
  const auto pack = [&](const float* wide, float* narrow, int64_t count) {
    std::fill(narrow, narrow + width * count, 0.0f);
    for (int64_t i = 0; i < count; ++i)
      for (int lane = 0; lane < n; ++lane) narrow[width * i + lane] = wide[16 * i + from[lane]];
  };
  const auto unpack = [&](const float* narrow, float* wide, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      for (int lane = 0; lane < n; ++lane) wide[16 * i + from[lane]] = narrow[width * i + lane];
  };
  pack(weights, room.weights, int64_t{rows.n_features} + 1);
  pack(dual, room.dual, rows.n_rows);
  for (int64_t i = 0; i < rows.n_rows; ++i) {
    uint16_t packed = 0;
    for (int lane = 0; lane < n; ++lane)
      packed = static_cast<uint16_t>(packed | ((positive[i] >> from[lane]) & 1) << lane);
    room.positive[i] = packed;
  }
  now.active = (Mask{1} << n) - 1;
  descend<LossStep, dense>(rows, room.positive, params, few, now, room.weights, room.dual);
  unpack(room.weights, weights, int64_t{rows.n_features} + 1);
  unpack(room.dual, dual, rows.n_rows);
  Mask still = 0;
  for (int lane = 0; lane < n; ++lane) still |= ((now.active >> lane) & 1) << from[lane];
  now.active = still;
}

template <class LossStep, bool dense>
int solve(const NodeRows& rows, const uint16_t* positive, Mask lanes, const SolverParams& params, uint64_t seed,
          float* weights, float* dual, const NarrowRoom& room) {
  LossStep::template start<dense>(rows, positive, params.bias, weights, dual);
  Progress now{RunOrder(rows.n_rows, seed), 0, lanes};
  descend<LossStep, dense>(rows, positive, params, LossStep::kNarrows ? 8 : 0, now, weights, dual);
  if constexpr (LossStep::kNarrows) {
    const auto goes_on = [&] { return now.active != 0 && now.pass < params.max_iter; };
    if (goes_on() && count_bits(now.active) > 4)
      descend_narrow<typename LossStep::template Of<F8x>, dense>(rows, positive, params, 4, now, weights, dual, room);
    if (goes_on())
      descend_narrow<typename LossStep::template Of<F4x>, dense>(rows, positive, params, 0, now, weights, dual, room);
  }
  for (int64_t i = 0; i < rows.n_rows; ++i) {
    const F16x sign = blend(positive[i], fill(-1.0f), fill(1.0f));
    store(dual + 16 * i, LossStep::alpha_of(load(dual + 16 * i), rows.cost[i]) * sign);
  }
  return now.pass;
}

/// The weights of a local feature, of which those of one row are worked out on the spot.
inline F16x weights_at(const NodeRows& rows, const float* weights, const float* dual, int32_t feature) {
  if (feature < rows.n_features) return load(weights + 16 * static_cast<size_t>(feature));
  const auto single = static_cast<size_t>(feature - rows.n_features);
  return load(dual + 16 * static_cast<size_t>(rows.single_row[single])) * fill(rows.single_value[single]);
}

}  // namespace

int solve_block(const NodeRows& rows, const uint16_t* positive, uint32_t lanes, const SolverParams& params,
                uint64_t seed, float* weights, float* dual, const NarrowRoom& room) {
  if (params.loss == Loss::logistic)
    return rows.dense ? solve<Logistic, true>(rows, positive, lanes, params, seed, weights, dual, room)
                      : solve<Logistic, false>(rows, positive, lanes, params, seed, weights, dual, room);
  return rows.dense ? solve<SquaredHinge<F16x>, true>(rows, positive, lanes, params, seed, weights, dual, room)
                    : solve<SquaredHinge<F16x>, false>(rows, positive, lanes, params, seed, weights, dual, room);
}

void compress_block(const NodeRows& rows, const float* weights, const float* dual, const int32_t* order, int64_t n,
                    float threshold, uint16_t* masks, std::vector<float>& values) {
  int64_t kept = 0;
  for (int64_t i = 0; i < n; ++i) {
    const Mask m = greater(abs(weights_at(rows, weights, dual, order[i])), fill(threshold));
    masks[i] = static_cast<uint16_t>(m);
    kept += count_bits(m);
  }
  values.resize(static_cast<size_t>(kept));
  float* out = values.data();
  alignas(64) float w[16];
  for (int64_t i = 0; i < n; ++i) {
    if (masks[i] == 0) continue;
    store(w, weights_at(rows, weights, dual, order[i]));
    for (Mask rest = masks[i]; rest != 0; rest &= rest - 1) *out++ = w[lowest_bit(rest)];
  }
}

}  // namespace LT_ISA
}  // namespace longtail

#include "core/isa_end.hpp"
