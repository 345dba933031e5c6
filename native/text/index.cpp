#include "text/index.hpp"

#include <algorithm>
#include <stdexcept>

#include "text/murmur.hpp"

namespace longtail {

namespace {

constexpr size_t kGroup = 32;              // look-ups under way at once
constexpr uint32_t kCachedWords = 1 << 20;  // after so many a thread's cache starts afresh

void check_new(bool is_new) {
  if (!is_new) throw std::invalid_argument("a term stands twice in the vocabulary");
}

// Finds spans of `text`, several at once so that their cache misses overlap.
template <class Visit>
void find_each(const StringTable& table, const ByteBuffer& text, const std::vector<Span>& spans, Visit&& visit) {
  StringTable::Probe probes[kGroup];
  for (size_t begin = 0; begin < spans.size(); begin += kGroup) {
    const size_t n = std::min(kGroup, spans.size() - begin);
    for (size_t j = 0; j < n; ++j) {
      probes[j] = StringTable::probe(text.data() + spans[begin + j].begin, spans[begin + j].length);
      table.prefetch(probes[j]);
    }
    for (size_t j = 0; j < n; ++j) {
      const Span span = spans[begin + j];
      visit(table.find(probes[j], text.data() + span.begin, span.length));
    }
  }
}

}  // namespace

TermIndex::TermIndex(const TextSettings& settings, const std::vector<std::string>& stop_words, bool binary,
                     const uint8_t* blob, const int64_t* offsets, int64_t n_terms)
    : analyzer_(settings, stop_words), binary_(binary), n_columns_(n_terms), bits_(bits_below(n_terms)) {
  if (n_terms > static_cast<int64_t>(StringTable::kMaxIds)) throw std::length_error("more than 2^31 terms");
  if (analyzer_.by_word()) {
    add_words(stop_words, blob, offsets);
    return;
  }
  strings_.reserve(static_cast<size_t>(n_terms));
  for (int64_t i = 0; i < n_terms; ++i) {  // the number of a string is its column
    const uint8_t* term = blob + offsets[i];
    const auto n = static_cast<size_t>(offsets[i + 1] - offsets[i]);
    check_new(strings_.add(StringTable::probe_unpadded(term, n), term, n) == static_cast<uint32_t>(i));
  }
}

TermIndex::TermIndex(const TextSettings& settings, const std::vector<std::string>& stop_words, bool binary,
                     int64_t n_features, bool alternate_sign)
    : analyzer_(settings, stop_words), binary_(binary), hashed_(true), alternate_sign_(alternate_sign),
      n_columns_(n_features) {
  if (n_features < 1 || n_features > INT32_MAX) throw std::invalid_argument("hashing: 1 to 2^31 - 1 columns are possible");
  bits_ = bits_below(static_cast<uint64_t>(n_features) << (alternate_sign ? 1 : 0));
}

// A term is its words, one space between them. One that no text can give (an empty word) keeps its column, which stays
// empty.
void TermIndex::add_words(const std::vector<std::string>& stop_words, const uint8_t* blob, const int64_t* offsets) {
  auto add_word = [&](const uint8_t* p, size_t n) { return strings_.add(StringTable::probe_unpadded(p, n), p, n); };
  for (const std::string& word : stop_words) add_word(reinterpret_cast<const uint8_t*>(word.data()), word.size());
  n_stops_ = strings_.size();
  strings_.reserve(static_cast<size_t>(analyzer_.settings().max_n == 1 ? n_columns_ : n_columns_ / 4));
  if (analyzer_.settings().max_n > 1) grams_.reserve(static_cast<size_t>(n_columns_));
  for (int64_t i = 0; i < n_columns_; ++i) {
    const uint8_t* p = blob + offsets[i];
    const uint8_t* end = blob + offsets[i + 1];
    uint32_t code = GramTable::kNone;
    bool possible = p != end;
    for (const uint8_t* q = p; possible && q <= end; ++q) {
      if (q != end && *q != ' ') continue;
      if (q == p) possible = false;  // two spaces, or one at an end
      p = q + 1;
    }
    if (!possible) continue;
    p = blob + offsets[i];
    for (const uint8_t* q = p; q <= end; ++q) {
      if (q != end && *q != ' ') continue;
      const uint32_t word = add_word(p, static_cast<size_t>(q - p));
      code = code == GramTable::kNone ? word : GramTable::kGram | grams_.add(GramTable::key(code, word));
      p = q + 1;
    }
    const bool gram = (code & GramTable::kGram) != 0;
    const uint32_t id = code & ~GramTable::kGram;
    std::vector<int32_t>& columns = gram ? gram_columns_ : string_columns_;
    if (id >= columns.size()) columns.resize(id + 1, -1);
    check_new(columns[id] == -1);
    columns[id] = static_cast<int32_t>(i);
  }
  string_columns_.resize(strings_.size(), -1);
  gram_columns_.resize(grams_.size(), -1);
}

void TermIndex::find_words(const TextView& view, Scratch& s) const {
  const TextSettings& settings = analyzer_.settings();
  analyzer_.words(view, s);
  std::vector<uint32_t>& words = s.starts;
  words.clear();
  find_each(strings_, s.text, s.words, [&](uint32_t id) {
    if (id >= n_stops_) words.push_back(id);  // unknown words (kNone) keep their place
  });
  auto put = [&](int32_t column) {
    if (column >= 0) s.out.push_back(static_cast<uint32_t>(column));
  };
  if (settings.min_n == 1)
    for (const uint32_t id : words)
      if (id != StringTable::kNone) put(string_columns_[id]);
  if (settings.max_n == 1) return;
  s.prefix = words;
  for (int n = 2; n <= settings.max_n && static_cast<size_t>(n) <= words.size(); ++n) {
    const size_t count = words.size() - static_cast<size_t>(n) + 1;
    const uint32_t* last = words.data() + (n - 1);
    for (size_t begin = 0; begin < count; begin += kGroup) {
      const size_t end = std::min(begin + kGroup, count);
      for (size_t i = begin; i < end; ++i) grams_.prefetch(GramTable::key(s.prefix[i], last[i]));
      for (size_t i = begin; i < end; ++i) {
        const bool known = s.prefix[i] != GramTable::kNone && last[i] != StringTable::kNone;
        const uint32_t id = known ? grams_.find(GramTable::key(s.prefix[i], last[i])) : GramTable::kNone;
        s.prefix[i] = id == GramTable::kNone ? id : GramTable::kGram | id;
        if (id != GramTable::kNone && n >= settings.min_n) put(gram_columns_[id]);
      }
    }
  }
}

void TermIndex::find_spans(const ByteBuffer& text, Scratch& s) const {
  find_each(strings_, text, s.grams, [&](uint32_t id) {
    if (id != StringTable::kNone) s.out.push_back(id);
  });
}

void TermIndex::hash_spans(const ByteBuffer& text, Scratch& s) const {
  const auto n_columns = static_cast<uint32_t>(n_columns_);
  for (const Span span : s.grams) {
    const uint32_t h = murmur3_32(text.data() + span.begin, span.length);
    const bool negative = (h >> 31) != 0;
    const uint32_t column = (negative ? 0u - h : h) % n_columns;  // |h|; 2^31 has no positive twin and stays itself
    s.out.push_back(alternate_sign_ ? column << 1 | (negative ? 1u : 0u) : column);
  }
}

void TermIndex::find_cached(const TextView& view, Scratch& s, WordCache& cache) const {
  analyzer_.padded_words(view, s);
  if (cache.words.size() > kCachedWords) cache = WordCache();
  for (const Span word : s.words) {
    const uint8_t* bytes = s.joined.data() + word.begin;
    const uint32_t id = cache.words.add(StringTable::probe(bytes, word.length), bytes, word.length);
    if (id + 1 == cache.starts.size()) {
      s.grams.clear();
      analyzer_.grams_of_word(word, s);
      find_each(strings_, s.joined, s.grams, [&](uint32_t gram) {
        if (gram != StringTable::kNone) cache.columns.push_back(gram);
      });
      cache.starts.push_back(cache.columns.size());
    }
    s.out.insert(s.out.end(), cache.columns.begin() + static_cast<std::ptrdiff_t>(cache.starts[id]),
                 cache.columns.begin() + static_cast<std::ptrdiff_t>(cache.starts[id + 1]));
  }
}

void TermIndex::finish_row(Scratch& s, CountBlock& block) const {
  append_row(s.out, s.spare, bits_, binary_, alternate_sign_, block);
}

void TermIndex::count_row(const TextBatch& batch, int64_t i, Scratch& s, CountBlock& block) const {
  s.out.clear();
  if (!hashed_ && analyzer_.by_word()) {
    find_words(batch.views[i], s);
  } else {
    const ByteBuffer& text = analyzer_.grams(batch, i, s);
    hashed_ ? hash_spans(text, s) : find_spans(text, s);
  }
  finish_row(s, block);
}

Counts TermIndex::counts(const TextBatch& batch, int threads, Watch* watch) const {
  threads = std::max(threads, 1);
  const int64_t n = batch.size();
  const int64_t block_size = std::min<int64_t>(1024, std::max<int64_t>(1, n / (threads * 8)));
  const bool cached = !hashed_ && !analyzer_.settings().given_tokens &&
                      analyzer_.settings().unit == Unit::chars_of_words && n > 1;
  struct Worker {
    Scratch scratch;
    CountBlock block;
    WordCache cache;
  };
  std::vector<Worker> workers(static_cast<size_t>(threads));
  Counts counts;
  counts.n_columns = n_columns_;
  counts.is_signed = alternate_sign_;
  counts.blocks.resize(static_cast<size_t>((n + block_size - 1) / block_size));
  parallel_blocks(
      n, block_size, threads,
      [&](int64_t begin, int64_t end, int worker) {
        Worker& w = workers[worker];
        w.block.columns.clear();
        w.block.counts.clear();
        w.block.row_ends.clear();
        for (int64_t i = begin; i < end; ++i) {
          if (watch != nullptr && watch->stop) return;
          if (cached) {
            w.scratch.out.clear();
            find_cached(batch.views[i], w.scratch, w.cache);
            finish_row(w.scratch, w.block);
          } else {
            count_row(batch, i, w.scratch, w.block);
          }
          if (watch != nullptr) watch->done.fetch_add(1, std::memory_order_relaxed);
        }
        CountBlock& out = counts.blocks[static_cast<size_t>(begin / block_size)];
        out.columns.assign(w.block.columns.begin(), w.block.columns.end());
        out.counts.assign(w.block.counts.begin(), w.block.counts.end());
        out.row_ends.assign(w.block.row_ends.begin(), w.block.row_ends.end());
      },
      watch);
  return counts;
}

size_t TermIndex::bytes() const {
  return strings_.bytes() + grams_.bytes() + (string_columns_.capacity() + gram_columns_.capacity()) * 4;
}

}  // namespace longtail
