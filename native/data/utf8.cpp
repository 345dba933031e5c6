#include "data/utf8.hpp"

#include <cstdint>
#include <cstring>

namespace longtail {

namespace {

inline bool continues(unsigned char c) { return (c & 0xC0) == 0x80; }

/// The length of the well-formed character at `p`, or 0.
inline int character_length(const unsigned char* p, size_t left) {
  const unsigned char c = p[0];
  if (c < 0x80) return 1;
  if (c < 0xC2 || c > 0xF4) return 0;
  if (c < 0xE0) return left >= 2 && continues(p[1]) ? 2 : 0;
  if (c < 0xF0) {
    if (left < 3 || !continues(p[1]) || !continues(p[2])) return 0;
    if ((c == 0xE0 && p[1] < 0xA0) || (c == 0xED && p[1] >= 0xA0)) return 0;
    return 3;
  }
  if (left < 4 || !continues(p[1]) || !continues(p[2]) || !continues(p[3])) return 0;
  if ((c == 0xF0 && p[1] < 0x90) || (c == 0xF4 && p[1] >= 0x90)) return 0;
  return 4;
}

}  // namespace

const char* find_bad_utf8(const char* p, const char* end) {
  while (p < end) {
    while (end - p >= 16) {  // plain ASCII, sixteen bytes at a time
      uint64_t a, b;
      std::memcpy(&a, p, 8);
      std::memcpy(&b, p + 8, 8);
      if (((a | b) & 0x8080808080808080u) != 0) break;
      p += 16;
    }
    // At least one character, then on while characters are not ASCII.
    do {
      if (p >= end) return end;
      const int length = character_length(reinterpret_cast<const unsigned char*>(p), static_cast<size_t>(end - p));
      if (length == 0) return p;
      p += length;
    } while (p < end && (static_cast<unsigned char>(*p) & 0x80) != 0);
  }
  return end;
}

}  // namespace longtail
