// A small, fast, seeded generator that gives the same numbers everywhere (SplitMix64 for seeds, xoshiro-like stepping
// is not needed for shuffles: SplitMix64 itself passes the usual tests).
#pragma once

#include <cstdint>
#include <utility>

namespace longtail {

inline uint64_t mix64(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// A seed for the part of a computation named by the numbers, whoever runs it and when.
inline uint64_t seed_of(uint64_t seed, uint64_t a, uint64_t b = 0, uint64_t c = 0) {
  return mix64(mix64(mix64(mix64(seed) ^ a) ^ b) ^ c);
}

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    const uint64_t out = mix64(state_);
    state_ += 0x9e3779b97f4a7c15ull;
    return out;
  }

  /// Uniform in [0, n), n < 2^32. The bias of the multiplication is below n / 2^32.
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(((next() >> 32) * n) >> 32); }

  template <class T>
  void shuffle(T* values, int64_t n) {
    for (int64_t i = n - 1; i > 0; --i) std::swap(values[i], values[below(static_cast<uint32_t>(i + 1))]);
  }

 private:
  uint64_t state_;
};

}  // namespace longtail
