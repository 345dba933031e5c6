#include "trees/rows.hpp"

#include <cstdint>
#if LT_X86
#include <immintrin.h>
#endif

#include "core/isa_begin.hpp"

namespace longtail {
namespace LT_ISA {

namespace {

// Gather instructions are left alone: sixteen scalar loads put together by shuffles are twice as fast on current AMD
// processors, and gathers became slower still on Intel's with the microcode against Downfall. AVX-512 has nothing to add.
#if LT_ISA_LEVEL >= 1

// The constructor is spelled out because an implicit one is compiled without the level's target.
struct Lanes {
  __m256 low, high;
  Lanes() : low(_mm256_setzero_ps()), high(_mm256_setzero_ps()) {}
  static __m128 four(const int32_t* ids, const float* direction) {
    return _mm_set_ps(direction[ids[3]], direction[ids[2]], direction[ids[1]], direction[ids[0]]);
  }
  static __m256 eight(const int32_t* ids, const float* direction) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(four(ids, direction)), four(ids + 4, direction), 1);
  }
  void sparse(const int32_t* ids, const float* values, const float* direction) {
    low = _mm256_add_ps(low, _mm256_mul_ps(_mm256_loadu_ps(values), eight(ids, direction)));
    high = _mm256_add_ps(high, _mm256_mul_ps(_mm256_loadu_ps(values + 8), eight(ids + 8, direction)));
  }
  void sparse_tail(const int32_t* ids, const float* values, const float* direction, int64_t n) {
    alignas(32) float lanes[16];
    store(lanes);
    for (int64_t j = 0; j < n; ++j) lanes[j] += values[j] * direction[ids[j]];
    load(lanes);
  }
  void dense(const float* values, const float* direction) {
    low = _mm256_add_ps(low, _mm256_mul_ps(_mm256_loadu_ps(values), _mm256_loadu_ps(direction)));
    high = _mm256_add_ps(high, _mm256_mul_ps(_mm256_loadu_ps(values + 8), _mm256_loadu_ps(direction + 8)));
  }
  void dense_tail(const float* values, const float* direction, int64_t n) {
    alignas(32) float lanes[16];
    store(lanes);
    for (int64_t j = 0; j < n; ++j) lanes[j] += values[j] * direction[j];
    load(lanes);
  }
  void load(const float* in) { low = _mm256_loadu_ps(in), high = _mm256_loadu_ps(in + 8); }
  void store(float* out) const { _mm256_storeu_ps(out, low), _mm256_storeu_ps(out + 8, high); }
};

#else

struct Lanes {
  float sum[16] = {};
  void sparse(const int32_t* ids, const float* values, const float* direction) {
    for (int j = 0; j < 16; ++j) sum[j] += values[j] * direction[ids[j]];
  }
  void sparse_tail(const int32_t* ids, const float* values, const float* direction, int64_t n) {
    for (int64_t j = 0; j < n; ++j) sum[j] += values[j] * direction[ids[j]];
  }
  void dense(const float* values, const float* direction) {
    for (int j = 0; j < 16; ++j) sum[j] += values[j] * direction[j];
  }
  void dense_tail(const float* values, const float* direction, int64_t n) {
    for (int64_t j = 0; j < n; ++j) sum[j] += values[j] * direction[j];
  }
  void store(float* out) const {
    for (int j = 0; j < 16; ++j) out[j] = sum[j];
  }
};

#endif

float total(const Lanes& lanes) {
  alignas(64) float s[16];
  lanes.store(s);
  for (int width = 8; width > 0; width /= 2)
    for (int j = 0; j < width; ++j) s[j] += s[j + width];
  return s[0];
}

}  // namespace

void score_rows(const CsrView& rows, const int32_t* ids, int64_t n, const float* direction, float* scores) {
  for (int64_t i = 0; i < n; ++i) {
    const int64_t begin = rows.indptr[ids[i]], size = rows.indptr[ids[i] + 1] - begin;
    const int32_t* features = rows.indices + begin;
    const float* values = rows.data + begin;
    Lanes lanes;
    int64_t j = 0;
    for (; j + 16 <= size; j += 16) lanes.sparse(features + j, values + j, direction);
    if (j < size) lanes.sparse_tail(features + j, values + j, direction, size - j);
    scores[i] = total(lanes);
  }
}

void score_rows(const DenseView& rows, const int32_t* ids, int64_t n, const float* direction, float* scores) {
  const int64_t size = rows.n_cols;
  for (int64_t i = 0; i < n; ++i) {
    const float* values = rows.data + ids[i] * size;
    Lanes lanes;
    int64_t j = 0;
    for (; j + 16 <= size; j += 16) lanes.dense(values + j, direction + j);
    if (j < size) lanes.dense_tail(values + j, direction + j, size - j);
    scores[i] = total(lanes);
  }
}

}  // namespace LT_ISA
}  // namespace longtail

#include "core/isa_end.hpp"
