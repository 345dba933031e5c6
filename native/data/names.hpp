// Names to ids in order of first appearance.
#pragma once

#include <cstdint>
#include <vector>

#include "data/grow.hpp"

namespace longtail {

class Names {
 public:
  Names();
  /// The id of a name, which is added if it is new.
  int32_t add(const char* name, size_t length);
  /// The id of a name, or -1.
  int32_t find(const char* name, size_t length) const;
  int32_t size() const { return static_cast<int32_t>(ends_.size()); }
  const char* begin_of(int32_t id) const { return bytes_.data() + (id == 0 ? 0 : ends_[static_cast<size_t>(id) - 1]); }
  size_t length_of(int32_t id) const {
    return static_cast<size_t>(ends_[static_cast<size_t>(id)] - (id == 0 ? 0 : ends_[static_cast<size_t>(id) - 1]));
  }

 private:
  size_t slot_of(const char* name, size_t length, uint64_t hash) const;
  void rehash();

  Grow<char> bytes_;
  Grow<int64_t> ends_;
  Grow<uint64_t> hashes_;
  std::vector<int32_t> slots_;  // ids, -1 = free; the length is a power of two
};

}  // namespace longtail
