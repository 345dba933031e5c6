// What the interpreter knows of characters, as tables: letters of words, white space, lower case, accents.
//
// ASCII is built in; the rest is filled in by longtail.text.unicode_tables from the running interpreter, the first time
// that a text needs it, so that tokens are exactly those of Python's `re` and `str.lower`.
#pragma once

#include <cstdint>
#include <vector>

namespace longtail {

constexpr uint32_t kCodePoints = 0x110000;

enum CharFlag : uint8_t { kWordChar = 1, kSpaceChar = 2 };

/// Maps each code point to zero, one or several. `target[c]` is a code point, or kMany | index into `starts`.
struct CharMap {
  static constexpr uint32_t kMany = 0x80000000u;
  std::vector<uint32_t> target;  // [kCodePoints]
  std::vector<uint32_t> starts;  // [number of longer entries + 1]
  std::vector<uint32_t> chars;

  template <class Visit>
  void apply(uint32_t c, Visit&& visit) const {
    const uint32_t t = target[c];
    if ((t & kMany) == 0) return visit(t);
    const uint32_t entry = t & ~kMany;
    for (uint32_t i = starts[entry]; i < starts[entry + 1]; ++i) visit(chars[i]);
  }
};

struct CharTables {
  std::vector<uint8_t> flags;  // [kCodePoints] of CharFlag
  CharMap lower;
};

enum class Accents : int { keep = 0, unicode = 1, ascii = 2 };

/// Null until installed.
const CharTables* char_tables();
const CharMap* accent_map(Accents kind);
/// Installs once; later calls change nothing. Throws std::invalid_argument on tables that could lead out of bounds.
void install_char_tables(CharTables tables);
void install_accent_map(Accents kind, CharMap map);

extern const uint8_t kAsciiFlags[256];  // of bytes; those from 0x80 have none
extern const uint8_t kAsciiLower[256];  // bytes from 0x80 map to themselves

}  // namespace longtail
