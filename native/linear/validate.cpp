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

/// Walks the row at `p` and gives where it ends, or throws.
const uint8_t* check_row(const uint8_t* p, const uint8_t* end, int64_t n_children, size_t value_bytes) {
  const auto need = [&](int64_t bytes) {
    if (end - p < bytes) bad("a row runs past its node");
  };
  const auto read16 = [&] {
    uint16_t v;
    std::memcpy(&v, p, 2);
    p += 2;
    return v;
  };
  const int64_t n_blocks = n_blocks_of(n_children);
  uint16_t header = kDenseRow;
  if (n_blocks > 1) {
    need(2);
    header = read16();
  }
  int64_t n_values = 0;
  if (header == kDenseRow) {
    need(2 * n_blocks);
    for (int64_t b = 0; b < n_blocks; ++b) {
      const uint16_t mask = read16();
      const int64_t lanes = n_children - b * kBlock;
      if (lanes < kBlock && (mask >> lanes) != 0) bad("a row names a child that does not exist");
      n_values += count_bits(mask);
    }
  } else {
    if (header > n_children) bad("a row has more values than its node has children");
    n_values = header;
    const bool narrow = n_children <= 256;
    need(narrow ? (n_values + 1) / 2 * 2 : 2 * n_values);
    int64_t last = -1;
    for (int64_t i = 0; i < n_values; ++i) {
      uint16_t c = 0;
      if (narrow) c = p[i];
      else std::memcpy(&c, p + 2 * i, 2);
      if (c >= n_children || c <= last) bad("a row names a child that does not exist");
      last = c;
    }
    p += narrow ? (n_values + 1) / 2 * 2 : 2 * n_values;
  }
  need(n_values * static_cast<int64_t>(value_bytes));
  return p + n_values * static_cast<int64_t>(value_bytes);
}

void check_chunk(const LevelView& level, int64_t chunk) {
  const uint8_t* blob = level.blob + level.blob_ptr[chunk];
  const uint8_t* end = level.blob + level.blob_ptr[chunk + 1];
  const int64_t n_words = level.word_ptr[chunk + 1] - level.word_ptr[chunk];
  const int64_t n_rows = level.row_ptr[chunk + 1] - level.row_ptr[chunk];
  int64_t word = 0, row = 0;
  for (int64_t t = 0; t < level.n_top; ++t) {
    const uint64_t top = level.top_bits[chunk * level.n_top + t];
    if (level.top_rank[chunk * level.n_top + t] != static_cast<uint64_t>(word)) bad("the feature index counts wrongly");
    for (uint64_t words = top; words != 0; words &= words - 1, ++word) {
      if (word >= n_words) bad("the feature index names more words than there are");
      const uint64_t bits = level.word_bits[level.word_ptr[chunk] + word];
      const int64_t first = (t * 64 + lowest_bit(words)) * 64;
      if (bits == 0) bad("the feature index has an empty word");
      if (level.word_rank[level.word_ptr[chunk] + word] != static_cast<uint64_t>(row))
        bad("the feature index counts wrongly");
      if (first >= level.n_features || (level.n_features - first < 64 && (bits >> (level.n_features - first)) != 0))
        bad("the feature index names a feature that does not exist");
      row += count_bits(bits);
      if (row > n_rows) bad("the feature index names more rows than there are");
    }
  }
  if (word != n_words || row != n_rows) bad("the feature index does not name all words and rows");
  for (int64_t r = 0; r < n_rows; ++r) {
    const int64_t at = 2 * static_cast<int64_t>(level.row_at[level.row_ptr[chunk] + r]);
    if (at > end - blob) bad("a row lies outside its node");
    check_row(blob + at, end, level.n_children(chunk), value_size(level.type));
  }
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
    if (to >= 0 ? to >= n_next : ~to >= n_labels) bad("a child is neither a node nor a label");
  }
  if (sizes.bias != sizes.child) bad("bias has a wrong length");
  if (sizes.scale != (level.type == ValueType::int8 ? sizes.child : 0)) bad("scale has a wrong length");
  if (sizes.top_bits != level.n_chunks * level.n_top || sizes.top_rank != sizes.top_bits)
    bad("the feature index has a wrong length");
  if (sizes.word_bits < 1 || sizes.word_rank != sizes.word_bits) bad("the feature index has a wrong length");
  check_pointers(level.word_ptr, level.n_chunks, sizes.word_bits - 1, "word_ptr");
  if (sizes.row_at < 1) bad("row_at has a wrong length");
  check_pointers(level.row_ptr, level.n_chunks, sizes.row_at - 1, "row_ptr");
  if (sizes.blob < static_cast<int64_t>(kBlobPadding)) bad("the rows have a wrong length");
  check_pointers(level.blob_ptr, level.n_chunks, sizes.blob - static_cast<int64_t>(kBlobPadding), "blob_ptr");
  if (deep) parallel_for(level.n_chunks, threads, [&](int64_t c, int) { check_chunk(level, c); });
}

}  // namespace longtail
