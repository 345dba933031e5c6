// One binary classifier for each of sixteen sibling labels, trained at once by dual coordinate descent.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "core/isa.hpp"

namespace longtail {

enum class Loss : int { squared_hinge = 0, logistic = 1 };

/// The rows of one tree node, with features numbered as they occur there; in the order in which the solver visits them.
///
/// About half of the features of a small node occur in one of its rows only. Such a feature has the weight y·α·value
/// whatever the others do, so the solver needs no weight of it: what it adds to its row's margin is y·α·value², summed
/// up in `own`. This keeps the weights that are left in a nearer cache.
struct NodeRows {
  int64_t n_rows = 0;
  int32_t n_features = 0;          // in several rows; all of a dense matrix
  bool dense = false;              // then value is [n_rows][n_features] and index is not used
  std::vector<int64_t> row_ptr;    // [n_rows + 1]
  std::vector<uint32_t> index;     // [nnz] local features
  std::vector<float> value;        // [nnz]
  std::vector<float> square_norm;  // [n_rows], the bias feature included
  std::vector<float> cost;         // [n_rows], C times the weight of the example
  std::vector<float> own;          // [n_rows], the sum of squares over features that no other row has
  std::vector<float> sum;          // [n_features], Σ cost · x over all rows
  std::vector<int32_t> single_row; // features of one row, numbered from n_features on: which row
  std::vector<float> single_value;
};

struct SolverParams {
  Loss loss = Loss::squared_hinge;
  float bias = 1.0f;  // value of the bias feature; 0 for none
  float tol = 0.1f;   // a lane is done when its projected gradients span no more than this
  int max_iter = 100;
  const std::atomic<bool>* stop = nullptr;  // once true, the weights are of no use to anybody: return early
};

/// Memory for the lanes that are still at work once they are few.
struct NarrowRoom {
  float* weights = nullptr;      // [(n_features + 1) * 8]
  float* dual = nullptr;         // [n_rows * 8]
  uint16_t* positive = nullptr;  // [n_rows]
};

/// min_w ½‖w‖² + Σ_i cost_i · loss(y_i · w·x_i) for each lane of `lanes`.
/// IN rows, positive[n_rows] (bit j: the row is positive for lane j). OUT weights[(n_features + 1) * 16], the last row
/// being the weights of the bias feature; dual[n_rows * 16]: y·α of each row. Gives the number of passes over the rows.
LT_DECLARE(int solve_block(const NodeRows& rows, const uint16_t* positive, uint32_t lanes, const SolverParams& params,
                           uint64_t seed, float* weights, float* dual, const NarrowRoom& room))

/// Keeps the weights whose size is above the threshold, features in the order of `order`. IN weights and dual as
/// solve_block leaves them. OUT masks[n]: which lanes are kept; values: what is kept, feature by feature, lanes rising.
LT_DECLARE(void compress_block(const NodeRows& rows, const float* weights, const float* dual, const int32_t* order, int64_t n,
                               float threshold, uint16_t* masks, std::vector<float>& values))

}  // namespace longtail
