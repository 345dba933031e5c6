// A growing array of plain values whose new room is not cleared: parsers ask for the room a line can need at most, write
// through the pointer, and say how much they used.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace longtail {

template <class T>
class Grow {
  static_assert(std::is_trivially_copyable<T>::value, "Grow holds plain values");

 public:
  Grow() = default;
  Grow(Grow&& other) noexcept { swap(other); }
  Grow& operator=(Grow&& other) noexcept {
    swap(other);
    return *this;
  }
  Grow(const Grow&) = delete;
  Grow& operator=(const Grow&) = delete;
  ~Grow() { std::free(data_); }

  /// The end of the array, with room for at least `n` more values.
  T* room(size_t n) {
    if (n > capacity_ - size_) enlarge(n);
    return data_ + size_;
  }
  void used(size_t n) { size_ += n; }
  void push(T value) {
    *room(1) = value;
    ++size_;
  }
  void append(const T* values, size_t n) {
    if (n == 0) return;
    std::memcpy(room(n), values, n * sizeof(T));
    size_ += n;
  }
  void resize_down(size_t n) { size_ = n; }
  void clear() { size_ = 0; }

  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }

  void swap(Grow& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  void enlarge(size_t n) {
    constexpr size_t most = static_cast<size_t>(-1) / sizeof(T) / 2;
    if (n > most || size_ > most - n) throw std::bad_alloc();
    size_t wanted = size_ + n;
    const size_t half_more = capacity_ + capacity_ / 2;
    if (wanted < half_more) wanted = half_more;
    if (wanted < 64) wanted = 64;
    void* bigger = std::realloc(data_, wanted * sizeof(T));
    if (bigger == nullptr) throw std::bad_alloc();
    data_ = static_cast<T*>(bigger);
    capacity_ = wanted;
  }

  T* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace longtail
