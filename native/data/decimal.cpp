#include "data/decimal.hpp"

#include <cmath>
#include <limits>

namespace longtail {

namespace decimal {

const double kPowers[2 * kLargestPower + 1] = {
    1e-44, 1e-43, 1e-42, 1e-41, 1e-40, 1e-39, 1e-38, 1e-37, 1e-36, 1e-35, 1e-34, 1e-33, 1e-32, 1e-31, 1e-30,
    1e-29, 1e-28, 1e-27, 1e-26, 1e-25, 1e-24, 1e-23, 1e-22, 1e-21, 1e-20, 1e-19, 1e-18, 1e-17, 1e-16, 1e-15,
    1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9,  1e-8,  1e-7,  1e-6,  1e-5,  1e-4,  1e-3,  1e-2,  1e-1,  1e0,
    1e1,   1e2,   1e3,   1e4,   1e5,   1e6,   1e7,   1e8,   1e9,   1e10,  1e11,  1e12,  1e13,  1e14,  1e15,
    1e16,  1e17,  1e18,  1e19,  1e20,  1e21,  1e22,  1e23,  1e24,  1e25,  1e26,  1e27,  1e28,  1e29,  1e30,
    1e31,  1e32,  1e33,  1e34,  1e35,  1e36,  1e37,  1e38,  1e39,  1e40,  1e41,  1e42,  1e43,  1e44};

}  // namespace decimal

namespace {

/// A natural number of up to 1536 bits. The largest here is 10^230 or so, shifted by 25 bits: below 800 bits.
class Big {
 public:
  explicit Big(uint32_t value) : size_(value != 0 ? 1 : 0) { words_[0] = value; }

  void multiply_add(uint32_t factor, uint32_t addend) {
    uint64_t carry = addend;
    for (int i = 0; i < size_; ++i) {
      carry += static_cast<uint64_t>(words_[i]) * factor;
      words_[i] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0 && size_ < kWords) words_[size_++] = static_cast<uint32_t>(carry);
  }
  void times_power_of_ten(int64_t power) {
    for (; power >= 9; power -= 9) multiply_add(1000000000u, 0);
    for (; power > 0; --power) multiply_add(10u, 0);
  }
  void shift_left(int64_t bits) {
    for (; bits >= 31; bits -= 31) multiply_add(1u << 31, 0);
    if (bits > 0) multiply_add(1u << bits, 0);
  }
  int64_t bit_length() const {
    if (size_ == 0) return 0;
    int64_t bits = (size_ - 1) * 32;
    for (uint32_t top = words_[size_ - 1]; top != 0; top >>= 1) ++bits;
    return bits;
  }
  int compare(const Big& other) const {
    if (size_ != other.size_) return size_ < other.size_ ? -1 : 1;
    for (int i = size_ - 1; i >= 0; --i)
      if (words_[i] != other.words_[i]) return words_[i] < other.words_[i] ? -1 : 1;
    return 0;
  }
  void subtract(const Big& smaller) {
    int64_t borrow = 0;
    for (int i = 0; i < size_; ++i) {
      int64_t difference = static_cast<int64_t>(words_[i]) - borrow;
      if (i < smaller.size_) difference -= smaller.words_[i];
      borrow = difference < 0 ? 1 : 0;
      words_[i] = static_cast<uint32_t>(difference + (borrow << 32));
    }
    while (size_ > 0 && words_[size_ - 1] == 0) --size_;
  }
  bool is_zero() const { return size_ == 0; }

 private:
  static constexpr int kWords = 48;
  uint32_t words_[kWords];
  int size_;
};

constexpr int kMostDigits = 128;  // a point half way between two floats has at most 112 significant digits

/// The significant digits of a number without sign: value = digits × 10^exponent. Digits past kMostDigits are folded into
/// one that only says whether any of them was not zero.
struct Significant {
  char digits[kMostDigits + 1];
  int n = 0;
  int64_t exponent = 0;
};

Significant significant_digits(const char* p, const char* end) {
  Significant s;
  bool after_point = false;
  bool more = false;
  for (; p < end && *p != 'e' && *p != 'E'; ++p) {
    if (*p == '.') {
      after_point = true;
      continue;
    }
    if (s.n == 0 && *p == '0') {  // leading zeros
      if (after_point) --s.exponent;
      continue;
    }
    if (s.n < kMostDigits) {
      s.digits[s.n++] = static_cast<char>(*p - '0');
      if (after_point) --s.exponent;
    } else {
      more = more || *p != '0';
      if (!after_point) ++s.exponent;
    }
  }
  if (p < end) {
    ++p;
    const bool down = *p == '-';
    if (down || *p == '+') ++p;
    int64_t shift = 0;
    for (; p < end; ++p)
      if (shift < 1000000000) shift = shift * 10 + (*p - '0');
    s.exponent += down ? -shift : shift;
  }
  if (more) {
    s.digits[s.n++] = 1;
    --s.exponent;
  }
  return s;
}

}  // namespace

bool nearest_float(const char* begin, const char* end, float& out) {
  const Significant s = significant_digits(begin, end);
  out = 0.0f;
  if (s.n == 0) return true;
  const int64_t magnitude = s.exponent + s.n;  // value < 10^magnitude
  if (magnitude > 39) return false;
  if (magnitude < -45) return true;

  Big numerator(0), denominator(1);
  for (int i = 0; i < s.n; ++i) numerator.multiply_add(10, static_cast<uint32_t>(s.digits[i]));
  if (s.exponent >= 0) numerator.times_power_of_ten(s.exponent);
  else denominator.times_power_of_ten(-s.exponent);

  // Scaled by 2^-binary, the value has 24 or 25 bits before the point (fewer for subnormal floats).
  int64_t binary = numerator.bit_length() - denominator.bit_length() - 24;
  if (binary < -149) binary = -149;
  if (binary >= 0) denominator.shift_left(binary);
  else numerator.shift_left(-binary);
  uint32_t quotient = 0;
  for (int i = 25; i >= 0; --i) {
    Big shifted = denominator;
    shifted.shift_left(i);
    if (numerator.compare(shifted) >= 0) {
      numerator.subtract(shifted);
      quotient |= 1u << i;
    }
  }
  int half;  // the rest against one half: -1, 0, 1
  if (quotient >= (1u << 24)) {
    half = (quotient & 1u) == 0 ? -1 : numerator.is_zero() ? 0 : 1;
    quotient >>= 1;
    ++binary;
  } else {
    numerator.shift_left(1);
    half = numerator.compare(denominator);
  }
  if (half > 0 || (half == 0 && (quotient & 1u) != 0)) ++quotient;
  const double value = std::ldexp(static_cast<double>(quotient), static_cast<int>(binary));
  if (value > static_cast<double>(std::numeric_limits<float>::max())) return false;
  out = static_cast<float>(value);
  return true;
}

Number not_a_number(const char* p, const char* end) {
  if (p < end && (*p == '+' || *p == '-')) ++p;
  auto starts = [&](const char* word) {
    const char* at = p;
    for (; *word != 0; ++word, ++at)
      if (at >= end || (*at | 0x20) != *word) return false;
    return true;
  };
  return starts("nan") || starts("inf") ? Number::not_finite : Number::malformed;
}

char* write_int(uint64_t value, char* out) {
  char reversed[20];
  int n = 0;
  do reversed[n++] = static_cast<char>('0' + value % 10);
  while ((value /= 10) != 0);
  while (n > 0) *out++ = reversed[--n];
  return out;
}

namespace {

/// Whether digits × 10^exponent reads back as `value`.
bool reads_back(uint64_t digits, int64_t exponent, float value) {
  float read = 0.0f;
  if (!decimal::quick_float(digits, exponent, read)) {
    char text[40];
    char* end = write_int(digits, text);
    *end++ = 'e';
    if (exponent < 0) *end++ = '-';
    end = write_int(static_cast<uint64_t>(exponent < 0 ? -exponent : exponent), end);
    if (!nearest_float(text, end, read)) return false;
  }
  return read == value;
}

/// digits (n of them) × 10^exponent as plain decimals when short, else with an exponent.
char* lay_out(uint64_t digits, int n, int64_t exponent, char* out) {
  char text[20];
  write_int(digits, text);
  const int64_t point = n + exponent;  // digits before the decimal point
  if (exponent >= 0 && point <= 9) {
    for (int i = 0; i < n; ++i) *out++ = text[i];
    for (int64_t i = 0; i < exponent; ++i) *out++ = '0';
  } else if (point > 0 && point <= 9) {
    for (int i = 0; i < n; ++i) {
      if (i == point) *out++ = '.';
      *out++ = text[i];
    }
  } else if (point <= 0 && point > -4) {
    *out++ = '0';
    *out++ = '.';
    for (int64_t i = point; i < 0; ++i) *out++ = '0';
    for (int i = 0; i < n; ++i) *out++ = text[i];
  } else {
    *out++ = text[0];
    if (n > 1) *out++ = '.';
    for (int i = 1; i < n; ++i) *out++ = text[i];
    *out++ = 'e';
    const int64_t power = point - 1;
    if (power < 0) *out++ = '-';
    out = write_int(static_cast<uint64_t>(power < 0 ? -power : power), out);
  }
  return out;
}

}  // namespace

char* write_float(float value, char* out) {
  if (std::signbit(value)) {
    *out++ = '-';
    value = -value;
  }
  if (value == 0.0f) {
    *out++ = '0';
    return out;
  }
  const double wide = static_cast<double>(value);
  int power = static_cast<int>(std::floor(std::log10(wide)));
  // A float32 keeps any six digits (unless it is subnormal), and nine always suffice.
  for (int n = wide < 1.2e-38 ? 1 : 6; n <= 9; ++n) {
    const int scale = n - 1 - power;
    const double scaled = scale > 300 ? wide : scale >= 0 ? wide * std::pow(10.0, scale) : wide / std::pow(10.0, -scale);
    uint64_t digits = static_cast<uint64_t>(std::nearbyint(scaled));
    if (n < 9 && !reads_back(digits, -scale, value)) continue;
    int64_t exponent = -scale;
    while (digits % 10 == 0 && digits != 0) {
      digits /= 10;
      ++exponent;
    }
    int length = 0;
    for (uint64_t rest = digits; rest != 0; rest /= 10) ++length;
    return lay_out(digits, length, exponent, out);
  }
  return out;
}

}  // namespace longtail
