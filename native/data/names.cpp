#include "data/names.hpp"

#include <climits>
#include <cstring>
#include <stdexcept>

namespace longtail {

namespace {

inline uint64_t mix(uint64_t x) {
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93u;
  x ^= x >> 29;
  x *= 0xD6E8FEB86659FD93u;
  return x ^ (x >> 32);
}

uint64_t hash_of(const char* p, size_t n) {
  uint64_t hash = 0x9E3779B97F4A7C15u ^ n;
  for (; n >= 8; p += 8, n -= 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    hash = mix(hash ^ word) + 0x9E3779B97F4A7C15u;
  }
  uint64_t last = 0;
  for (size_t i = 0; i < n; ++i) last |= static_cast<uint64_t>(static_cast<unsigned char>(p[i])) << (8 * i);
  return mix(hash ^ last);
}

}  // namespace

Names::Names() : slots_(64, -1) {}

size_t Names::slot_of(const char* name, size_t length, uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    const int32_t id = slots_[slot];
    if (id < 0) return slot;
    if (hashes_[static_cast<size_t>(id)] == hash && length_of(id) == length &&
        (length == 0 || std::memcmp(begin_of(id), name, length) == 0))
      return slot;
  }
}

int32_t Names::find(const char* name, size_t length) const {
  return slots_[slot_of(name, length, hash_of(name, length))];
}

int32_t Names::add(const char* name, size_t length) {
  const uint64_t hash = hash_of(name, length);
  const size_t slot = slot_of(name, length, hash);
  if (slots_[slot] >= 0) return slots_[slot];
  if (ends_.size() >= static_cast<size_t>(INT32_MAX)) throw std::length_error("more than 2^31 - 1 names");
  const int32_t id = size();
  bytes_.append(name, length);
  ends_.push(static_cast<int64_t>(bytes_.size()));
  hashes_.push(hash);
  slots_[slot] = id;
  if (static_cast<size_t>(size()) * 2 > slots_.size()) rehash();
  return id;
}

void Names::rehash() {
  std::vector<int32_t> bigger(slots_.size() * 2, -1);
  const size_t mask = bigger.size() - 1;
  for (int32_t id = 0; id < size(); ++id) {
    size_t slot = hashes_[static_cast<size_t>(id)] & mask;
    while (bigger[slot] >= 0) slot = (slot + 1) & mask;
    bigger[slot] = id;
  }
  slots_.swap(bigger);
}

}  // namespace longtail
