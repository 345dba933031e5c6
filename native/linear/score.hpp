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

/// A row of a chunk that a query has a feature for, and what the query multiplies it by. First only where the row's group is
/// and which of its rows is meant are known, then the row itself.
struct Hit {
  union {
    struct {
      uint32_t place, rank;
    } in_group;
    const uint8_t* row;
  };
  uint32_t bytes;
  float value;
};

/// The margins of a chunk's children for a query, in three steps, so that the memory that a step reads can be on its way
/// while another chunk or query is worked on.
struct ScoreKernels {
  /// Finds the rows of the query's features, and asks for the memory of their ends. OUT hits[query.n + 1]: in_group and
  /// value. Gives how many there are.
  int64_t (*find)(const LevelView& level, int64_t chunk, const Query& query, Hit* hits);
  /// Reads the ends, and asks for the memory of the rows. INOUT hits[n]: in_group in, row and bytes out.
  void (*locate)(const LevelView& level, int64_t chunk, Hit* hits, int64_t n);
  /// IN hits[n], located. OUT margin[room_for_margins]: w·x + b for each child; what follows the last child is junk.
  void (*margins)(const LevelView& level, int64_t chunk, const Hit* hits, int64_t n, float* margin);
  /// INOUT scores[16 * blocks]: margins in, base + score out.
  void (*to_scores)(float* scores, int64_t n_children, ScoreKind kind, int power, float base);
  /// Which of the n scores are at least the threshold. OUT chosen[n]: their positions, rising. Gives how many.
  int64_t (*select)(const float* scores, int64_t n, float threshold, int32_t* chosen);
};

LT_DECLARE(ScoreKernels score_kernels())

}  // namespace longtail
