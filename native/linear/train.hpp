// Trains the classifiers of one level of a tree, or of a few at once: a work queue over nodes, largest first; big nodes are
// shared by label block. Levels near the root have fewer nodes than there are threads, so they go with the next ones.
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
  int threads = 1;
};

struct TrainStats {
  int64_t passes = 0;      // over rows, summed over blocks
  int64_t blocks = 0;
  int64_t unfinished = 0;  // blocks that stopped at max_iter
};

/// IN: plans of levels to train side by side, with child: what Level.child shall be, and a seed, for each; rows_of_label
/// (labels × rows, a pattern); square_norm per row without the bias; cost per row or null; rank: internal number of each
/// feature, -1 for one that no example has.
/// OUT: statistics of each level. `watch->done` counts, for each finished block of 16 children, the (row, label) pairs under its node, plus 1 (plus all
/// rows for one-vs-rest).
std::vector<Level> train_levels(const std::vector<LevelPlan>& plans, std::vector<std::vector<int32_t>> child,
                                const std::vector<uint64_t>& seeds, const CsrView& rows_of_label, const Examples& x,
                                const float* square_norm, const float* cost, const int32_t* rank, int64_t n_internal,
                                const TrainParams& params, std::vector<TrainStats>& stats, Watch* watch);

}  // namespace longtail
