// From all labels down to the leaves, with a team of threads: what builders that look at embeddings share.
//
// Ranges with many entries are split one after another by the whole team: rows are scored in blocks, and sums are shared
// out by features, so every sum adds its rows in the same order whatever the team. The rest is shared out by ranges:
// a worker copies the rows of a range with their features renumbered (so that what it touches stays in its cache), splits
// it down to the leaves, and copies again every few levels.
//
// A splitter knows one way of splitting. It has
//
//   Settings                              with `threads` and `watch`; a splitter is made of them
//   open(item, nodes)                     takes a whole node: records it, says into how many parts it falls, 0 for a leaf
//   split(rows, ids, labels, item, team)  IN/OUT ids [item.n]: rising row numbers; afterwards both sides, each rising.
//                                         IN labels: the label of each row, or null if they are the same. Gives the
//                                         size of the first side
//   halves(item, cut)                     the two items that this makes
//   done(item, first, second)             the units of progress that a split was
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "core/csr.hpp"
#include "core/parallel.hpp"
#include "trees/grow.hpp"
#include "trees/rows.hpp"
#include "trees/two_means.hpp"

namespace longtail {

// Ranges with more entries are split by the whole team: a pass takes half a millisecond, well above starting the team.
// What is split how depends on the matrix alone, never on the team.
inline constexpr int64_t kTeamEntries = int64_t{1} << 20;
inline constexpr int64_t kCompactEvery = 8;  // a range is copied again when it has shrunk so many times

/// A copy of some rows whose features are numbered as they come.
struct CompactRows {
  std::vector<int32_t> labels;  // of each row
  std::vector<int64_t> indptr;
  std::vector<int32_t> indices;
  std::vector<float> data;
  int64_t n_cols = 0;

  CsrView view() const {
    return {static_cast<int64_t>(indptr.size()) - 1, n_cols, indptr.data(), indices.data(), data.data()};
  }
};

/// Renumbers features; `seen_` is as long as all features and says in which copy each was last met.
class Compactor {
 public:
  void copy(const CsrView& rows, const int32_t* ids, const int32_t* labels, int64_t n, CompactRows& out) {
    out.labels.assign(ids, ids + n);
    if (labels != nullptr)
      for (int32_t& label : out.labels) label = labels[label];
    if (static_cast<int64_t>(number_.size()) < rows.n_cols) {
      number_.resize(static_cast<size_t>(rows.n_cols));
      seen_.resize(static_cast<size_t>(rows.n_cols), 0);
    }
    ++copy_;
    int64_t nnz = 0;
    for (int64_t i = 0; i < n; ++i) nnz += rows.row_nnz(ids[i]);
    out.indptr.assign(1, 0);
    out.indices.resize(static_cast<size_t>(nnz));
    out.data.resize(static_cast<size_t>(nnz));
    int32_t next = 0;
    int64_t at = 0;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t p = rows.indptr[ids[i]]; p < rows.indptr[ids[i] + 1]; ++p, ++at) {
        const int32_t feature = rows.indices[p];
        if (seen_[feature] != copy_) {
          seen_[feature] = copy_;
          number_[feature] = next++;
        }
        out.indices[at] = number_[feature];
        out.data[at] = rows.data[p];
      }
      out.indptr.push_back(at);
    }
    out.n_cols = next;
  }

 private:
  std::vector<int32_t> number_;
  std::vector<uint64_t> seen_;
  uint64_t copy_ = 0;
};

inline int64_t entries(const CsrView& rows, const int32_t* ids, int64_t n) {
  int64_t sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += rows.row_nnz(ids[i]);
  return sum;
}

inline int64_t entries(const DenseView& rows, const int32_t*, int64_t n) { return n * rows.n_cols; }

/// Shares features out so that all parts have about as many entries, by a sample of them.
inline std::vector<int32_t> feature_bounds(const CsrView& rows, int parts) {
  const int64_t step = rows.nnz() / 100000 + 1;
  std::vector<int32_t> sample;
  for (int64_t p = 0; p < rows.nnz(); p += step) sample.push_back(rows.indices[p]);
  std::sort(sample.begin(), sample.end());
  std::vector<int32_t> bounds{0};
  for (int64_t i = 1; i < parts && !sample.empty(); ++i)
    bounds.push_back(sample[sample.size() * static_cast<size_t>(i) / static_cast<size_t>(parts)]);
  bounds.push_back(static_cast<int32_t>(rows.n_cols));
  return bounds;
}

inline std::vector<int32_t> feature_bounds(const DenseView& rows, int parts) {
  std::vector<int32_t> bounds;
  for (int64_t i = 0; i <= parts; ++i) bounds.push_back(static_cast<int32_t>(rows.n_cols * i / parts));
  return bounds;
}

/// Polls on the calling thread between splits, whose passes may each be too short for parallel_for to poll.
class PollClock {
 public:
  explicit PollClock(Watch* watch) : watch_(watch), last_(Clock::now()) {}
  void tick() {
    if (watch_ == nullptr || !watch_->poll || Clock::now() - last_ < std::chrono::milliseconds(50)) return;
    if (watch_->poll(watch_->done.load())) throw Stopped();
    last_ = Clock::now();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Watch* watch_;
  Clock::time_point last_;
};

/// What one worker needs to take ranges down to their leaves.
template <class Rows, class Splitter>
class Worker {
 public:
  explicit Worker(const typename Splitter::Settings& settings) : watch_(settings.watch), splitter_(settings) {}

  /// IN/OUT ids [item.n]: row numbers of `rows`, rising.
  void grow(const Rows& rows, int32_t* ids, const GrowItem& item, std::vector<GrownNode>& nodes) {
    grow(rows, ids, nullptr, item, nodes, -1);
  }

 private:
  void grow(const Rows& rows, int32_t* ids, const int32_t* labels, GrowItem item, std::vector<GrownNode>& nodes,
            int64_t copied_entries) {
    // The second side is taken in a loop: a tree may be as deep as it has labels, with all the weight on one side.
    for (;;) {
      if (watch_ != nullptr && watch_->stop) return;
      if (item.parts == 1 && splitter_.open(item, nodes) == 0) return;
      if (copy_pays(rows, ids, item.n, copied_entries)) return grow_copy(rows, ids, labels, item, nodes);
      const int64_t cut = splitter_.split(rows, ids, labels, item, alone_);
      const auto [first, second] = splitter_.halves(item, cut);
      if (watch_ != nullptr) watch_->done += splitter_.done(item, first, second);
      grow(rows, ids, labels, first, nodes, copied_entries);
      ids += cut;
      item = second;
    }
  }

  bool copy_pays(const CsrView& rows, const int32_t* ids, int64_t n, int64_t copied_entries) const {
    if (copied_entries < 0) return true;
    const int64_t now = entries(rows, ids, n);
    return now > 0 && now * kCompactEvery <= copied_entries;
  }
  bool copy_pays(const DenseView&, const int32_t*, int64_t, int64_t) const { return false; }

  void grow_copy(const CsrView& rows, int32_t* ids, const int32_t* labels, const GrowItem& item,
                 std::vector<GrownNode>& nodes) {
    if (nested_ == copies_.size()) copies_.push_back(std::make_unique<CompactRows>());
    CompactRows& copy = *copies_[nested_++];
    compactor_.copy(rows, ids, labels, item.n, copy);
    std::vector<int32_t> local(static_cast<size_t>(item.n));
    std::iota(local.begin(), local.end(), 0);
    grow(copy.view(), local.data(), copy.labels.data(), item, nodes, copy.indptr.back());
    --nested_;
    for (auto& row : local) row = ids[row];
    std::copy(local.begin(), local.end(), ids);
  }
  void grow_copy(const DenseView&, int32_t*, const int32_t*, const GrowItem&, std::vector<GrownNode>&) {}

  Watch* watch_;
  Splitter splitter_;
  Compactor compactor_;
  std::vector<std::unique_ptr<CompactRows>> copies_;  // by nesting; used again, so their pages are touched once
  size_t nested_ = 0;
  SplitTeam alone_;
};

/// OUT order [n_rows]: a permutation of the labels, which are the rows.
template <class Splitter, class Rows>
std::vector<GrownNode> descend(const Rows& rows, const typename Splitter::Settings& settings,
                               std::vector<int32_t>& order) {
  order.resize(static_cast<size_t>(rows.n_rows));
  std::iota(order.begin(), order.end(), 0);
  std::vector<GrownNode> nodes;
  std::vector<GrowItem> open{{0, static_cast<int32_t>(rows.n_rows), 1, 0}}, small;
  std::vector<int64_t> cost;
  SplitTeam team;
  team.threads = std::max(settings.threads, 1);
  team.watch = settings.watch;
  team.bounds = feature_bounds(rows, team.threads);
  PollClock clock(settings.watch);
  {
    Splitter splitter(settings);
    while (!open.empty()) {
      GrowItem item = open.back();
      open.pop_back();
      const int64_t size = entries(rows, order.data() + item.begin, item.n);
      if (size <= kTeamEntries) {
        small.push_back(item);
        cost.push_back(size);
        continue;
      }
      if (item.parts == 1 && splitter.open(item, nodes) == 0) continue;
      const int64_t cut = splitter.split(rows, order.data() + item.begin, nullptr, item, team);
      const auto [first, second] = splitter.halves(item, cut);
      if (settings.watch != nullptr) settings.watch->done += splitter.done(item, first, second);
      clock.tick();
      open.push_back(second);
      open.push_back(first);
    }
  }

  std::vector<size_t> queue(small.size());
  std::iota(queue.begin(), queue.end(), size_t{0});
  std::stable_sort(queue.begin(), queue.end(), [&](size_t a, size_t b) { return cost[a] > cost[b]; });
  std::vector<std::unique_ptr<Worker<Rows, Splitter>>> workers(static_cast<size_t>(team.threads));
  std::vector<std::vector<GrownNode>> found(small.size());
  parallel_for(static_cast<int64_t>(small.size()), team.threads, [&](int64_t i, int w) {
    if (!workers[w]) workers[w] = std::make_unique<Worker<Rows, Splitter>>(settings);
    const GrowItem& item = small[queue[i]];
    workers[w]->grow(rows, order.data() + item.begin, item, found[queue[i]]);
  }, settings.watch);
  for (const auto& part : found) nodes.insert(nodes.end(), part.begin(), part.end());
  return nodes;
}

}  // namespace longtail
