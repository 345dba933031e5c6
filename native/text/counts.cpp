#include "text/counts.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace longtail {

int64_t Counts::n_rows() const {
  int64_t n = 0;
  for (const auto& block : blocks) n += static_cast<int64_t>(block.row_ends.size());
  return n;
}

int64_t Counts::nnz() const {
  int64_t n = 0;
  for (const auto& block : blocks) n += static_cast<int64_t>(block.columns.size());
  return n;
}

int32_t Counts::max_count() const {
  int32_t largest = 0;
  for (const auto& block : blocks)
    for (const int32_t c : block.counts) largest = std::max(largest, c);
  return largest;
}

size_t Counts::bytes() const {
  size_t n = 0;
  for (const auto& b : blocks) n += b.columns.capacity() * 4 + b.counts.capacity() * 4 + b.row_ends.capacity() * 8;
  return n;
}

void Counts::add_document_frequencies(int64_t* frequencies) const {
  for (const auto& block : blocks)
    for (const int32_t column : block.columns) ++frequencies[column];
}

template <class Real>
void weigh_row(const int32_t* columns, const int32_t* counts, int64_t n, const Weights<Real>& w, Real* values) {
  for (int64_t i = 0; i < n; ++i) values[i] = w.terms != nullptr ? w.terms[counts[i]] : static_cast<Real>(counts[i]);
  if (w.idf != nullptr)
    for (int64_t i = 0; i < n; ++i) values[i] *= w.idf[columns[i]];
  if (w.norm == 0) return;
  // One sum in double, in the order of the columns, as scikit-learn's: the values are the same bits.
  double sum = 0.0;
  if (w.norm == 1) {
    for (int64_t i = 0; i < n; ++i) sum += std::fabs(static_cast<double>(values[i]));
  } else {
    for (int64_t i = 0; i < n; ++i) {
      const Real square = values[i] * values[i];
      sum += static_cast<double>(square);
    }
    sum = std::sqrt(sum);
  }
  if (sum == 0.0) return;
  for (int64_t i = 0; i < n; ++i) values[i] = static_cast<Real>(static_cast<double>(values[i]) / sum);
}

template <class Real>
void weigh(Counts& counts, const Weights<Real>& w, int64_t* indptr, int32_t* indices, Real* data, int threads,
           Watch* watch) {
  const auto n_blocks = static_cast<int64_t>(counts.blocks.size());
  std::vector<int64_t> first_row(n_blocks), first_entry(n_blocks);
  int64_t rows = 0, entries = 0;
  for (int64_t b = 0; b < n_blocks; ++b) {
    first_row[b] = rows;
    first_entry[b] = entries;
    rows += static_cast<int64_t>(counts.blocks[b].row_ends.size());
    entries += static_cast<int64_t>(counts.blocks[b].columns.size());
  }
  indptr[0] = 0;
  parallel_for(
      n_blocks, threads,
      [&](int64_t b, int) {
        CountBlock block = std::move(counts.blocks[b]);
        const int64_t base = first_entry[b];
        if (!block.columns.empty()) std::memcpy(indices + base, block.columns.data(), block.columns.size() * 4);
        int64_t begin = 0;
        int64_t row = first_row[b];
        for (const int64_t end : block.row_ends) {
          weigh_row(block.columns.data() + begin, block.counts.data() + begin, end - begin, w, data + base + begin);
          indptr[++row] = base + end;
          begin = end;
        }
        if (watch != nullptr) watch->done += static_cast<int64_t>(block.row_ends.size());
      },
      watch);
  counts.blocks.clear();
}

template void weigh_row(const int32_t*, const int32_t*, int64_t, const Weights<float>&, float*);
template void weigh_row(const int32_t*, const int32_t*, int64_t, const Weights<double>&, double*);
template void weigh(Counts&, const Weights<float>&, int64_t*, int32_t*, float*, int, Watch*);
template void weigh(Counts&, const Weights<double>&, int64_t*, int32_t*, double*, int, Watch*);

int bits_below(uint64_t n) {
  int bits = 0;
  while (bits < 63 && (uint64_t{1} << bits) < n) ++bits;
  return bits;
}

void sort_numbers(std::vector<uint32_t>& numbers, std::vector<uint32_t>& spare, int bits) {
  const size_t n = numbers.size();
  if (n <= 24) {
    for (size_t i = 1; i < n; ++i) {
      const uint32_t value = numbers[i];
      size_t j = i;
      for (; j > 0 && numbers[j - 1] > value; --j) numbers[j] = numbers[j - 1];
      numbers[j] = value;
    }
    return;
  }
  if (n < 160) return std::sort(numbers.begin(), numbers.end());
  spare.resize(n);
  uint32_t* from = numbers.data();
  uint32_t* to = spare.data();
  int passes = 0;
  for (int shift = 0; shift < bits; shift += 8, ++passes) {
    uint32_t starts[257] = {0};
    for (size_t i = 0; i < n; ++i) ++starts[((from[i] >> shift) & 0xFF) + 1];
    for (int d = 0; d < 256; ++d) starts[d + 1] += starts[d];
    for (size_t i = 0; i < n; ++i) to[starts[(from[i] >> shift) & 0xFF]++] = from[i];
    std::swap(from, to);
  }
  if (passes % 2 != 0) numbers.swap(spare);
}

void append_row(std::vector<uint32_t>& occurrences, std::vector<uint32_t>& spare, int bits, bool binary, bool is_signed,
                CountBlock& block) {
  sort_numbers(occurrences, spare, bits);
  const size_t n = occurrences.size();
  const uint32_t* entry = occurrences.data();
  for (size_t i = 0; i < n;) {
    const uint32_t column = is_signed ? entry[i] >> 1 : entry[i];
    int32_t count = 0;
    if (is_signed) {
      for (; i < n && entry[i] >> 1 == column; ++i) count += (entry[i] & 1) != 0 ? -1 : 1;
    } else {
      const size_t begin = i;
      while (i < n && entry[i] == column) ++i;
      count = static_cast<int32_t>(i - begin);
    }
    block.columns.push_back(static_cast<int32_t>(column));
    block.counts.push_back(binary ? 1 : count);
  }
  block.row_ends.push_back(static_cast<int64_t>(block.columns.size()));
}

}  // namespace longtail
