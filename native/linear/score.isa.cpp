// See score.hpp and layout.hpp. A child's margin is summed in the order of the query's features, whatever the level.
#include "linear/score.hpp"

#include "core/bits.hpp"
#include "core/simd_headers.hpp"

#include "core/isa_begin.hpp"
#include "core/simd16.hpp"

namespace longtail {
namespace LT_ISA {

namespace {

inline uint16_t read16(const uint8_t* p) {
  uint16_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

template <ValueType type>
inline F16x load_values(const uint8_t* p);
template <>
inline F16x load_values<ValueType::f32>(const uint8_t* p) {
  return load(reinterpret_cast<const float*>(p));
}
template <>
inline F16x load_values<ValueType::f16>(const uint8_t* p) {
  return load_half(reinterpret_cast<const uint16_t*>(p));
}
template <>
inline F16x load_values<ValueType::int8>(const uint8_t* p) {
  return load_int8(reinterpret_cast<const int8_t*>(p));
}

template <ValueType type>
inline float one_value(const uint8_t* p) {
  if (type == ValueType::f32) {
    float v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
  if (type == ValueType::f16) return half_to_float(read16(p));
  return static_cast<float>(static_cast<int8_t>(*p));
}

/// The bits of `word` below position `at` (0 to 63), counted.
inline uint32_t rank_below(uint64_t word, uint32_t at) {
  return static_cast<uint32_t>(count_bits(word & ((uint64_t{1} << at) - 1)));
}

/// Finds the rows of the query's features. Without branches: a miss is written and then written over. Not inlined, so that
/// its loop has all registers for itself.
LT_NOINLINE int64_t find_rows(const LevelView& level, int64_t chunk, const Query& query, Hit* hits) {
  const uint64_t* top_bits = level.top_bits + chunk * level.n_top;
  const uint32_t* top_rank = level.top_rank + chunk * level.n_top;
  const uint64_t* word_bits = level.word_bits + level.word_ptr[chunk];
  const uint32_t* word_rank = level.word_rank + level.word_ptr[chunk];
  Hit* next = hits;
  const int32_t* feature = query.feature;
  const float* value = query.value;
  for (const int32_t* end = feature + query.n; feature != end; ++feature, ++value) {
    const auto f = static_cast<uint32_t>(*feature);
    const uint64_t top = top_bits[f >> 12];
    const uint32_t in_top = (f >> 6) & 63, in_word = f & 63;
    const uint32_t at = top_rank[f >> 12] + rank_below(top, in_top);
    const uint64_t word = word_bits[at];
    next->at = word_rank[at] + rank_below(word, in_word);
    next->value = *value;
    next += (top >> in_top) & (word >> in_word) & 1;
  }
  // All rows are on their way before the first is used.
  const uint32_t* row_at = level.row_at + level.row_ptr[chunk];
  const uint8_t* blob = level.blob + level.blob_ptr[chunk];
  for (Hit* hit = hits; hit != next; ++hit) {
    hit->at = row_at[hit->at];
    prefetch(blob + 2 * static_cast<size_t>(hit->at));
  }
  return next - hits;
}

template <ValueType type>
inline void add_masked(float* margin, Mask mask, const uint8_t* values, F16x x) {
  store(margin, load(margin) + expand(mask, load_values<type>(values)) * x);
}

template <ValueType type>
void narrow_margins(const uint8_t* blob, const Hit* hits, int64_t n, float* margin) {
  F16x sum = fill(0.0f);
  for (int64_t i = 0; i < n; ++i) {
    const uint8_t* row = blob + 2 * static_cast<size_t>(hits[i].at);
    sum = sum + expand(read16(row), load_values<type>(row + 2)) * fill(hits[i].value);
  }
  store(margin, sum);
}

template <ValueType type>
void wide_margins(const uint8_t* blob, const Hit* hits, int64_t n, int64_t n_children, float* margin) {
  const int64_t n_blocks = (n_children + kLanes - 1) / kLanes;
  for (int64_t b = 0; b < n_blocks; ++b) store(margin + b * kLanes, fill(0.0f));
  constexpr size_t size = type == ValueType::f32 ? 4 : type == ValueType::f16 ? 2 : 1;
  for (int64_t i = 0; i < n; ++i) {
    const uint8_t* row = blob + 2 * static_cast<size_t>(hits[i].at);
    const float x = hits[i].value;
    const uint16_t header = read16(row);
    row += 2;
    if (header == kDenseRow) {
      const uint8_t* values = row + 2 * n_blocks;
      for (int64_t b = 0; b < n_blocks; ++b) {
        const Mask mask = read16(row + 2 * b);
        if (mask == 0) continue;
        add_masked<type>(margin + b * kLanes, mask, values, fill(x));
        values += size * static_cast<size_t>(count_bits(mask));
      }
    } else if (n_children <= 256) {
      const uint8_t* values = row + (header + 1) / 2 * 2;
      for (int j = 0; j < header; ++j) margin[row[j]] += one_value<type>(values + size * static_cast<size_t>(j)) * x;
    } else {
      const uint8_t* values = row + 2 * header;
      for (int j = 0; j < header; ++j)
        margin[read16(row + 2 * j)] += one_value<type>(values + size * static_cast<size_t>(j)) * x;
    }
  }
}

template <ValueType type>
void typed_margins(const LevelView& level, int64_t chunk, const Query& query, float* margin, Hit* hits) {
  const int64_t n = find_rows(level, chunk, query, hits);
  const uint8_t* blob = level.blob + level.blob_ptr[chunk];
  const int64_t first = level.child_ptr[chunk], n_children = level.child_ptr[chunk + 1] - first;
  if (n_children <= kLanes) narrow_margins<type>(blob, hits, n, margin);
  else wide_margins<type>(blob, hits, n, n_children, margin);
  const float* bias = level.bias + first;
  if (type == ValueType::int8) {
    const float* scale = level.scale + first;
    for (int64_t j = 0; j < n_children; ++j) margin[j] = margin[j] * scale[j] + bias[j];
  } else {
    for (int64_t j = 0; j < n_children; ++j) margin[j] = margin[j] + bias[j];
  }
}

void margins(const LevelView& level, int64_t chunk, const Query& query, float* margin, Hit* hits) {
  if (level.type == ValueType::f32) typed_margins<ValueType::f32>(level, chunk, query, margin, hits);
  else if (level.type == ValueType::f16) typed_margins<ValueType::f16>(level, chunk, query, margin, hits);
  else typed_margins<ValueType::int8>(level, chunk, query, margin, hits);
}

void to_scores(float* scores, int64_t n_children, ScoreKind kind, int power, float base) {
  for (int64_t j = 0; j < n_children; j += kLanes) {
    const F16x z = load(scores + j);
    F16x s = z;
    if (kind == ScoreKind::hinge) {
      const F16x gap = max(fill(1.0f) - z, fill(0.0f));
      F16x term = gap;
      for (int p = 1; p < power; ++p) term = term * gap;
      s = fill(0.0f) - term;
    } else if (kind == ScoreKind::sigmoid) {
      s = log_sigmoid(z);
    }
    store(scores + j, fill(base) + s);
  }
}

int64_t select(const float* scores, int64_t n, float threshold, int32_t* chosen) {
  int64_t count = 0;
  for (int64_t j = 0; j < n; j += kLanes) {
    Mask mask = greater_equal(load(scores + j), fill(threshold));
    if (n - j < kLanes) mask &= (1u << (n - j)) - 1;
    for (; mask != 0; mask &= mask - 1) chosen[count++] = static_cast<int32_t>(j) + lowest_bit(mask);
  }
  return count;
}

}  // namespace

ScoreKernels score_kernels() { return {margins, to_scores, select}; }

}  // namespace LT_ISA
}  // namespace longtail

#include "core/isa_end.hpp"
