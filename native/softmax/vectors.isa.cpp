// See vectors.hpp.
#include "softmax/vectors.hpp"

#include <algorithm>

#include "core/bits.hpp"
#include "core/simd_headers.hpp"

#include "core/isa_begin.hpp"
#include "core/simd16.hpp"

namespace longtail {
namespace LT_ISA {

namespace {

#if LT_ISA_LEVEL == 2
constexpr int kWide = 8;
#else
constexpr int kWide = 4;
#endif
constexpr int64_t kAhead = 4;  // rows fetched before they are used

inline F16x load_as(const float* p) { return load(p); }
inline F16x load_as(const uint16_t* p) { return load_half(p); }
inline F16x load_as(const int8_t* p) { return load_int8(p); }

template <class Value, int K>
inline void mean_group(const VectorTable& t, const int32_t* index, const float* value, int64_t n, float scale,
                       int64_t at, float* hidden) {
  const auto* data = static_cast<const Value*>(t.data);
  F16x sum[K];
  for (int b = 0; b < K; ++b) sum[b] = fill(0.0f);
  for (int64_t p = 0; p < n; ++p) {
    const Value* row = data + index[p] * t.stride + at;
    const F16x weight = fill(t.scale != nullptr ? value[p] * t.scale[index[p]] : value[p]);
    for (int b = 0; b < K; ++b) sum[b] = sum[b] + weight * load_as(row + 16 * b);
  }
  for (int b = 0; b < K; ++b) store(hidden + at + 16 * b, sum[b] * fill(scale));
}

template <class Value>
inline void fetch(const VectorTable& t, int64_t row) {
  const auto* data = reinterpret_cast<const char*>(static_cast<const Value*>(t.data) + row * t.stride);
  for (int64_t at = 0; at < t.stride * static_cast<int64_t>(sizeof(Value)); at += 64) prefetch(data + at);
}

template <class Value>
void mean_of(const VectorTable& t, const int32_t* index, const float* value, int64_t n, float* hidden) {
  float total = 0.0f;
  for (int64_t p = 0; p < n; ++p) {
    total += std::fabs(value[p]);
    if (n > 1) fetch<Value>(t, index[p]);
  }
  if (!(total > 0.0f)) {
    std::fill(hidden, hidden + t.stride, 0.0f);
    return;
  }
  const float scale = 1.0f / total;
  int64_t at = 0;
  for (; at + 16 * kWide <= t.stride; at += 16 * kWide) mean_group<Value, kWide>(t, index, value, n, scale, at, hidden);
  for (; at < t.stride; at += 16) mean_group<Value, 1>(t, index, value, n, scale, at, hidden);
}

template <class Value>
void margins_of(const VectorTable& t, int64_t first, int64_t n, const float* hidden, float* margin) {
  const auto* data = static_cast<const Value*>(t.data);
  for (int64_t i = 0; i < n; ++i) {
    if (i + kAhead < n) fetch<Value>(t, first + i + kAhead);
    const Value* row = data + (first + i) * t.stride;
    F16x a = fill(0.0f), b = fill(0.0f);
    int64_t at = 0;
    for (; at + 32 <= t.stride; at += 32) {
      a = a + load_as(row + at) * load(hidden + at);
      b = b + load_as(row + at + 16) * load(hidden + at + 16);
    }
    if (at < t.stride) a = a + load_as(row + at) * load(hidden + at);
    const float sum = sum_lanes(a + b);
    margin[i] = t.scale != nullptr ? sum * t.scale[first + i] : sum;
  }
}

void mean(const VectorTable& t, const int32_t* index, const float* value, int64_t n, float* hidden) {
  if (t.type == VectorType::f32) return mean_of<float>(t, index, value, n, hidden);
  if (t.type == VectorType::f16) return mean_of<uint16_t>(t, index, value, n, hidden);
  mean_of<int8_t>(t, index, value, n, hidden);
}

void margins(const VectorTable& t, int64_t first, int64_t n, const float* hidden, float* margin) {
  if (t.type == VectorType::f32) return margins_of<float>(t, first, n, hidden, margin);
  if (t.type == VectorType::f16) return margins_of<uint16_t>(t, first, n, hidden, margin);
  margins_of<int8_t>(t, first, n, hidden, margin);
}

void log_logistic(float margin, float* log_p) {
  alignas(64) float z[16] = {-margin, margin};
  store(z, log_sigmoid(load(z)));
  log_p[0] = z[0];
  log_p[1] = z[1];
}

// The logarithm of a double >= 1, from IEEE operations alone: the same bits on every machine.
inline double log_of(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // in [0.5, 1)
  if (m < 0.70710678118654752) {
    m *= 2.0;
    --exponent;
  }
  const double s = (m - 1.0) / (m + 1.0), q = s * s;  // log(m) = 2 atanh(s), |s| < 0.172
  double p = 0.0;
  for (int i = 19; i >= 1; i -= 2) p = p * q + 1.0 / i;
  return 2.0 * s * p + exponent * 0.69314718055994531;
}

void log_softmax(const float* margin, int64_t n, float* log_p) {
  float largest = margin[0];
  for (int64_t i = 1; i < n; ++i) largest = margin[i] > largest ? margin[i] : largest;
  double sum = 0.0;
  for (int64_t first = 0; first < n; first += 16) {
    store(log_p + first, exp(load(margin + first) - fill(largest)));
    for (int64_t i = first; i < std::min(n, first + 16); ++i) sum += static_cast<double>(log_p[i]);
  }
  const auto total = static_cast<float>(log_of(sum < 1.0 ? 1.0 : sum));
  for (int64_t i = 0; i < n; ++i) {
    const float value = (margin[i] - largest) - total;
    log_p[i] = value < 0.0f ? value : 0.0f;
  }
}

void exponentials(float* values, int64_t n) {
  // What is below the smallest normal number becomes zero; exp itself stops at exp(-87).
  for (int64_t first = 0; first < n; first += 16) {
    const F16x x = load(values + first);
    store(values + first, keep(greater(x, fill(-87.0f)), exp(x)));
  }
}

const VectorKernels kKernels{mean, margins, log_logistic, log_softmax, exponentials};

}  // namespace

const VectorKernels& vector_kernels() { return kKernels; }

}  // namespace LT_ISA
}  // namespace longtail

#include "core/isa_end.hpp"
