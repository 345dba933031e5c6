// The tables of several threads become one, in parts that are divided by hash and merged side by side.
#include <algorithm>
#include <stdexcept>

#include "text/learn.hpp"

namespace longtail {

namespace {

using Worker = Learner::Worker;

// The numbers of a table's entries, ordered by the part of the merged table they belong to.
struct Divided {
  std::vector<uint32_t> ids;
  std::vector<size_t> starts;  // [n_parts + 1]
};

template <class PartOf>
Divided divide(uint32_t n, size_t n_parts, PartOf part_of) {
  Divided out;
  out.starts.assign(n_parts + 1, 0);
  for (uint32_t id = 0; id < n; ++id) ++out.starts[part_of(id) + 1];
  for (size_t p = 0; p < n_parts; ++p) out.starts[p + 1] += out.starts[p];
  out.ids.resize(out.starts[n_parts]);
  std::vector<size_t> next(out.starts.begin(), out.starts.end() - 1);
  for (uint32_t id = 0; id < n; ++id) out.ids[next[part_of(id)]++] = id;
  return out;
}

// The most that any thread has of a part: room that will be needed at least.
size_t least_room(const std::vector<Divided>& divided, size_t part) {
  size_t n = 0;
  for (const Divided& d : divided) n = std::max(n, d.starts[part + 1] - d.starts[part]);
  return n;
}

struct Sums {
  std::vector<uint32_t> rows;
  std::vector<uint64_t> total;
  void add(uint32_t id, const std::vector<TermUse>& uses, const std::vector<uint64_t>& totals, uint32_t from) {
    if (id >= rows.size()) {
      rows.resize(id + 1, 0);
      total.resize(id + 1, 0);
    }
    if (from < uses.size()) rows[id] += uses[from].rows;
    if (from < totals.size()) total[id] += totals[from];
  }
};

// Numbers within parts become numbers of the whole.
std::vector<uint32_t> lay_out(const std::vector<Sums>& sums, uint32_t first, std::vector<uint32_t>& rows,
                              std::vector<uint64_t>& total, bool totals) {
  std::vector<uint32_t> starts;
  uint64_t next = first;
  for (const Sums& part : sums) {
    starts.push_back(static_cast<uint32_t>(next));
    next += part.rows.size();
    if (next >= StringTable::kMaxIds) throw std::length_error("more than 2^31 different terms");
    rows.insert(rows.end(), part.rows.begin(), part.rows.end());
    if (totals) total.insert(total.end(), part.total.begin(), part.total.end());
  }
  return starts;
}

void take_one(Worker& w, bool totals, LearnedTerms& out) {
  w.strings.drop_slots();
  w.grams.drop_slots();
  out.rows.resize(w.strings.size(), 0);
  for (size_t i = 0; i < std::min(out.rows.size(), w.uses.size()); ++i) out.rows[i] = w.uses[i].rows;
  out.gram_rows.resize(w.grams.size(), 0);
  for (size_t i = 0; i < std::min(out.gram_rows.size(), w.gram_uses.size()); ++i) out.gram_rows[i] = w.gram_uses[i].rows;
  if (totals) {
    out.total = std::move(w.totals);
    out.total.resize(out.rows.size(), 0);
    out.gram_total = std::move(w.gram_totals);
    out.gram_total.resize(out.gram_rows.size(), 0);
  }
  out.parts.push_back(std::move(w.strings));
  out.part_starts.push_back(0);
  out.gram_keys = w.grams.take_keys();
}

void merge_strings(std::vector<Worker>& workers, size_t n_parts, bool totals, int threads, LearnedTerms& out) {
  std::vector<Divided> divided(workers.size());
  parallel_for(static_cast<int64_t>(workers.size()), threads, [&](int64_t i, int) {
    Worker& w = workers[i];
    w.strings.drop_slots();
    divided[i] = divide(w.strings.size(), n_parts, [&](uint32_t id) { return w.strings.part_hash(id) % n_parts; });
    w.string_map.assign(w.strings.size(), 0);
  });
  out.parts.resize(n_parts);
  std::vector<Sums> sums(n_parts);
  parallel_for(static_cast<int64_t>(n_parts), threads, [&](int64_t p, int) {
    out.parts[p].reserve(least_room(divided, p));
    for (size_t i = 0; i < workers.size(); ++i) {
      Worker& w = workers[i];
      for (size_t at = divided[i].starts[p]; at < divided[i].starts[p + 1]; ++at) {
        const uint32_t from = divided[i].ids[at];
        const auto text = w.strings.text(from);
        const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
        const uint32_t id = out.parts[p].add(w.strings.probe_of(from), bytes, text.size());
        sums[p].add(id, w.uses, w.totals, from);
        w.string_map[from] = id;
      }
    }
    out.parts[p].drop_slots();
  });
  out.part_starts = lay_out(sums, 0, out.rows, out.total, totals);
  parallel_for(static_cast<int64_t>(workers.size()), threads, [&](int64_t i, int) {
    for (size_t p = 0; p < n_parts; ++p)
      for (size_t at = divided[i].starts[p]; at < divided[i].starts[p + 1]; ++at)
        workers[i].string_map[divided[i].ids[at]] += out.part_starts[p];
    workers[i].strings = StringTable();
  });
}

// The key of a worker's n-gram in numbers of the merged table. Its prefix has been merged before.
uint64_t merged_key(const Worker& w, uint32_t gram) {
  const uint64_t key = w.grams.key_of(gram);
  const uint32_t prefix = GramTable::prefix_of(key);
  const uint32_t to = (prefix & GramTable::kGram) != 0 ? GramTable::kGram | w.gram_map[prefix & ~GramTable::kGram]
                                                       : w.string_map[prefix];
  return GramTable::key(to, w.string_map[GramTable::last_of(key)]);
}

// A worker's n-gram on its way, so that parts are read from front to back.
struct GramEntry {
  uint64_t key;  // in numbers of the merged table; then its number within the part
  uint32_t from;
};

// The n-grams of n words of one worker, ordered by part.
void divide_grams(const Worker& w, const std::vector<uint16_t>& lengths, int n, size_t n_parts,
                  std::vector<GramEntry>& entries, std::vector<size_t>& starts) {
  std::vector<uint64_t> keys;
  starts.assign(n_parts + 1, 0);
  for (uint32_t id = 0; id < w.grams.size(); ++id) {
    if (lengths[id] != n) continue;
    keys.push_back(merged_key(w, id));
    ++starts[GramTable::part_hash(keys.back()) % n_parts + 1];
  }
  for (size_t p = 0; p < n_parts; ++p) starts[p + 1] += starts[p];
  std::vector<size_t> next(starts.begin(), starts.end() - 1);
  entries.resize(keys.size());
  size_t at = 0;
  for (uint32_t id = 0; id < w.grams.size(); ++id) {
    if (lengths[id] != n) continue;
    const uint64_t key = keys[at++];
    entries[next[GramTable::part_hash(key) % n_parts]++] = {key, id};
  }
}

void merge_grams(std::vector<Worker>& workers, int n, const std::vector<std::vector<uint16_t>>& lengths, size_t n_parts,
                 bool totals, int threads, LearnedTerms& out) {
  const auto n_workers = static_cast<int64_t>(workers.size());
  std::vector<std::vector<GramEntry>> entries(workers.size());
  std::vector<std::vector<size_t>> begins(workers.size());
  parallel_for(n_workers, threads, [&](int64_t i, int) {
    divide_grams(workers[i], lengths[i], n, n_parts, entries[i], begins[i]);
  });
  std::vector<GramTable> parts(n_parts);
  std::vector<Sums> sums(n_parts);
  parallel_for(static_cast<int64_t>(n_parts), threads, [&](int64_t p, int) {
    size_t least = 0;
    for (const auto& b : begins) least = std::max(least, b[p + 1] - b[p]);
    parts[p].reserve(least);
    for (size_t i = 0; i < workers.size(); ++i)
      for (size_t at = begins[i][p]; at < begins[i][p + 1]; ++at) {
        GramEntry& entry = entries[i][at];
        if (at + 8 < begins[i][p + 1]) parts[p].prefetch(entries[i][at + 8].key);
        const uint32_t id = parts[p].add(entry.key);
        sums[p].add(id, workers[i].gram_uses, workers[i].gram_totals, entry.from);
        entry.key = id;
      }
    parts[p].drop_slots();
  });
  const auto first = static_cast<uint32_t>(out.gram_keys.size());
  const std::vector<uint32_t> starts = lay_out(sums, first, out.gram_rows, out.gram_total, totals);
  for (GramTable& part : parts) {
    const std::vector<uint64_t> keys = part.take_keys();
    out.gram_keys.insert(out.gram_keys.end(), keys.begin(), keys.end());
  }
  parallel_for(n_workers, threads, [&](int64_t i, int) {
    for (size_t p = 0; p < n_parts; ++p)
      for (size_t at = begins[i][p]; at < begins[i][p + 1]; ++at)
        workers[i].gram_map[entries[i][at].from] = starts[p] + static_cast<uint32_t>(entries[i][at].key);
  });
}

// How many words each n-gram has; a prefix always has a lower number than what it begins.
std::vector<uint16_t> gram_lengths(const Worker& w) {
  std::vector<uint16_t> lengths(w.grams.size());
  for (uint32_t id = 0; id < w.grams.size(); ++id) {
    const uint32_t prefix = GramTable::prefix_of(w.grams.key_of(id));
    lengths[id] = (prefix & GramTable::kGram) != 0 ? static_cast<uint16_t>(lengths[prefix & ~GramTable::kGram] + 1) : 2;
  }
  return lengths;
}

}  // namespace

uint32_t LearnedTerms::part_of(uint32_t id) const {
  if (parts.size() == 1) return 0;
  const auto after = std::upper_bound(part_starts.begin(), part_starts.end(), id);
  return static_cast<uint32_t>(after - part_starts.begin()) - 1;
}

std::string_view LearnedTerms::text(uint32_t id) const {
  const uint32_t part = part_of(id);
  return parts[part].text(id - part_starts[part]);
}

uint64_t LearnedTerms::head(uint32_t id) const {
  const uint32_t part = part_of(id);
  return parts[part].head(id - part_starts[part]);
}

LearnedTerms merge_workers(std::vector<Worker>& workers, int max_n, bool totals, int threads) {
  LearnedTerms out;
  std::vector<Worker*> busy;
  for (Worker& w : workers)
    if (w.row != 0) busy.push_back(&w);
  if (busy.size() <= 1) {
    take_one(busy.empty() ? workers.front() : *busy.front(), totals, out);
    return out;
  }
  size_t n_parts = 4;
  while (n_parts < static_cast<size_t>(threads) * 4 && n_parts < 256) n_parts *= 2;
  merge_strings(workers, n_parts, totals, threads, out);
  if (max_n == 1) return out;
  std::vector<std::vector<uint16_t>> lengths(workers.size());
  parallel_for(static_cast<int64_t>(workers.size()), threads, [&](int64_t i, int) {
    workers[i].grams.drop_slots();
    workers[i].gram_map.assign(workers[i].grams.size(), 0);
    lengths[i] = gram_lengths(workers[i]);
  });
  for (int n = 2; n <= max_n; ++n) merge_grams(workers, n, lengths, n_parts, totals, threads, out);
  return out;
}

}  // namespace longtail
