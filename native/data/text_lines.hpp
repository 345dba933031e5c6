// Plain text: one document per line, UTF-8.
#pragma once

#include "data/block.hpp"

namespace longtail {

/// Every line of [begin, end) is a row, without its line end (LF or CR LF).
void parse_text_lines(const char* begin, const char* end, Part& part);

}  // namespace longtail
