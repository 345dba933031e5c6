// Scores of all children of one tree node for one query.
#pragma once

#include <cstdint>
#include <vector>

#include "core/isa.hpp"
#include "linear/layout.hpp"

namespace longtail {

/// What a margin z says: hinge: -max(0, 1 - z)^p and sigmoid: log(1 / (1 + e^-z)), both never positive; raw: z.
enum class ScoreKind : int { hinge = 0, sigmoid = 1, raw = 2 };

struct Query {
  int64_t n = 0;
  const int32_t* feature = nullptr;  // internal numbers, all in range
  const float* value = nullptr;
};

/// Where a row of the chunk lies and what the query multiplies it by.
struct Hit {
  uint32_t at;
  float value;
};

struct ScoreKernels {
  /// OUT margin[16 * blocks]: w·x + b for each child; lanes past the last child hold junk.
  /// SCRATCH hits[query.n + 1].
  void (*margins)(const LevelView& level, int64_t chunk, const Query& query, float* margin, Hit* hits);
  /// INOUT scores[16 * blocks]: margins in, base + score out.
  void (*to_scores)(float* scores, int64_t n_children, ScoreKind kind, int power, float base);
  /// Which of the n scores are at least the threshold. OUT chosen[n]: their positions, rising. Gives how many.
  int64_t (*select)(const float* scores, int64_t n, float threshold, int32_t* chosen);
};

LT_DECLARE(ScoreKernels score_kernels())

}  // namespace longtail
