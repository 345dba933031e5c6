// Stochastic gradient descent on a hierarchical softmax: one example, one of its labels, one step.
//
//   hidden = weighted mean of the example's input vectors
//   for every decision on the way to the label: the margin of its vector(s), the error of the probability, a step of the
//   output vectors along `hidden`, and the gradient of `hidden` along them
//   a step of the input vectors along that gradient, each by its weight in the mean
//
// Several threads step on the same vectors without locks, as is usual for such models: steps touch few rows, a lost or a
// torn update is noise beside that of the examples' order. These races are meant; floats are read and written whole on
// every processor that is supported, and nothing but the value of a weight depends on who comes first.
#pragma once

#include <cstdint>
#include <vector>

#include "core/aligned.hpp"
#include "core/csr.hpp"
#include "core/isa.hpp"
#include "softmax/decisions.hpp"

namespace longtail {

struct SgdJob {
  CsrView x;                      // columns are rows of `input`; values are weights in the mean
  CsrView y;                      // a pattern
  const float* weight = nullptr;  // of each example, or null
  const int32_t* order = nullptr;  // [x.n_rows]: the examples as they are visited
  const int64_t* path_ptr = nullptr;
  const uint32_t* path = nullptr;
  const Decisions* tree = nullptr;
  float* input = nullptr;   // IN OUT [x.n_cols][stride]
  float* output = nullptr;  // IN OUT [n_vectors][stride]
  int64_t stride = 0;       // a multiple of 16
  float rate_begin = 0;     // the learning rate at position 0; it falls linearly
  float rate_end = 0;       // to this at position x.n_rows
  uint64_t seed = 0;        // of the choice of a label of each example
};

/// The memory of one thread.
struct SgdScratch {
  AlignedFloats hidden, gradient, margin, step;
  std::vector<int64_t> vectors;
};

struct SgdLoss {
  double sum = 0.0;   // of -log probability of the labels chosen
  int64_t steps = 0;  // examples that have features and labels
};

/// Visits order[begin:end].
LT_DECLARE(SgdLoss train_rows(const SgdJob& job, int64_t begin, int64_t end, SgdScratch& scratch))

}  // namespace longtail
