#include "data/write_lines.hpp"

#include <algorithm>
#include <vector>

#include "core/parallel.hpp"
#include "data/decimal.hpp"
#include "data/grow.hpp"

namespace longtail {

namespace {

constexpr size_t kEntry = 48;  // more than the longest " id:value"

char* write_entries(const CsrView& m, int64_t row, int base, bool blank_first, char* out) {
  for (int64_t p = m.indptr[row]; p < m.indptr[row + 1]; ++p) {
    if (blank_first || p > m.indptr[row]) *out++ = ' ';
    out = write_int(static_cast<uint64_t>(static_cast<int64_t>(m.indices[p]) + base), out);
    *out++ = ':';
    out = write_float(m.data[p], out);
  }
  return out;
}

template <class WriteRow>
std::string write_rows(int64_t n_rows, int threads, const WriteRow& write_row) {
  const int64_t n_parts = std::max<int64_t>(1, std::min<int64_t>(threads * 4, n_rows / 64));
  std::vector<Grow<char>> parts(static_cast<size_t>(n_parts));
  parallel_for(n_parts, threads, [&](int64_t part, int) {
    Grow<char>& out = parts[static_cast<size_t>(part)];
    const int64_t end = n_rows * (part + 1) / n_parts;
    for (int64_t row = n_rows * part / n_parts; row < end; ++row) write_row(row, out);
  });
  std::string all;
  size_t bytes = 0;
  for (const auto& part : parts) bytes += part.size();
  all.reserve(bytes);
  for (const auto& part : parts)
    if (part.size() > 0) all.append(part.data(), part.size());
  return all;
}

}  // namespace

std::string write_labelled_rows(const CsrView& y, const CsrView& x, bool svmlight, int base, int threads) {
  return write_rows(x.n_rows, threads, [&](int64_t row, Grow<char>& out) {
    const int64_t labels = y.row_nnz(row), features = x.row_nnz(row);
    char* const begin = out.room(static_cast<size_t>(labels + features + 1) * kEntry);
    char* at = begin;
    for (int64_t p = y.indptr[row]; p < y.indptr[row + 1]; ++p) {
      if (p > y.indptr[row]) *at++ = ',';
      at = write_int(static_cast<uint64_t>(y.indices[p]), at);
    }
    at = write_entries(x, row, base, true, at);
    if (labels == 0 && features == 0) {
      *at++ = ' ';
      if (svmlight) {
        *at++ = static_cast<char>('0' + base);
        *at++ = ':';
        *at++ = '0';
      }
    }
    *at++ = '\n';
    out.used(static_cast<size_t>(at - begin));
  });
}

std::string write_matrix_rows(const CsrView& m, int threads) {
  return write_rows(m.n_rows, threads, [&](int64_t row, Grow<char>& out) {
    char* const begin = out.room(static_cast<size_t>(m.row_nnz(row) + 1) * kEntry);
    char* at = write_entries(m, row, 0, false, begin);
    *at++ = '\n';
    out.used(static_cast<size_t>(at - begin));
  });
}

}  // namespace longtail
