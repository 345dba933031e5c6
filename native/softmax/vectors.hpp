// Rows of vectors as they are stored (float32, half precision, or int8 with a scale a row), and what is done with them.
#pragma once

#include <cstdint>
#include <string>

#include "core/isa.hpp"

namespace longtail {

enum class VectorType : int { f32 = 0, f16 = 1, int8 = 2 };

/// Throws std::invalid_argument on any other name.
VectorType vector_type_of(const std::string& name);

struct VectorTable {
  VectorType type = VectorType::f32;
  const void* data = nullptr;    // [n_rows][stride]
  const float* scale = nullptr;  // [n_rows], int8 only: a value is scale * whole number
  int64_t n_rows = 0;
  int64_t stride = 0;  // a multiple of 16
};

struct VectorKernels {
  /// OUT hidden[stride]: the mean of rows, weighted by value / sum of |value|; zeros if that sum is 0.
  void (*mean)(const VectorTable& table, const int32_t* index, const float* value, int64_t n, float* hidden);
  /// OUT margin[n]: rows first to first + n times hidden.
  void (*margins)(const VectorTable& table, int64_t first, int64_t n, const float* hidden, float* margin);
  /// OUT log_p[2]: of a logistic decision, of its child 0 and its child 1. Never positive.
  void (*log_logistic)(float margin, float* log_p);
  /// OUT log_p[n]: of a softmax decision. Reads and writes up to the next multiple of 16. Never positive.
  void (*log_softmax)(const float* margin, int64_t n, float* log_p);
  /// IN OUT values[n], padded to a multiple of 16.
  void (*exponentials)(float* values, int64_t n);
};

LT_DECLARE(const VectorKernels& vector_kernels())

}  // namespace longtail
