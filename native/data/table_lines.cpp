#include "data/table_lines.hpp"

#include <algorithm>
#include <cstring>

#include "core/parallel.hpp"
#include "data/decimal.hpp"
#include "data/utf8.hpp"

namespace longtail {

namespace {

enum class Field { next, last, open, bad };

/// Reads fields one after the other. `p` moves behind the delimiter or line end.
class Fields {
 public:
  Fields(char delimiter, char quote) : delimiter_(delimiter), quote_(quote) {
    stops_[static_cast<unsigned char>(delimiter)] = true;
    stops_[static_cast<unsigned char>('\n')] = true;
    if (quote != 0) stops_[static_cast<unsigned char>(quote)] = true;
  }

  /// One field into `out` (null: skipped). `lines` counts line ends. [p, end) ends with '\n'.
  Field read(const char*& p, const char* end, std::string* out, int64_t& lines, bool& stray) const {
    if (quote_ != 0 && *p == quote_) return read_quoted(p, end, out, lines);
    const char* const begin = p;
    const char* at = p;
    for (;;) {
      while (!stops_[static_cast<unsigned char>(*at)]) ++at;
      if (quote_ == 0 || *at != quote_ || *at == delimiter_) break;
      stray = true;
      ++at;
    }
    const bool last = *at == '\n';
    const char* content_end = last && at > begin && at[-1] == '\r' ? at - 1 : at;
    if (out != nullptr) out->assign(begin, content_end);
    if (last) ++lines;
    p = at + 1;
    return last ? Field::last : Field::next;
  }

 private:
  Field read_quoted(const char*& p, const char* end, std::string* out, int64_t& lines) const {
    const char* at = p + 1;
    if (out != nullptr) out->clear();
    for (;;) {
      const void* found = std::memchr(at, quote_, static_cast<size_t>(end - at));
      const char* close = found == nullptr ? end : static_cast<const char*>(found);
      lines += std::count(at, close, '\n');
      if (found == nullptr) return Field::open;
      if (out != nullptr) out->append(at, close);
      at = close + 1;
      if (at >= end) return Field::open;
      if (*at != quote_) break;
      if (out != nullptr) out->push_back(quote_);
      ++at;
      if (at >= end) return Field::open;
    }
    if (*at == '\r' && at + 1 < end && at[1] == '\n') ++at;
    const bool last = *at == '\n';
    if (!last && *at != delimiter_) {
      p = at;
      return Field::bad;
    }
    if (last) ++lines;
    p = at + 1;
    return last ? Field::last : Field::next;
  }

  char delimiter_, quote_;
  bool stops_[256] = {};
};

class Parser {
 public:
  Parser(const TableLines& format, Part& part)
      : format_(format), part_(part), fields_(format.delimiter, format.quote), texts_(format.text_columns.size()),
        targets_(static_cast<size_t>(std::max(format.n_columns, 1)), nullptr) {
    for (size_t i = 0; i < texts_.size(); ++i) targets_[static_cast<size_t>(format.text_columns[i])] = &texts_[i];
    if (format.label_column >= 0) targets_[static_cast<size_t>(format.label_column)] = &label_cell_;
  }

  void run(const char* p, const char* end) {
    part_.consumed = p;
    while (p < end) {
      if (*p == '\n' || (*p == '\r' && p[1] == '\n')) {
        part_.repairs.note(kBlankLines, part_.lines);
        p += *p == '\r' ? 2 : 1;
        ++part_.lines;
      } else if (!record(p, end)) {
        return;
      }
      part_.consumed = p;
    }
  }

 private:
  bool fail(const std::string& message) { return part_.fail(part_.lines, message); }

  /// False at an error and at a record whose end is not in this block.
  bool record(const char*& p, const char* end) {
    const char* const begin = p;
    int64_t lines = 0;
    for (int column = 0;; ++column) {
      std::string* out = column < format_.n_columns ? targets_[static_cast<size_t>(column)] : nullptr;
      const Field field = fields_.read(p, end, out, lines, part_.stray_quote);
      if (field == Field::open) return false;
      if (field == Field::bad)
        return fail("column " + std::to_string(column + 1) + " has text after its closing quote (a quote inside a quoted field is written twice)");
      if (field == Field::next) continue;
      if (column + 1 != format_.n_columns)
        return fail("expected " + std::to_string(format_.n_columns) + " columns, got " + std::to_string(column + 1));
      break;
    }
    const char* bad = find_bad_utf8(begin, p);
    if (bad != p) {
      part_.lines += std::count(begin, bad, '\n');
      return fail("the line holds a byte that is not valid UTF-8 (" + std::to_string(static_cast<unsigned char>(*bad)) + ")");
    }
    if (!take_row()) return false;
    part_.lines += lines;
    return true;
  }

  bool take_row() {
    for (size_t i = 0; i < texts_.size(); ++i) {
      if (i > 0) part_.text.push(' ');
      part_.text.append(texts_[i].data(), texts_[i].size());
    }
    part_.text_ends.push(static_cast<int64_t>(part_.text.size()));
    const size_t first = part_.y.ids.size();
    if (format_.label_column >= 0 && !take_labels()) return false;
    part_.y.counts.push(static_cast<int32_t>(part_.y.ids.size() - first));
    part_.row_lines.push(static_cast<int32_t>(part_.lines));
    ++part_.rows;
    return true;
  }

  bool take_labels() {
    const char* p = label_cell_.data();
    const char* const end = p + label_cell_.size();
    const std::string& separator = format_.label_separator;
    while (p <= end) {
      const char* piece_end = std::search(p, end, separator.begin(), separator.end());
      const char* next = piece_end == end ? end + 1 : piece_end + separator.size();
      while (p < piece_end && (*p == ' ' || *p == '\t')) ++p;
      while (piece_end > p && (piece_end[-1] == ' ' || piece_end[-1] == '\t')) --piece_end;
      if (p < piece_end && !take_label(p, piece_end)) return false;
      p = next;
    }
    return true;
  }

  bool take_label(const char* p, const char* end) {
    (format_.label_ids ? part_.label_ids : part_.label_names).note(true, part_.lines);
    if (!format_.label_ids) {
      const int32_t before = part_.names.size();
      const int32_t id = part_.names.add(p, static_cast<size_t>(end - p));
      if (id == before) part_.name_lines.push_back(part_.lines);
      part_.y.ids.push(id);
      return true;
    }
    uint64_t id = 0;
    const char* at = p;
    while (at < end && decimal::is_digit(*at)) id = id * 10 + static_cast<uint64_t>(*at++ - '0');
    if (at != end || end - p > 18) {
      if (*p == '-') return fail("label id " + quoted(p, end) + " is negative, ids start at 0");
      return fail("expected label ids (whole numbers), got " + quoted(p, end));
    }
    if (id >= static_cast<uint64_t>(format_.n_labels))
      return fail("label " + std::string(p, end) + " is out of range" + expected_below(format_.n_labels));
    if (static_cast<int32_t>(id) > part_.largest_label) part_.largest_label = static_cast<int32_t>(id);
    part_.y.ids.push(static_cast<int32_t>(id));
    return true;
  }

  const TableLines& format_;
  Part& part_;
  Fields fields_;
  std::vector<std::string> texts_;
  std::string label_cell_;
  std::vector<std::string*> targets_;  // where the text of each column goes; null: nowhere
};

/// The cuts of cut_at_lines, moved on to the next line end that has an even number of quotes before it.
std::vector<const char*> cut_at_records(const char* begin, const char* end, char quote, int64_t n, int threads) {
  const std::vector<const char*> rough = cut_at_lines(begin, end, n);
  const int64_t pieces = static_cast<int64_t>(rough.size()) - 1;
  if (quote == 0 || pieces < 2) return rough;
  std::vector<int64_t> quotes(static_cast<size_t>(pieces));
  parallel_for(pieces, threads, [&](int64_t i, int) {
    const size_t at = static_cast<size_t>(i);
    quotes[at] = std::count(rough[at], rough[at + 1], quote);
  });
  std::vector<const char*> cuts{begin};
  bool inside = false;
  for (size_t i = 1; i < rough.size() - 1; ++i) {
    inside = inside != (quotes[i - 1] % 2 != 0);
    const char* cut = rough[i];
    bool open = inside;
    while (open && cut < end) {  // on to the first line end outside quotes
      if (*cut == quote) open = false;
      ++cut;
      if (!open) {
        for (; cut < end && (open || cut[-1] != '\n'); ++cut)
          if (*cut == quote) open = !open;
      }
    }
    if (!open && cut > cuts.back() && cut < end) cuts.push_back(cut);
  }
  cuts.push_back(end);
  return cuts;
}

}  // namespace

void parse_table_lines(const char* begin, const char* end, const TableLines& format, Part& part) {
  Parser(format, part).run(begin, end);
}

std::vector<Part> parse_table_block(const char* begin, const char* end, const TableLines& format, int threads) {
  const auto cuts = cut_at_records(begin, end, format.quote, parts_for(end - begin, threads), threads);
  std::vector<Part> parts(cuts.size() - 1);
  parallel_for(static_cast<int64_t>(parts.size()), threads, [&](int64_t i, int) {
    const size_t at = static_cast<size_t>(i);
    parse_table_lines(cuts[at], cuts[at + 1], format, parts[at]);
  });
  bool in_doubt = false;
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool whole = parts[i].consumed == cuts[i + 1] || i + 1 == parts.size();
    in_doubt = in_doubt || parts[i].failed || parts[i].stray_quote || !whole;
  }
  if (in_doubt && parts.size() > 1) {
    parts.clear();
    parts.resize(1);
    parse_table_lines(begin, end, format, parts[0]);
  }
  return parts;
}

bool read_table_record(const char* begin, const char* end, char delimiter, char quote, std::vector<std::string>& fields,
                       int64_t& consumed, std::string& error) {
  const Fields reader(delimiter, quote);
  const char* p = begin;
  int64_t lines = 0;
  bool stray = false;
  for (;;) {
    std::string text;
    const Field field = reader.read(p, end, &text, lines, stray);
    if (field == Field::open) return false;
    if (field == Field::bad) {
      error = "column " + std::to_string(fields.size() + 1) + " has text after its closing quote";
      return false;
    }
    fields.push_back(std::move(text));
    if (field == Field::last) break;
  }
  consumed = p - begin;
  if (find_bad_utf8(begin, p) != p) error = "the header is not valid UTF-8";
  return error.empty();
}

}  // namespace longtail
