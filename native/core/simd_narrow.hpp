// Eight and four floats at once, for what has fewer lanes than sixteen: the operations of simd16.hpp, lane by lane the same
// bits. Half as wide is twice as fast where the processor works on sixteen floats in two halves, and takes half the cache.
//
// Include after core/simd16.hpp. `load_lanes<V>` and `fill_lanes<V>` are for code that is written for every width.
#pragma once

namespace longtail {
namespace LT_ISA {

#if LT_ISA_LEVEL >= 1

struct F8x {
  __m256 v;
};
struct F4x {
  __m128 v;
};

inline void store(float* p, F8x a) { _mm256_storeu_ps(p, a.v); }
inline void store(float* p, F4x a) { _mm_storeu_ps(p, a.v); }
inline F8x operator+(F8x a, F8x b) { return {_mm256_add_ps(a.v, b.v)}; }
inline F4x operator+(F4x a, F4x b) { return {_mm_add_ps(a.v, b.v)}; }
inline F8x operator-(F8x a, F8x b) { return {_mm256_sub_ps(a.v, b.v)}; }
inline F4x operator-(F4x a, F4x b) { return {_mm_sub_ps(a.v, b.v)}; }
inline F8x operator*(F8x a, F8x b) { return {_mm256_mul_ps(a.v, b.v)}; }
inline F4x operator*(F4x a, F4x b) { return {_mm_mul_ps(a.v, b.v)}; }
inline F8x min(F8x a, F8x b) { return {_mm256_min_ps(a.v, b.v)}; }
inline F4x min(F4x a, F4x b) { return {_mm_min_ps(a.v, b.v)}; }
inline F8x max(F8x a, F8x b) { return {_mm256_max_ps(a.v, b.v)}; }
inline F4x max(F4x a, F4x b) { return {_mm_max_ps(a.v, b.v)}; }
inline F8x abs(F8x a) { return {_mm256_andnot_ps(_mm256_set1_ps(-0.0f), a.v)}; }
inline F4x abs(F4x a) { return {_mm_andnot_ps(_mm_set1_ps(-0.0f), a.v)}; }

#if LT_ISA_LEVEL == 2
inline Mask greater(F8x a, F8x b) { return _mm256_cmp_ps_mask(a.v, b.v, _CMP_GT_OQ); }
inline Mask greater(F4x a, F4x b) { return _mm_cmp_ps_mask(a.v, b.v, _CMP_GT_OQ); }
inline F8x blend(Mask m, F8x a, F8x b) { return {_mm256_mask_blend_ps(static_cast<__mmask8>(m), a.v, b.v)}; }
inline F4x blend(Mask m, F4x a, F4x b) { return {_mm_mask_blend_ps(static_cast<__mmask8>(m), a.v, b.v)}; }
inline F8x keep(Mask m, F8x a) { return {_mm256_maskz_mov_ps(static_cast<__mmask8>(m), a.v)}; }
inline F4x keep(Mask m, F4x a) { return {_mm_maskz_mov_ps(static_cast<__mmask8>(m), a.v)}; }
#else
inline __m128 four_lanes_of(Mask m4) {
  const __m128i bit = _mm_setr_epi32(1, 2, 4, 8);
  const __m128i all = _mm_set1_epi32(static_cast<int>(m4));
  return _mm_castsi128_ps(_mm_cmpeq_epi32(_mm_and_si128(all, bit), bit));
}
inline Mask greater(F8x a, F8x b) {
  return static_cast<Mask>(_mm256_movemask_ps(_mm256_cmp_ps(a.v, b.v, _CMP_GT_OQ)));
}
inline Mask greater(F4x a, F4x b) {
  return static_cast<Mask>(_mm_movemask_ps(_mm_cmp_ps(a.v, b.v, _CMP_GT_OQ)));
}
inline F8x blend(Mask m, F8x a, F8x b) { return {_mm256_blendv_ps(a.v, b.v, lanes_of(m & 0xff))}; }
inline F4x blend(Mask m, F4x a, F4x b) { return {_mm_blendv_ps(a.v, b.v, four_lanes_of(m))}; }
inline F8x keep(Mask m, F8x a) { return {_mm256_and_ps(a.v, lanes_of(m & 0xff))}; }
inline F4x keep(Mask m, F4x a) { return {_mm_and_ps(a.v, four_lanes_of(m))}; }
#endif

template <class V>
V load_lanes(const float* p);
template <class V>
V fill_lanes(float x);
template <>
inline F8x load_lanes<F8x>(const float* p) { return {_mm256_loadu_ps(p)}; }
template <>
inline F4x load_lanes<F4x>(const float* p) { return {_mm_loadu_ps(p)}; }
template <>
inline F8x fill_lanes<F8x>(float x) { return {_mm256_set1_ps(x)}; }
template <>
inline F4x fill_lanes<F4x>(float x) { return {_mm_set1_ps(x)}; }

#else

template <int N>
struct Narrow {
  float v[N];
};
using F8x = Narrow<8>;
using F4x = Narrow<4>;

template <int N, class Op>
inline Narrow<N> each_of(Op op) {
  Narrow<N> r;
  for (int i = 0; i < N; ++i) r.v[i] = op(i);
  return r;
}
template <int N>
inline void store(float* p, Narrow<N> a) { std::memcpy(p, a.v, sizeof a.v); }
template <int N>
inline Narrow<N> operator+(Narrow<N> a, Narrow<N> b) { return each_of<N>([&](int i) { return a.v[i] + b.v[i]; }); }
template <int N>
inline Narrow<N> operator-(Narrow<N> a, Narrow<N> b) { return each_of<N>([&](int i) { return a.v[i] - b.v[i]; }); }
template <int N>
inline Narrow<N> operator*(Narrow<N> a, Narrow<N> b) { return each_of<N>([&](int i) { return a.v[i] * b.v[i]; }); }
template <int N>
inline Narrow<N> min(Narrow<N> a, Narrow<N> b) {
  return each_of<N>([&](int i) { return a.v[i] < b.v[i] ? a.v[i] : b.v[i]; });
}
template <int N>
inline Narrow<N> max(Narrow<N> a, Narrow<N> b) {
  return each_of<N>([&](int i) { return a.v[i] > b.v[i] ? a.v[i] : b.v[i]; });
}
template <int N>
inline Narrow<N> abs(Narrow<N> a) { return each_of<N>([&](int i) { return std::fabs(a.v[i]); }); }
template <int N>
inline Mask greater(Narrow<N> a, Narrow<N> b) {
  Mask m = 0;
  for (int i = 0; i < N; ++i) m |= static_cast<Mask>(a.v[i] > b.v[i]) << i;
  return m;
}
template <int N>
inline Narrow<N> blend(Mask m, Narrow<N> a, Narrow<N> b) {
  return each_of<N>([&](int i) { return (m >> i) & 1 ? b.v[i] : a.v[i]; });
}
template <int N>
inline Narrow<N> keep(Mask m, Narrow<N> a) { return each_of<N>([&](int i) { return (m >> i) & 1 ? a.v[i] : 0.0f; }); }

template <class V>
inline V load_lanes(const float* p) {
  V r;
  std::memcpy(r.v, p, sizeof r.v);
  return r;
}
template <class V>
inline V fill_lanes(float x) {
  V r;
  for (float& lane : r.v) lane = x;
  return r;
}

#endif

template <>
inline F16x load_lanes<F16x>(const float* p) { return load(p); }
template <>
inline F16x fill_lanes<F16x>(float x) { return fill(x); }

/// How many lanes a vector has.
template <class V>
constexpr int kWidth = static_cast<int>(sizeof(V) / sizeof(float));

}  // namespace LT_ISA
}  // namespace longtail
