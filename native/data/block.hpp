// What every text parser here shares. A block of whole lines is cut at line ends into parts, which are parsed side by side
// into results of their own and then joined in order. A part never throws for bad input: it notes its first error.
//
// Every block ends with '\n', so that loops over digits, blanks or plain bytes stop by themselves; bind.cpp checks it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/grow.hpp"
#include "data/names.hpp"

namespace longtail {

/// Things that are put right and told.
enum Repair : int {
  kUnsortedFeatures,
  kDuplicateFeatures,
  kDuplicateLabels,
  kZeroLabels,
  kCarriageReturns,
  kBlankLines,
  kQueryIds,
  kSurrogates,
  kUnknownLabels,
  kMissingLabels,
  kRepairs
};
extern const char* const kRepairNames[kRepairs];

struct RepairCounts {
  int64_t count[kRepairs] = {};
  int64_t first_line[kRepairs] = {};  // from 0

  void note(Repair repair, int64_t line, int64_t times = 1) {
    if (times == 0) return;
    if (count[repair] == 0) first_line[repair] = line;
    count[repair] += times;
  }
  /// Adds those of a part that began at line `offset`.
  void join(const RepairCounts& part, int64_t offset) {
    for (int r = 0; r < kRepairs; ++r)
      note(static_cast<Repair>(r), part.first_line[r] + offset, part.count[r]);
  }
};

/// Sparse rows one after the other: how many entries each has, and the entries.
struct SparseRows {
  Grow<int32_t> counts;
  Grow<int32_t> ids;
  Grow<float> values;  // empty for patterns (labels without values)
};

/// A field that rows may have or lack: how many have it, and the first of either kind (lines from 0, -1 = none).
struct Presence {
  int64_t rows = 0;
  int64_t first_with = -1;
  int64_t first_without = -1;

  void note(bool present, int64_t line) {
    if (present) ++rows;
    int64_t& first = present ? first_with : first_without;
    if (first < 0) first = line;
  }
  void join(const Presence& part, int64_t offset) {
    rows += part.rows;
    if (first_with < 0 && part.first_with >= 0) first_with = part.first_with + offset;
    if (first_without < 0 && part.first_without >= 0) first_without = part.first_without + offset;
  }
};

struct Part {
  int64_t rows = 0;
  int64_t lines = 0;
  SparseRows x, y;
  Grow<char> text;            // UTF-8
  Grow<int64_t> text_ends;    // one per row
  Names names;                // labels of this part given by name; y.ids index it until the parts are joined
  std::vector<int64_t> name_lines;  // where each was first seen
  Grow<int32_t> row_lines;          // the line each row began on, for parsers whose labels are tidied when joined
  Presence has_text, has_x, has_y, label_ids, label_names;
  int32_t smallest_feature = INT32_MAX, largest_feature = -1, largest_label = -1;
  RepairCounts repairs;
  bool failed = false;
  int64_t error_line = 0;  // from 0
  std::string error;
  const char* consumed = nullptr;  // only tables: the end of the last whole record
  bool stray_quote = false;

  bool fail(int64_t line, std::string message) {
    if (!failed) {
      failed = true;
      error_line = line;
      error = std::move(message);
    }
    return false;
  }
};

/// Cuts [begin, end) into at most `n` pieces at line ends; gives the n + 1 cuts.
std::vector<const char*> cut_at_lines(const char* begin, const char* end, int64_t n);
/// How many parts a block of this length is worth.
int64_t parts_for(int64_t bytes, int threads);

/// Sorts the entries of the last row by id and sums duplicates (in double, then rounded). False when a sum is not finite.
bool tidy_features(Part& part, size_t row_begin, int64_t line);
/// Sorts the labels of a row and merges duplicates (of values, the first stays).
void tidy_labels(SparseRows& y, size_t row_begin, RepairCounts& repairs, int64_t line);

/// A token for an error message: at most 40 bytes, in quotes, nothing unprintable.
std::string quoted(const char* p, const char* end);
/// 12345678 as "12,345,678".
std::string grouped(int64_t n);
/// ", expected 0 to 4,999".
std::string expected_below(int64_t limit);

}  // namespace longtail
