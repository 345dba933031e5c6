#include "data/sparse_lines.hpp"

#include <cstring>
#include <string>

#include "data/decimal.hpp"

namespace longtail {

namespace {

using decimal::is_digit;

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
inline bool ends_token(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

class Parser {
 public:
  Parser(const SparseLines& format, Part& part) : format_(format), part_(part) {}

  void run(const char* p, const char* end) {
    while (p < end) {
      const char* eol = static_cast<const char*>(std::memchr(p, '\n', static_cast<size_t>(end - p)));
      if (eol == nullptr) eol = end - 1;  // cannot happen: blocks end with a line end
      if (!line(p, eol)) return;
      ++part_.lines;
      p = eol + 1;
    }
  }

 private:
  bool line(const char* p, const char* eol) {
    if (eol > p && eol[-1] == '\r') {
      part_.repairs.note(kCarriageReturns, part_.lines);
      --eol;
    }
    if (format_.svmlight) {
      if (const void* hash = std::memchr(p, '#', static_cast<size_t>(eol - p))) {
        eol = static_cast<const char*>(hash);
        if (only_blanks(p, eol)) return true;  // a line of comment
      } else if (only_blanks(p, eol)) {
        part_.repairs.note(kBlankLines, part_.lines);
        return true;
      }
    }
    const size_t first_label = part_.y.ids.size();
    if (format_.labels_first && p < eol && !is_blank(*p) && !labels(p, eol)) return false;
    if (format_.labels_first) {
      tidy_labels(part_.y, first_label, part_.repairs, part_.lines);
      part_.y.counts.push(static_cast<int32_t>(part_.y.ids.size() - first_label));
    }
    if (!(format_.matrix_of_labels ? entries<true>(p, eol) : entries<false>(p, eol))) return false;
    ++part_.rows;
    return true;
  }

  static bool only_blanks(const char* p, const char* eol) {
    while (p < eol && is_blank(*p)) ++p;
    return p == eol;
  }

  /// `l,l` up to a blank; a first token with a colon is a feature: the row has no labels.
  bool labels(const char*& p, const char* eol) {
    int32_t* const out = part_.y.ids.room(static_cast<size_t>(eol - p) / 2 + 1);
    size_t n = 0;
    const char* at = p;
    for (;;) {
      const char* const token = at;
      if (*at == '+') ++at;
      const char* const digits = at;
      uint64_t id = 0;
      while (is_digit(*at)) id = id * 10 + static_cast<uint64_t>(*at++ - '0');
      if (*at == ':' && n == 0) return true;
      if (format_.svmlight && n == 0 && at == token && *at == 'q' && eol - at > 4 && std::memcmp(at, "qid:", 4) == 0)
        return true;
      if (at > digits && *at == '.') {  // 3.0, as svmlight writers of other libraries give it
        ++at;
        while (*at == '0') ++at;
      }
      if (at == digits || at - digits > 18 || (at < eol && *at != ',' && !is_blank(*at))) return bad_label(token, eol);
      if (id >= static_cast<uint64_t>(format_.n_labels)) return label_range(token, at);
      out[n++] = static_cast<int32_t>(id);
      if (static_cast<int32_t>(id) > part_.largest_label) part_.largest_label = static_cast<int32_t>(id);
      if (at >= eol || *at != ',') break;
      ++at;
      if (at >= eol || is_blank(*at)) break;  // a comma after the last label does no harm
    }
    part_.y.ids.used(n);
    p = at;
    return true;
  }

  template <bool kLabels>
  bool entries(const char* p, const char* eol) {
    SparseRows& rows = kLabels ? part_.y : part_.x;
    const int64_t limit = kLabels ? format_.n_labels : format_.n_features;
    const size_t row_begin = rows.ids.size();
    const size_t most = static_cast<size_t>(eol - p) / 2 + 1;
    int32_t* ids = rows.ids.room(most);
    float* values = rows.values.room(most);
    size_t n = 0;
    int64_t last = -1;
    bool untidy = false;
    int32_t smallest = part_.smallest_feature, largest = kLabels ? part_.largest_label : part_.largest_feature;
    for (;;) {
      while (is_blank(*p)) ++p;
      if (p >= eol) break;
      const char* const token = p;
      uint64_t id = 0;
      while (is_digit(*p)) id = id * 10 + static_cast<uint64_t>(*p++ - '0');
      if (p == token || *p != ':' || p - token > 18) {
        if (format_.svmlight && eol - token > 4 && std::memcmp(token, "qid:", 4) == 0) {
          part_.repairs.note(kQueryIds, part_.lines);
          while (!ends_token(*p) && p < eol) ++p;
          continue;
        }
        return bad_entry(token, eol, kLabels);
      }
      if (id >= static_cast<uint64_t>(limit)) return entry_range(token, p, kLabels);
      ++p;
      float value;
      const Number status = parse_float(p, eol, value);
      if (status != Number::ok || (p < eol && !is_blank(*p))) return bad_value(token, eol, status, kLabels);
      const int32_t index = static_cast<int32_t>(id);
      if (index > largest) largest = index;
      if (!kLabels && index < smallest) smallest = index;
      if (value == 0.0f) {
        if (kLabels) part_.repairs.note(kZeroLabels, part_.lines);
        continue;
      }
      if (kLabels && value < 0.0f) return bad_value(token, eol, Number::ok, kLabels);
      untidy |= index <= last;
      last = index;
      ids[n] = index;
      values[n++] = value;
    }
    rows.ids.used(n);
    rows.values.used(n);
    if (kLabels) {
      part_.largest_label = largest;
      tidy_labels(rows, row_begin, part_.repairs, part_.lines);
    } else {
      part_.smallest_feature = smallest;
      part_.largest_feature = largest;
      if (untidy && !tidy_features(part_, row_begin, part_.lines)) return false;
    }
    rows.counts.push(static_cast<int32_t>(rows.ids.size() - row_begin));
    return true;
  }

  // The rest is cold: what went wrong, in words.

  static const char* token_end(const char* p, const char* eol) {
    while (p < eol && !is_blank(*p)) ++p;
    return p;
  }

  bool fail(std::string message) { return part_.fail(part_.lines, std::move(message)); }

  bool bad_label(const char* token, const char* eol) {
    const char* end = token;
    while (end < eol && !is_blank(*end) && *end != ',') ++end;
    if (*token == '-' && is_digit(token[1])) return fail("label " + std::string(quoted(token, end)) + " is negative, label ids start at 0");
    return fail("expected label ids such as '3,17', got " + quoted(token, end));
  }

  bool label_range(const char* token, const char* end) {
    return fail("label " + std::string(token, end) + " is out of range" + expected_below(format_.n_labels) + format_.limits_from);
  }

  bool entry_range(const char* token, const char* end, bool label) {
    const int64_t limit = label ? format_.n_labels : format_.n_features;
    return fail((label ? "label " : "feature ") + std::string(token, end) + " is out of range" + expected_below(limit) +
                format_.limits_from);
  }

  bool bad_entry(const char* token, const char* eol, bool label) {
    const char* end = token_end(token, eol);
    const std::string kind = label ? "label" : "feature";
    if (*token == '-' && is_digit(token[1])) return fail(kind + " " + quoted(token, end) + " is negative, ids start at 0");
    return fail("expected " + kind + ":value such as '12:0.5', got " + quoted(token, end));
  }

  bool bad_value(const char* token, const char* eol, Number status, bool label) {
    const char* end = token_end(token, eol);
    const std::string what = quoted(token, end);
    if (status == Number::not_finite) return fail("the value of " + what + " is not finite");
    if (status == Number::too_large) return fail("the value of " + what + " is too large for a float32");
    if (label && status == Number::ok && std::memchr(token, '-', static_cast<size_t>(end - token)) != nullptr)
      return fail("the value of label " + what + " is negative");
    return fail("the value of " + what + " is not a number");
  }

  const SparseLines& format_;
  Part& part_;
};

}  // namespace

void parse_sparse_lines(const char* begin, const char* end, const SparseLines& format, Part& part) {
  Parser(format, part).run(begin, end);
}

}  // namespace longtail
