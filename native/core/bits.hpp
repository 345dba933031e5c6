// Bit counts on every compiler.
#pragma once

#include <cstdint>

#if defined(_MSC_VER)
#include <intrin.h>
#endif

namespace longtail {

#if defined(_MSC_VER)
#define LT_NOINLINE __declspec(noinline)
#define LT_UNROLL
#else
#define LT_NOINLINE __attribute__((noinline))
// Before a short loop of known length that works on an array of registers.
#ifdef __clang__
#define LT_UNROLL _Pragma("unroll")
#else
#define LT_UNROLL _Pragma("GCC unroll 8")
#endif
#endif

#if defined(_MSC_VER)
inline int count_bits(uint64_t x) {
  x = x - ((x >> 1) & 0x5555555555555555ull);
  x = (x & 0x3333333333333333ull) + ((x >> 2) & 0x3333333333333333ull);
  return static_cast<int>((((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0full) * 0x0101010101010101ull) >> 56);
}
inline int lowest_bit(uint64_t x) {  // x must not be 0
  unsigned long at;
  _BitScanForward64(&at, x);
  return static_cast<int>(at);
}
inline void prefetch(const void* p) { _mm_prefetch(static_cast<const char*>(p), 3); }
#else
inline int count_bits(uint64_t x) { return __builtin_popcountll(x); }
inline int lowest_bit(uint64_t x) { return __builtin_ctzll(x); }
inline void prefetch(const void* p) { __builtin_prefetch(p); }
#endif

}  // namespace longtail
