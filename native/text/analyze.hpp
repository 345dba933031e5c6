// From a text to its words or to the stretches of bytes that are its n-grams.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "text/buffer.hpp"
#include "text/chars.hpp"
#include "text/strings.hpp"

namespace longtail {

/// A Python string as it lies in memory; or, when tokens are given, one token.
struct TextView {
  const void* data;
  int64_t length;  // in code points
  uint8_t kind;    // 0: ASCII; 1, 2, 4: bytes per code point
  bool lowered;    // already in lower case
};

/// Texts to work on. With given tokens, text i is views[starts[i]] … views[starts[i + 1] − 1].
struct TextBatch {
  std::vector<TextView> views;
  std::vector<int64_t> starts;
  int64_t size() const { return static_cast<int64_t>(starts.empty() ? views.size() : starts.size() - 1); }
};

enum class Unit : int { word = 0, chars = 1, chars_of_words = 2 };

struct TextSettings {
  Unit unit = Unit::word;
  bool given_tokens = false;  // the caller has cut the texts into words (a token pattern of its own)
  int min_n = 1;
  int max_n = 1;
  bool lowercase = true;
  Accents accents = Accents::keep;
  int min_chars = 2;  // the shortest word
};

/// Where a thread keeps the text it is at. Nothing is allocated once it has seen a text of that length.
struct Scratch {
  ByteBuffer text;    // the normalised text
  ByteBuffer joined;  // words with what stands between them in n-grams
  std::vector<Span> words;
  std::vector<Span> grams;
  std::vector<uint32_t> starts;  // of code points, or numbers of words
  std::vector<uint32_t> prefix;
  std::vector<uint32_t> out;  // what the text gives: numbers or columns, one per occurrence
  std::vector<uint32_t> spare;
};

class Analyzer {
 public:
  Analyzer(const TextSettings& settings, const std::vector<std::string>& stop_words);

  const TextSettings& settings() const { return settings_; }
  const StringTable& stop_words() const { return stop_words_; }
  /// True when n-grams are told apart by the numbers of their words, not by their bytes: words hold no spaces then.
  bool by_word() const { return settings_.unit == Unit::word && !settings_.given_tokens; }

  /// Text → scratch.text: lower case, accents.
  void normalise(const TextView& view, ByteBuffer& text) const;
  /// unit word → scratch.words over scratch.text, stop words included.
  void words(const TextView& view, Scratch& s) const;
  /// unit chars_of_words → scratch.words over scratch.joined, each with a space on either side.
  void padded_words(const TextView& view, Scratch& s) const;
  /// The n-grams of one padded word → appended to scratch.grams, over scratch.joined.
  void grams_of_word(Span word, Scratch& s) const;
  /// All n-grams of text i, whatever the unit → scratch.grams. They lie in the buffer that is given back.
  const ByteBuffer& grams(const TextBatch& batch, int64_t i, Scratch& s) const;

 private:
  template <class Code>
  void normalise_wide(const Code* codes, int64_t n, bool lower, ByteBuffer& text) const;
  void given_words(const TextBatch& batch, int64_t i, Scratch& s) const;
  void join_words(const ByteBuffer& from, Scratch& s) const;
  void char_grams(Scratch& s) const;

  TextSettings settings_;
  StringTable stop_words_;
};

/// The code point at p, and past it. The bytes are known to be well formed (they come from push_code).
inline uint32_t next_code(const uint8_t*& p) {
  const uint32_t b = *p;
  if (b < 0x80) return p += 1, b;
  if (b < 0xE0) return p += 2, ((b & 0x1F) << 6) | (p[-1] & 0x3Fu);
  if (b < 0xF0) return p += 3, ((b & 0x0F) << 12) | ((p[-2] & 0x3Fu) << 6) | (p[-1] & 0x3Fu);
  return p += 4, ((b & 0x07) << 18) | ((p[-3] & 0x3Fu) << 12) | ((p[-2] & 0x3Fu) << 6) | (p[-1] & 0x3Fu);
}

}  // namespace longtail
