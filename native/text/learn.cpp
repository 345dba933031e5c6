#include "text/learn.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "text/sort.hpp"

namespace longtail {

namespace {

constexpr size_t kGroup = 32;  // look-ups under way at once

template <class T>
T& grown(std::vector<T>& values, size_t id) {
  if (id >= values.size()) values.resize(id + 1);
  return values[id];
}

// Adds spans of `text` to a table, several at once so that their cache misses overlap.
template <class Visit>
void add_spans(StringTable& table, const ByteBuffer& text, const std::vector<Span>& spans, Visit&& visit) {
  StringTable::Probe probes[kGroup];
  for (size_t begin = 0; begin < spans.size(); begin += kGroup) {
    const size_t n = std::min(kGroup, spans.size() - begin);
    for (size_t j = 0; j < n; ++j) {
      const Span span = spans[begin + j];
      probes[j] = StringTable::probe(text.data() + span.begin, span.length);
      table.prefetch(probes[j]);
    }
    for (size_t j = 0; j < n; ++j) {
      const Span span = spans[begin + j];
      visit(table.add(probes[j], text.data() + span.begin, span.length));
    }
  }
}

}  // namespace

Learner::Learner(const TextSettings& settings, const std::vector<std::string>& stop_words, bool binary, bool record,
                 bool totals, int threads)
    : analyzer_(settings, stop_words),
      binary_(binary),
      record_(record),
      totals_(totals),
      threads_(std::max(threads, 1)),
      workers_(static_cast<size_t>(std::max(threads, 1))) {
  if (!analyzer_.by_word()) return;
  // Stop words have the first numbers in every thread's table, so that one comparison tells them.
  for (Worker& w : workers_) {
    const StringTable& stops = analyzer_.stop_words();
    for (uint32_t id = 0; id < stops.size(); ++id) {
      const auto text = stops.text(id);
      w.strings.add(stops.probe_of(id), reinterpret_cast<const uint8_t*>(text.data()), text.size());
    }
  }
}

void Learner::see(std::vector<TermUse>& uses, std::vector<uint64_t>& totals, uint32_t id, uint32_t row) const {
  TermUse& use = uses[id];
  const bool first = use.last_row != row;
  if (first) {
    use.last_row = row;
    ++use.rows;
  }
  if (totals_ && (first || !binary_)) ++totals[id];
}

void Learner::add_word_grams(const TextView& view, Worker& w) const {
  Scratch& s = w.scratch;
  const TextSettings& settings = analyzer_.settings();
  analyzer_.words(view, s);
  std::vector<uint32_t>& words = s.starts;  // numbers of the words that are no stop words
  words.clear();
  const uint32_t n_stops = analyzer_.stop_words().size();
  add_spans(w.strings, s.text, s.words, [&](uint32_t id) {
    if (id >= n_stops) words.push_back(id);
  });
  grown(w.uses, w.strings.size());
  if (totals_) grown(w.totals, w.strings.size());
  if (settings.min_n == 1) {
    for (const uint32_t id : words) see(w.uses, w.totals, id, w.row);
    if (record_) s.out.insert(s.out.end(), words.begin(), words.end());
  }
  if (settings.max_n == 1) return;
  s.prefix = words;
  for (int n = 2; n <= settings.max_n && static_cast<size_t>(n) <= words.size(); ++n) {
    const size_t count = words.size() - static_cast<size_t>(n) + 1;
    const uint32_t* last = words.data() + (n - 1);
    for (size_t begin = 0; begin < count; begin += kGroup) {
      const size_t end = std::min(begin + kGroup, count);
      for (size_t i = begin; i < end; ++i) w.grams.prefetch(GramTable::key(s.prefix[i], last[i]));
      for (size_t i = begin; i < end; ++i) {
        const uint32_t id = w.grams.add(GramTable::key(s.prefix[i], last[i]));
        if (id < w.gram_uses.size()) LT_PREFETCH(&w.gram_uses[id]);
        s.prefix[i] = GramTable::kGram | id;
      }
      grown(w.gram_uses, w.grams.size());
      if (totals_) grown(w.gram_totals, w.grams.size());
      if (n < settings.min_n) continue;
      for (size_t i = begin; i < end; ++i) see(w.gram_uses, w.gram_totals, s.prefix[i] & ~GramTable::kGram, w.row);
    }
    if (n >= settings.min_n && record_)
      s.out.insert(s.out.end(), s.prefix.begin(), s.prefix.begin() + static_cast<std::ptrdiff_t>(count));
  }
}

void Learner::add_grams_of_words(const TextView& view, Worker& w) const {
  Scratch& s = w.scratch;
  analyzer_.padded_words(view, s);
  const size_t first = s.out.size();
  size_t next = 0;
  add_spans(w.words, s.joined, s.words, [&](uint32_t id) {
    if (id + 1 == w.word_starts.size()) {  // a new word
      s.grams.clear();
      analyzer_.grams_of_word(s.words[next], s);
      add_spans(w.strings, s.joined, s.grams, [&](uint32_t gram) { w.word_grams.push_back(gram); });
      w.word_starts.push_back(w.word_grams.size());
    }
    ++next;
    s.out.push_back(id);
  });
  grown(w.uses, w.strings.size());
  if (totals_) grown(w.totals, w.strings.size());
  for (size_t i = first; i < s.out.size(); ++i)
    for (uint64_t g = w.word_starts[s.out[i]]; g < w.word_starts[s.out[i] + 1]; ++g)
      see(w.uses, w.totals, w.word_grams[g], w.row);
  if (!record_) s.out.resize(first);
}

void Learner::add_row(const TextBatch& batch, int64_t i, Worker& w) const {
  if (++w.row == 0) throw std::length_error("more than 2^32 texts");
  if (analyzer_.by_word()) return add_word_grams(batch.views[i], w);
  if (!analyzer_.settings().given_tokens && analyzer_.settings().unit == Unit::chars_of_words)
    return add_grams_of_words(batch.views[i], w);
  Scratch& s = w.scratch;
  const ByteBuffer& text = analyzer_.grams(batch, i, s);
  const size_t first = s.out.size();
  add_spans(w.strings, text, s.grams, [&](uint32_t id) { s.out.push_back(id); });
  grown(w.uses, w.strings.size());
  if (totals_) grown(w.totals, w.strings.size());
  for (size_t j = first; j < s.out.size(); ++j) see(w.uses, w.totals, s.out[j], w.row);
  if (!record_) s.out.resize(first);
}

void Learner::add(const TextBatch& batch, Watch* watch) {
  if (pruned_) throw std::logic_error("add() after prune()");
  const int64_t n = batch.size();
  const int64_t block = std::min<int64_t>(1024, std::max<int64_t>(1, n / (threads_ * 8)));
  const size_t first_stream = streams_.size();
  streams_.resize(first_stream + static_cast<size_t>((n + block - 1) / block));
  parallel_blocks(
      n, block, threads_,
      [&](int64_t begin, int64_t end, int worker) {
        Worker& w = workers_[worker];
        w.scratch.out.clear();
        Stream& stream = streams_[first_stream + static_cast<size_t>(begin / block)];
        stream.worker = worker;
        if (record_) stream.row_ends.reserve(static_cast<size_t>(end - begin));
        for (int64_t i = begin; i < end; ++i) {
          if (watch != nullptr && watch->stop) return;
          add_row(batch, i, w);
          if (record_) stream.row_ends.push_back(static_cast<int64_t>(w.scratch.out.size()));
          if (watch != nullptr) watch->done.fetch_add(1, std::memory_order_relaxed);
        }
        if (record_) stream.codes.assign(w.scratch.out.begin(), w.scratch.out.end());
      },
      watch);
  n_rows_ += n;
}

int64_t Learner::n_seen() const {
  int64_t n = 0;
  auto count = [&](const std::vector<uint32_t>& rows) {
    for (const uint32_t r : rows) n += r != 0;
  };
  count(learned_.rows);
  count(learned_.gram_rows);
  return n;
}

int64_t Learner::prune(double low, double high) {
  if (pruned_) throw std::logic_error("prune() twice");
  pruned_ = true;
  for (Worker& w : workers_) w.words.drop_slots();
  learned_ = merge_workers(workers_, analyzer_.settings().max_n, totals_, threads_);
  auto chosen = [&](uint32_t rows) { return rows != 0 && rows >= low && rows <= high; };
  for (uint32_t id = 0; id < learned_.n_strings(); ++id)
    if (chosen(learned_.rows[id])) order_.push_back(id);
  for (uint32_t id = 0; id < learned_.gram_rows.size(); ++id)
    if (chosen(learned_.gram_rows[id])) order_.push_back(GramTable::kGram | id);
  if (analyzer_.by_word()) order_words(order_);
  else order_strings(order_);
  return static_cast<int64_t>(order_.size());
}

void Learner::order_strings(std::vector<uint32_t>& ids) const {
  struct Item {
    uint64_t head;
    uint32_t id;
  };
  std::vector<Item> items(ids.size());
  parallel_blocks(static_cast<int64_t>(ids.size()), 1 << 16, threads_, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) items[i] = {learned_.head(ids[i]), ids[i]};
  });
  // UTF-8 sorts as its code points do. string_view compares bytes as unsigned char.
  parallel_sort(items, threads_, [&](const Item& a, const Item& b) {
    if (a.head != b.head) return a.head < b.head;
    return learned_.text(a.id) < learned_.text(b.id);
  });
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = items[i].id;
}

// Words hold no character below the space, so n-grams sort as the sequences of their words' ranks do, shorter first:
// counting sorts from the last place to the first.
void Learner::order_words(std::vector<uint32_t>& codes) const {
  std::vector<uint32_t> by_rank(learned_.n_strings());
  std::iota(by_rank.begin(), by_rank.end(), 0u);
  order_strings(by_rank);
  std::vector<uint32_t> rank(by_rank.size());  // from 1; 0 is "no word at this place"
  for (size_t i = 0; i < by_rank.size(); ++i) rank[by_rank[i]] = static_cast<uint32_t>(i) + 1;
  auto length_of = [&](uint32_t code) {
    int length = 1;
    for (; (code & GramTable::kGram) != 0; ++length)
      code = GramTable::prefix_of(learned_.gram_keys[code & ~GramTable::kGram]);
    return length;
  };
  int longest = 0;
  for (const uint32_t code : codes) longest = std::max(longest, length_of(code));
  auto rank_at = [&](uint32_t code, int place) -> uint32_t {
    int length = length_of(code);
    if (place >= length) return 0;
    for (; length - 1 > place; --length) code = GramTable::prefix_of(learned_.gram_keys[code & ~GramTable::kGram]);
    return rank[(code & GramTable::kGram) != 0 ? GramTable::last_of(learned_.gram_keys[code & ~GramTable::kGram]) : code];
  };
  std::vector<uint32_t> sorted(codes.size()), places(codes.size());
  for (int place = longest - 1; place >= 0; --place) {
    std::vector<uint32_t> starts(rank.size() + 2, 0);
    parallel_blocks(static_cast<int64_t>(codes.size()), 1 << 16, threads_, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) places[i] = rank_at(codes[i], place);
    });
    for (const uint32_t p : places) ++starts[p + 1];
    for (size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
    for (size_t i = 0; i < codes.size(); ++i) sorted[starts[places[i]]++] = codes[i];
    codes.swap(sorted);
  }
}

void Learner::frequencies(int64_t* rows, int64_t* total) const {
  for (size_t i = 0; i < order_.size(); ++i) {
    const bool gram = (order_[i] & GramTable::kGram) != 0;
    const uint32_t id = order_[i] & ~GramTable::kGram;
    rows[i] = gram ? learned_.gram_rows[id] : learned_.rows[id];
    if (total != nullptr && totals_)
      total[i] = static_cast<int64_t>(gram ? learned_.gram_total[id] : learned_.total[id]);
  }
}

void Learner::keep(const uint8_t* keep) {
  size_t kept = 0;
  for (size_t i = 0; i < order_.size(); ++i)
    if (keep[i] != 0) order_[kept++] = order_[i];
  order_.resize(kept);
}

void Learner::terms(std::vector<uint8_t>& blob, std::vector<int64_t>& offsets) const {
  offsets.assign(1, 0);
  offsets.reserve(order_.size() + 1);
  std::vector<uint32_t> words;
  for (uint32_t code : order_) {
    words.clear();
    for (; (code & GramTable::kGram) != 0; code = GramTable::prefix_of(learned_.gram_keys[code & ~GramTable::kGram]))
      words.push_back(GramTable::last_of(learned_.gram_keys[code & ~GramTable::kGram]));
    words.push_back(code);
    for (size_t i = words.size(); i-- > 0;) {
      const auto text = learned_.text(words[i]);
      blob.insert(blob.end(), text.begin(), text.end());
      if (i != 0) blob.push_back(' ');
    }
    offsets.push_back(static_cast<int64_t>(blob.size()));
  }
}

// Column of each of a worker's own numbers, or −1.
std::vector<int32_t> Learner::columns_of(const Worker& w, bool grams) const {
  std::vector<int32_t> columns(grams ? learned_.gram_keys.size() : learned_.rows.size(), -1);
  for (size_t column = 0; column < order_.size(); ++column)
    if (((order_[column] & GramTable::kGram) != 0) == grams)
      columns[order_[column] & ~GramTable::kGram] = static_cast<int32_t>(column);
  const std::vector<uint32_t>& map = grams ? w.gram_map : w.string_map;
  if (map.empty()) return columns;
  std::vector<int32_t> own(map.size());
  for (size_t i = 0; i < map.size(); ++i) own[i] = columns[map[i]];
  return own;
}

Counts Learner::counts(Watch* watch) {
  if (!pruned_ || !record_) throw std::logic_error("counts() needs prune() and record");
  std::vector<std::vector<int32_t>> columns(workers_.size()), gram_columns(workers_.size());
  parallel_for(static_cast<int64_t>(workers_.size()), threads_, [&](int64_t i, int) {
    if (workers_[i].row == 0) return;
    columns[i] = columns_of(workers_[i], false);
    if (analyzer_.by_word() && analyzer_.settings().max_n > 1) gram_columns[i] = columns_of(workers_[i], true);
  });
  const int bits = bits_below(order_.size());
  const bool expand = !analyzer_.settings().given_tokens && analyzer_.settings().unit == Unit::chars_of_words;
  Counts counts;
  counts.n_columns = static_cast<int64_t>(order_.size());
  counts.blocks.resize(streams_.size());
  std::vector<CountBlock> scratch(static_cast<size_t>(threads_));
  parallel_for(
      static_cast<int64_t>(streams_.size()), threads_,
      [&](int64_t b, int worker) {
        const Stream stream = std::move(streams_[b]);
        const Worker& w = workers_[stream.worker];
        const std::vector<int32_t>& own = columns[stream.worker];
        const std::vector<int32_t>& own_grams = gram_columns[stream.worker];
        Scratch& s = workers_[worker].scratch;
        CountBlock& block = scratch[worker];
        block.columns.clear();
        block.counts.clear();
        block.row_ends.clear();
        auto put = [&](int32_t column) {
          if (column >= 0) s.out.push_back(static_cast<uint32_t>(column));
        };
        size_t i = 0;
        for (const int64_t end : stream.row_ends) {
          s.out.clear();
          for (; i < static_cast<size_t>(end); ++i) {
            const uint32_t code = stream.codes[i];
            if (expand) {
              for (uint64_t g = w.word_starts[code]; g < w.word_starts[code + 1]; ++g) put(own[w.word_grams[g]]);
            } else {
              put((code & GramTable::kGram) != 0 ? own_grams[code & ~GramTable::kGram] : own[code]);
            }
          }
          append_row(s.out, s.spare, bits, binary_, false, block);
        }
        counts.blocks[b].columns.assign(block.columns.begin(), block.columns.end());
        counts.blocks[b].counts.assign(block.counts.begin(), block.counts.end());
        counts.blocks[b].row_ends.assign(block.row_ends.begin(), block.row_ends.end());
        if (watch != nullptr) watch->done += static_cast<int64_t>(stream.row_ends.size());
      },
      watch);
  streams_.clear();
  return counts;
}

size_t Learner::bytes() const {
  size_t n = 0;
  for (const Stream& s : streams_) n += s.codes.capacity() * 4 + s.row_ends.capacity() * 8;
  for (const Worker& w : workers_)
    n += w.strings.bytes() + w.grams.bytes() + w.words.bytes() + w.uses.capacity() * 8 + w.gram_uses.capacity() * 8 +
         w.word_starts.capacity() * 8 + w.word_grams.capacity() * 4;
  return n;
}

}  // namespace longtail
