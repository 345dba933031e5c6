#include "trees/kmeans.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>

#include "trees/two_means.hpp"

namespace longtail {

namespace {

// Ranges with more entries are split by the whole team: a pass takes half a millisecond, well above starting the team.
// What is split how depends on the matrix alone, never on the team.
constexpr int64_t kTeamEntries = int64_t{1} << 20;
constexpr int64_t kCompactEvery = 8;  // a range is copied again when it has shrunk so many times

/// A copy of some rows whose features are numbered as they come.
struct CompactRows {
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
  void copy(const CsrView& rows, const int32_t* ids, int64_t n, CompactRows& out) {
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

int64_t entries(const CsrView& rows, const int32_t* ids, int64_t n) {
  int64_t sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += rows.row_nnz(ids[i]);
  return sum;
}

int64_t entries(const DenseView& rows, const int32_t*, int64_t n) { return n * rows.n_cols; }

/// Shares features out so that all parts have about as many entries, by a sample of them.
std::vector<int32_t> feature_bounds(const CsrView& rows, int parts) {
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

std::vector<int32_t> feature_bounds(const DenseView& rows, int parts) {
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
template <class Rows>
class Worker {
 public:
  Worker(const std::vector<int32_t>& arities, const KMeansOptions& options)
      : arities_(arities), options_(options), two_means_(options.rounds, options.tol) {}

  /// IN/OUT ids [item.n]: row numbers of `rows`, rising.
  void grow(const Rows& rows, int32_t* ids, GrowItem item, std::vector<GrownNode>& nodes) {
    grow(rows, ids, item, nodes, -1);
  }

 private:
  void grow(const Rows& rows, int32_t* ids, GrowItem item, std::vector<GrownNode>& nodes, int64_t copied_entries) {
    if (options_.watch != nullptr && options_.watch->stop) return;
    if (item.parts == 1 && open_node(item, arities_, nodes) == 0) return;
    if (copy_pays(rows, ids, item.n, copied_entries)) return grow_copy(rows, ids, item, nodes);
    const int64_t cut = two_means_.split(rows, ids, item.n, cut_of(item), seed_of(item, options_.seed), alone_);
    if (options_.watch != nullptr) options_.watch->done += item.n;
    const auto [first, second] = halves(item, cut);
    grow(rows, ids, first, nodes, copied_entries);
    grow(rows, ids + cut, second, nodes, copied_entries);
  }

  bool copy_pays(const CsrView& rows, const int32_t* ids, int64_t n, int64_t copied_entries) const {
    if (copied_entries < 0) return true;
    const int64_t now = entries(rows, ids, n);
    return now > 0 && now * kCompactEvery <= copied_entries;
  }
  bool copy_pays(const DenseView&, const int32_t*, int64_t, int64_t) const { return false; }

  void grow_copy(const CsrView& rows, int32_t* ids, const GrowItem& item, std::vector<GrownNode>& nodes) {
    if (nested_ == copies_.size()) copies_.push_back(std::make_unique<CompactRows>());
    CompactRows& copy = *copies_[nested_++];
    compactor_.copy(rows, ids, item.n, copy);
    std::vector<int32_t> local(static_cast<size_t>(item.n));
    std::iota(local.begin(), local.end(), 0);
    grow(copy.view(), local.data(), item, nodes, copy.indptr.back());
    --nested_;
    for (auto& row : local) row = ids[row];
    std::copy(local.begin(), local.end(), ids);
  }
  void grow_copy(const DenseView&, int32_t*, const GrowItem&, std::vector<GrownNode>&) {}

  const std::vector<int32_t>& arities_;
  const KMeansOptions& options_;
  TwoMeans<Rows> two_means_;
  Compactor compactor_;
  std::vector<std::unique_ptr<CompactRows>> copies_;  // by nesting; used again, so their pages are touched once
  size_t nested_ = 0;
  SplitTeam alone_;
};

template <class Rows>
std::vector<GrownNode> grow_all(const Rows& rows, const std::vector<int32_t>& arities, const KMeansOptions& options,
                                std::vector<int32_t>& order) {
  order.resize(static_cast<size_t>(rows.n_rows));
  std::iota(order.begin(), order.end(), 0);
  std::vector<GrownNode> nodes;
  std::vector<GrowItem> open{{0, static_cast<int32_t>(rows.n_rows), 1, 0}}, small;
  std::vector<int64_t> cost;
  SplitTeam team;
  team.threads = std::max(options.threads, 1);
  team.watch = options.watch;
  team.bounds = feature_bounds(rows, team.threads);
  PollClock clock(options.watch);
  {
    TwoMeans<Rows> two_means(options.rounds, options.tol);
    while (!open.empty()) {
      GrowItem item = open.back();
      open.pop_back();
      const int64_t size = entries(rows, order.data() + item.begin, item.n);
      if (size <= kTeamEntries) {
        small.push_back(item);
        cost.push_back(size);
        continue;
      }
      if (item.parts == 1 && open_node(item, arities, nodes) == 0) continue;
      const int64_t cut = two_means.split(rows, order.data() + item.begin, item.n, cut_of(item),
                                          seed_of(item, options.seed), team);
      if (options.watch != nullptr) options.watch->done += item.n;
      clock.tick();
      const auto [first, second] = halves(item, cut);
      open.push_back(second);
      open.push_back(first);
    }
  }

  std::vector<size_t> queue(small.size());
  std::iota(queue.begin(), queue.end(), size_t{0});
  std::stable_sort(queue.begin(), queue.end(), [&](size_t a, size_t b) { return cost[a] > cost[b]; });
  std::vector<std::unique_ptr<Worker<Rows>>> workers(static_cast<size_t>(team.threads));
  std::vector<std::vector<GrownNode>> found(small.size());
  parallel_for(static_cast<int64_t>(small.size()), team.threads, [&](int64_t i, int w) {
    if (!workers[w]) workers[w] = std::make_unique<Worker<Rows>>(arities, options);
    const GrowItem& item = small[queue[i]];
    workers[w]->grow(rows, order.data() + item.begin, item, found[queue[i]]);
  }, options.watch);
  for (const auto& part : found) nodes.insert(nodes.end(), part.begin(), part.end());
  return nodes;
}

}  // namespace

std::vector<GrownNode> grow_kmeans(const CsrView& rows, const std::vector<int32_t>& arities, const KMeansOptions& options,
                                   std::vector<int32_t>& order) {
  return grow_all(rows, arities, options, order);
}

std::vector<GrownNode> grow_kmeans(const DenseView& rows, const std::vector<int32_t>& arities,
                                   const KMeansOptions& options, std::vector<int32_t>& order) {
  return grow_all(rows, arities, options, order);
}

}  // namespace longtail
