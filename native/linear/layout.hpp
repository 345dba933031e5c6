// How classifiers are laid out in memory and on disk. One Level holds the chunks of all tree nodes of one depth; a chunk
// holds the classifiers of all children of one node.
//
//   tops    two numbers per 64 * 64 features, side by side: a bit per word of 64 features that occurs, and how many
//           words of the chunk come before
//   words   three u32 per word: a bit per feature that has a row (two of them), and the place of the word's group
//   place   where the rows of the group begin in the chunk's blob; its two low bits, which are no part of that, give the
//           width of the group's ends: 1, 2 or 4 bytes
//   group   the rows of a word's features one after the other, from the place up; below it, from the place down, where
//           each row ends, in bytes from the place
//   row     16 children or fewer:  u16 mask of children, then the values of the set bits
//           more, few values:      the numbers of the children (u8, of more than 256 u16), then their values
//           more, many values:     a u16 mask per 16 children, then values
//   values  f32; f16 times one power of two per child; or int8 times one f32 per child
//
// A row has no header: numbers are taken where they are shorter than masks, so the length of a row says which of the two it
// has, and how many values. A look-up reads a top, a word, and the group: three cache lines at most places. Features are
// numbered by falling frequency, which puts what a query needs side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace longtail {

enum class ValueType : int { f32 = 0, f16 = 1, int8 = 2 };

inline size_t value_size(ValueType type) { return type == ValueType::f32 ? 4 : type == ValueType::f16 ? 2 : 1; }

/// f16 and int8 are multiplied by a number of their child.
inline bool is_scaled(ValueType type) { return type != ValueType::f32; }

constexpr int kBlock = 16;                // children per mask
constexpr int64_t kMaxChildren = 32768;   // children of one chunk
constexpr int64_t kByteChildren = 256;    // children of one chunk whose numbers are bytes
constexpr size_t kBlobPadding = 64;       // readable bytes after the last row: kernels load whole registers
constexpr int64_t kTopParts = 2;          // u64 of one top
constexpr int64_t kWordParts = 3;         // u32 of one word
constexpr uint32_t kWidthBits = 3;        // of a place

inline int64_t n_blocks_of(int64_t n_children) { return (n_children + kBlock - 1) / kBlock; }
inline int64_t n_words_of(int64_t n_features) { return (n_features + 63) / 64; }
inline int64_t n_top_of(int64_t n_features) { return (n_words_of(n_features) + 63) / 64; }

/// Margins of a chunk's children, with a place for whatever number a row's bytes could mean: kernels add zeros to some.
inline size_t room_for_margins(int64_t n_children) {
  return n_children <= kBlock ? kBlock : n_children <= kByteChildren ? kByteChildren : 65536;
}

/// The forms of the rows of a chunk.
struct RowForm {
  RowForm(int64_t n_children, size_t value_bytes)
      : value(value_bytes), number(n_children <= kByteChildren ? 1 : 2), masks(2 * static_cast<size_t>(n_blocks_of(n_children))),
        shortest_masked(n_children <= kBlock ? 0 : masks + (masks + number - 1) / number * value) {}
  bool is_listed(size_t bytes) const { return bytes < shortest_masked; }
  /// The bytes of a row of so many values.
  size_t bytes_of(size_t n_values) const {
    return (shortest_masked > 0 && n_values * number < masks ? n_values * number : masks) + n_values * value;
  }
  size_t value, number, masks;  // bytes of a value, of a child's number, of all masks
  size_t shortest_masked;       // rows of fewer bytes have numbers; 0: all have masks
};

/// A word of the feature index.
struct WordEntry {
  uint64_t bits;
  uint32_t place;
};
inline WordEntry read_word(const uint32_t* words, int64_t at) {
  WordEntry entry;
  std::memcpy(&entry.bits, words + kWordParts * at, sizeof entry.bits);
  std::memcpy(&entry.place, words + kWordParts * at + 2, sizeof entry.place);
  return entry;
}

/// Where the end of the row with `rank` rows before it in its group is kept.
inline const uint8_t* end_of_row(const uint8_t* blob, uint32_t place, uint32_t rank) {
  return blob + (place & ~kWidthBits) - (static_cast<size_t>(rank + 1) << (place & kWidthBits));
}

/// A row of a group.
struct RowSpan {
  const uint8_t* begin;
  uint32_t bytes;
};
/// The row with `rank` rows before it in its group. Without branches: one load has this row's end and the one's before.
inline RowSpan row_at(const uint8_t* blob, uint32_t place, uint32_t rank) {
  uint64_t ends;
  std::memcpy(&ends, end_of_row(blob, place, rank), sizeof ends);
  const uint32_t width = 8u << (place & kWidthBits);
  const uint32_t mask = 0xffffffffu >> ((32u - width) & 31u);
  const uint32_t end = static_cast<uint32_t>(ends) & mask;
  const uint32_t begin = static_cast<uint32_t>(ends >> (width & 63u)) & (rank == 0 ? 0 : mask);
  return {blob + (place & ~kWidthBits) + begin, end - begin};
}

/// The arrays of one level; nothing is owned.
struct LevelView {
  int64_t n_chunks = 0;
  int64_t n_top = 0;       // top words per chunk
  int64_t n_features = 0;  // internal features
  int64_t widest = 0;      // children of the largest chunk
  bool has_labels = false;  // among children; this and widest are known when the level is checked
  ValueType type = ValueType::f32;
  const int64_t* child_ptr = nullptr;   // [n_chunks + 1]
  const int32_t* child = nullptr;       // [n_children] ≥ 0: chunk of the next level; < 0: ~label
  const float* bias = nullptr;          // [n_children], times the bias feature's value
  const float* scale = nullptr;         // [n_children], none of f32
  const uint64_t* tops = nullptr;       // [n_chunks * n_top][2]
  const int64_t* word_ptr = nullptr;    // [n_chunks + 1]
  const uint32_t* words = nullptr;      // [n_words + 1][3]
  const int64_t* blob_ptr = nullptr;    // [n_chunks + 1] bytes
  const uint8_t* blob = nullptr;              // [blob_ptr[n_chunks] + kBlobPadding]

  int64_t n_children(int64_t chunk) const { return child_ptr[chunk + 1] - child_ptr[chunk]; }
};

/// The lengths of the arrays, to check them by.
struct LevelSizes {
  int64_t child, bias, scale, tops, words, blob;
};

/// Throws std::invalid_argument unless every number in the level leads to a place inside it. `n_next` is the number of
/// chunks of the next level. With `deep`, every row is walked too; without it rows are trusted. OUT: level.widest,
/// level.has_labels.
void validate_level(LevelView& level, const LevelSizes& sizes, int64_t n_next, int64_t n_labels, bool deep,
                    int threads);

/// One chunk while it is made: owned arrays, as in Level.
struct ChunkParts {
  std::vector<float> bias;
  std::vector<float> scale;
  std::vector<uint64_t> tops;
  std::vector<uint32_t> words;
  std::vector<uint8_t> blob;
};

/// The kept weights of one chunk in the plain form: for each listed feature and block of 16 children a mask, and the
/// values block by block, feature by feature, lanes rising.
struct ChunkWeights {
  int64_t n_children = 0;
  std::vector<int32_t> feature;             // internal numbers, rising
  std::vector<std::vector<uint16_t>> mask;  // [block][feature]
  std::vector<std::vector<float>> value;    // [block]
};

/// Packs weights into a chunk of the given type (bias is copied).
ChunkParts pack_chunk(const ChunkWeights& weights, const std::vector<float>& bias, int64_t n_features, ValueType type);
/// The inverse, for conversion and inspection.
ChunkWeights unpack_chunk(const LevelView& level, int64_t chunk);

/// A level that owns its arrays.
struct Level {
  std::vector<int64_t> child_ptr;
  std::vector<int32_t> child;
  std::vector<float> bias, scale;
  std::vector<uint64_t> tops;
  std::vector<int64_t> word_ptr;
  std::vector<uint32_t> words;
  std::vector<int64_t> blob_ptr;
  std::vector<uint8_t> blob;
};

/// Puts chunks together, freeing each as it is taken.
Level assemble_level(std::vector<ChunkParts>& chunks, std::vector<int64_t> child_ptr, std::vector<int32_t> child);

}  // namespace longtail
