// A table of strings: string → number, numbered 0, 1, 2, … in order of arrival.
//
// Up to 15 bytes are their own key (two words, the last byte is the length), so finding one compares two numbers in one
// cache line. Longer strings are kept in one block of memory and found by a 64-bit hash, then compared.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "text/buffer.hpp"

namespace longtail {

class StringTable {
 public:
  static constexpr uint32_t kNone = 0xFFFFFFFFu;
  static constexpr uint32_t kMaxIds = 0x7FFFFFF0u;

  struct Key {
    uint64_t lo, hi;
  };
  struct Probe {
    Key key;
    uint64_t hash;
  };

  /// `p` must be readable for 16 bytes (a closed ByteBuffer).
  static Probe probe(const uint8_t* p, size_t n) {
    Probe out;
    if (n <= kShort) {
      std::memcpy(&out.key, p, 16);
      const Mask& mask = masks().of[n];
      out.key.lo &= mask.lo;
      out.key.hi = (out.key.hi & mask.hi) | mask.length;
    } else {
      out.key.lo = hash_long(p, n);
      out.key.hi = masks().long_tag;
    }
    out.hash = mix(out.key);
    return out;
  }
  /// The same for bytes that nothing readable may follow.
  static Probe probe_unpadded(const uint8_t* p, size_t n) {
    if (n > kShort) return probe(p, n);
    uint8_t padded[16] = {0};
    if (n != 0) std::memcpy(padded, p, n);
    return probe(padded, n);
  }

  void prefetch(const Probe& p) const {
    if (!slots_.empty()) LT_PREFETCH(&slots_[p.hash >> shift_]);
  }

  /// The number of a string, or kNone.
  uint32_t find(const Probe& p, const uint8_t* bytes, size_t n) const {
    if (slots_.empty()) return kNone;
    for (size_t s = p.hash >> shift_;; s = (s + 1) & mask_) {
      const Slot& slot = slots_[s];
      if (slot.id == kNone) return kNone;
      if (slot.key.lo == p.key.lo && slot.key.hi == p.key.hi && (n <= kShort || same_long(slot.id, bytes, n)))
        return slot.id;
    }
  }

  /// The number of a string, which is added when it is new (then it is size() - 1).
  uint32_t add(const Probe& p, const uint8_t* bytes, size_t n) {
    if ((keys_.size() + 1) * 8 > slots_.size() * 5) grow();
    for (size_t s = p.hash >> shift_;; s = (s + 1) & mask_) {
      Slot& slot = slots_[s];
      if (slot.id == kNone) {
        slot.key = p.key;
        return slot.id = append(p, bytes, n);
      }
      if (slot.key.lo == p.key.lo && slot.key.hi == p.key.hi && (n <= kShort || same_long(slot.id, bytes, n)))
        return slot.id;
    }
  }

  uint32_t size() const { return static_cast<uint32_t>(keys_.size()); }

  /// Valid until the next add().
  std::string_view text(uint32_t id) const {
    const auto* bytes = reinterpret_cast<const char*>(&keys_[id]);
    const auto length = static_cast<uint8_t>(bytes[15]);
    if (length <= kShort) return {bytes, length};
    uint32_t index;
    std::memcpy(&index, bytes + 8, 4);
    return {block_.data() + longs_[index].begin, longs_[index].length};
  }

  /// The first eight bytes as a number that sorts as they do.
  uint64_t head(uint32_t id) const {
    const std::string_view t = text(id);
    uint64_t value = 0;
    for (size_t i = 0; i < 8; ++i) value = (value << 8) | (i < t.size() ? static_cast<uint8_t>(t[i]) : 0);
    return value;
  }

  /// A hash whose low bits say which part of a divided table a string belongs to.
  uint64_t part_hash(uint32_t id) const {
    Key key = keys_[id];
    if (text(id).size() > kShort) key.hi = masks().long_tag;
    return mix(key) >> 20;
  }
  Probe probe_of(uint32_t id) const {
    Probe out{keys_[id], 0};
    if (text(id).size() > kShort) out.key.hi = masks().long_tag;
    out.hash = mix(out.key);
    return out;
  }

  void reserve(size_t n) {
    keys_.reserve(n);
    while (n * 8 > slots_.size() * 5) grow();
  }
  /// Gives back what finding needs; text() still works.
  void drop_slots() { std::vector<Slot>().swap(slots_); }

  size_t bytes() const {
    return slots_.capacity() * sizeof(Slot) + keys_.capacity() * sizeof(Key) + longs_.capacity() * sizeof(Long) +
           block_.capacity();
  }

 private:
  static constexpr size_t kShort = 15;
  struct Slot {
    Key key;
    uint32_t id;
  };
  struct Long {
    uint64_t begin, length;
  };
  struct Mask {
    uint64_t lo, hi, length;
  };
  struct Masks {
    Mask of[kShort + 1];
    uint64_t long_tag;
    Masks() {
      for (size_t n = 0; n <= kShort; ++n) {
        uint8_t keep[16] = {0}, length[8] = {0};
        std::memset(keep, 0xFF, n);
        length[7] = static_cast<uint8_t>(n);
        std::memcpy(&of[n].lo, keep, 8);
        std::memcpy(&of[n].hi, keep + 8, 8);
        std::memcpy(&of[n].length, length, 8);
      }
      const uint8_t tag[8] = {0, 0, 0, 0, 0, 0, 0, 0xFF};
      std::memcpy(&long_tag, tag, 8);
    }
  };
  static const Masks& masks() { return masks_; }

  static uint64_t mix(const Key& key) {
    const uint64_t a = key.lo * 0x9E3779B97F4A7C15ull;
    const uint64_t b = key.hi * 0xC2B2AE3D27D4EB4Full;
    const uint64_t h = ((a ^ (a >> 32)) + (b ^ (b >> 29))) * 0xD6E8FEB86659FD93ull;
    return h ^ (h >> 32);
  }
  static uint64_t hash_long(const uint8_t* p, size_t n) {
    Key key{n, 0};
    uint64_t h = 0;
    for (size_t i = 0; i < n; i += 16) {
      const size_t from = i + 16 <= n ? i : n - 16;  // the last step overlaps the one before
      Key part;
      std::memcpy(&part, p + from, 16);
      key.lo = part.lo ^ h;
      key.hi = part.hi + n;
      h = mix(key) + (h << 7 | h >> 57);
    }
    return h;
  }

  bool same_long(uint32_t id, const uint8_t* bytes, size_t n) const {
    const std::string_view kept = text(id);
    return kept.size() == n && std::memcmp(kept.data(), bytes, n) == 0;
  }

  uint32_t append(const Probe& p, const uint8_t* bytes, size_t n) {
    if (keys_.size() >= kMaxIds) throw std::length_error("more than 2^31 different terms");
    Key key = p.key;
    if (n > kShort) {
      const auto index = static_cast<uint32_t>(longs_.size());
      longs_.push_back({block_.size(), n});
      block_.insert(block_.end(), reinterpret_cast<const char*>(bytes), reinterpret_cast<const char*>(bytes) + n);
      std::memcpy(reinterpret_cast<char*>(&key) + 8, &index, 4);
    }
    keys_.push_back(key);
    return static_cast<uint32_t>(keys_.size() - 1);
  }

  void grow() {
    const size_t capacity = slots_.empty() ? 64 : slots_.size() * 2;
    std::vector<Slot> larger(capacity, Slot{{0, 0}, kNone});
    mask_ = capacity - 1;
    shift_ = 64;
    for (size_t c = capacity; c > 1; c >>= 1) --shift_;
    for (const Slot& slot : slots_) {
      if (slot.id == kNone) continue;
      size_t s = mix(slot.key) >> shift_;
      while (larger[s].id != kNone) s = (s + 1) & mask_;
      larger[s] = slot;
    }
    slots_.swap(larger);
  }

  static const Masks masks_;
  std::vector<Slot> slots_;
  std::vector<Key> keys_;
  std::vector<Long> longs_;
  std::vector<char> block_;
  size_t mask_ = 0;
  int shift_ = 64;
};

inline const StringTable::Masks StringTable::masks_{};

}  // namespace longtail
