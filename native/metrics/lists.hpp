// Ranked lists: checking them, and making them of sparse scores.
//
// A list is one row of `labels` (int32, best first, -1 pads at the end) and of `scores` (float32, falling; equal scores
// by rising label).
#pragma once

#include <cstdint>

#include "core/csr.hpp"

namespace longtail {

/// What can be wrong with a ranked list. The numbers are known to longtail/ranking.py.
enum class ListFault : int {
  none = 0,
  negative_label = 1,   // below -1
  label_too_large = 2,  // n_labels or more
  label_after_pad = 3,
  score_not_finite = 4,
  score_rises = 5,
  tie_order = 6,        // equal scores, but the label is not larger than the one before
  label_twice = 7,
};

struct ListFinding {
  ListFault fault = ListFault::none;
  int64_t row = -1;
  int64_t column = -1;
};

/// The first fault in rows × k lists, in row order. `scores` may be null: then only labels are checked.
ListFinding check_lists(const int32_t* labels,  // IN [rows × k]
                        const float* scores,    // IN [rows × k] or null
                        int64_t rows, int64_t k, int64_t n_labels, int threads);

/// The k best stored entries of each row: falling scores, equal ones by rising column. Short rows end in -1 and -inf.
void top_k(const CsrView& scores,  // IN, finite
           int64_t k, int threads,
           int32_t* labels,      // OUT [rows × k]
           float* list_scores);  // OUT [rows × k]

}  // namespace longtail
