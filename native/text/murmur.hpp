// MurmurHash3, 32 bits, seed 0: the hash of scikit-learn's HashingVectorizer (a public-domain algorithm by A. Appleby).
#pragma once

#include <cstdint>
#include <cstddef>

namespace longtail {

inline uint32_t murmur3_32(const uint8_t* p, size_t n) {
  auto rotated = [](uint32_t x, int r) { return (x << r) | (x >> (32 - r)); };
  auto scrambled = [&](uint32_t k) { return rotated(k * 0xcc9e2d51u, 15) * 0x1b873593u; };
  uint32_t h = 0;
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const uint32_t k = p[i] | p[i + 1] << 8 | p[i + 2] << 16 | static_cast<uint32_t>(p[i + 3]) << 24;
    h = rotated(h ^ scrambled(k), 13) * 5 + 0xe6546b64u;
  }
  uint32_t tail = 0;
  for (size_t j = n; j > i; --j) tail = tail << 8 | p[j - 1];
  if (n != i) h ^= scrambled(tail);
  h ^= static_cast<uint32_t>(n);
  h = (h ^ (h >> 16)) * 0x85ebca6bu;
  h = (h ^ (h >> 13)) * 0xc2b2ae35u;
  return h ^ (h >> 16);
}

}  // namespace longtail
