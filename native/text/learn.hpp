// Learning a vocabulary: one pass over the texts, then terms are chosen, put in order, and rows counted.
//
//   add()     each thread numbers what it sees in tables of its own and keeps the numbers, 4 bytes per occurrence
//             (for characters of words: one number per word, as a word always gives the same n-grams)
//   prune()   the threads' tables become one; terms within the bounds of document frequency are put in the order of
//             their code points. Which thread saw what leaves no trace in the result
//   keep()    a further choice among them (max_features)
//   terms()   the chosen terms as text
//   counts()  the rows as (column, count)
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

/// How often a term was seen.
struct TermUse {
  uint32_t last_row = 0;  // 1 + the last row (of this thread) that it stood in
  uint32_t rows = 0;
};

/// What the threads' tables are merged into; for a single thread, its own tables.
struct LearnedTerms {
  std::vector<StringTable> parts;     // strings, divided by hash
  std::vector<uint32_t> part_starts;  // number of the first string of each part
  std::vector<uint32_t> rows;         // document frequencies of strings
  std::vector<uint64_t> total;        // occurrences of strings (when wanted)
  std::vector<uint64_t> gram_keys;    // prefix code and last word, in numbers of this table
  std::vector<uint32_t> gram_rows;
  std::vector<uint64_t> gram_total;

  uint32_t n_strings() const { return static_cast<uint32_t>(rows.size()); }
  std::string_view text(uint32_t id) const;
  uint64_t head(uint32_t id) const;

 private:
  uint32_t part_of(uint32_t id) const;
};

class Learner {
 public:
  /// `record`: rows will be asked for. `totals`: occurrences will be asked for.
  Learner(const TextSettings& settings, const std::vector<std::string>& stop_words, bool binary, bool record, bool totals,
          int threads);
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;

  void add(const TextBatch& batch, Watch* watch);
  int64_t n_rows() const { return n_rows_; }
  /// Different terms before any are left out.
  int64_t n_seen() const;
  /// Terms chosen so far.
  size_t n_kept() const { return order_.size(); }

  /// Chooses terms with low <= document frequency <= high; gives their number. Ends the adding.
  int64_t prune(double low, double high);
  /// OUT, in the order of terms: document frequency, occurrences.
  void frequencies(int64_t* rows, int64_t* total) const;
  /// Keeps the terms i with keep[i].
  void keep(const uint8_t* keep);
  void terms(std::vector<uint8_t>& blob, std::vector<int64_t>& offsets) const;
  /// May be called once.
  Counts counts(Watch* watch);
  size_t bytes() const;

  struct Stream {  // what a block of texts gave
    int worker = 0;
    std::vector<uint32_t> codes;
    std::vector<int64_t> row_ends;
  };
  struct Worker {
    Scratch scratch;
    StringTable strings;  // words (unit word), else n-grams
    std::vector<TermUse> uses;
    std::vector<uint64_t> totals;
    GramTable grams;
    std::vector<TermUse> gram_uses;
    std::vector<uint64_t> gram_totals;
    StringTable words;  // unit chars_of_words: words seen, and their n-grams
    std::vector<uint64_t> word_starts{0};
    std::vector<uint32_t> word_grams;
    uint32_t row = 0;
    std::vector<uint32_t> string_map, gram_map;  // own numbers → numbers of LearnedTerms (empty: the same)
  };

 private:
  void add_row(const TextBatch& batch, int64_t i, Worker& w) const;
  void add_word_grams(const TextView& view, Worker& w) const;
  void add_grams_of_words(const TextView& view, Worker& w) const;
  void see(std::vector<TermUse>& uses, std::vector<uint64_t>& totals, uint32_t id, uint32_t row) const;
  void order_words(std::vector<uint32_t>& codes) const;
  void order_strings(std::vector<uint32_t>& ids) const;
  std::vector<int32_t> columns_of(const Worker& w, bool grams) const;

  Analyzer analyzer_;
  bool binary_, record_, totals_;
  int threads_;
  int64_t n_rows_ = 0;
  bool pruned_ = false;
  std::vector<Worker> workers_;
  std::vector<Stream> streams_;
  LearnedTerms learned_;
  std::vector<uint32_t> order_;  // codes of the chosen terms by column
};

/// Merges the workers' tables (and empties them). With one busy worker its tables are taken as they are.
LearnedTerms merge_workers(std::vector<Learner::Worker>& workers, int max_n, bool totals, int threads);

}  // namespace longtail
