// Parts of a block joined in order: label names become ids of one table, arrays become one array each.
#pragma once

#include <string>
#include <vector>

#include "data/block.hpp"

namespace longtail {

enum class LabelKind : int { unknown = 0, ids = 1, names = 2 };

struct LabelTable {
  Names names;
  bool fixed = false;         // names are given; others are unknown
  bool drop_unknown = false;  // unknown names are dropped (and counted) instead of an error
  LabelKind kind = LabelKind::unknown;
};

struct Joined {
  int64_t rows = 0, lines = 0;
  SparseRows x, y;
  Presence has_text, has_x, has_y;
  int32_t smallest_feature = INT32_MAX, largest_feature = -1, largest_label = -1;
  RepairCounts repairs;
  bool failed = false;
  int64_t error_line = 0;
  std::string error;
};

/// Joins parts; `table` is null for formats whose labels are tidy ids already. Lines are counted from the block's first.
/// The texts stay in the parts. Nothing is joined when a part failed: the first error of the block is reported.
Joined join_parts(std::vector<Part>& parts, LabelTable* table, int threads);

}  // namespace longtail
