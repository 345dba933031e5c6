// Delimited tables (RFC 4180): fields in quotes may hold delimiters, line ends and doubled quotes.
#pragma once

#include <string>
#include <vector>

#include "data/block.hpp"

namespace longtail {

struct TableLines {
  char delimiter = ',';
  char quote = '"';                  // 0: quotes are plain characters
  std::vector<int> text_columns;     // their texts are joined by a blank, in this order
  int label_column = -1;             // -1: none
  int n_columns = 0;                 // every record must have as many
  std::string label_separator;       // between the labels of one field
  bool label_ids = false;            // labels are whole numbers, not names
  int64_t n_labels = 0;              // label ids must be below
};

/// Parses records of [begin, end) into `part`. part.consumed is the end of the last whole record: a quoted field may be
/// open at the end of the block. part.stray_quote tells of a quote inside a field without quotes.
void parse_table_lines(const char* begin, const char* end, const TableLines& format, Part& part);

/// The same in parts side by side: the cuts are taken where an even number of quotes lies before. That is right unless a
/// part meets a stray quote or an error; the block is then parsed again from front to back.
std::vector<Part> parse_table_block(const char* begin, const char* end, const TableLines& format, int threads);

/// The fields of the first record of [begin, end). False when it has no end there; `error` says what is wrong, if anything.
bool read_table_record(const char* begin, const char* end, char delimiter, char quote, std::vector<std::string>& fields,
                       int64_t& consumed, std::string& error);

}  // namespace longtail
