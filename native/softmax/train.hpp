// One epoch of training, on several threads.
#pragma once

#include <cstdint>

#include "core/parallel.hpp"
#include "softmax/sgd.hpp"

namespace longtail {

/// Fills rows [n_rows][stride] with numbers uniform in [-bound, bound] in their first `dim` places, zeros behind them. A
/// row depends on the seed and its number alone.
void fill_uniform(float* rows, int64_t n_rows, int64_t dim, int64_t stride, float bound, uint64_t seed, int threads);

/// Visits all examples once, in an order that depends on the seed alone. `job` needs no order and no paths. With one
/// thread the result depends on nothing else; with more it differs a little from run to run (see sgd.hpp).
SgdLoss train_epoch(SgdJob job, int threads, Watch* watch);

}  // namespace longtail
