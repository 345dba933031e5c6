// A buffer of floats on a cache line, grown when needed and reused; contents are not kept.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace longtail {

class AlignedFloats {
 public:
  float* at_least(size_t n) {
    if (n > size_) {
      memory_.reset();
      size_ = 0;
      memory_.reset(new float[n + 16]);
      size_ = n;
    }
    const auto address = reinterpret_cast<uintptr_t>(memory_.get());
    return reinterpret_cast<float*>((address + 63) & ~uintptr_t{63});
  }

 private:
  std::unique_ptr<float[]> memory_;
  size_t size_ = 0;
};

}  // namespace longtail
