// Checks a level that may come from a damaged or hostile file, so that no kernel can be led outside its arrays.
#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include "core/bits.hpp"
#include "core/parallel.hpp"
#include "linear/layout.hpp"

namespace longtail {

namespace {

[[noreturn]] void bad(const std::string& what) { throw std::invalid_argument("the classifiers are damaged: " + what); }

void check_pointers(const int64_t* ptr, int64_t n, int64_t end, const char* name) {
  if (ptr[0] != 0) bad(std::string(name) + " does not start at 0");
  for (int64_t i = 0; i < n; ++i)
    if (ptr[i + 1] < ptr[i] || ptr[i + 1] > end) bad(std::string(name) + " does not rise within its array");
  if (ptr[n] != end) bad(std::string(name) + " does not end where its array does");
}

void check_row(RowSpan row, int64_t n_children, const RowForm& form) {
  const uint8_t* p = row.begin;
  size_t n_values = 0;
  if (form.is_listed(row.bytes)) {
    n_values = row.bytes / (form.number + form.value);
    int64_t last = -1;
    for (size_t i = 0; i < n_values; ++i, p += form.number) {
      uint16_t c = *p;
      if (form.number == 2) std::memcpy(&c, p, 2);
      if (c >= n_children || c <= last) bad("a row names a child that does not exist");
      last = c;
    }
  } else {
    if (row.bytes < form.masks) bad("a row is shorter than its masks");
    for (int64_t b = 0; b < n_blocks_of(n_children); ++b, p += 2) {
      uint16_t mask;
      std::memcpy(&mask, p, 2);
      const int64_t lanes = n_children - b * kBlock;
      if (lanes < kBlock && (mask >> lanes) != 0) bad("a row names a child that does not exist");
      n_values += static_cast<size_t>(count_bits(mask));
    }
  }
  if (row.bytes != static_cast<size_t>(p - row.begin) + n_values * form.value) bad("a row has a wrong length");
}

/// The group of a word: ends and rows within the chunk's blob.
void check_group(const uint8_t* blob, int64_t blob_bytes, const WordEntry& word, int64_t n_children, const RowForm& form) {
  const uint32_t shift = word.place & kWidthBits;
  const int64_t at = word.place & ~kWidthBits;
  const auto n_rows = static_cast<uint32_t>(count_bits(word.bits));
  if (shift > 2) bad("the ends of rows have a wrong width");
  if (at > blob_bytes || at < static_cast<int64_t>(n_rows) << shift) bad("a row lies outside its node");
  int64_t begin = at;
  for (uint32_t r = 0; r < n_rows; ++r) {
    const RowSpan row = row_at(blob, word.place, r);
    // An end before its beginning is a huge length.
    if (row.begin - blob != begin || row.bytes > blob_bytes - begin) bad("a row lies outside its node");
    check_row(row, n_children, form);
    begin += row.bytes;
  }
}

void check_chunk(const LevelView& level, int64_t chunk) {
  const uint8_t* blob = level.blob + level.blob_ptr[chunk];
  const int64_t blob_bytes = level.blob_ptr[chunk + 1] - level.blob_ptr[chunk];
  const int64_t n_words = level.word_ptr[chunk + 1] - level.word_ptr[chunk];
  const int64_t n_children = level.n_children(chunk);
  const RowForm form(n_children, value_size(level.type));
  int64_t at = 0;
  for (int64_t t = 0; t < level.n_top; ++t) {
    const uint64_t* top = level.tops + kTopParts * (chunk * level.n_top + t);
    if (top[1] != static_cast<uint64_t>(at)) bad("the feature index counts wrongly");
    for (uint64_t words = top[0]; words != 0; words &= words - 1, ++at) {
      if (at >= n_words) bad("the feature index names more words than there are");
      const WordEntry word = read_word(level.words, level.word_ptr[chunk] + at);
      const int64_t first = (t * 64 + lowest_bit(words)) * 64;
      if (word.bits == 0) bad("the feature index has an empty word");
      if (first >= level.n_features || (level.n_features - first < 64 && (word.bits >> (level.n_features - first)) != 0))
        bad("the feature index names a feature that does not exist");
      check_group(blob, blob_bytes, word, n_children, form);
    }
  }
  if (at != n_words) bad("the feature index does not name all words");
}

}  // namespace

void validate_level(LevelView& level, const LevelSizes& sizes, int64_t n_next, int64_t n_labels, bool deep,
                    int threads) {
  if (level.n_chunks < 1) bad("a level without nodes");
  if (level.n_top != n_top_of(level.n_features)) bad("the feature index has a wrong width");
  check_pointers(level.child_ptr, level.n_chunks, sizes.child, "child_ptr");
  for (int64_t c = 0; c < level.n_chunks; ++c) {
    if (level.n_children(c) < 1 || level.n_children(c) > kMaxChildren) bad("a node has no or too many children");
    level.widest = std::max(level.widest, level.n_children(c));
  }
  for (int64_t j = 0; j < sizes.child; ++j) {
    const int64_t to = level.child[j];
    level.has_labels |= to < 0;
    if (to >= 0 ? to >= n_next : ~to >= n_labels) bad("a child is neither a node nor a label");
  }
  if (sizes.bias != sizes.child) bad("bias has a wrong length");
  if (sizes.scale != (is_scaled(level.type) ? sizes.child : 0)) bad("scale has a wrong length");
  if (sizes.tops != kTopParts * level.n_chunks * level.n_top) bad("the feature index has a wrong length");
  if (sizes.words < kWordParts || sizes.words % kWordParts != 0) bad("the feature index has a wrong length");
  check_pointers(level.word_ptr, level.n_chunks, sizes.words / kWordParts - 1, "word_ptr");
  if (sizes.blob < static_cast<int64_t>(kBlobPadding)) bad("the rows have a wrong length");
  check_pointers(level.blob_ptr, level.n_chunks, sizes.blob - static_cast<int64_t>(kBlobPadding), "blob_ptr");
  if (deep) parallel_for(level.n_chunks, threads, [&](int64_t c, int) { check_chunk(level, c); });
}

}  // namespace longtail
