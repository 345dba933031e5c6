// A buffer of floats on a cache line, grown when needed and reused; contents are not kept.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace longtail {

/// Large buffers ask for huge pages: what is read all over a buffer of a thousand small ones misses the address cache.
class AlignedFloats {
 public:
  float* at_least(size_t n) {
    if (n > size_) {
      memory_.reset();
      size_ = 0;
      const size_t room = (alignment_of(n) - 1) / sizeof(float) + 1;
      memory_.reset(new float[n + room]);
      size_ = n;
      advise();
    }
    return aligned();
  }

 private:
  static constexpr size_t kLine = 64, kHugePage = size_t{1} << 21;

  static size_t alignment_of(size_t n) { return n * sizeof(float) >= kHugePage ? kHugePage : kLine; }

  float* aligned() const {
    const auto address = reinterpret_cast<uintptr_t>(memory_.get());
    const uintptr_t below = alignment_of(size_) - 1;
    return reinterpret_cast<float*>((address + below) & ~below);
  }

  void advise() const {
#if defined(__linux__)
    // Only whole huge pages inside the buffer. A refusal costs speed, nothing else.
    if (alignment_of(size_) == kHugePage)
      static_cast<void>(madvise(aligned(), size_ * sizeof(float) / kHugePage * kHugePage, MADV_HUGEPAGE));
#endif
  }

  std::unique_ptr<float[]> memory_;
  size_t size_ = 0;
};

}  // namespace longtail
