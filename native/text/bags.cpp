#include "text/bags.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <stdexcept>
#include <string_view>

#include "core/random.hpp"
#include "text/murmur.hpp"

namespace longtail {

namespace {

constexpr int64_t kTextsPerTask = 512;
constexpr size_t kEndLength = sizeof(kEndOfText) - 1;

const uint8_t* bytes_of(std::string_view text) { return reinterpret_cast<const uint8_t*>(text.data()); }

uint32_t bucket_of(uint64_t hash, uint32_t n_buckets) {
  return static_cast<uint32_t>(((hash >> 32) * n_buckets) >> 32);
}

// Calls visit(bucket, first, last) for all n-grams of 2 … `longest` words, given the hash of each word.
template <class Visit>
void word_grams(const uint32_t* hashes, size_t n, int longest, uint32_t n_buckets, Visit&& visit) {
  for (size_t i = 0; i < n; ++i) {
    uint64_t hash = hashes[i];
    for (size_t j = i + 1; j < n && j < i + static_cast<size_t>(longest); ++j) {
      hash = mix64(hash ^ (static_cast<uint64_t>(hashes[j]) << 32));
      visit(bucket_of(hash, n_buckets), i, j);
    }
  }
}

// Calls visit(bucket, begin, end) for the n-grams of the characters of "<word>", which is left in `text`. One character alone at either end says only that a
// word begins or ends, and is left out.
template <class Visit>
void char_grams(const uint8_t* word, size_t n, const BagSettings& settings, std::vector<uint8_t>& text, Visit&& visit) {
  if (settings.max_chars == 0) return;
  text.clear();
  text.push_back('<');
  text.insert(text.end(), word, word + n);
  text.push_back('>');
  const size_t size = text.size();
  const auto starts_char = [&](size_t i) { return i >= size || (text[i] & 0xC0) != 0x80; };
  for (size_t i = 0; i < size; ++i) {
    if (!starts_char(i)) continue;
    size_t end = i;
    for (int length = 1; length <= settings.max_chars && end < size; ++length) {
      ++end;
      while (!starts_char(end)) ++end;
      if (length < settings.min_chars || (length == 1 && (i == 0 || end == size))) continue;
      const uint64_t hash = mix64(0x5bd1e995u ^ (static_cast<uint64_t>(murmur3_32(text.data() + i, end - i)) << 8));
      visit(bucket_of(hash, settings.n_buckets), i, end);
    }
  }
}

// The words of a text, without the spaces that the analyzer puts around those it cuts at white space.
template <class Visit>
void each_word(const Analyzer& analyzer, const TextView& view, Scratch& s, Visit&& visit) {
  if (analyzer.settings().unit == Unit::word) {
    analyzer.words(view, s);
    for (const Span word : s.words) visit(s.text.data() + word.begin, static_cast<size_t>(word.length));
  } else {
    analyzer.padded_words(view, s);
    for (const Span word : s.words) visit(s.joined.data() + word.begin + 1, static_cast<size_t>(word.length) - 2);
  }
  visit(reinterpret_cast<const uint8_t*>(kEndOfText), kEndLength);
}

void check(const BagSettings& s) {
  const bool grams = s.word_ngrams > 1 || s.max_chars > 0;
  if (s.word_ngrams < 1 || s.min_chars < 0 || s.max_chars < 0 || (s.max_chars > 0 && s.min_chars > s.max_chars) ||
      (grams && s.n_buckets == 0) || s.n_buckets > INT32_MAX || s.words.given_tokens || s.words.unit == Unit::chars)
    throw std::invalid_argument("the settings of bags are out of bounds");
}

bool is_end(std::string_view word) { return word == std::string_view(kEndOfText, kEndLength); }

}  // namespace

BagIndex::BagIndex(const BagSettings& settings, const uint8_t* blob, const int64_t* offsets, int64_t n_words,
                   const uint32_t* buckets, int64_t n_used)
    : settings_(settings), analyzer_(settings.words, {}), n_words_(n_words), n_used_(n_used) {
  check(settings);
  if (n_words + n_used > static_cast<int64_t>(StringTable::kMaxIds)) throw std::length_error("more than 2^31 columns");
  words_.reserve(static_cast<size_t>(n_words));
  for (int64_t i = 0; i < n_words; ++i) {
    const uint8_t* word = blob + offsets[i];
    const auto n = static_cast<size_t>(offsets[i + 1] - offsets[i]);
    if (words_.add(StringTable::probe_unpadded(word, n), word, n) != static_cast<uint32_t>(i))
      throw std::invalid_argument("a word stands twice in the vocabulary");
  }
  column_of_bucket_.assign(settings.n_buckets, -1);
  for (int64_t i = 0; i < n_used; ++i) {
    if (buckets[i] >= settings.n_buckets || column_of_bucket_[buckets[i]] >= 0)
      throw std::invalid_argument("a bucket is out of range or stands twice");
    column_of_bucket_[buckets[i]] = static_cast<int32_t>(n_words + i);
  }
}

void BagIndex::add_text(const TextView& view, Scratch& s) const {
  s.out.clear();
  s.starts.clear();  // hashes of the words
  thread_local std::vector<uint8_t> padded;
  const auto put = [&](uint32_t bucket, size_t, size_t) {
    const int32_t column = column_of_bucket_[bucket];
    if (column >= 0) s.out.push_back(static_cast<uint32_t>(column));
  };
  each_word(analyzer_, view, s, [&](const uint8_t* word, size_t n) {
    const uint32_t id = words_.find(StringTable::probe_unpadded(word, n), word, n);
    if (id != StringTable::kNone) s.out.push_back(id);
    if (settings_.word_ngrams > 1) s.starts.push_back(murmur3_32(word, n));
    if (!is_end({reinterpret_cast<const char*>(word), n})) char_grams(word, n, settings_, padded, put);
  });
  word_grams(s.starts.data(), s.starts.size(), settings_.word_ngrams, settings_.n_buckets, put);
}

std::vector<std::pair<int32_t, std::string>> BagIndex::terms(const TextView& view) const {
  std::vector<std::pair<int32_t, std::string>> out;
  std::vector<std::string> words;
  std::vector<uint32_t> hashes;
  std::vector<uint8_t> padded;
  Scratch s;
  const auto put = [&](int32_t column, std::string&& term) {
    if (column >= 0) out.emplace_back(column, std::move(term));
  };
  each_word(analyzer_, view, s, [&](const uint8_t* word, size_t n) {
    words.emplace_back(reinterpret_cast<const char*>(word), n);
    hashes.push_back(murmur3_32(word, n));
    const uint32_t id = words_.find(StringTable::probe_unpadded(word, n), word, n);
    put(id == StringTable::kNone ? -1 : static_cast<int32_t>(id), std::string(words.back()));
    if (is_end(words.back())) return;
    char_grams(word, n, settings_, padded, [&](uint32_t bucket, size_t begin, size_t end) {
      const auto* text = reinterpret_cast<const char*>(padded.data());
      put(column_of_bucket_[bucket], std::string(text + begin, end - begin));
    });
  });
  word_grams(hashes.data(), hashes.size(), settings_.word_ngrams, settings_.n_buckets,
             [&](uint32_t bucket, size_t first, size_t last) {
               std::string term = words[first];
               for (size_t i = first + 1; i <= last; ++i) term += " " + words[i];
               put(column_of_bucket_[bucket], std::move(term));
             });
  return out;
}

Counts BagIndex::counts(const TextBatch& batch, int threads, Watch* watch) const {
  const int64_t n = batch.size();
  std::vector<Scratch> scratches(static_cast<size_t>(std::max(threads, 1)));
  const int bits = bits_below(static_cast<uint64_t>(n_columns()));
  Counts counts;
  counts.n_columns = n_columns();
  counts.blocks.resize(static_cast<size_t>((n + kTextsPerTask - 1) / kTextsPerTask));
  parallel_blocks(
      n, kTextsPerTask, threads,
      [&](int64_t begin, int64_t end, int worker) {
        Scratch& s = scratches[static_cast<size_t>(worker)];
        CountBlock& block = counts.blocks[static_cast<size_t>(begin / kTextsPerTask)];
        for (int64_t i = begin; i < end; ++i) {
          add_text(batch.views[static_cast<size_t>(i)], s);
          append_row(s.out, s.spare, bits, false, false, block);
        }
        if (watch != nullptr) watch->done.fetch_add(end - begin, std::memory_order_relaxed);
      },
      watch);
  return counts;
}

BagLearner::BagLearner(const BagSettings& settings, int threads)
    : settings_(settings), analyzer_(settings.words, {}), threads_(std::max(threads, 1)), workers_(static_cast<size_t>(threads_)) {
  check(settings);
}

void BagLearner::add(const TextBatch& batch, Watch* watch) {
  const int64_t n = batch.size();
  const size_t first = streams_.size();
  streams_.resize(first + static_cast<size_t>((n + kTextsPerTask - 1) / kTextsPerTask));
  parallel_blocks(
      n, kTextsPerTask, threads_,
      [&](int64_t begin, int64_t end, int worker) {
        Worker& w = workers_[static_cast<size_t>(worker)];
        Stream& stream = streams_[first + static_cast<size_t>(begin / kTextsPerTask)];
        stream.worker = worker;
        for (int64_t i = begin; i < end; ++i) {
          each_word(analyzer_, batch.views[static_cast<size_t>(i)], w.scratch, [&](const uint8_t* word, size_t length) {
            const uint32_t id = w.words.add(StringTable::probe_unpadded(word, length), word, length);
            if (id == w.seen.size()) w.seen.push_back(0);
            ++w.seen[id];
            stream.tokens.push_back(id);
          });
          stream.row_ends.push_back(static_cast<int64_t>(stream.tokens.size()));
        }
        if (watch != nullptr) watch->done.fetch_add(end - begin, std::memory_order_relaxed);
      },
      watch);
  n_rows_ += n;
}

int64_t BagLearner::n_tokens() const {
  int64_t n = 0;
  for (const Stream& stream : streams_) n += static_cast<int64_t>(stream.tokens.size());
  return n;
}

// One table of all threads' words. Its numbers depend on who saw what; nothing that is given out does.
void BagLearner::merge(std::vector<uint64_t>& totals) {
  for (Worker& w : workers_) {
    w.global.resize(w.words.size());
    for (uint32_t id = 0; id < w.words.size(); ++id) {
      const std::string_view text = w.words.text(id);
      const uint32_t to = all_.add(w.words.probe_of(id), bytes_of(text), text.size());
      if (to == totals.size()) totals.push_back(0);
      totals[to] += w.seen[id];
      w.global[id] = to;
    }
    w.words = StringTable();
  }
}

std::vector<uint32_t> BagLearner::by_frequency(const std::vector<uint64_t>& totals, int64_t min_count) const {
  std::vector<uint32_t> kept;
  for (uint32_t id = 0; id < totals.size(); ++id)
    if (totals[id] >= static_cast<uint64_t>(min_count)) kept.push_back(id);
  std::sort(kept.begin(), kept.end(), [&](uint32_t a, uint32_t b) {
    return totals[a] > totals[b] || (totals[a] == totals[b] && all_.text(a) < all_.text(b));
  });
  return kept;
}

void BagLearner::hash_words(std::vector<uint32_t>& hashes, std::vector<uint64_t>& starts,
                            std::vector<uint32_t>& grams) const {
  std::vector<uint8_t> padded;
  starts.assign(1, 0);
  for (uint32_t id = 0; id < all_.size(); ++id) {
    const std::string_view word = all_.text(id);
    hashes.push_back(murmur3_32(bytes_of(word), word.size()));
    if (!is_end(word))
      char_grams(bytes_of(word), word.size(), settings_, padded, [&](uint32_t bucket, size_t, size_t) { grams.push_back(bucket); });
    starts.push_back(grams.size());
  }
}

BagLearner::Vocabulary BagLearner::finish(int64_t min_count, int64_t min_bucket, Counts& counts, Watch* watch) {
  std::vector<uint64_t> totals, starts;
  merge(totals);
  const std::vector<uint32_t> kept = by_frequency(totals, min_count);
  Vocabulary out;
  out.offsets.push_back(0);
  std::vector<int32_t> column(all_.size(), -1);
  for (const uint32_t id : kept) {
    const std::string_view word = all_.text(id);
    column[id] = static_cast<int32_t>(out.word_counts.size());
    out.blob.insert(out.blob.end(), bytes_of(word), bytes_of(word) + word.size());
    out.offsets.push_back(static_cast<int64_t>(out.blob.size()));
    out.word_counts.push_back(static_cast<int64_t>(totals[id]));
  }
  std::vector<uint32_t> hashes, grams;
  hash_words(hashes, starts, grams);

  // Calls visit(row's words in all_, buckets) for every row of a stream.
  struct Memory {
    std::vector<uint32_t> hashes, buckets, out, spare;
  };
  std::vector<Memory> memories(static_cast<size_t>(threads_));
  const auto each_row = [&](const Stream& stream, Memory& m, const auto& visit) {
    const std::vector<uint32_t>& global = workers_[static_cast<size_t>(stream.worker)].global;
    int64_t begin = 0;
    for (const int64_t end : stream.row_ends) {
      m.hashes.clear();
      m.buckets.clear();
      m.out.clear();
      for (int64_t t = begin; t < end; ++t) {
        const uint32_t id = global[stream.tokens[static_cast<size_t>(t)]];
        if (column[id] >= 0) m.out.push_back(static_cast<uint32_t>(column[id]));
        m.hashes.push_back(hashes[id]);
        m.buckets.insert(m.buckets.end(), grams.begin() + static_cast<std::ptrdiff_t>(starts[id]),
                         grams.begin() + static_cast<std::ptrdiff_t>(starts[id + 1]));
      }
      word_grams(m.hashes.data(), m.hashes.size(), settings_.word_ngrams, settings_.n_buckets,
                 [&](uint32_t bucket, size_t, size_t) { m.buckets.push_back(bucket); });
      visit();
      begin = end;
    }
  };
  const auto n_streams = static_cast<int64_t>(streams_.size());

  std::vector<std::atomic<uint32_t>> uses(settings_.n_buckets);
  for (auto& use : uses) use.store(0, std::memory_order_relaxed);
  if (settings_.n_buckets > 0)
    parallel_for(n_streams, threads_, [&](int64_t s, int worker) {
      Memory& m = memories[static_cast<size_t>(worker)];
      each_row(streams_[static_cast<size_t>(s)], m, [&] {
        for (const uint32_t bucket : m.buckets) uses[bucket].fetch_add(1, std::memory_order_relaxed);
      });
    });
  std::vector<int32_t> column_of_bucket(settings_.n_buckets, -1);
  for (uint32_t b = 0; b < settings_.n_buckets; ++b)
    if (uses[b].load() > 0 && uses[b].load() >= static_cast<uint64_t>(min_bucket)) out.buckets.push_back(b);
  std::sort(out.buckets.begin(), out.buckets.end(), [&](uint32_t a, uint32_t b) {
    const uint32_t of_a = uses[a].load(std::memory_order_relaxed), of_b = uses[b].load(std::memory_order_relaxed);
    return of_a > of_b || (of_a == of_b && a < b);
  });
  for (size_t i = 0; i < out.buckets.size(); ++i)
    column_of_bucket[out.buckets[i]] = static_cast<int32_t>(kept.size() + i);

  counts.n_columns = static_cast<int64_t>(kept.size() + out.buckets.size());
  const int bits = bits_below(static_cast<uint64_t>(counts.n_columns));
  counts.blocks.resize(streams_.size());
  parallel_for(
      n_streams, threads_,
      [&](int64_t s, int worker) {
        Memory& m = memories[static_cast<size_t>(worker)];
        Stream stream = std::move(streams_[static_cast<size_t>(s)]);
        each_row(stream, m, [&] {
          for (const uint32_t bucket : m.buckets)
            if (column_of_bucket[bucket] >= 0) m.out.push_back(static_cast<uint32_t>(column_of_bucket[bucket]));
          append_row(m.out, m.spare, bits, false, false, counts.blocks[static_cast<size_t>(s)]);
        });
        if (watch != nullptr) watch->done.fetch_add(static_cast<int64_t>(stream.row_ends.size()), std::memory_order_relaxed);
      },
      watch);
  return out;
}

}  // namespace longtail
