// Rows of (column, count), and the weights made of them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/parallel.hpp"

namespace longtail {

/// Some rows in order, each with its columns rising.
struct CountBlock {
  std::vector<int32_t> columns;
  std::vector<int32_t> counts;
  std::vector<int64_t> row_ends;  // where each row ends in `columns`
};

struct Counts {
  std::vector<CountBlock> blocks;
  int64_t n_columns = 0;
  bool is_signed = false;  // counts may be negative

  int64_t n_rows() const;
  int64_t nnz() const;
  int32_t max_count() const;
  size_t bytes() const;
  /// Adds to frequencies[n_columns] in how many rows each column stands.
  void add_document_frequencies(int64_t* frequencies) const;
};

/// What turns counts into values. The arrays belong to the caller.
template <class Real>
struct Weights {
  const Real* idf = nullptr;    // per column, or null
  const Real* terms = nullptr;  // value of a count, for counts 0 … n_terms − 1; null: the count itself
  int64_t n_terms = 0;
  int norm = 0;  // 0: none, 1: L1, 2: L2
};

/// The value of one row: IN columns, counts; OUT values.
template <class Real>
void weigh_row(const int32_t* columns, const int32_t* counts, int64_t n, const Weights<Real>& w, Real* values);

/// OUT indptr[n_rows + 1], indices[nnz], data[nnz]. Blocks are freed as they are read.
template <class Real>
void weigh(Counts& counts, const Weights<Real>& w, int64_t* indptr, int32_t* indices, Real* data, int threads,
           Watch* watch);

/// Sorts numbers, of which the largest needs `bits` bits.
void sort_numbers(std::vector<uint32_t>& numbers, std::vector<uint32_t>& spare, int bits);
/// The bits of the largest number below n.
int bits_below(uint64_t n);

/// Takes the columns of one row, one entry per occurrence (sorted here), and appends the row. With `is_signed` an entry
/// is column << 1 | negative, and counts are sums of signs. With `binary` all counts are 1.
void append_row(std::vector<uint32_t>& occurrences, std::vector<uint32_t>& spare, int bits, bool binary, bool is_signed,
                CountBlock& block);

}  // namespace longtail
