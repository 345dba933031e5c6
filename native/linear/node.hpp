// The training problem of one tree node: which rows reach it, and those rows with the node's own feature numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "core/csr.hpp"
#include "linear/solver.hpp"

namespace longtail {

/// Features of all examples: CSR or row-major dense.
struct Examples {
  bool dense = false;
  CsrView sparse;
  const float* values = nullptr;  // dense [n_rows][n_features]
  int64_t n_rows = 0;
  int64_t n_features = 0;
};

/// The nodes of one level, children in the order of the chunk.
struct LevelPlan {
  int64_t n_chunks = 0;
  const int64_t* child_ptr = nullptr;    // [n_chunks + 1]
  const int64_t* label_begin = nullptr;  // [n_children] range of `order` under the child
  const int64_t* label_end = nullptr;
  const int32_t* order = nullptr;        // labels
  bool all_rows = false;                 // one-vs-rest: every row is an example for every node
  CsrView extra;                         // chunk × rows: further negatives (matched), or n_rows = 0
};

/// What one thread needs again and again, sized once.
class NodeScratch {
 public:
  NodeScratch(int64_t n_rows, int64_t n_features);

  /// Collects the rows of the chunk (those with a label under it, and the extra ones), shuffled by the seed, and for each
  /// block of 16 children which of its lanes are positive: positive[block * n_rows + i].
  void collect_rows(const LevelPlan& plan, const CsrView& rows_of_label, int64_t chunk, uint64_t seed);
  /// Copies the collected rows with local feature numbers. `square_norm` includes the bias; `cost` may be null (all `c`).
  void compact(const Examples& x, const float* square_norm, const float* cost, float c, NodeRows& out);

  std::vector<int32_t> rows;       // ids of the collected rows
  std::vector<uint16_t> positive;  // [n_blocks * rows]
  std::vector<int32_t> features;   // global feature of each local one, those of one row last

 private:
  void number_features(const CsrView& x, NodeRows& out);
  void split_features(const CsrView& x, NodeRows& out);

  std::vector<int32_t> local_row_;      // [n_rows] or -1
  std::vector<int32_t> local_feature_;  // [n_features] or -1
  std::vector<int32_t> count_;          // rows of each local feature, then its final number
  std::vector<int32_t> all_features_;
};

}  // namespace longtail
