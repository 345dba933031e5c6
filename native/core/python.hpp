// What the bindings share: array types, checked CSR arguments, progress and Ctrl-C.
//
// Convention: a bind.cpp checks shapes and dtypes, releases the GIL (GilRelease), calls a kernel that knows nothing of
// Python, and gives arrays back. Python callers have already checked values (finite, sorted, in bounds) through
// longtail.arrays; what could make a kernel read or write out of bounds is checked again here.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/csr.hpp"
#include "core/parallel.hpp"

namespace longtail {

namespace nb = nanobind;

/// IN: a read-only, C-contiguous CPU array of exactly this dtype (no silent conversion: a wrong one is a TypeError).
template <class T, size_t Dim = 1>
using In = nb::ndarray<const T, nb::ndim<Dim>, nb::c_contig, nb::device::cpu>;

/// OUT: a writable one.
template <class T, size_t Dim = 1>
using Out = nb::ndarray<T, nb::ndim<Dim>, nb::c_contig, nb::device::cpu>;

/// Gives a vector to NumPy without copying it.
template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(std::vector<T>&& values) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(owned->data(), {owned->size()}, owner);
}

/// The same as a rows × cols matrix.
template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<2>> to_numpy(std::vector<T>&& values, size_t rows, size_t cols) {
  if (values.size() != rows * cols) throw std::logic_error("to_numpy: size does not match shape");
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<2>>(owned->data(), {rows, cols}, owner);
}

/// A CSR argument as Python gives it. indptr may be int32 or int64 (SciPy picks by size); it is widened once here.
class CsrArg {
 public:
  /// Throws std::invalid_argument unless indptr rises from 0 to nnz and all column ids are in [0, n_cols).
  CsrArg(nb::object indptr, In<int32_t> indices, In<float> data, int64_t n_cols);
  /// A pattern without values (labels): data() is null.
  CsrArg(nb::object indptr, In<int32_t> indices, int64_t n_cols);
  CsrView view() const { return view_; }

 private:
  void take(nb::object indptr, int64_t n_cols);
  In<int32_t> indices_;
  nb::object keep_indptr_;
  In<float> data_;
  std::vector<int64_t> widened_;
  CsrView view_;
};

/// What canonical float32 CSR must not be: bits 1 unsorted rows, 2 duplicates in a sorted row, 4 a value not finite.
int csr_flaws(const CsrView& m);

/// Progress of a long kernel: `report` is None or a Python callable that takes the units done so far. It is called on
/// the calling thread every 50 ms or so; Ctrl-C and exceptions of the callable stop the kernel and come out of the call.
class WatchPython {
 public:
  explicit WatchPython(nb::object report);
  Watch* get() { return &watch_; }

 private:
  nb::object report_;
  Watch watch_;
};

using GilRelease = nb::gil_scoped_release;

}  // namespace longtail
