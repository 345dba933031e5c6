#include "text/analyze.hpp"

#include <stdexcept>

namespace longtail {

namespace {

uint32_t at(const uint8_t* base, const uint8_t* p) { return static_cast<uint32_t>(p - base); }

// The runs of characters that have (or, with `inverse`, have not) `flag`, of at least min_chars characters. The text is
// closed: the zero bytes after it are neither part of words nor white space.
template <bool inverse, class Visit>
void runs(const ByteBuffer& text, uint8_t flag, int min_chars, Visit&& visit) {
  const uint8_t* base = text.data();
  const uint8_t* p = base;
  const uint8_t* end = base + text.size();
  const CharTables* tables = char_tables();
  auto inside = [&](const uint8_t*& q) {  // steps over the character
    if (*q < 0x80) return ((kAsciiFlags[*q++] & flag) != 0) != inverse;
    return ((tables->flags[next_code(q)] & flag) != 0) != inverse;
  };
  while (true) {
    const uint8_t* begin = p;
    while (p < end) {
      begin = p;
      if (inside(p)) break;
      begin = end;
    }
    if (begin >= end) return;
    int chars = 1;
    const uint8_t* stop = p;
    while (p < end) {
      stop = p;
      if (!inside(p)) break;
      stop = p;
      ++chars;
    }
    if (chars >= min_chars) visit(Span{at(base, begin), at(begin, stop)});
  }
}

// The same for words of ASCII text, where nearly all time goes.
template <class Visit>
void ascii_words(const ByteBuffer& text, uint32_t min_chars, Visit&& visit) {
  const uint8_t* p = text.data();
  const auto n = static_cast<uint32_t>(text.size());
  uint32_t i = 0;
  while (true) {
    while (i < n && (kAsciiFlags[p[i]] & kWordChar) == 0) ++i;
    if (i >= n) return;
    const uint32_t begin = i;
    do ++i;
    while ((kAsciiFlags[p[i]] & kWordChar) != 0);  // stops at the zero after the text
    if (i - begin >= min_chars) visit(Span{begin, i - begin});
  }
}

// Runs of two or more white spaces become one space (a single one stays what it is).
void squeeze_spaces(ByteBuffer& text) {
  const uint8_t* base = text.data();
  const uint8_t* p = base;
  const uint8_t* end = base + text.size();
  const CharTables* tables = char_tables();
  uint8_t* to = text.data();
  auto is_space = [&](const uint8_t*& q) {
    if (*q < 0x80) return (kAsciiFlags[*q++] & kSpaceChar) != 0;
    return (tables->flags[next_code(q)] & kSpaceChar) != 0;
  };
  while (p < end) {
    const uint8_t* begin = p;
    const bool space = is_space(p);
    const uint8_t* after_one = p;
    if (space) {
      const uint8_t* next = p;
      while (next < end && is_space(next)) p = next;
    }
    if (p != after_one) {
      *to++ = ' ';
    } else {
      while (begin < p) *to++ = *begin++;
    }
  }
  text.set_size(static_cast<size_t>(to - base));
}

}  // namespace

Analyzer::Analyzer(const TextSettings& settings, const std::vector<std::string>& stop_words) : settings_(settings) {
  if (settings.min_n < 1 || settings.max_n < settings.min_n)
    throw std::invalid_argument("n-grams: 1 <= min_n <= max_n is expected");
  for (const std::string& word : stop_words) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(word.data());
    stop_words_.add(StringTable::probe_unpadded(bytes, word.size()), bytes, word.size());
  }
}

template <class Code>
void Analyzer::normalise_wide(const Code* codes, int64_t n, bool lower, ByteBuffer& text) const {
  const CharMap* to_lower = lower ? &char_tables()->lower : nullptr;
  const CharMap* accents = settings_.accents == Accents::keep ? nullptr : accent_map(settings_.accents);
  auto put = [&](uint32_t c) { text.push_code(c); };
  auto unaccented = [&](uint32_t c) { accents != nullptr ? accents->apply(c, put) : put(c); };
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t c = codes[i];
    if (c < 0x80) text.push(lower ? kAsciiLower[c] : static_cast<uint8_t>(c));
    else if (lower) to_lower->apply(c, unaccented);
    else unaccented(c);
  }
}

void Analyzer::normalise(const TextView& view, ByteBuffer& text) const {
  const bool lower = settings_.lowercase && !view.lowered;
  if (view.kind == 0) {
    const auto n = static_cast<size_t>(view.length);
    const auto* from = static_cast<const uint8_t*>(view.data);
    text.reserve(n);
    uint8_t* to = text.data() + text.size();
    if (lower) {
      for (size_t i = 0; i < n; ++i) to[i] = static_cast<uint8_t>(from[i] + ((static_cast<uint8_t>(from[i] - 'A') < 26) << 5));
    } else if (n != 0) {
      std::memcpy(to, from, n);
    }
    text.set_size(text.size() + n);
  } else if (view.kind == 1) {
    normalise_wide(static_cast<const uint8_t*>(view.data), view.length, lower, text);
  } else if (view.kind == 2) {
    normalise_wide(static_cast<const uint16_t*>(view.data), view.length, lower, text);
  } else {
    normalise_wide(static_cast<const uint32_t*>(view.data), view.length, lower, text);
  }
}

void Analyzer::words(const TextView& view, Scratch& s) const {
  s.text.clear();
  s.words.clear();
  normalise(view, s.text);
  s.text.close();
  auto keep = [&](Span word) { s.words.push_back(word); };
  if (view.kind == 0) ascii_words(s.text, static_cast<uint32_t>(settings_.min_chars), keep);
  else runs<false>(s.text, kWordChar, settings_.min_chars, keep);
}

void Analyzer::padded_words(const TextView& view, Scratch& s) const {
  s.text.clear();
  s.joined.clear();
  s.words.clear();
  normalise(view, s.text);
  s.text.close();
  runs<true>(s.text, kSpaceChar, 1, [&](Span word) {
    const auto begin = static_cast<uint32_t>(s.joined.size());
    s.joined.push(' ');
    s.joined.append(s.text.data() + word.begin, word.length);
    s.joined.push(' ');
    s.words.push_back({begin, word.length + 2});
  });
  s.joined.close();
}

void Analyzer::grams_of_word(Span word, Scratch& s) const {
  const uint8_t* base = s.joined.data() + word.begin;
  const uint8_t* end = base + word.length;
  s.starts.clear();
  for (const uint8_t* p = base; p < end;) {
    s.starts.push_back(word.begin + at(base, p));
    next_code(p);
  }
  const auto n_chars = static_cast<int64_t>(s.starts.size());
  s.starts.push_back(word.begin + word.length);
  for (int64_t n = settings_.min_n; n <= settings_.max_n; ++n) {
    if (n >= n_chars) {  // a short word counts once, whatever n
      s.grams.push_back(word);
      return;
    }
    for (int64_t i = 0; i + n <= n_chars; ++i) s.grams.push_back({s.starts[i], s.starts[i + n] - s.starts[i]});
  }
}

void Analyzer::char_grams(Scratch& s) const {
  const uint8_t* base = s.text.data();
  const uint8_t* end = base + s.text.size();
  s.starts.clear();
  for (const uint8_t* p = base; p < end;) {
    s.starts.push_back(at(base, p));
    next_code(p);
  }
  const auto n_chars = static_cast<int64_t>(s.starts.size());
  s.starts.push_back(static_cast<uint32_t>(s.text.size()));
  for (int64_t n = settings_.min_n; n <= settings_.max_n && n <= n_chars; ++n)
    for (int64_t i = 0; i + n <= n_chars; ++i) s.grams.push_back({s.starts[i], s.starts[i + n] - s.starts[i]});
}

void Analyzer::given_words(const TextBatch& batch, int64_t i, Scratch& s) const {
  s.text.clear();
  s.words.clear();
  for (int64_t t = batch.starts[i]; t < batch.starts[i + 1]; ++t) {
    const size_t begin = s.text.size();
    normalise(batch.views[t], s.text);
    s.words.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(s.text.size() - begin)});
  }
  s.text.close();
}

// The words that are no stop words, one space between them, so that every n-gram is one stretch of bytes.
void Analyzer::join_words(const ByteBuffer& from, Scratch& s) const {
  s.joined.clear();
  size_t kept = 0;
  for (const Span word : s.words) {
    const uint8_t* bytes = from.data() + word.begin;
    if (stop_words_.size() != 0) {
      const auto probe = StringTable::probe(bytes, word.length);
      if (stop_words_.find(probe, bytes, word.length) != StringTable::kNone) continue;
    }
    if (kept != 0) s.joined.push(' ');
    s.words[kept++] = {static_cast<uint32_t>(s.joined.size()), word.length};
    s.joined.append(bytes, word.length);
  }
  s.words.resize(kept);
  s.joined.close();
  const auto n_words = static_cast<int64_t>(kept);
  for (int64_t n = settings_.min_n; n <= settings_.max_n && n <= n_words; ++n)
    for (int64_t i = 0; i + n <= n_words; ++i) {
      const Span last = s.words[i + n - 1];
      s.grams.push_back({s.words[i].begin, last.begin + last.length - s.words[i].begin});
    }
}

const ByteBuffer& Analyzer::grams(const TextBatch& batch, int64_t i, Scratch& s) const {
  s.grams.clear();
  if (settings_.given_tokens) {
    given_words(batch, i, s);
    join_words(s.text, s);
    return s.joined;
  }
  const TextView& view = batch.views[i];
  switch (settings_.unit) {
    case Unit::word:
      words(view, s);
      join_words(s.text, s);
      return s.joined;
    case Unit::chars_of_words:
      padded_words(view, s);
      for (const Span word : s.words) grams_of_word(word, s);
      return s.joined;
    case Unit::chars:
      break;
  }
  s.text.clear();
  normalise(view, s.text);
  s.text.close();
  squeeze_spaces(s.text);
  s.text.close();
  char_grams(s);
  return s.text;
}

}  // namespace longtail
