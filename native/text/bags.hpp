// Texts as bags of words and of hashed n-grams, as linear text models with embeddings want them.
//
// Columns 0 … n_words − 1 are the words kept; after them come the buckets that are in use. A bucket is the hash of an
// n-gram of words, or of an n-gram of the characters of one word (with < and > at its ends), modulo their number. Columns
// are ordered by falling frequency, words and buckets each, so that those used together lie together in memory.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "text/analyze.hpp"
#include "text/counts.hpp"
#include "text/strings.hpp"

namespace longtail {

struct BagSettings {
  TextSettings words;        // how texts are cut into words: unit word, or chars_of_words for what white space separates
  int word_ngrams = 1;       // the longest n-gram of words
  int min_chars = 0;         // n-grams of characters: from this
  int max_chars = 0;         // to this; 0 for none
  uint32_t n_buckets = 0;    // at least 1 if there are n-grams
};

/// Every text ends in this word, as if it stood there: an embedding that all texts share.
constexpr char kEndOfText[] = "</s>";

/// A vocabulary that is complete: text → (column, count). Read-only, so that threads share it.
class BagIndex {
 public:
  /// Word i is blob[offsets[i] … offsets[i + 1]); buckets are the numbers of those in use, each once. Offsets have been
  /// checked; throws std::invalid_argument on a word that stands twice or a bucket out of range.
  BagIndex(const BagSettings& settings, const uint8_t* blob, const int64_t* offsets, int64_t n_words,
           const uint32_t* buckets, int64_t n_used);

  const BagSettings& settings() const { return settings_; }
  int64_t n_columns() const { return n_words_ + n_used_; }
  Counts counts(const TextBatch& batch, int threads, Watch* watch) const;
  /// What in a text each of its columns stands for, in the order in which they are found.
  std::vector<std::pair<int32_t, std::string>> terms(const TextView& view) const;

 private:
  void add_text(const TextView& view, Scratch& s) const;

  BagSettings settings_;
  Analyzer analyzer_;
  int64_t n_words_, n_used_;
  StringTable words_;
  std::vector<int32_t> column_of_bucket_;  // [n_buckets], −1: not in use
};

/// Learns the words and buckets in one pass over the texts.
class BagLearner {
 public:
  BagLearner(const BagSettings& settings, int threads);
  BagLearner(const BagLearner&) = delete;
  BagLearner& operator=(const BagLearner&) = delete;

  void add(const TextBatch& batch, Watch* watch);
  int64_t n_rows() const { return n_rows_; }
  int64_t n_tokens() const;

  struct Vocabulary {
    std::vector<uint8_t> blob;
    std::vector<int64_t> offsets, word_counts;
    std::vector<uint32_t> buckets;
  };
  /// Keeps words that occur at least min_count times, and the buckets that occur at least min_bucket times; gives them
  /// and the rows. Ends the adding; may be called once.
  Vocabulary finish(int64_t min_count, int64_t min_bucket, Counts& counts, Watch* watch);

 private:
  struct Worker {
    Scratch scratch;
    StringTable words;
    std::vector<uint32_t> seen;
    std::vector<uint32_t> global;  // own numbers → numbers of all_
  };
  struct Stream {  // what a block of texts gave
    int worker = 0;
    std::vector<uint32_t> tokens;
    std::vector<int64_t> row_ends;
  };
  void merge(std::vector<uint64_t>& totals);
  std::vector<uint32_t> by_frequency(const std::vector<uint64_t>& totals, int64_t min_count) const;
  void hash_words(std::vector<uint32_t>& hashes, std::vector<uint64_t>& starts, std::vector<uint32_t>& grams) const;

  BagSettings settings_;
  Analyzer analyzer_;
  int threads_;
  int64_t n_rows_ = 0;
  std::vector<Worker> workers_;
  std::vector<Stream> streams_;
  StringTable all_;
};

}  // namespace longtail
