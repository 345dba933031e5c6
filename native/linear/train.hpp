// Trains the classifiers of one level of a tree: work queue over nodes, largest first; big nodes are shared by label block.
#pragma once

#include "core/parallel.hpp"
#include "linear/layout.hpp"
#include "linear/node.hpp"

namespace longtail {

struct TrainParams {
  SolverParams solver;
  float c = 1.0f;
  float threshold = 0.1f;
  ValueType type = ValueType::f32;
  uint64_t seed = 0;
  int threads = 1;
};

struct TrainStats {
  int64_t passes = 0;      // over rows, summed over blocks
  int64_t blocks = 0;
  int64_t unfinished = 0;  // blocks that stopped at max_iter
};

/// IN: plan; rows_of_label (labels × rows, a pattern); square_norm per row without the bias; cost per row or null;
/// rank: internal number of each feature, -1 for one that no example has; child: what Level.child shall be.
/// `watch->done` counts, for each finished block of 16 children, the (row, label) pairs under its node, plus 1 (plus all
/// rows for one-vs-rest).
Level train_level(const LevelPlan& plan, const CsrView& rows_of_label, const Examples& x, const float* square_norm,
                  const float* cost, const int32_t* rank, int64_t n_internal, std::vector<int32_t> child,
                  const TrainParams& params, TrainStats& stats, Watch* watch);

}  // namespace longtail
