// See solver.hpp. Weights are laid out [feature][16 labels]: one cache line a feature, one pass over the rows for all
// sixteen labels. Lanes that have converged are masked out.
#include "linear/solver.hpp"

#include <algorithm>
#include <limits>

#include "core/bits.hpp"
#include "core/random.hpp"
#include "core/simd_headers.hpp"

#include "core/isa_begin.hpp"
#include "core/simd16.hpp"

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

template <bool dense>
inline const float* weights_of(const float* weights, const Row& row, int64_t p) {
  return weights + 16 * static_cast<size_t>(dense ? p : row.index[p]);
}

// Four sums side by side hide the latency of addition; their order is part of the result.
template <bool dense>
inline F16x dot(const float* weights, const Row& row, F16x start) {
  F16x a = start, b = fill(0.0f), c = fill(0.0f), d = fill(0.0f);
  int64_t p = 0;
  for (; p + 4 <= row.n; p += 4) {
    a = a + load(weights_of<dense>(weights, row, p)) * fill(row.value[p]);
    b = b + load(weights_of<dense>(weights, row, p + 1)) * fill(row.value[p + 1]);
    c = c + load(weights_of<dense>(weights, row, p + 2)) * fill(row.value[p + 2]);
    d = d + load(weights_of<dense>(weights, row, p + 3)) * fill(row.value[p + 3]);
  }
  for (; p < row.n; ++p) a = a + load(weights_of<dense>(weights, row, p)) * fill(row.value[p]);
  return (a + b) + (c + d);
}

template <bool dense>
inline void add_row(float* weights, const Row& row, F16x step) {
  for (int64_t p = 0; p < row.n; ++p) {
    float* w = weights + 16 * static_cast<size_t>(dense ? p : row.index[p]);
    store(w, load(w) + step * fill(row.value[p]));
  }
}

// The weights of a row are spread over memory, and for many features they lie beyond the second cache: rows that come up
// soon are fetched while this one is worked on.
constexpr int64_t kAhead = 4;
constexpr int64_t kFetchedEntries = 64;

template <bool dense>
inline void fetch_row(const NodeRows& rows, int64_t i, const float* weights, const float* dual) {
  prefetch(dual + 16 * i);
  if (dense) return;
  const int64_t begin = rows.row_ptr[i];
  const int64_t end = std::min(rows.row_ptr[i + 1], begin + kFetchedEntries);
  for (int64_t p = begin; p < end; ++p) prefetch(weights + 16 * static_cast<size_t>(rows.index[p]));
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
    if (positive[i] != 0) add_row<dense>(weights, row_at<dense>(rows, i), cost_if);
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
struct SquaredHinge {
  template <bool dense>
  static void start(const NodeRows& rows, const uint16_t* positive, float bias, float* weights, float* dual) {
    start_evenly<dense>(rows, positive, bias, weights, dual);
  }

  F16x lowest = fill(std::numeric_limits<float>::infinity());
  F16x highest = fill(-std::numeric_limits<float>::infinity());
  Mask unfinished(float tol) const { return greater(highest - lowest, fill(tol)); }

  /// `margin` is without what the row's own features add.
  inline F16x step(F16x margin, F16x sign, F16x& alpha, float cost, float square_norm, float own, Mask active) {
    const float diagonal = 0.5f / cost;
    const F16x zero = fill(0.0f);
    const F16x gradient = (sign * margin - fill(1.0f)) + alpha * fill(diagonal + own);
    const Mask at_bound = ~greater(alpha, zero) & kAllLanes;
    const F16x projected = blend(at_bound, gradient, min(gradient, zero));
    lowest = min(lowest, projected);
    highest = max(highest, projected);
    const F16x next = max(alpha - gradient * fill(1.0f / (square_norm + diagonal)), zero);
    const F16x change = keep(active, next - alpha);
    alpha = alpha + change;
    return change * sign;
  }

  static F16x alpha_of(F16x alpha, float) { return alpha; }
};

/// One row of the logistic loss's dual: 0 < α < c. It is kept as u with α = c·sigmoid(u), in which the gradient is
/// u + y·w·x, and the one-dimensional problem has a root that a few guarded Newton steps find.
struct Logistic {
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

template <class LossStep, bool dense>
int solve(const NodeRows& rows, const uint16_t* positive, Mask lanes, const SolverParams& params, uint64_t seed,
          float* weights, float* dual) {
  float* bias_weights = weights + 16 * static_cast<size_t>(rows.n_features);
  LossStep::template start<dense>(rows, positive, params.bias, weights, dual);

  const int64_t n_runs = (rows.n_rows + kRun - 1) / kRun;
  std::vector<int64_t> runs(static_cast<size_t>(n_runs));
  for (int64_t r = 0; r < n_runs; ++r) runs[static_cast<size_t>(r)] = r;
  Random random(seed);
  const F16x bias = fill(params.bias);
  Mask active = lanes;
  int pass = 0;
  while (pass < params.max_iter && active != 0) {
    ++pass;
    random.shuffle(runs.data(), n_runs);
    LossStep loss;
    for (int64_t r = 0; r < n_runs; ++r) {
      if (r % kRunsPerLook == 0 && params.stop != nullptr && *params.stop) return pass;
      const int64_t begin = runs[static_cast<size_t>(r)] * kRun;
      const int64_t end = std::min(begin + kRun, rows.n_rows);
      const int64_t following = r + 1 < n_runs ? runs[static_cast<size_t>(r + 1)] * kRun : begin;
      for (int64_t i = begin; i < end; ++i) {
        const int64_t ahead = i + kAhead < end ? i + kAhead : std::min(following + (i + kAhead - end), rows.n_rows - 1);
        fetch_row<dense>(rows, ahead, weights, dual);
        const Row row = row_at<dense>(rows, i);
        const F16x margin = dot<dense>(weights, row, load(bias_weights) * bias);
        const F16x sign = blend(positive[i], fill(-1.0f), fill(1.0f));
        F16x alpha = load(dual + 16 * i);
        const F16x step = loss.step(margin, sign, alpha, rows.cost[i], rows.square_norm[i], rows.own[i], active);
        if (greater(abs(step), fill(0.0f)) == 0) continue;
        store(dual + 16 * i, alpha);
        add_row<dense>(weights, row, step);
        store(bias_weights, load(bias_weights) + step * bias);
      }
    }
    active &= loss.unfinished(params.tol);
  }
  for (int64_t i = 0; i < rows.n_rows; ++i) {
    const F16x sign = blend(positive[i], fill(-1.0f), fill(1.0f));
    store(dual + 16 * i, LossStep::alpha_of(load(dual + 16 * i), rows.cost[i]) * sign);
  }
  return pass;
}

/// The weights of a local feature, of which those of one row are worked out on the spot.
inline F16x weights_at(const NodeRows& rows, const float* weights, const float* dual, int32_t feature) {
  if (feature < rows.n_features) return load(weights + 16 * static_cast<size_t>(feature));
  const auto single = static_cast<size_t>(feature - rows.n_features);
  return load(dual + 16 * static_cast<size_t>(rows.single_row[single])) * fill(rows.single_value[single]);
}

}  // namespace

int solve_block(const NodeRows& rows, const uint16_t* positive, uint32_t lanes, const SolverParams& params,
                uint64_t seed, float* weights, float* dual) {
  if (params.loss == Loss::logistic)
    return rows.dense ? solve<Logistic, true>(rows, positive, lanes, params, seed, weights, dual)
                      : solve<Logistic, false>(rows, positive, lanes, params, seed, weights, dual);
  return rows.dense ? solve<SquaredHinge, true>(rows, positive, lanes, params, seed, weights, dual)
                    : solve<SquaredHinge, false>(rows, positive, lanes, params, seed, weights, dual);
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
