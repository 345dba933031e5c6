// A growing run of bytes that can always be read a little past its end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace longtail {

/// Bytes that are not cleared when they grow. 32 zero bytes follow the end after close(), so that keys of up to 16 bytes
/// can be loaded from any position and scans stop by themselves.
class ByteBuffer {
 public:
  static constexpr size_t kPad = 32;

  void clear() { size_ = 0; }
  size_t size() const { return size_; }
  const uint8_t* data() const { return data_.get(); }
  uint8_t* data() { return data_.get(); }
  void set_size(size_t size) { size_ = size; }

  /// Makes room for `more` further bytes and the padding.
  void reserve(size_t more) {
    if (size_ + more + kPad > capacity_) grow(more);
  }
  void push(uint8_t byte) {
    if (size_ + 1 + kPad > capacity_) grow(1);
    data_[size_++] = byte;
  }
  void append(const uint8_t* bytes, size_t n) {
    reserve(n);
    if (n != 0) std::memcpy(data_.get() + size_, bytes, n);
    size_ += n;
  }
  /// One code point as UTF-8; lone surrogates as the three bytes they would have (Python's "surrogatepass").
  void push_code(uint32_t c) {
    reserve(4);
    uint8_t* p = data_.get() + size_;
    if (c < 0x80) {
      p[0] = static_cast<uint8_t>(c);
      size_ += 1;
    } else if (c < 0x800) {
      p[0] = static_cast<uint8_t>(0xC0 | (c >> 6));
      p[1] = static_cast<uint8_t>(0x80 | (c & 0x3F));
      size_ += 2;
    } else if (c < 0x10000) {
      p[0] = static_cast<uint8_t>(0xE0 | (c >> 12));
      p[1] = static_cast<uint8_t>(0x80 | ((c >> 6) & 0x3F));
      p[2] = static_cast<uint8_t>(0x80 | (c & 0x3F));
      size_ += 3;
    } else {
      p[0] = static_cast<uint8_t>(0xF0 | (c >> 18));
      p[1] = static_cast<uint8_t>(0x80 | ((c >> 12) & 0x3F));
      p[2] = static_cast<uint8_t>(0x80 | ((c >> 6) & 0x3F));
      p[3] = static_cast<uint8_t>(0x80 | (c & 0x3F));
      size_ += 4;
    }
  }
  /// Zeroes the padding. Positions are 32-bit everywhere else, so this is also where the limit is kept.
  void close() {
    if (size_ > kMaxBytes) throw std::length_error("a text is longer than 2 GB once normalised");
    reserve(0);
    std::memset(data_.get() + size_, 0, kPad);
  }

 private:
  static constexpr size_t kMaxBytes = 0x7FFFFFFF;
  void grow(size_t more) {
    const size_t wanted = std::max<size_t>({size_ + more + kPad, capacity_ * 2, 256});
    std::unique_ptr<uint8_t[]> larger(new uint8_t[wanted]);
    if (size_ != 0) std::memcpy(larger.get(), data_.get(), size_);
    data_ = std::move(larger);
    capacity_ = wanted;
  }
  std::unique_ptr<uint8_t[]> data_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

/// A stretch of a ByteBuffer.
struct Span {
  uint32_t begin;
  uint32_t length;
};

#if defined(__GNUC__) || defined(__clang__)
#define LT_PREFETCH(address) __builtin_prefetch(address)
#else
#define LT_PREFETCH(address) ((void)(address))
#endif

}  // namespace longtail
