// Lines of sparse numbers: `l,l f:v f:v` (Extreme Classification Repository, svmlight) and `i:v i:v` (its matrix files).
#pragma once

#include <cstdint>

#include "data/block.hpp"

namespace longtail {

struct SparseLines {
  bool labels_first = true;   // `l,l` before the features
  bool svmlight = false;      // comments after '#', qid:n, blank lines are no rows
  bool matrix_of_labels = false;  // i:v are labels and their values: they go to y, values must not be negative
  int64_t n_features = 0;     // feature ids must be below
  int64_t n_labels = 0;       // label ids must be below
  const char* limits_from = "";  // what the limits come from, for messages: "the header", ...
};

/// Parses whole lines [begin, end) into `part`.
void parse_sparse_lines(const char* begin, const char* end, const SparseLines& format, Part& part);

}  // namespace longtail
