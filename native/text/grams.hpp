// A table of n-grams of words: (code of the first n − 1 words, number of the last word) → number, in order of arrival.
//
// A code is the number of a word, or kGram | the number of another n-gram: a tree of prefixes, one number per node.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "text/buffer.hpp"

namespace longtail {

class GramTable {
 public:
  static constexpr uint32_t kNone = 0xFFFFFFFFu;
  static constexpr uint32_t kGram = 0x80000000u;
  static constexpr uint32_t kMaxIds = 0x7FFFFFF0u;

  static uint64_t key(uint32_t prefix, uint32_t last) { return (static_cast<uint64_t>(prefix) << 32) | last; }
  static uint32_t prefix_of(uint64_t key) { return static_cast<uint32_t>(key >> 32); }
  static uint32_t last_of(uint64_t key) { return static_cast<uint32_t>(key); }
  static uint64_t hash(uint64_t key) {
    uint64_t h = key * 0x9E3779B97F4A7C15ull;
    h ^= h >> 32;
    h *= 0xD6E8FEB86659FD93ull;
    return h;
  }
  static uint64_t part_hash(uint64_t key) { return hash(key) >> 20; }

  void prefetch(uint64_t key) const {
    if (!slots_.empty()) LT_PREFETCH(&slots_[hash(key) >> shift_]);
  }

  uint32_t find(uint64_t key) const {
    if (slots_.empty()) return kNone;
    for (size_t s = hash(key) >> shift_;; s = (s + 1) & mask_) {
      if (slots_[s].id == kNone) return kNone;
      if (slots_[s].key == key) return slots_[s].id;
    }
  }

  uint32_t add(uint64_t key) {
    if ((keys_.size() + 1) * 4 > slots_.size() * 3) grow();
    for (size_t s = hash(key) >> shift_;; s = (s + 1) & mask_) {
      Slot& slot = slots_[s];
      if (slot.id == kNone) {
        if (keys_.size() >= kMaxIds) throw std::length_error("more than 2^31 different n-grams");
        slot.key = key;
        keys_.push_back(key);
        return slot.id = static_cast<uint32_t>(keys_.size() - 1);
      }
      if (slot.key == key) return slot.id;
    }
  }

  void reserve(size_t n) {
    keys_.reserve(n);
    while (n * 4 > slots_.size() * 3) grow();
  }
  uint32_t size() const { return static_cast<uint32_t>(keys_.size()); }
  uint64_t key_of(uint32_t id) const { return keys_[id]; }
  const std::vector<uint64_t>& keys() const { return keys_; }
  std::vector<uint64_t> take_keys() { return std::move(keys_); }
  void drop_slots() { std::vector<Slot>().swap(slots_); }
  size_t bytes() const { return slots_.capacity() * sizeof(Slot) + keys_.capacity() * 8; }

 private:
  struct Slot {
    uint64_t key;
    uint32_t id;
  };

  void grow() {
    const size_t capacity = slots_.empty() ? 64 : slots_.size() * 2;
    std::vector<Slot> larger(capacity, Slot{0, kNone});
    mask_ = capacity - 1;
    shift_ = 64;
    for (size_t c = capacity; c > 1; c >>= 1) --shift_;
    for (const Slot& slot : slots_) {
      if (slot.id == kNone) continue;
      size_t s = hash(slot.key) >> shift_;
      while (larger[s].id != kNone) s = (s + 1) & mask_;
      larger[s] = slot;
    }
    slots_.swap(larger);
  }

  std::vector<Slot> slots_;
  std::vector<uint64_t> keys_;
  size_t mask_ = 0;
  int shift_ = 64;
};

}  // namespace longtail
