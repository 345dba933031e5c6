// JSON lines: one object per line with a text, labels and features; other fields are checked and skipped.
#pragma once

#include <string>
#include <vector>

#include "data/block.hpp"

namespace longtail {

struct JsonLines {
  std::vector<std::string> text_fields;  // their texts are joined by a blank, in this order
  std::string label_field;
  std::string features_field;
  int64_t n_features = 0;  // feature ids must be below
  int64_t n_labels = 0;    // label ids (not names) must be below
};

/// Parses whole lines [begin, end) into `part`. Labels given by name are ids of part.names.
void parse_json_lines(const char* begin, const char* end, const JsonLines& format, Part& part);

}  // namespace longtail
