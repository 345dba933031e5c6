// A vocabulary ready to be asked: text → (column, count). Read-only once built, so that threads share it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/parallel.hpp"
#include "text/analyze.hpp"
#include "text/counts.hpp"
#include "text/grams.hpp"
#include "text/strings.hpp"

namespace longtail {

class TermIndex {
 public:
  /// Column i is the term blob[offsets[i] … offsets[i + 1]). Offsets have been checked; throws std::invalid_argument
  /// when a term stands twice.
  TermIndex(const TextSettings& settings, const std::vector<std::string>& stop_words, bool binary, const uint8_t* blob,
            const int64_t* offsets, int64_t n_terms);
  /// Without a vocabulary: the columns (and with alternate_sign the signs) of hashed terms.
  TermIndex(const TextSettings& settings, const std::vector<std::string>& stop_words, bool binary, int64_t n_features,
            bool alternate_sign);

  const Analyzer& analyzer() const { return analyzer_; }
  int64_t n_columns() const { return n_columns_; }
  bool is_signed() const { return alternate_sign_; }
  Counts counts(const TextBatch& batch, int threads, Watch* watch) const;
  /// One row, appended to `block`.
  void count_row(const TextBatch& batch, int64_t i, Scratch& s, CountBlock& block) const;
  size_t bytes() const;

 private:
  // Words of characters that a thread has met before, and their columns.
  struct WordCache {
    StringTable words;
    std::vector<uint64_t> starts{0};
    std::vector<uint32_t> columns;
  };
  void add_words(const std::vector<std::string>& stop_words, const uint8_t* blob, const int64_t* offsets);
  void find_words(const TextView& view, Scratch& s) const;
  void find_spans(const ByteBuffer& text, Scratch& s) const;
  void hash_spans(const ByteBuffer& text, Scratch& s) const;
  void find_cached(const TextView& view, Scratch& s, WordCache& cache) const;
  void finish_row(Scratch& s, CountBlock& block) const;

  Analyzer analyzer_;
  bool binary_;
  bool hashed_ = false;
  bool alternate_sign_ = false;
  int64_t n_columns_ = 0;
  int bits_ = 0;
  StringTable strings_;
  GramTable grams_;
  std::vector<int32_t> string_columns_, gram_columns_;  // −1: only part of longer terms; unit word only
  uint32_t n_stops_ = 0;
};

}  // namespace longtail
