// See score.hpp and layout.hpp. A child's margin is summed in the order of the query's features, whatever the level; of 2 to 8
// blocks in two sums, one of the rows of masks and one of the rows that list their children.
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

/// The bits of `word` below position `at` (0 to 63), counted.
inline uint32_t rank_below(uint64_t word, uint32_t at) {
  return static_cast<uint32_t>(count_bits(word & ((uint64_t{1} << at) - 1)));
}

/// Without branches: a miss is written and then written over.
int64_t find(const LevelView& level, int64_t chunk, const Query& query, Hit* hits) {
  const uint64_t* tops = level.tops + kTopParts * chunk * level.n_top;
  const uint32_t* words = level.words + kWordParts * level.word_ptr[chunk];
  Hit* next = hits;
  const int32_t* feature = query.feature;
  const float* value = query.value;
  for (const int32_t* end = feature + query.n; feature != end; ++feature, ++value) {
    const auto f = static_cast<uint32_t>(*feature);
    const uint64_t* top = tops + kTopParts * (f >> 12);
    const uint32_t in_top = (f >> 6) & 63, in_word = f & 63;
    const WordEntry word = read_word(words, static_cast<int64_t>(top[1] + rank_below(top[0], in_top)));
    next->in_group = {word.place, rank_below(word.bits, in_word)};
    next->value = *value;
    next += (top[0] >> in_top) & (word.bits >> in_word) & 1;
  }
  const uint8_t* blob = level.blob + level.blob_ptr[chunk];
  for (const Hit* hit = hits; hit != next; ++hit) prefetch(end_of_row(blob, hit->in_group.place, hit->in_group.rank));
  return next - hits;
}

void locate(const LevelView& level, int64_t chunk, Hit* hits, int64_t n) {
  const uint8_t* blob = level.blob + level.blob_ptr[chunk];
  for (Hit* hit = hits; hit != hits + n; ++hit) {
    const RowSpan row = row_at(blob, hit->in_group.place, hit->in_group.rank);
    prefetch(row.begin);
    prefetch(row.begin + row.bytes);
    hit->row = row.begin;
    hit->bytes = row.bytes;
  }
}

template <ValueType type>
inline void add_masked(float* margin, Mask mask, const uint8_t* values, F16x x) {
  store(margin, load(margin) + expand(mask, load_values<type>(values)) * x);
}

template <ValueType type>
void narrow_margins(const Hit* hits, int64_t n, float* margin) {
  F16x sum = fill(0.0f);
  for (int64_t i = 0; i < n; ++i)
    sum = sum + expand(read16(hits[i].row), load_values<type>(hits[i].row + 2)) * fill(hits[i].value);
  store(margin, sum);
}

/// OUT products[4]: of the first n of four values and x, and zeros. No more is read than that: the cache line after a short
/// row may be far away.
template <ValueType type>
inline void multiply_four(const uint8_t* values, uint32_t n, float x, float* products) {
#if LT_ISA_LEVEL > 0
  __m128 v;
  if (type == ValueType::f32) {
    v = _mm_loadu_ps(reinterpret_cast<const float*>(values));
  } else if (type == ValueType::f16) {
    v = _mm_cvtph_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(values)));
  } else {
    int32_t steps;
    std::memcpy(&steps, values, sizeof steps);
    v = _mm_cvtepi32_ps(_mm_cvtepi8_epi32(_mm_cvtsi32_si128(steps)));
  }
  static const int32_t keep[8] = {-1, -1, -1, -1, 0, 0, 0, 0};
  const __m128i kept = _mm_loadu_si128(reinterpret_cast<const __m128i*>(keep + 4 - (n < 4 ? n : 4)));
  _mm_store_ps(products, _mm_and_ps(_mm_mul_ps(v, _mm_set1_ps(x)), _mm_castsi128_ps(kept)));
#else
  for (uint32_t j = 0; j < 4; ++j) {
    products[j] = 0.0f;
    if (j >= n) continue;
    if (type == ValueType::f32) std::memcpy(products + j, values + 4 * j, 4);
    else if (type == ValueType::f16) products[j] = half_to_float(read16(values + 2 * j));
    else products[j] = static_cast<float>(static_cast<int8_t>(values[j]));
    products[j] *= x;
  }
#endif
}

/// A row of children's numbers, bytes or u16, and then values. Always four at a time: how many there are cannot be foretold,
/// and a wrong guess costs more than adding zeros somewhere. Numbers past the last one are whatever bytes follow.
template <ValueType type, class Number>
inline void add_listed(float* margin, const uint8_t* row, uint32_t bytes, float x) {
  constexpr uint32_t size = type == ValueType::f32 ? 4 : type == ValueType::f16 ? 2 : 1;
  uint32_t n = bytes / (sizeof(Number) + size);
  const uint8_t* values = row + n * sizeof(Number);
  alignas(16) float products[4];
  for (;; n -= 4, values += 4 * size) {
    multiply_four<type>(values, n, x, products);
    Number child[4];
    std::memcpy(child, row, sizeof child);
    for (int j = 0; j < 4; ++j) margin[child[j]] += products[j];
    if (n <= 4) return;
    row += sizeof child;
  }
}

template <ValueType type>
inline void add_listed_row(const RowForm& form, const Hit& hit, float* margin) {
  if (form.number == 1) add_listed<type, uint8_t>(margin, hit.row, hit.bytes, hit.value);
  else add_listed<type, uint16_t>(margin, hit.row, hit.bytes, hit.value);
}

/// Margins of 2 to 8 blocks. Rows of masks are summed up in registers, listed rows in memory.
template <ValueType type, int n_blocks>
void wide_margins(const Hit* hits, int64_t n, int64_t n_children, float* margin) {
  F16x sum[n_blocks];
  LT_UNROLL
  for (int b = 0; b < n_blocks; ++b) {
    sum[b] = fill(0.0f);
    store(margin + b * kLanes, sum[b]);
  }
  constexpr size_t size = type == ValueType::f32 ? 4 : type == ValueType::f16 ? 2 : 1;
  const RowForm form(n_children, size);
  for (const Hit* hit = hits; hit != hits + n; ++hit) {
    if (form.is_listed(hit->bytes)) {
      add_listed_row<type>(form, *hit, margin);
      continue;
    }
    uint64_t masks[2] = {0, 0};
    std::memcpy(masks, hit->row, 2 * n_blocks);
    const uint8_t* values = hit->row + 2 * n_blocks;
    const F16x x = fill(hit->value);
    const auto in_first = static_cast<size_t>(count_bits(masks[0]));
    LT_UNROLL
    for (int b = 0; b < n_blocks; ++b) {
      const int shift = 16 * (b % 4);
      const uint64_t below = masks[b / 4] & ((uint64_t{1} << shift) - 1);
      const size_t before = (b < 4 ? 0 : in_first) + static_cast<size_t>(count_bits(below));
      const auto mask = static_cast<Mask>((masks[b / 4] >> shift) & 0xffff);
      sum[b] = sum[b] + expand(mask, load_values<type>(values + size * before)) * x;
    }
  }
  LT_UNROLL
  for (int b = 0; b < n_blocks; ++b) store(margin + b * kLanes, sum[b] + load(margin + b * kLanes));
}

/// Margins of any number of blocks.
template <ValueType type>
void widest_margins(const Hit* hits, int64_t n, int64_t n_children, float* margin) {
  const int64_t n_blocks = (n_children + kLanes - 1) / kLanes;
  for (int64_t b = 0; b < n_blocks; ++b) store(margin + b * kLanes, fill(0.0f));
  constexpr size_t size = type == ValueType::f32 ? 4 : type == ValueType::f16 ? 2 : 1;
  const RowForm form(n_children, size);
  for (const Hit* hit = hits; hit != hits + n; ++hit) {
    if (form.is_listed(hit->bytes)) {
      add_listed_row<type>(form, *hit, margin);
      continue;
    }
    const uint8_t* values = hit->row + form.masks;
    for (int64_t b = 0; b < n_blocks; ++b) {
      const Mask mask = read16(hit->row + 2 * b);
      if (mask == 0) continue;
      add_masked<type>(margin + b * kLanes, mask, values, fill(hit->value));
      values += size * static_cast<size_t>(count_bits(mask));
    }
  }
}

template <ValueType type>
void typed_margins(const LevelView& level, int64_t chunk, const Hit* hits, int64_t n, float* margin) {
  const int64_t first = level.child_ptr[chunk], n_children = level.child_ptr[chunk + 1] - first;
  switch ((n_children + kLanes - 1) / kLanes) {
    case 1: narrow_margins<type>(hits, n, margin); break;
    case 2: wide_margins<type, 2>(hits, n, n_children, margin); break;
    case 3: wide_margins<type, 3>(hits, n, n_children, margin); break;
    case 4: wide_margins<type, 4>(hits, n, n_children, margin); break;
    case 5: wide_margins<type, 5>(hits, n, n_children, margin); break;
    case 6: wide_margins<type, 6>(hits, n, n_children, margin); break;
    case 7: wide_margins<type, 7>(hits, n, n_children, margin); break;
    case 8: wide_margins<type, 8>(hits, n, n_children, margin); break;
    default: widest_margins<type>(hits, n, n_children, margin);
  }
  const float* bias = level.bias + first;
  if (type != ValueType::f32) {
    const float* scale = level.scale + first;
    for (int64_t j = 0; j < n_children; ++j) margin[j] = margin[j] * scale[j] + bias[j];
  } else {
    for (int64_t j = 0; j < n_children; ++j) margin[j] = margin[j] + bias[j];
  }
}

void margins(const LevelView& level, int64_t chunk, const Hit* hits, int64_t n, float* margin) {
  if (level.type == ValueType::f32) typed_margins<ValueType::f32>(level, chunk, hits, n, margin);
  else if (level.type == ValueType::f16) typed_margins<ValueType::f16>(level, chunk, hits, n, margin);
  else typed_margins<ValueType::int8>(level, chunk, hits, n, margin);
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

ScoreKernels score_kernels() { return {find, locate, margins, to_scores, select}; }

}  // namespace LT_ISA
}  // namespace longtail

#include "core/isa_end.hpp"
