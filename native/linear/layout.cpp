#include "linear/layout.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "core/bits.hpp"
#include "core/half.hpp"

namespace longtail {

namespace {

/// Writes into memory that is large enough.
class Writer {
 public:
  explicit Writer(uint8_t* at) : begin_(at), at_(at) {}
  template <class T>
  void append(T value) {
    std::memcpy(at_, &value, sizeof(T));
    at_ += sizeof(T);
  }
  void pad() {
    if (size() & 1) append(uint8_t{0});
  }
  size_t size() const { return static_cast<size_t>(at_ - begin_); }

 private:
  uint8_t *begin_, *at_;
};

void append_value(Writer& out, float value, float scale, ValueType type) {
  if (type == ValueType::f32) {
    out.append(value);
  } else if (type == ValueType::f16) {
    out.append(float_to_half(value));
  } else {
    const float steps = scale > 0 ? value / scale : 0.0f;
    out.append(static_cast<int8_t>(std::lrint(std::max(-127.0f, std::min(127.0f, steps)))));
  }
}

/// One scale per child: the largest weight becomes 127 steps.
std::vector<float> scales_of(const ChunkWeights& weights) {
  std::vector<float> scale(static_cast<size_t>(weights.n_children), 0.0f);
  for (size_t b = 0; b < weights.mask.size(); ++b) {
    const float* value = weights.value[b].data();
    for (const uint16_t mask : weights.mask[b])
      for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        float& s = scale[b * kBlock + static_cast<size_t>(lowest_bit(rest))];
        s = std::max(s, std::fabs(*value++));
      }
  }
  for (float& s : scale) s /= 127.0f;
  return scale;
}

/// At least the bytes that the rows of a chunk take.
size_t room_of(const ChunkWeights& weights, ValueType type) {
  size_t n_values = 0;
  for (const auto& values : weights.value) n_values += values.size();
  const size_t n_rows = std::min(weights.feature.size(), n_values);
  // A row has a header, padding twice, and a lone mask or child numbers of two bytes each; masks of several blocks are
  // taken when they are no longer than that.
  return n_values * (value_size(type) + 2) + n_rows * 6;
}

/// The lookup part of a chunk for rows with the given features.
void index_rows(const std::vector<int32_t>& features, int64_t n_features, ChunkParts& out) {
  const auto n_top = static_cast<size_t>(n_top_of(n_features));
  out.top_bits.assign(n_top, 0);
  out.top_rank.assign(n_top, 0);
  int64_t last_word = -1;
  for (size_t row = 0; row < features.size(); ++row) {
    const int64_t word = features[row] >> 6;
    if (word != last_word) {
      out.top_bits[static_cast<size_t>(word >> 6)] |= uint64_t{1} << (word & 63);
      out.word_bits.push_back(0);
      out.word_rank.push_back(static_cast<uint32_t>(row));
      last_word = word;
    }
    out.word_bits.back() |= uint64_t{1} << (features[row] & 63);
  }
  uint32_t before = 0;
  for (size_t t = 0; t < n_top; ++t) {
    out.top_rank[t] = before;
    before += static_cast<uint32_t>(count_bits(out.top_bits[t]));
  }
}

}  // namespace

ChunkParts pack_chunk(const ChunkWeights& weights, const std::vector<float>& bias, int64_t n_features, ValueType type) {
  ChunkParts out;
  out.bias = bias;
  if (type == ValueType::int8) out.scale = scales_of(weights);
  const size_t n_blocks = weights.mask.size();
  std::vector<const float*> next(n_blocks);
  for (size_t b = 0; b < n_blocks; ++b) next[b] = weights.value[b].data();
  std::vector<int32_t> features;
  features.reserve(weights.feature.size());
  out.blob.resize(room_of(weights, type));
  Writer blob(out.blob.data());

  for (size_t i = 0; i < weights.feature.size(); ++i) {
    int64_t n_values = 0;
    for (size_t b = 0; b < n_blocks; ++b) n_values += count_bits(weights.mask[b][i]);
    if (n_values == 0) continue;
    features.push_back(weights.feature[i]);
    if (blob.size() / 2 > std::numeric_limits<uint32_t>::max())
      throw std::length_error("the classifiers of one tree node take more than 8 GiB: raise the threshold");
    out.row_at.push_back(static_cast<uint32_t>(blob.size() / 2));
    const bool listed = n_blocks > 1 && n_values < 2 * static_cast<int64_t>(n_blocks);
    if (n_blocks > 1) blob.append(listed ? static_cast<uint16_t>(n_values) : kDenseRow);
    if (listed) {
      for (size_t b = 0; b < n_blocks; ++b)
        for (uint32_t rest = weights.mask[b][i]; rest != 0; rest &= rest - 1) {
          const size_t c = b * kBlock + static_cast<size_t>(lowest_bit(rest));
          if (weights.n_children <= 256) blob.append(static_cast<uint8_t>(c));
          else blob.append(static_cast<uint16_t>(c));
        }
      blob.pad();
    } else {
      for (size_t b = 0; b < n_blocks; ++b) blob.append(weights.mask[b][i]);
    }
    for (size_t b = 0; b < n_blocks; ++b)
      for (uint32_t rest = weights.mask[b][i]; rest != 0; rest &= rest - 1) {
        const size_t c = b * kBlock + static_cast<size_t>(lowest_bit(rest));
        append_value(blob, *next[b]++, out.scale.empty() ? 0.0f : out.scale[c], type);
      }
    blob.pad();
  }
  out.blob.resize(blob.size());
  out.blob.shrink_to_fit();
  index_rows(features, n_features, out);
  return out;
}

ChunkWeights unpack_chunk(const LevelView& level, int64_t chunk) {
  ChunkWeights out;
  out.n_children = level.n_children(chunk);
  const auto n_blocks = static_cast<size_t>(n_blocks_of(out.n_children));
  out.mask.resize(n_blocks);
  out.value.resize(n_blocks);
  const float* scale = level.type == ValueType::int8 ? level.scale + level.child_ptr[chunk] : nullptr;

  int64_t word = level.word_ptr[chunk];
  int64_t row = level.row_ptr[chunk];
  for (int64_t t = 0; t < level.n_top; ++t) {
    for (uint64_t words = level.top_bits[chunk * level.n_top + t]; words != 0; words &= words - 1, ++word) {
      const int64_t first = (t * 64 + lowest_bit(words)) * 64;
      for (uint64_t bits = level.word_bits[word]; bits != 0; bits &= bits - 1, ++row) {
        out.feature.push_back(static_cast<int32_t>(first + lowest_bit(bits)));
        for (size_t b = 0; b < n_blocks; ++b) out.mask[b].push_back(0);
        const uint8_t* p = level.blob + level.blob_ptr[chunk] + 2 * static_cast<int64_t>(level.row_at[row]);
        const auto read16 = [&p] {
          uint16_t v;
          std::memcpy(&v, p, 2);
          p += 2;
          return v;
        };
        const uint16_t header = n_blocks > 1 ? read16() : kDenseRow;
        if (header == kDenseRow) {
          for (size_t b = 0; b < n_blocks; ++b) out.mask[b].back() = read16();
        } else {
          const uint8_t* ids = p;
          for (int i = 0; i < header; ++i) {
            uint16_t c = 0;
            if (out.n_children <= 256) c = ids[i];
            else std::memcpy(&c, ids + 2 * i, 2);
            out.mask[c / kBlock].back() = static_cast<uint16_t>(out.mask[c / kBlock].back() | (1u << (c % kBlock)));
          }
          p += out.n_children <= 256 ? (header + 1) / 2 * 2 : 2 * header;
        }
        for (size_t b = 0; b < n_blocks; ++b)
          for (uint32_t rest = out.mask[b].back(); rest != 0; rest &= rest - 1) {
            float v = 0;
            if (level.type == ValueType::f32) {
              std::memcpy(&v, p, 4);
            } else if (level.type == ValueType::f16) {
              uint16_t h;
              std::memcpy(&h, p, 2);
              v = half_to_float(h);
            } else {
              v = static_cast<float>(static_cast<int8_t>(*p)) * scale[b * kBlock + static_cast<size_t>(lowest_bit(rest))];
            }
            p += value_size(level.type);
            out.value[b].push_back(v);
          }
      }
    }
  }
  return out;
}

Level assemble_level(std::vector<ChunkParts>& chunks, std::vector<int64_t> child_ptr, std::vector<int32_t> child) {
  Level level;
  level.child_ptr = std::move(child_ptr);
  level.child = std::move(child);
  level.word_ptr.assign(1, 0);
  level.row_ptr.assign(1, 0);
  level.blob_ptr.assign(1, 0);
  for (const ChunkParts& c : chunks) {
    level.word_ptr.push_back(level.word_ptr.back() + static_cast<int64_t>(c.word_bits.size()));
    level.row_ptr.push_back(level.row_ptr.back() + static_cast<int64_t>(c.row_at.size()));
    level.blob_ptr.push_back(level.blob_ptr.back() + static_cast<int64_t>(c.blob.size()));
  }
  level.word_bits.reserve(static_cast<size_t>(level.word_ptr.back()) + 1);
  level.word_rank.reserve(static_cast<size_t>(level.word_ptr.back()) + 1);
  level.row_at.reserve(static_cast<size_t>(level.row_ptr.back()) + 1);
  level.blob.reserve(static_cast<size_t>(level.blob_ptr.back()) + kBlobPadding);
  const auto take = [](auto& all, auto& part) { all.insert(all.end(), part.begin(), part.end()); };
  for (ChunkParts& c : chunks) {
    take(level.bias, c.bias);
    take(level.scale, c.scale);
    take(level.top_bits, c.top_bits);
    take(level.top_rank, c.top_rank);
    take(level.word_bits, c.word_bits);
    take(level.word_rank, c.word_rank);
    take(level.row_at, c.row_at);
    take(level.blob, c.blob);
    c = ChunkParts();
  }
  // One entry more than needed: a lookup reads the word before it knows whether it is there.
  level.word_bits.push_back(0);
  level.word_rank.push_back(0);
  level.row_at.push_back(0);
  level.blob.resize(level.blob.size() + kBlobPadding, 0);
  return level;
}

}  // namespace longtail
