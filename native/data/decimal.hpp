// Decimal text to the nearest float32, and float32 to the shortest decimal that reads back as itself. Exact, and the same
// in every locale.
#pragma once

#include <cstdint>
#include <cstring>

namespace longtail {

enum class Number { ok, malformed, not_finite, too_large };

/// The nearest float32 (ties to even) of the number at `begin`, which has been scanned to be well formed up to `end`.
/// False when it is too large for a float32.
bool nearest_float(const char* begin, const char* end, float& out);

/// What stands at `p` when it is not a number: "nan" and "inf" in any case are not_finite, all else is malformed.
Number not_a_number(const char* p, const char* end);

/// Writes the shortest decimal that reads back as `value` (finite); returns its end. At most 16 characters.
char* write_float(float value, char* out);
/// Writes a whole number >= 0; returns its end. At most 20 characters.
char* write_int(uint64_t value, char* out);

namespace decimal {

constexpr int kLargestPower = 44;
extern const double kPowers[2 * kLargestPower + 1];  // 1e-44 .. 1e44, each the nearest double

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

/// digits × 10^exponent as a float, if the double nearby leaves no doubt how to round. The double is off by less than
/// 3 units in its last place (rounding `digits`, the power and the product, and digits dropped after the 19th), and it
/// rounds to the same float as the exact value unless a point half way between two floats is that near.
inline bool quick_float(uint64_t digits, int64_t exponent, float& out) {
  if (digits == 0) {
    out = 0.0f;
    return true;
  }
  if (exponent < -kLargestPower || exponent > kLargestPower) return false;
  const double near = static_cast<double>(digits) * kPowers[exponent + kLargestPower];
  if (!(near >= 1.2e-38 && near <= 3.4e38)) return false;  // subnormal or overflowing floats: the careful way
  uint64_t bits;
  std::memcpy(&bits, &near, sizeof bits);
  const uint64_t below = bits & 0x1FFFFFFFu;  // the 29 bits that a float does not keep; half way is 0x10000000
  if (below - 0x0FFFFFF8u <= 0x10u) return false;
  out = static_cast<float>(near);
  return true;
}

}  // namespace decimal

/// Reads a number at `p`, which must be followed, at `end` or before, by a byte that is no part of a number. On ok, `p` is
/// after it.
inline Number parse_float(const char*& p, const char* end, float& out) {
  using decimal::is_digit;
  const char* const begin = p;
  const char* at = p;
  const bool negative = *at == '-';
  if (negative || *at == '+') ++at;
  uint64_t digits = 0;
  const char* const whole = at;
  while (is_digit(*at)) digits = digits * 10 + static_cast<uint64_t>(*at++ - '0');
  int64_t n_digits = at - whole;
  int64_t exponent = 0;
  if (*at == '.') {
    const char* const fraction = ++at;
    while (is_digit(*at)) digits = digits * 10 + static_cast<uint64_t>(*at++ - '0');
    exponent = fraction - at;
    n_digits += at - fraction;
  }
  if (n_digits == 0) return not_a_number(begin, end);
  if (*at == 'e' || *at == 'E') {
    const char* power = at + 1;
    const bool down = *power == '-';
    if (down || *power == '+') ++power;
    if (!is_digit(*power)) return Number::malformed;
    int64_t shift = 0;
    for (; is_digit(*power); ++power)
      if (shift < 1000000000) shift = shift * 10 + (*power - '0');
    exponent += down ? -shift : shift;
    at = power;
  }
  float value;
  if (n_digits > 19 || !decimal::quick_float(digits, exponent, value)) {
    if (!nearest_float(whole, at, value)) return Number::too_large;
  }
  out = negative ? -value : value;
  p = at;
  return Number::ok;
}

}  // namespace longtail
