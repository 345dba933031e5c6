#include "data/json_lines.hpp"

#include <cstring>

#include "data/decimal.hpp"
#include "data/utf8.hpp"

namespace longtail {

namespace {

using decimal::is_digit;

constexpr size_t kDeepest = 1000;

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

void append_utf8(std::string& out, uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | (c >> 6));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | (c >> 12));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (c >> 18));
    out += static_cast<char>(0x80 | ((c >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

/// One line is one object. The methods read at p_ and return false after they have noted an error. Every line ends with
/// '\n', which is no part of any JSON token, so no loop runs past it.
class Parser {
 public:
  Parser(const JsonLines& format, Part& part) : format_(format), part_(part), texts_(format.text_fields.size()) {}

  void run(const char* p, const char* end) {
    while (p < end) {
      const char* eol = static_cast<const char*>(std::memchr(p, '\n', static_cast<size_t>(end - p)));
      if (eol == nullptr) eol = end - 1;  // cannot happen: blocks end with a line end
      p_ = p;
      eol_ = eol;
      if (!line()) return;
      ++part_.lines;
      p = eol + 1;
    }
  }

 private:
  bool fail(const std::string& message) { return part_.fail(part_.lines, message); }
  bool expected(const std::string& what) {
    if (p_ >= eol_) return fail("the line ends where " + what + " is expected");
    const char* end = p_ + 1;
    while (end < eol_ && end - p_ < 20 && std::strchr(" \t\r,:{}[]\"", *end) == nullptr) ++end;
    return fail("expected " + what + " at column " + std::to_string(column()) + ", got " + quoted(p_, end));
  }
  int64_t column() const { return p_ - line_begin_ + 1; }
  void blanks() {
    while (*p_ == ' ' || *p_ == '\t' || *p_ == '\r') ++p_;
  }

  bool line() {
    line_begin_ = p_;
    blanks();
    if (p_ == eol_) {
      part_.repairs.note(kBlankLines, part_.lines);
      return true;
    }
    if (*p_ != '{') return expected("a JSON object such as {\"text\": ..., \"labels\": [...]}");
    const char* bad = find_bad_utf8(p_, eol_);
    if (bad != eol_) return fail("byte " + std::to_string(bad - line_begin_ + 1) + " is not valid UTF-8");
    ++p_;
    return object();
  }

  bool object() {
    const size_t first_x = part_.x.ids.size();
    const size_t first_y = part_.y.ids.size();
    seen_texts_ = 0;
    seen_labels_ = seen_features_ = false;
    for (auto& text : texts_) text.second = false;
    blanks();
    if (*p_ == '}') {
      ++p_;
    } else {
      for (;;) {
        blanks();
        if (!string("a field name", key_)) return false;
        blanks();
        if (*p_ != ':') return expected("':'");
        ++p_;
        blanks();
        if (!field()) return false;
        blanks();
        if (*p_ == ',') {
          ++p_;
          continue;
        }
        if (*p_ != '}') return expected("',' or '}'");
        ++p_;
        break;
      }
    }
    blanks();
    if (p_ != eol_) return expected("the end of the line");
    return finish_row(first_x, first_y);
  }

  bool finish_row(size_t first_x, size_t first_y) {
    const int64_t line = part_.lines;
    part_.has_text.note(seen_texts_ > 0, line);
    part_.has_x.note(seen_features_, line);
    part_.has_y.note(seen_labels_, line);
    bool first = true;
    for (const auto& text : texts_) {
      if (!text.second) continue;
      if (!first) part_.text.push(' ');
      part_.text.append(text.first.data(), text.first.size());
      first = false;
    }
    part_.text_ends.push(static_cast<int64_t>(part_.text.size()));
    if (!tidy_features_if_needed(first_x)) return false;
    part_.x.counts.push(static_cast<int32_t>(part_.x.ids.size() - first_x));
    // Labels are tidied when the parts are joined and names have become ids.
    part_.y.counts.push(static_cast<int32_t>(part_.y.ids.size() - first_y));
    part_.row_lines.push(static_cast<int32_t>(part_.lines));
    ++part_.rows;
    return true;
  }

  bool tidy_features_if_needed(size_t first_x) {
    for (size_t i = first_x + 1; i < part_.x.ids.size(); ++i)
      if (part_.x.ids[i - 1] >= part_.x.ids[i]) {
        const int64_t unsorted = part_.repairs.count[kUnsortedFeatures], at = part_.repairs.first_line[kUnsortedFeatures];
        const bool ok = tidy_features(part_, first_x, part_.lines);
        part_.repairs.count[kUnsortedFeatures] = unsorted;  // the members of a JSON object have no order to be repaired
        part_.repairs.first_line[kUnsortedFeatures] = at;
        return ok;
      }
    return true;
  }

  bool field() {
    for (size_t i = 0; i < texts_.size(); ++i) {
      if (key_ != format_.text_fields[i]) continue;
      if (texts_[i].second) return fail("the field '" + key_ + "' appears twice");
      texts_[i].second = true;
      ++seen_texts_;
      return string("a text", texts_[i].first);
    }
    if (key_ == format_.label_field) {
      if (seen_labels_) return fail("the field '" + key_ + "' appears twice");
      seen_labels_ = true;
      return labels();
    }
    if (key_ == format_.features_field) {
      if (seen_features_) return fail("the field '" + key_ + "' appears twice");
      seen_features_ = true;
      return features();
    }
    return skip_value();
  }

  bool labels() {
    if (literal("null")) return true;
    if (*p_ != '[') return label();
    ++p_;
    blanks();
    if (*p_ == ']') {
      ++p_;
      return true;
    }
    for (;;) {
      blanks();
      if (!label()) return false;
      blanks();
      if (*p_ == ',') {
        ++p_;
        continue;
      }
      if (*p_ != ']') return expected("',' or ']'");
      ++p_;
      return true;
    }
  }

  bool label() {
    const int64_t line = part_.lines;
    if (*p_ == '"') {
      if (part_.label_ids.first_with >= 0) return mixed();
      if (!string("a label name", scratch_)) return false;
      part_.label_names.note(true, line);
      const int32_t before = part_.names.size();
      const int32_t id = part_.names.add(scratch_.data(), scratch_.size());
      if (id == before) part_.name_lines.push_back(line);
      part_.y.ids.push(id);
      return true;
    }
    if (part_.label_names.first_with >= 0) return mixed();
    const char* const token = p_;
    uint64_t id = 0;
    while (is_digit(*p_)) id = id * 10 + static_cast<uint64_t>(*p_++ - '0');
    const bool whole = p_ > token && p_ - token <= 18 && std::strchr(".eE", *p_) == nullptr;
    if (!whole || (*token == '0' && p_ - token > 1)) {
      p_ = token;
      if (*p_ == '-' && is_digit(p_[1])) return fail("a label id is negative, ids start at 0");
      return expected("a label name or a whole number");
    }
    if (id >= static_cast<uint64_t>(format_.n_labels))
      return fail("label " + std::string(token, p_) + " is out of range" + expected_below(format_.n_labels));
    part_.label_ids.note(true, line);
    if (static_cast<int32_t>(id) > part_.largest_label) part_.largest_label = static_cast<int32_t>(id);
    part_.y.ids.push(static_cast<int32_t>(id));
    return true;
  }

  bool mixed() { return fail("labels must all be names or all be ids, not both"); }

  bool features() {
    if (*p_ != '{') return expected("features such as {\"12\": 0.5}");
    ++p_;
    blanks();
    if (*p_ == '}') {
      ++p_;
      return true;
    }
    for (;;) {
      blanks();
      if (!feature()) return false;
      blanks();
      if (*p_ == ',') {
        ++p_;
        continue;
      }
      if (*p_ != '}') return expected("',' or '}'");
      ++p_;
      return true;
    }
  }

  bool feature() {
    if (!string("a feature id in quotes", scratch_)) return false;
    uint64_t id = 0;
    bool whole = !scratch_.empty() && scratch_.size() <= 18;
    for (const char c : scratch_) {
      whole = whole && is_digit(c);
      id = id * 10 + static_cast<uint64_t>(c - '0');
    }
    const std::string& name = scratch_;
    if (!whole) return fail("feature " + quoted(name.data(), name.data() + name.size()) + " is not an id (a whole number from 0)");
    if (id >= static_cast<uint64_t>(format_.n_features))
      return fail("feature " + name + " is out of range" + expected_below(format_.n_features));
    blanks();
    if (*p_ != ':') return expected("':'");
    ++p_;
    blanks();
    const char* const token = p_;
    if (!number("the value of feature " + name)) return false;
    const char* at = token;
    float value = 0.0f;
    if (parse_float(at, p_, value) != Number::ok)
      return fail("the value of feature " + name + " is too large for a float32");
    const int32_t index = static_cast<int32_t>(id);
    if (index > part_.largest_feature) part_.largest_feature = index;
    if (index < part_.smallest_feature) part_.smallest_feature = index;
    if (value == 0.0f) return true;
    part_.x.ids.push(index);
    part_.x.values.push(value);
    return true;
  }

  /// Checks a number by JSON's grammar.
  bool number(const std::string& what) {
    const char* const token = p_;
    const char* at = p_;
    if (*at == '-') ++at;
    if (!is_digit(*at)) {
      if (not_a_number(token, eol_) == Number::not_finite || std::strncmp(token, "-I", 2) == 0) return fail(what + " is not finite");
      return expected("a number");
    }
    if (*at == '0' && is_digit(at[1])) return expected("a number without leading zeros");
    while (is_digit(*at)) ++at;
    if (*at == '.') {
      if (!is_digit(at[1])) return expected("a number");
      ++at;
      while (is_digit(*at)) ++at;
    }
    if (*at == 'e' || *at == 'E') {
      ++at;
      if (*at == '+' || *at == '-') ++at;
      if (!is_digit(*at)) return expected("a number");
      while (is_digit(*at)) ++at;
    }
    p_ = at;
    return true;
  }

  bool literal(const char* word) {
    const size_t n = std::strlen(word);
    if (static_cast<size_t>(eol_ - p_) < n || std::memcmp(p_, word, n) != 0) return false;
    p_ += n;
    return true;
  }

  /// The end of a run of plain characters in a string.
  static const char* plain_run(const char* p, const char* eol) {
    while (eol - p >= 8) {
      uint64_t w;
      std::memcpy(&w, p, 8);
      constexpr uint64_t ones = 0x0101010101010101u, highs = 0x8080808080808080u;
      const uint64_t quote = w ^ (ones * '"'), slash = w ^ (ones * '\\');
      // Exact enough: a false alarm only leads to the loop below.
      const uint64_t special = ((quote - ones) & ~quote) | ((slash - ones) & ~slash) | ((w - ones * 0x20) & ~w);
      if ((special & highs) != 0) break;
      p += 8;
    }
    while (p < eol && *p != '"' && *p != '\\' && static_cast<unsigned char>(*p) >= 0x20) ++p;
    return p;
  }

  bool string(const char* what, std::string& out) {
    if (*p_ != '"') return expected(what);
    ++p_;
    const char* end = plain_run(p_, eol_);
    out.assign(p_, end);
    p_ = end;
    for (;;) {
      if (*p_ == '"') {
        ++p_;
        return true;
      }
      if (p_ >= eol_) return fail("a string has no end");
      if (*p_ != '\\') return fail("a string holds a control character, which JSON wants escaped");
      if (!escape(out)) return false;
      end = plain_run(p_, eol_);
      out.append(p_, end);
      p_ = end;
    }
  }

  bool escape(std::string& out) {
    ++p_;
    switch (*p_) {
      case '"': out += '"'; break;
      case '\\': out += '\\'; break;
      case '/': out += '/'; break;
      case 'b': out += '\b'; break;
      case 'f': out += '\f'; break;
      case 'n': out += '\n'; break;
      case 'r': out += '\r'; break;
      case 't': out += '\t'; break;
      case 'u': return unicode_escape(out);
      default: return fail("a string holds an unknown escape " + quoted(p_ - 1, p_ < eol_ ? p_ + 1 : p_));
    }
    ++p_;
    return true;
  }

  /// Four hexadecimal digits at p, or -1. Stops at the line end.
  static int64_t four_hex(const char* p) {
    int64_t value = 0;
    for (int i = 0; i < 4; ++i) {
      const int digit = hex_digit(p[i]);
      if (digit < 0) return -1;
      value = value * 16 + digit;
    }
    return value;
  }

  bool unicode_escape(std::string& out) {
    const int64_t unit = four_hex(p_ + 1);
    if (unit < 0) return fail("a string holds \\u without four hexadecimal digits");
    p_ += 5;
    uint32_t c = static_cast<uint32_t>(unit);
    if (c >= 0xD800 && c < 0xDC00 && p_[0] == '\\' && p_[1] == 'u') {
      const int64_t low = four_hex(p_ + 2);
      if (low >= 0xDC00 && low < 0xE000) {
        c = 0x10000 + ((c - 0xD800) << 10) + (static_cast<uint32_t>(low) - 0xDC00);
        p_ += 6;
      }
    }
    if (c >= 0xD800 && c < 0xE000) {
      part_.repairs.note(kSurrogates, part_.lines);
      c = 0xFFFD;
    }
    append_utf8(out, c);
    return true;
  }

  /// Any value, checked and thrown away; the nesting is on a stack of our own.
  bool skip_value() {
    nesting_.clear();
    for (;;) {
      blanks();
      if (*p_ == '{' || *p_ == '[') {
        const char open = *p_++;
        if (nesting_.size() >= kDeepest) return fail("values are nested deeper than " + std::to_string(kDeepest));
        nesting_ += open;
        blanks();
        if (*p_ == (open == '{' ? '}' : ']')) {
          ++p_;
          nesting_.pop_back();
        } else {
          if (open == '{' && !skip_key()) return false;
          continue;
        }
      } else if (*p_ == '"') {
        if (!string("a string", scratch_)) return false;
      } else if (!(literal("true") || literal("false") || literal("null"))) {
        if (!number("a value")) return false;
      }
      // After a value: the next one, or the ends of what it was in.
      for (;;) {
        if (nesting_.empty()) return true;
        const bool in_object = nesting_.back() == '{';
        blanks();
        if (*p_ == ',') {
          ++p_;
          if (in_object && !skip_key()) return false;
          break;
        }
        if (*p_ != (in_object ? '}' : ']')) return expected(in_object ? "',' or '}'" : "',' or ']'");
        ++p_;
        nesting_.pop_back();
      }
    }
  }

  bool skip_key() {
    blanks();
    if (!string("a field name", scratch_)) return false;
    blanks();
    if (*p_ != ':') return expected("':'");
    ++p_;
    return true;
  }

  const JsonLines& format_;
  Part& part_;
  std::vector<std::pair<std::string, bool>> texts_;  // the text of each text field, and whether this row has it
  std::string key_, scratch_, nesting_;
  size_t seen_texts_ = 0;
  bool seen_labels_ = false, seen_features_ = false;
  const char* p_ = nullptr;
  const char* eol_ = nullptr;
  const char* line_begin_ = nullptr;
};

}  // namespace

void parse_json_lines(const char* begin, const char* end, const JsonLines& format, Part& part) {
  Parser(format, part).run(begin, end);
}

}  // namespace longtail
