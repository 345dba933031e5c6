// Sixteen floats at once, the same bits on every level: only IEEE operations with one rounding each, no fused ones.
//
// Include after core/isa_begin.hpp, inside no namespace. F16x is one AVX-512 register, two AVX2 registers (GCC lowers
// 64-byte vector types badly there), or a plain array that compilers vectorise as they can.
#pragma once

namespace longtail {
namespace LT_ISA {

using Mask = uint32_t;  // bit i belongs to lane i; bits above 15 are zero
constexpr int kLanes = 16;
constexpr Mask kAllLanes = 0xffffu;

#if LT_ISA_LEVEL == 2

struct F16x {
  __m512 v;
};
inline F16x load(const float* p) { return {_mm512_loadu_ps(p)}; }
inline void store(float* p, F16x a) { _mm512_storeu_ps(p, a.v); }
inline F16x fill(float x) { return {_mm512_set1_ps(x)}; }
inline F16x operator+(F16x a, F16x b) { return {_mm512_add_ps(a.v, b.v)}; }
inline F16x operator-(F16x a, F16x b) { return {_mm512_sub_ps(a.v, b.v)}; }
inline F16x operator*(F16x a, F16x b) { return {_mm512_mul_ps(a.v, b.v)}; }
inline F16x operator/(F16x a, F16x b) { return {_mm512_div_ps(a.v, b.v)}; }
inline F16x min(F16x a, F16x b) { return {_mm512_min_ps(a.v, b.v)}; }
inline F16x max(F16x a, F16x b) { return {_mm512_max_ps(a.v, b.v)}; }
inline F16x abs(F16x a) { return {_mm512_abs_ps(a.v)}; }
inline Mask greater(F16x a, F16x b) { return _mm512_cmp_ps_mask(a.v, b.v, _CMP_GT_OQ); }
inline Mask greater_equal(F16x a, F16x b) { return _mm512_cmp_ps_mask(a.v, b.v, _CMP_GE_OQ); }
/// Lanes of b where the mask is set, of a elsewhere.
inline F16x blend(Mask m, F16x a, F16x b) { return {_mm512_mask_blend_ps(static_cast<__mmask16>(m), a.v, b.v)}; }
inline F16x keep(Mask m, F16x a) { return {_mm512_maskz_mov_ps(static_cast<__mmask16>(m), a.v)}; }
/// 2^n for a float n that was made whole by adding 1.5 * 2^23.
inline F16x exp2_of_magic(F16x magic) {
  const __m512i n = _mm512_slli_epi32(_mm512_castps_si512(magic.v), 23);
  return {_mm512_castsi512_ps(_mm512_add_epi32(n, _mm512_set1_epi32(127 << 23)))};
}
/// Consecutive values go to the set lanes, zero elsewhere. Reads 16 values whatever the mask.
inline F16x expand(Mask m, F16x packed) {
#if defined(__GNUC__)
  __asm__("" : "+v"(packed.v));  // in a register: the instruction that also reads memory is far slower on some processors
#endif
  return {_mm512_maskz_expand_ps(static_cast<__mmask16>(m), packed.v)};
}
inline F16x load_half(const uint16_t* p) {
  return {_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
}
inline F16x load_int8(const int8_t* p) {
  return {_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))))};
}
inline float max_lane(F16x a) { return _mm512_reduce_max_ps(a.v); }
/// Halves are added until one lane is left, in the same order on every level.
inline float sum_lanes(F16x a) {
  const __m256 s8 = _mm256_add_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1));
  const __m128 s4 = _mm_add_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
  const __m128 s2 = _mm_add_ps(s4, _mm_movehl_ps(s4, s4));
  return _mm_cvtss_f32(_mm_add_ss(s2, _mm_shuffle_ps(s2, s2, 1)));
}

#elif LT_ISA_LEVEL == 1

struct F16x {
  __m256 lo, hi;
};
inline F16x load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
inline void store(float* p, F16x a) {
  _mm256_storeu_ps(p, a.lo);
  _mm256_storeu_ps(p + 8, a.hi);
}
inline F16x fill(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
inline F16x operator+(F16x a, F16x b) { return {_mm256_add_ps(a.lo, b.lo), _mm256_add_ps(a.hi, b.hi)}; }
inline F16x operator-(F16x a, F16x b) { return {_mm256_sub_ps(a.lo, b.lo), _mm256_sub_ps(a.hi, b.hi)}; }
inline F16x operator*(F16x a, F16x b) { return {_mm256_mul_ps(a.lo, b.lo), _mm256_mul_ps(a.hi, b.hi)}; }
inline F16x operator/(F16x a, F16x b) { return {_mm256_div_ps(a.lo, b.lo), _mm256_div_ps(a.hi, b.hi)}; }
inline F16x min(F16x a, F16x b) { return {_mm256_min_ps(a.lo, b.lo), _mm256_min_ps(a.hi, b.hi)}; }
inline F16x max(F16x a, F16x b) { return {_mm256_max_ps(a.lo, b.lo), _mm256_max_ps(a.hi, b.hi)}; }
inline F16x abs(F16x a) {
  const __m256 sign = _mm256_set1_ps(-0.0f);
  return {_mm256_andnot_ps(sign, a.lo), _mm256_andnot_ps(sign, a.hi)};
}
inline Mask to_mask(__m256 lo, __m256 hi) {
  return static_cast<Mask>(_mm256_movemask_ps(lo)) | (static_cast<Mask>(_mm256_movemask_ps(hi)) << 8);
}
inline Mask greater(F16x a, F16x b) {
  return to_mask(_mm256_cmp_ps(a.lo, b.lo, _CMP_GT_OQ), _mm256_cmp_ps(a.hi, b.hi, _CMP_GT_OQ));
}
inline Mask greater_equal(F16x a, F16x b) {
  return to_mask(_mm256_cmp_ps(a.lo, b.lo, _CMP_GE_OQ), _mm256_cmp_ps(a.hi, b.hi, _CMP_GE_OQ));
}
inline __m256 lanes_of(Mask m8) {
  const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  const __m256i all = _mm256_set1_epi32(static_cast<int>(m8));
  return _mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_and_si256(all, bit), bit));
}
inline F16x blend(Mask m, F16x a, F16x b) {
  return {_mm256_blendv_ps(a.lo, b.lo, lanes_of(m & 0xff)), _mm256_blendv_ps(a.hi, b.hi, lanes_of(m >> 8))};
}
inline F16x keep(Mask m, F16x a) {
  return {_mm256_and_ps(a.lo, lanes_of(m & 0xff)), _mm256_and_ps(a.hi, lanes_of(m >> 8))};
}
inline F16x exp2_of_magic(F16x magic) {
  const __m256i bias = _mm256_set1_epi32(127 << 23);
  const __m256i lo = _mm256_slli_epi32(_mm256_castps_si256(magic.lo), 23);
  const __m256i hi = _mm256_slli_epi32(_mm256_castps_si256(magic.hi), 23);
  return {_mm256_castsi256_ps(_mm256_add_epi32(lo, bias)), _mm256_castsi256_ps(_mm256_add_epi32(hi, bias))};
}
/// For each byte mask, which packed value each of its eight lanes takes.
struct ExpandTable {
  alignas(32) uint8_t from[256][8];
  ExpandTable() {
    for (int m = 0; m < 256; ++m) {
      uint8_t next = 0;
      for (int lane = 0; lane < 8; ++lane) from[m][lane] = (m >> lane) & 1 ? next++ : uint8_t{0};
    }
  }
};
inline const ExpandTable& expand_table() {
  static const ExpandTable table;
  return table;
}
inline __m256 expand_half(Mask m8, __m256 packed) {
  const __m128i from = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(expand_table().from[m8]));
  return _mm256_and_ps(_mm256_permutevar8x32_ps(packed, _mm256_cvtepu8_epi32(from)), lanes_of(m8));
}
inline F16x expand(Mask m, F16x packed) {
  // The high lanes take what follows the low ones: shift by storing, which is cheaper than permuting across halves.
  alignas(32) float buffer[24];
  _mm256_store_ps(buffer, packed.lo);
  _mm256_store_ps(buffer + 8, packed.hi);
  const int low = static_cast<int>(_mm_popcnt_u32(m & 0xff));
  return {expand_half(m & 0xff, packed.lo), expand_half(m >> 8, _mm256_loadu_ps(buffer + low))};
}
inline F16x load_half(const uint16_t* p) {
  return {_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))),
          _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 8)))};
}
inline F16x load_int8(const int8_t* p) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return {_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes)),
          _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(bytes, 8)))};
}
inline float max_lane(F16x a) {
  alignas(32) float v[8];
  _mm256_store_ps(v, _mm256_max_ps(a.lo, a.hi));
  float m = v[0];
  for (int i = 1; i < 8; ++i) m = v[i] > m ? v[i] : m;
  return m;
}
inline float sum_lanes(F16x a) {
  const __m256 s8 = _mm256_add_ps(a.lo, a.hi);
  const __m128 s4 = _mm_add_ps(_mm256_castps256_ps128(s8), _mm256_extractf128_ps(s8, 1));
  const __m128 s2 = _mm_add_ps(s4, _mm_movehl_ps(s4, s4));
  return _mm_cvtss_f32(_mm_add_ss(s2, _mm_shuffle_ps(s2, s2, 1)));
}

#else

struct F16x {
  float v[kLanes];
};
template <class Op>
inline F16x each(Op op) {
  F16x r;
  for (int i = 0; i < kLanes; ++i) r.v[i] = op(i);
  return r;
}
inline F16x load(const float* p) {
  F16x r;
  std::memcpy(r.v, p, sizeof r.v);
  return r;
}
inline void store(float* p, F16x a) { std::memcpy(p, a.v, sizeof a.v); }
inline F16x fill(float x) { return each([&](int) { return x; }); }
inline F16x operator+(F16x a, F16x b) { return each([&](int i) { return a.v[i] + b.v[i]; }); }
inline F16x operator-(F16x a, F16x b) { return each([&](int i) { return a.v[i] - b.v[i]; }); }
inline F16x operator*(F16x a, F16x b) { return each([&](int i) { return a.v[i] * b.v[i]; }); }
inline F16x operator/(F16x a, F16x b) { return each([&](int i) { return a.v[i] / b.v[i]; }); }
// The order of the comparison is that of the x86 instructions, which matters for equal and signed zeros.
inline F16x min(F16x a, F16x b) { return each([&](int i) { return a.v[i] < b.v[i] ? a.v[i] : b.v[i]; }); }
inline F16x max(F16x a, F16x b) { return each([&](int i) { return a.v[i] > b.v[i] ? a.v[i] : b.v[i]; }); }
inline F16x abs(F16x a) { return each([&](int i) { return std::fabs(a.v[i]); }); }
inline Mask greater(F16x a, F16x b) {
  Mask m = 0;
  for (int i = 0; i < kLanes; ++i) m |= static_cast<Mask>(a.v[i] > b.v[i]) << i;
  return m;
}
inline Mask greater_equal(F16x a, F16x b) {
  Mask m = 0;
  for (int i = 0; i < kLanes; ++i) m |= static_cast<Mask>(a.v[i] >= b.v[i]) << i;
  return m;
}
inline F16x blend(Mask m, F16x a, F16x b) { return each([&](int i) { return (m >> i) & 1 ? b.v[i] : a.v[i]; }); }
inline F16x keep(Mask m, F16x a) { return each([&](int i) { return (m >> i) & 1 ? a.v[i] : 0.0f; }); }
inline F16x exp2_of_magic(F16x magic) {
  return each([&](int i) {
    uint32_t bits;
    std::memcpy(&bits, &magic.v[i], sizeof bits);
    bits = (bits << 23) + (127u << 23);
    float r;
    std::memcpy(&r, &bits, sizeof r);
    return r;
  });
}
inline F16x expand(Mask m, F16x packed) {
  int next = 0;
  return each([&](int i) { return (m >> i) & 1 ? packed.v[next++] : 0.0f; });
}
inline F16x load_half(const uint16_t* p) {
  return each([&](int i) {
    uint16_t h;
    std::memcpy(&h, p + i, sizeof h);
    return half_to_float(h);
  });
}
inline F16x load_int8(const int8_t* p) {
  return each([&](int i) { return static_cast<float>(p[i]); });
}
inline float max_lane(F16x a) {
  float m = a.v[0];
  for (int i = 1; i < kLanes; ++i) m = a.v[i] > m ? a.v[i] : m;
  return m;
}
inline float sum_lanes(F16x a) {
  for (int half = kLanes / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) a.v[i] += a.v[i + half];
  return a.v[0];
}

#endif

/// exp(x) for x in about [-87, 87] (clamped), to 2 units in the last place.
inline F16x exp(F16x x) {
  x = max(min(x, fill(87.0f)), fill(-87.0f));
  const F16x magic = x * fill(1.44269504f) + fill(12582912.0f);  // 1.5 * 2^23 rounds to a whole number
  const F16x n = magic - fill(12582912.0f);
  const F16x r = (x - n * fill(0.693359375f)) - n * fill(-2.12194440e-4f);
  F16x p = fill(1.0f / 5040);
  p = p * r + fill(1.0f / 720);
  p = p * r + fill(1.0f / 120);
  p = p * r + fill(1.0f / 24);
  p = p * r + fill(1.0f / 6);
  p = p * r + fill(0.5f);
  p = p * r + fill(1.0f);
  p = p * r + fill(1.0f);
  return p * exp2_of_magic(magic);
}

/// log(sigmoid(z)) = -log(1 + exp(-z)), never positive, without overflow.
inline F16x log_sigmoid(F16x z) {
  const F16x y = exp(fill(0.0f) - abs(z));  // in (0, 1]
  const F16x s = y / (fill(2.0f) + y);      // log(1 + y) = 2 atanh(s), s in (0, 1/3]
  const F16x q = s * s;
  F16x p = fill(1.0f / 13);
  p = p * q + fill(1.0f / 11);
  p = p * q + fill(1.0f / 9);
  p = p * q + fill(1.0f / 7);
  p = p * q + fill(1.0f / 5);
  p = p * q + fill(1.0f / 3);
  p = p * q + fill(1.0f);
  return min(z, fill(0.0f)) - (s + s) * p;
}

}  // namespace LT_ISA
}  // namespace longtail
