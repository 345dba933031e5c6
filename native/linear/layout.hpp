// How classifiers are laid out in memory and on disk. One Level holds the chunks of all tree nodes of one depth; a chunk
// holds the classifiers of all children of one node.
//
//   lookup      feature → row, by a bitmap of two levels with a rank per word:
//                 top_bits[chunk][T] has a bit per 64-feature word that occurs, top_rank the number of bits before;
//                 word_bits has a bit per feature of such a word, word_rank the number of rows before.
//   row_at      where a row lies in the chunk's blob, in units of two bytes
//   row         16 children or fewer:  u16 mask of children, then the values of the set bits
//               more, many values:     u16 0x8000, then one u16 mask per 16 children, then values
//               more, few values:      u16 count n, then n child numbers (u8, padded to even, up to 256 children, else
//                                      u16), then n values
//   values      f32, f16, or int8 with one f32 scale per child
//
// A row is in one place, so that a query that hits a feature pays for one or two cache lines. Features are numbered by
// falling frequency, which puts what a query needs side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace longtail {

enum class ValueType : int { f32 = 0, f16 = 1, int8 = 2 };

inline size_t value_size(ValueType type) { return type == ValueType::f32 ? 4 : type == ValueType::f16 ? 2 : 1; }

constexpr int kBlock = 16;                  // children per mask
constexpr uint16_t kDenseRow = 0x8000;      // header of a row of masks
constexpr int64_t kMaxChildren = 32768;     // children of one chunk
constexpr size_t kBlobPadding = 64;         // readable bytes after the last row: kernels load whole registers

inline int64_t n_blocks_of(int64_t n_children) { return (n_children + kBlock - 1) / kBlock; }
inline int64_t n_words_of(int64_t n_features) { return (n_features + 63) / 64; }
inline int64_t n_top_of(int64_t n_features) { return (n_words_of(n_features) + 63) / 64; }

/// The arrays of one level; nothing is owned.
struct LevelView {
  int64_t n_chunks = 0;
  int64_t n_top = 0;       // top words per chunk
  int64_t n_features = 0;  // internal features
  int64_t widest = 0;      // children of the largest chunk; known when the level is checked
  ValueType type = ValueType::f32;
  const int64_t* child_ptr = nullptr;   // [n_chunks + 1]
  const int32_t* child = nullptr;       // [n_children] ≥ 0: chunk of the next level; < 0: ~label
  const float* bias = nullptr;          // [n_children], times the bias feature's value
  const float* scale = nullptr;         // [n_children], int8 only
  const uint64_t* top_bits = nullptr;   // [n_chunks * n_top]
  const uint32_t* top_rank = nullptr;   // [n_chunks * n_top]
  const int64_t* word_ptr = nullptr;    // [n_chunks + 1]
  const uint64_t* word_bits = nullptr;  // [n_words + 1]
  const uint32_t* word_rank = nullptr;  // [n_words + 1]
  const int64_t* row_ptr = nullptr;     // [n_chunks + 1]
  const uint32_t* row_at = nullptr;     // [n_rows + 1]
  const int64_t* blob_ptr = nullptr;    // [n_chunks + 1] bytes
  const uint8_t* blob = nullptr;        // [blob_ptr[n_chunks] + kBlobPadding]

  int64_t n_children(int64_t chunk) const { return child_ptr[chunk + 1] - child_ptr[chunk]; }
};

/// The lengths of the arrays, to check them by.
struct LevelSizes {
  int64_t child, bias, scale, top_bits, top_rank, word_bits, word_rank, row_at, blob;
};

/// Throws std::invalid_argument unless every number in the level leads to a place inside it. `n_next` is the number of
/// chunks of the next level. With `deep`, every row is walked too; without it rows are trusted. OUT: level.widest.
void validate_level(LevelView& level, const LevelSizes& sizes, int64_t n_next, int64_t n_labels, bool deep,
                    int threads);

/// One chunk while it is made: owned arrays, as in Level.
struct ChunkParts {
  std::vector<float> bias;
  std::vector<float> scale;
  std::vector<uint64_t> top_bits;
  std::vector<uint32_t> top_rank;
  std::vector<uint64_t> word_bits;
  std::vector<uint32_t> word_rank;
  std::vector<uint32_t> row_at;
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
  std::vector<uint64_t> top_bits;
  std::vector<uint32_t> top_rank;
  std::vector<int64_t> word_ptr;
  std::vector<uint64_t> word_bits;
  std::vector<uint32_t> word_rank;
  std::vector<int64_t> row_ptr;
  std::vector<uint32_t> row_at;
  std::vector<int64_t> blob_ptr;
  std::vector<uint8_t> blob;
};

/// Puts chunks together, freeing each as it is taken.
Level assemble_level(std::vector<ChunkParts>& chunks, std::vector<int64_t> child_ptr, std::vector<int32_t> child);

}  // namespace longtail
