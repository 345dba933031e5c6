#include "groups/score_pairs.hpp"

#include "core/simd_headers.hpp"

#include "core/isa_begin.hpp"
#include "core/simd16.hpp"

namespace longtail {
namespace LT_ISA {

namespace {

constexpr int64_t kPairs = kLanes / 2;

/// Eight pairs side by side, by the features they belong to.
inline F16x load_pairs(const int32_t* ids, const float* pairs) {
#if LT_ISA_LEVEL >= 1
  const auto two = [&](int a, int b) {
    const __m128d low = _mm_load_sd(reinterpret_cast<const double*>(pairs + 2 * static_cast<int64_t>(ids[a])));
    return _mm_loadh_pd(low, reinterpret_cast<const double*>(pairs + 2 * static_cast<int64_t>(ids[b])));
  };
  const __m256d low = _mm256_insertf128_pd(_mm256_castpd128_pd256(two(0, 1)), two(2, 3), 1);
  const __m256d high = _mm256_insertf128_pd(_mm256_castpd128_pd256(two(4, 5)), two(6, 7), 1);
#if LT_ISA_LEVEL == 2
  return {_mm512_castpd_ps(_mm512_insertf64x4(_mm512_castpd256_pd512(low), high, 1))};
#else
  return {_mm256_castpd_ps(low), _mm256_castpd_ps(high)};
#endif
#else
  F16x out;
  for (int i = 0; i < kLanes; ++i) out.v[i] = pairs[2 * static_cast<int64_t>(ids[i / 2]) + i % 2];
  return out;
#endif
}

/// Eight values, each twice.
inline F16x load_twice(const float* values) {
#if LT_ISA_LEVEL == 2
  const __m512i from = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
  return {_mm512_permutexvar_ps(from, _mm512_castps256_ps512(_mm256_loadu_ps(values)))};
#elif LT_ISA_LEVEL == 1
  const __m256 v = _mm256_loadu_ps(values);
  const __m256i low = _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3), high = _mm256_setr_epi32(4, 4, 5, 5, 6, 6, 7, 7);
  return {_mm256_permutevar8x32_ps(v, low), _mm256_permutevar8x32_ps(v, high)};
#else
  F16x out;
  for (int i = 0; i < kLanes; ++i) out.v[i] = values[i / 2];
  return out;
#endif
}

inline void prefetch(const void* address) {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(address);
#else
  (void)address;
#endif
}

/// The first lines of a row, which follow no other that was read.
inline void prefetch_row(const CsrView& x, int32_t row) {
  const int64_t begin = x.indptr[row];
  for (int64_t line = 0; line < 4; ++line) {
    prefetch(x.indices + begin + 16 * line);
    prefetch(x.data + begin + 16 * line);
  }
}

/// Halves are added until one pair is left.
inline void add_up(float* lanes, float& first, float& second) {
  for (int half = kLanes / 2; half >= 2; half /= 2)
    for (int lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  first = lanes[0];
  second = lanes[1];
}

}  // namespace

void score_pairs(const CsrView& x, const int32_t* rows, int64_t n, const float* pairs, float* first, float* second) {
  for (int64_t i = 0; i < n; ++i) {
    if (i + 1 < n) prefetch_row(x, rows[i + 1]);
    const int64_t begin = x.indptr[rows[i]], size = x.indptr[rows[i] + 1] - begin;
    const int32_t* features = x.indices + begin;
    const float* values = x.data + begin;
    F16x sum = fill(0.0f);
    int64_t j = 0;
    for (; j + kPairs <= size; j += kPairs) sum = sum + load_twice(values + j) * load_pairs(features + j, pairs);
    float lanes[kLanes];
    store(lanes, sum);
    for (int64_t lane = 0; j < size; ++j, ++lane) {
      const float* pair = pairs + 2 * static_cast<int64_t>(features[j]);
      lanes[2 * lane] += values[j] * pair[0];
      lanes[2 * lane + 1] += values[j] * pair[1];
    }
    add_up(lanes, first[i], second[i]);
  }
}

void score_pairs(const DenseView& x, const int32_t* rows, int64_t n, const float* pairs, float* first, float* second) {
  for (int64_t i = 0; i < n; ++i) {
    const float* values = x.data + rows[i] * x.n_cols;
    F16x sum = fill(0.0f);
    int64_t j = 0;
    for (; j + kPairs <= x.n_cols; j += kPairs) sum = sum + load_twice(values + j) * load(pairs + 2 * j);
    float lanes[kLanes];
    store(lanes, sum);
    for (int64_t lane = 0; j < x.n_cols; ++j, ++lane) {
      lanes[2 * lane] += values[j] * pairs[2 * j];
      lanes[2 * lane + 1] += values[j] * pairs[2 * j + 1];
    }
    add_up(lanes, first[i], second[i]);
  }
}

}  // namespace LT_ISA
}  // namespace longtail

#include "core/isa_end.hpp"
