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
  explicit Writer(uint8_t* at) : at_(at) {}
  template <class T>
  void append(T value) {
    std::memcpy(at_, &value, sizeof(T));
    at_ += sizeof(T);
  }

 private:
  uint8_t* at_;
};

void append_value(Writer& out, float value, float scale, ValueType type) {
  if (type == ValueType::f32) {
    out.append(value);
  } else if (type == ValueType::f16) {
    out.append(float_to_half(value / scale));
  } else {
    const float steps = scale > 0 ? value / scale : 0.0f;
    out.append(static_cast<int8_t>(std::lrint(std::max(-127.0f, std::min(127.0f, steps)))));
  }
}

/// The power of two by which half precision is multiplied where `largest` is the largest weight: that one comes close to the
/// top of its range, so that weights down to a 2^28th of it keep all eleven bits.
float half_scale(float largest) {
  constexpr int kTop = 15;  // the largest half is just below 2^16
  int exponent = 128;       // largest < 2^exponent
  if (std::isfinite(largest)) std::frexp(largest, &exponent);
  return largest > 0 ? std::ldexp(1.0f, std::max(exponent - kTop, -126)) : 1.0f;
}

/// What the values of each child are multiplied by when read.
std::vector<float> scales_of(const ChunkWeights& weights, ValueType type) {
  std::vector<float> scale(static_cast<size_t>(weights.n_children), 0.0f);
  for (size_t b = 0; b < weights.mask.size(); ++b) {
    const float* value = weights.value[b].data();
    for (const uint16_t mask : weights.mask[b])
      for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        float& s = scale[b * kBlock + static_cast<size_t>(lowest_bit(rest))];
        s = std::max(s, std::fabs(*value++));
      }
  }
  for (float& s : scale) s = type == ValueType::f16 ? half_scale(s) : s / 127.0f;  // int8: the largest is 127 steps
  return scale;
}

/// The lookup part of a chunk for words with the given numbers.
void index_words(const std::vector<int32_t>& numbers, int64_t n_features, ChunkParts& out) {
  out.tops.assign(static_cast<size_t>(kTopParts * n_top_of(n_features)), 0);
  for (const int32_t word : numbers) out.tops[static_cast<size_t>(kTopParts * (word >> 6))] |= uint64_t{1} << (word & 63);
  uint64_t before = 0;
  for (size_t t = 0; t < out.tops.size(); t += kTopParts) {
    out.tops[t + 1] = before;
    before += static_cast<uint64_t>(count_bits(out.tops[t]));
  }
}

/// Packs the rows of one chunk, group by group.
class Packer {
 public:
  Packer(const ChunkWeights& weights, ValueType type, const std::vector<float>& scale)
      : weights_(weights), type_(type), scale_(scale), form_(weights.n_children, value_size(type)), next_(weights.mask.size()) {
    for (size_t b = 0; b < next_.size(); ++b) next_[b] = weights.value[b].data();
  }

  /// OUT words and blob of the chunk. Gives the number of each word.
  std::vector<int32_t> run(ChunkParts& out) {
    const size_t n_features = weights_.feature.size();
    std::vector<int32_t> numbers;
    out.blob.resize(room());
    for (size_t i = 0; i < n_features;) {
      const int32_t word = weights_.feature[i] >> 6;
      const size_t first = i;
      uint64_t bits = 0;
      ends_.clear();
      uint64_t end = 0;
      for (; i < n_features && weights_.feature[i] >> 6 == word; ++i) {
        const size_t n_values = n_values_of(i);
        if (n_values == 0) continue;
        bits |= uint64_t{1} << (weights_.feature[i] & 63);
        end += form_.bytes_of(n_values);
        ends_.push_back(end);
      }
      if (bits == 0) continue;
      const uint32_t place = begin_group(out.blob);
      uint32_t parts[kWordParts];
      std::memcpy(parts, &bits, sizeof bits);
      parts[2] = place;
      out.words.insert(out.words.end(), parts, parts + kWordParts);
      numbers.push_back(word);
      Writer rows(out.blob.data() + (place & ~kWidthBits));
      for (size_t f = first; f < i; ++f) append_row(f, rows);
    }
    out.blob.resize(used_);
    out.blob.shrink_to_fit();
    return numbers;
  }

 private:
  size_t n_values_of(size_t i) const {
    size_t n = 0;
    for (const auto& mask : weights_.mask) n += static_cast<size_t>(count_bits(mask[i]));
    return n;
  }

  /// At least the bytes that the groups take.
  size_t room() const {
    size_t n_values = 0;
    for (const auto& values : weights_.value) n_values += values.size();
    // A value has at most a number or a mask of its own; a row has an end, of four bytes at most; a group has padding.
    const size_t n_rows = std::min(weights_.feature.size(), n_values);
    return n_values * (value_size(type_) + 2) + n_rows * (4 + kWidthBits);
  }

  /// Writes where the rows of `ends_` end, and takes the room for them.
  uint32_t begin_group(std::vector<uint8_t>& blob) {
    const uint32_t shift = ends_.back() <= 0xff ? 0 : ends_.back() <= 0xffff ? 1 : 2;
    const size_t place = (used_ + (ends_.size() << shift) + kWidthBits) & ~static_cast<size_t>(kWidthBits);
    if (place + ends_.back() > std::numeric_limits<uint32_t>::max())
      throw std::length_error("the classifiers of one tree node take more than 4 GiB: raise the threshold");
    for (size_t r = 0; r < ends_.size(); ++r)  // the low bytes are those of the narrower number
      std::memcpy(blob.data() + place - ((r + 1) << shift), &ends_[r], size_t{1} << shift);
    used_ = place + static_cast<size_t>(ends_.back());
    return static_cast<uint32_t>(place) | shift;
  }

  void append_row(size_t i, Writer& rows) {
    const size_t n_values = n_values_of(i);
    if (n_values == 0) return;
    const bool listed = form_.is_listed(form_.bytes_of(n_values));
    for (size_t b = 0; b < next_.size(); ++b) {
      if (!listed) {
        rows.append(weights_.mask[b][i]);
        continue;
      }
      for (uint32_t rest = weights_.mask[b][i]; rest != 0; rest &= rest - 1) {
        const size_t c = b * kBlock + static_cast<size_t>(lowest_bit(rest));
        if (form_.number == 1) rows.append(static_cast<uint8_t>(c));
        else rows.append(static_cast<uint16_t>(c));
      }
    }
    for (size_t b = 0; b < next_.size(); ++b)
      for (uint32_t rest = weights_.mask[b][i]; rest != 0; rest &= rest - 1) {
        const size_t c = b * kBlock + static_cast<size_t>(lowest_bit(rest));
        append_value(rows, *next_[b]++, scale_.empty() ? 1.0f : scale_[c], type_);
      }
  }

  const ChunkWeights& weights_;
  const ValueType type_;
  const std::vector<float>& scale_;
  const RowForm form_;
  std::vector<const float*> next_;  // value of each block
  std::vector<uint64_t> ends_;      // of the rows of the group
  size_t used_ = 0;                 // bytes of the blob
};

}  // namespace

ChunkParts pack_chunk(const ChunkWeights& weights, const std::vector<float>& bias, int64_t n_features, ValueType type) {
  ChunkParts out;
  out.bias = bias;
  if (is_scaled(type)) out.scale = scales_of(weights, type);
  index_words(Packer(weights, type, out.scale).run(out), n_features, out);
  return out;
}

ChunkWeights unpack_chunk(const LevelView& level, int64_t chunk) {
  ChunkWeights out;
  out.n_children = level.n_children(chunk);
  const RowForm form(out.n_children, value_size(level.type));
  const auto n_blocks = static_cast<size_t>(n_blocks_of(out.n_children));
  out.mask.resize(n_blocks);
  out.value.resize(n_blocks);
  const float* scale = is_scaled(level.type) ? level.scale + level.child_ptr[chunk] : nullptr;
  const uint8_t* blob = level.blob + level.blob_ptr[chunk];

  int64_t word = level.word_ptr[chunk];
  for (int64_t t = 0; t < level.n_top; ++t) {
    for (uint64_t words = level.tops[kTopParts * (chunk * level.n_top + t)]; words != 0; words &= words - 1, ++word) {
      const int64_t first = (t * 64 + lowest_bit(words)) * 64;
      const WordEntry entry = read_word(level.words, word);
      uint32_t rank = 0;
      for (uint64_t bits = entry.bits; bits != 0; bits &= bits - 1, ++rank) {
        out.feature.push_back(static_cast<int32_t>(first + lowest_bit(bits)));
        for (size_t b = 0; b < n_blocks; ++b) out.mask[b].push_back(0);
        const RowSpan row = row_at(blob, entry.place, rank);
        const uint8_t* p = row.begin;
        if (form.is_listed(row.bytes)) {
          const size_t n_values = row.bytes / (form.number + form.value);
          for (size_t i = 0; i < n_values; ++i, p += form.number) {
            uint16_t c = *p;
            if (form.number == 2) std::memcpy(&c, p, 2);
            uint16_t& mask = out.mask[c / kBlock].back();
            mask = static_cast<uint16_t>(mask | (1u << (c % kBlock)));
          }
        } else {
          for (size_t b = 0; b < n_blocks; ++b, p += 2) std::memcpy(&out.mask[b].back(), p, 2);
        }
        for (size_t b = 0; b < n_blocks; ++b)
          for (uint32_t rest = out.mask[b].back(); rest != 0; rest &= rest - 1, p += form.value) {
            float v = 0;
            if (level.type == ValueType::f32) {
              std::memcpy(&v, p, 4);
            } else if (level.type == ValueType::f16) {
              uint16_t h;
              std::memcpy(&h, p, 2);
              v = half_to_float(h);
            } else {
              v = static_cast<float>(static_cast<int8_t>(*p));
            }
            if (scale != nullptr) v *= scale[b * kBlock + static_cast<size_t>(lowest_bit(rest))];
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
  level.blob_ptr.assign(1, 0);
  for (const ChunkParts& c : chunks) {
    level.word_ptr.push_back(level.word_ptr.back() + static_cast<int64_t>(c.words.size()) / kWordParts);
    level.blob_ptr.push_back(level.blob_ptr.back() + static_cast<int64_t>(c.blob.size()));
  }
  level.words.reserve(static_cast<size_t>((level.word_ptr.back() + 1) * kWordParts));
  level.blob.reserve(static_cast<size_t>(level.blob_ptr.back()) + kBlobPadding);
  const auto take = [](auto& all, auto& part) { all.insert(all.end(), part.begin(), part.end()); };
  for (ChunkParts& c : chunks) {
    take(level.bias, c.bias);
    take(level.scale, c.scale);
    take(level.tops, c.tops);
    take(level.words, c.words);
    take(level.blob, c.blob);
    c = ChunkParts();
  }
  // One entry more than needed: a lookup reads the word before it knows whether it is there.
  level.words.resize(level.words.size() + kWordParts, 0);
  level.blob.resize(level.blob.size() + kBlobPadding, 0);
  return level;
}

}  // namespace longtail
