#include "data/text_lines.hpp"

#include <algorithm>
#include <cstring>

#include "data/utf8.hpp"

namespace longtail {

void parse_text_lines(const char* begin, const char* end, Part& part) {
  const char* bad = find_bad_utf8(begin, end);
  if (bad != end) {
    part.fail(std::count(begin, bad, '\n'),
              "the line holds a byte that is not valid UTF-8 (" + std::to_string(static_cast<unsigned char>(*bad)) + ")");
    return;
  }
  part.text.room(static_cast<size_t>(end - begin));
  for (const char* p = begin; p < end;) {
    const char* eol = static_cast<const char*>(std::memchr(p, '\n', static_cast<size_t>(end - p)));
    const char* next = eol + 1;
    if (eol > p && eol[-1] == '\r') {
      part.repairs.note(kCarriageReturns, part.lines);
      --eol;
    }
    part.text.append(p, static_cast<size_t>(eol - p));
    part.text_ends.push(static_cast<int64_t>(part.text.size()));
    ++part.rows;
    ++part.lines;
    p = next;
  }
}

}  // namespace longtail
