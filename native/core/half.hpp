// IEEE half precision in plain C++, for machines and levels without instructions for it.
#pragma once

#include <cstdint>
#include <cstring>

namespace longtail {

inline float half_to_float(uint16_t h) {
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
  uint32_t exponent = (h >> 10) & 0x1fu;
  uint32_t mantissa = h & 0x3ffu;
  uint32_t bits;
  if (exponent == 0) {
    if (mantissa == 0) {
      bits = sign;
    } else {  // subnormal: shift until the leading one is where a normal number has it
      exponent = 113;
      while ((mantissa & 0x400u) == 0) {
        mantissa <<= 1;
        --exponent;
      }
      bits = sign | (exponent << 23) | ((mantissa & 0x3ffu) << 13);
    }
  } else if (exponent == 31) {
    bits = sign | 0x7f800000u | (mantissa << 13);
  } else {
    bits = sign | ((exponent + 112) << 23) | (mantissa << 13);
  }
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
