// IEEE half precision in plain C++, for machines and levels without instructions for it.
#pragma once

#include <cstdint>
#include <cstring>

namespace longtail {

/// Without branches, so that compilers can convert several at once.
inline float half_to_float(uint16_t h) {
  // Exponent and mantissa where a float has them: too small by 2^112, whatever the exponent, also for subnormal halves.
  const uint32_t shifted = static_cast<uint32_t>(h & 0x7fffu) << 13;
  float magnitude;
  std::memcpy(&magnitude, &shifted, sizeof magnitude);
  magnitude *= 0x1p112f;
  uint32_t bits;
  std::memcpy(&bits, &magnitude, sizeof bits);
  bits |= (h & 0x7c00u) == 0x7c00u ? 0x7f800000u : 0u;  // infinite, or not a number
  bits |= static_cast<uint32_t>(h & 0x8000u) << 16;
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}

/// Rounds to nearest even; what is too large becomes the largest finite half, so that weights stay finite.
inline uint16_t float_to_half(float f) {
  uint32_t bits;
  std::memcpy(&bits, &f, sizeof bits);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7bffu);
  if (magnitude < 0x33000001u) return sign;
  const int exponent = static_cast<int>(magnitude >> 23) - 112;
  uint32_t mantissa = magnitude & 0x7fffffu;
  uint32_t shift = 13;
  uint32_t base;
  if (exponent <= 0) {
    mantissa |= 0x800000u;
    shift = static_cast<uint32_t>(14 - exponent);
    base = 0;
  } else {
    base = static_cast<uint32_t>(exponent) << 10;
  }
  uint32_t rounded = mantissa >> shift;
  const uint32_t rest = mantissa & ((1u << shift) - 1);
  const uint32_t middle = 1u << (shift - 1);
  if (rest > middle || (rest == middle && (rounded & 1u))) ++rounded;
  return static_cast<uint16_t>(sign | (base + rounded));
}

}  // namespace longtail
