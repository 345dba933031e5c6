// See sgd.hpp.
#include "softmax/sgd.hpp"

#include <algorithm>

#include "core/bits.hpp"
#include "core/random.hpp"
#include "core/simd_headers.hpp"

#include "core/isa_begin.hpp"
#include "core/simd16.hpp"

namespace longtail {
namespace LT_ISA {

namespace {

// Vectors are worked on in groups of so many registers, which stay in registers over all rows.
#if LT_ISA_LEVEL == 2
constexpr int kWide = 8;
#else
constexpr int kWide = 2;
#endif
// The rows of examples that come up soon are fetched while this one is worked on.
constexpr int64_t kAhead = 2;
constexpr int64_t kFetchedRows = 64;
constexpr int64_t kLineFloats = 16;

template <int K>
inline void zero(F16x (&a)[K]) {
  for (int b = 0; b < K; ++b) a[b] = fill(0.0f);
}

// Calls work<K>(first float) for groups that cover the stride.
template <class Work>
inline void in_groups(int64_t stride, const Work& work) {
  int64_t at = 0;
  for (; at + 16 * kWide <= stride; at += 16 * kWide) work.template run<kWide>(at);
  for (; at < stride; at += 16) work.template run<1>(at);
}

struct Row {
  const int32_t* index;
  const float* value;
  int64_t n;
  float scale;  // 1 / sum of |value|
};

struct Mean {
  const float* input;
  int64_t stride;
  Row row;
  float* hidden;
  template <int K>
  void run(int64_t at) const {
    F16x sum[K];
    zero(sum);
    for (int64_t p = 0; p < row.n; ++p) {
      const float* v = input + row.index[p] * stride + at;
      const F16x weight = fill(row.value[p]);
      for (int b = 0; b < K; ++b) sum[b] = sum[b] + weight * load(v + 16 * b);
    }
    const F16x scale = fill(row.scale);
    for (int b = 0; b < K; ++b) store(hidden + at + 16 * b, sum[b] * scale);
  }
};

struct StepOutput {
  float* output;
  int64_t stride;
  const int64_t* vectors;
  const float* step;
  int64_t n;
  const float* hidden;
  float* gradient;
  template <int K>
  void run(int64_t at) const {
    F16x sum[K], h[K];
    zero(sum);
    for (int b = 0; b < K; ++b) h[b] = load(hidden + at + 16 * b);
    for (int64_t i = 0; i < n; ++i) {
      float* v = output + vectors[i] * stride + at;
      const F16x by = fill(step[i]);
      for (int b = 0; b < K; ++b) {
        const F16x w = load(v + 16 * b);
        sum[b] = sum[b] + by * w;
        store(v + 16 * b, w + by * h[b]);
      }
    }
    for (int b = 0; b < K; ++b) store(gradient + at + 16 * b, sum[b]);
  }
};

struct StepInput {
  float* input;
  int64_t stride;
  Row row;
  const float* gradient;
  template <int K>
  void run(int64_t at) const {
    F16x g[K];
    for (int b = 0; b < K; ++b) g[b] = load(gradient + at + 16 * b);
    for (int64_t p = 0; p < row.n; ++p) {
      float* v = input + row.index[p] * stride + at;
      const F16x by = fill(row.value[p] * row.scale);
      for (int b = 0; b < K; ++b) store(v + 16 * b, load(v + 16 * b) + by * g[b]);
    }
  }
};

inline float dot(const float* a, const float* b, int64_t stride) {
  F16x s = fill(0.0f), t = fill(0.0f);
  int64_t at = 0;
  for (; at + 32 <= stride; at += 32) {
    s = s + load(a + at) * load(b + at);
    t = t + load(a + at + 16) * load(b + at + 16);
  }
  if (at < stride) s = s + load(a + at) * load(b + at);
  return sum_lanes(s + t);
}

// Steps of n logistic decisions; the target of i is `target(i)`. Gives the loss.
template <class Target>
inline double logistic_steps(const float* margin, int64_t n, float rate, const Target& target, float* step) {
  double loss = 0.0;
  for (int64_t first = 0; first < n; first += 16) {
    alignas(64) float to[16], sign[16], lost[16];
    for (int64_t i = 0; i < 16; ++i) {
      const bool one = first + i < n && target(first + i);
      to[i] = one ? 1.0f : 0.0f;
      sign[i] = one ? 1.0f : -1.0f;
    }
    const F16x z = load(margin + first);
    const F16x p = fill(1.0f) / (fill(1.0f) + exp(fill(0.0f) - z));
    store(step + first, fill(rate) * (load(to) - p));
    store(lost, log_sigmoid(load(sign) * z));
    for (int64_t i = 0; i < std::min<int64_t>(16, n - first); ++i) loss -= static_cast<double>(lost[i]);
  }
  return loss;
}

// Steps of one softmax decision between n; gives the loss.
inline double softmax_steps(const float* margin, int64_t n, float rate, int64_t target, float* step) {
  float largest = margin[0];
  for (int64_t i = 1; i < n; ++i) largest = margin[i] > largest ? margin[i] : largest;
  double sum = 0.0;
  for (int64_t first = 0; first < n; first += 16) {
    alignas(64) float powers[16];
    store(powers, exp(load(margin + first) - fill(largest)));
    for (int64_t i = 0; i < std::min<int64_t>(16, n - first); ++i) {
      step[first + i] = powers[i];
      sum += static_cast<double>(powers[i]);
    }
  }
  const auto share = static_cast<float>(1.0 / sum);
  for (int64_t i = 0; i < n; ++i) step[i] = rate * ((i == target ? 1.0f : 0.0f) - step[i] * share);
  return std::log(sum) - (static_cast<double>(margin[target]) - static_cast<double>(largest));
}

// The vectors of all decisions on the path, their margins, and the steps they are to take. Gives their number.
inline int64_t decide(const SgdJob& job, const uint32_t* path, int64_t n_path, const float* hidden, float rate,
                      SgdScratch& s, double& loss) {
  float* margin = s.margin.at_least(0);
  float* step = s.step.at_least(0);
  int64_t* vectors = s.vectors.data();
  if (job.tree->all_binary()) {
    for (int64_t i = 0; i < n_path; ++i) {
      vectors[i] = path[i] >> 1;
      margin[i] = dot(job.output + vectors[i] * job.stride, hidden, job.stride);
    }
    loss += logistic_steps(margin, n_path, rate, [&](int64_t i) { return (path[i] & 1u) != 0; }, step);
    return n_path;
  }
  int64_t n = 0;
  const int64_t* child_ptr = job.tree->child_ptr();
  for (int64_t i = 0; i < n_path; ++i) {
    const int32_t decision = job.tree->slot_decision()[path[i]];
    const int64_t chosen = path[i] - child_ptr[decision], first = job.tree->first_vector()[decision];
    const int64_t n_vectors = job.tree->first_vector()[decision + 1] - first;
    for (int64_t v = 0; v < n_vectors; ++v) {
      vectors[n + v] = first + v;
      margin[n + v] = dot(job.output + (first + v) * job.stride, hidden, job.stride);
    }
    if (n_vectors == 1) loss += logistic_steps(margin + n, 1, rate, [&](int64_t) { return chosen == 1; }, step + n);
    if (n_vectors > 1) loss += softmax_steps(margin + n, n_vectors, rate, chosen, step + n);
    n += n_vectors;
  }
  return n;
}

inline void fetch(const SgdJob& job, int64_t row) {
  const int64_t begin = job.x.indptr[row], end = std::min(job.x.indptr[row + 1], begin + kFetchedRows);
  for (int64_t p = begin; p < end; ++p) {
    const float* v = job.input + job.x.indices[p] * job.stride;
    for (int64_t at = 0; at < job.stride; at += kLineFloats) prefetch(v + at);
  }
}

}  // namespace

SgdLoss train_rows(const SgdJob& job, int64_t begin, int64_t end, SgdScratch& s) {
  SgdLoss loss;
  float* hidden = s.hidden.at_least(0);
  float* gradient = s.gradient.at_least(0);
  const float* step = s.step.at_least(0);
  const auto n_rows = static_cast<double>(job.x.n_rows);
  for (int64_t at = begin; at < end; ++at) {
    if (at + kAhead < end) fetch(job, job.order[at + kAhead]);
    const int64_t i = job.order[at];
    const int64_t n_labels = job.y.row_nnz(i);
    Row row{job.x.indices + job.x.indptr[i], job.x.data + job.x.indptr[i], job.x.row_nnz(i), 0.0f};
    float total = 0.0f;
    for (int64_t p = 0; p < row.n; ++p) total += std::fabs(row.value[p]);
    if (n_labels == 0 || !(total > 0.0f)) continue;
    row.scale = 1.0f / total;

    Random random(seed_of(job.seed, static_cast<uint64_t>(i)));
    const int32_t label = job.y.indices[job.y.indptr[i] + random.below(static_cast<uint32_t>(n_labels))];
    const int64_t path_begin = job.path_ptr[label], n_path = job.path_ptr[label + 1] - path_begin;
    float rate = static_cast<float>(job.rate_begin + (job.rate_end - job.rate_begin) * (static_cast<double>(at) / n_rows));
    if (job.weight != nullptr) rate *= job.weight[i];

    in_groups(job.stride, Mean{job.input, job.stride, row, hidden});
    const int64_t n = decide(job, job.path + path_begin, n_path, hidden, rate, s, loss.sum);
    in_groups(job.stride, StepOutput{job.output, job.stride, s.vectors.data(), step, n, hidden, gradient});
    in_groups(job.stride, StepInput{job.input, job.stride, row, gradient});
    ++loss.steps;
  }
  return loss;
}

}  // namespace LT_ISA
}  // namespace longtail

#include "core/isa_end.hpp"
