#include "linear/search.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace longtail {

namespace {

constexpr float kNothing = -std::numeric_limits<float>::infinity();

/// Worst first, as a heap of the k best keeps its worst on top.
bool heap_order(const Kept& a, const Kept& b) {
  return a.shown > b.shown || (a.shown == b.shown && a.label < b.label);
}

/// The path sum under which no sum has an exponential as large as that of the given one: sums that differ may be shown
/// as the same score, and are then ordered by label.
float tie_floor(const Kept& kept) {
  if (kept.shown == 0.0f) return kNothing;
  if (kept.sum > -80.0f) return kept.sum - 2.5e-7f;
  const double step = 1.5e-45 / static_cast<double>(kept.shown) + 2.5e-7;  // subnormal exponentials are coarser
  return std::nextafter(static_cast<float>(static_cast<double>(kept.sum) - step), kNothing);
}

}  // namespace

float exp_score(float x) {
  if (!(x > -104.0f)) return 0.0f;
  if (x > 88.7f) return std::numeric_limits<float>::infinity();
  // exp(x) = 2^n exp(r), |r| ≤ ln 2 / 2, in double and with a Taylor polynomial: nothing that a libm could round otherwise.
  const double n = (static_cast<double>(x) * 1.4426950408889634 + 6755399441055744.0) - 6755399441055744.0;  // 1.5 * 2^52
  const double r = static_cast<double>(x) - n * 0.6931471805599453;
  double p = 1.0 / 3628800;
  for (const double c : {1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0})
    p = p * r + c;
  const uint64_t bits = static_cast<uint64_t>(static_cast<int64_t>(n) + 1023) << 52;  // 2^n: n is in [-151, 128]
  double power;
  std::memcpy(&power, &bits, sizeof power);
  return static_cast<float>(p * power);
}

void QueryState::start() {
  kept.clear();
  frontier.clear();
  next.clear();
  threshold = kNothing;
  floor = kNothing;
  opened = 0;
}

Searcher::Searcher(const std::vector<TreeView>& trees, int64_t n_labels, const SearchParams& params)
    : trees_(trees), n_labels_(n_labels), params_(params), kernels_(LT_DISPATCH(score_kernels)) {
  raw_ = params.node_score == ScoreKind::raw || params.label_score == ScoreKind::raw;
  bounded_ = params.bound && !raw_;
  int64_t widest = 0;
  for (const TreeView& tree : trees)
    for (const LevelView& level : tree.levels) widest = std::max(widest, level.widest);
  scores_.resize(room_for_margins(widest));
  chosen_.resize(scores_.size());
  own_.start();
}

const std::vector<Found>& Searcher::run(const Query& query, const Allowed& allowed) {
  const Scope scope{allowed.n_only >= 0, allowed.n_exclude > 0, params_.k};
  if (scope.restricted || scope.excluding || trees_.size() > 1) mark_allowed(allowed);
  make_room(query);
  own_.start();
  if (params_.max_ns > 0) deadline_ = std::chrono::steady_clock::now() + std::chrono::nanoseconds(params_.max_ns);
  if (params_.kind == SearchKind::best_first) {
    if (trees_.size() == 1) best_first(query, scope);
    else best_first_trees(query, scope);
    return finish(own_);
  }
  if (trees_.size() == 1) {
    search_tree(0, query, scope);
    return finish(own_);
  }
  all_.clear();
  int64_t opened = 0;
  for (size_t t = 0; t < trees_.size(); ++t) {
    own_.start();
    search_tree(t, query, {scope.restricted, scope.excluding, labels_per_tree()});
    for (const Kept& label : own_.kept) all_.push_back({label.shown, label.label});
    opened += own_.opened;
  }
  own_.opened = opened;
  return average(all_);
}

const std::vector<Found>& Searcher::last_frontier(const Query& query) {
  make_room(query);
  own_.start();
  search_tree(0, query, {false, false, 0});
  return own_.frontier;
}

void Searcher::mark_allowed(const Allowed& allowed) {
  if (++mark_ == 0) {  // after 2^32 queries old marks would look new
    for (auto* marks : {&label_mark_, &exclude_mark_, &seen_mark_}) std::fill(marks->begin(), marks->end(), 0u);
    for (auto& tree : chunk_mark_)
      for (auto& level : tree) std::fill(level.begin(), level.end(), 0u);
    for (TreeState& state : states_)
      for (auto& level : state.mark) std::fill(level.begin(), level.end(), 0u);
    mark_ = 1;
  }
  if (allowed.n_exclude > 0) exclude_mark_.resize(static_cast<size_t>(n_labels_), 0u);
  for (int64_t i = 0; i < allowed.n_exclude; ++i) exclude_mark_[static_cast<size_t>(allowed.exclude[i])] = mark_;
  if (allowed.n_only < 0) return;
  label_mark_.resize(static_cast<size_t>(n_labels_), 0u);
  chunk_mark_.resize(trees_.size());
  for (size_t t = 0; t < trees_.size(); ++t) {
    const TreeView& tree = trees_[t];
    chunk_mark_[t].resize(tree.levels.size());
    for (size_t d = 0; d < tree.levels.size(); ++d)
      chunk_mark_[t][d].resize(static_cast<size_t>(tree.levels[d].n_chunks), 0u);
    for (int64_t i = 0; i < allowed.n_only; ++i) {
      const auto label = static_cast<size_t>(allowed.only[i]);
      label_mark_[label] = mark_;
      auto chunk = static_cast<size_t>(tree.label_chunk[label]);
      for (int32_t d = tree.label_level[label]; d >= 0 && chunk_mark_[t][static_cast<size_t>(d)][chunk] != mark_; --d) {
        chunk_mark_[t][static_cast<size_t>(d)][chunk] = mark_;
        chunk = static_cast<size_t>(tree.parent_chunk[static_cast<size_t>(d)][chunk]);
      }
    }
  }
}

void Searcher::offer(float sum, int32_t label, int32_t k, QueryState& state) const {
  if (sum < state.threshold) return;
  const bool changed = keep_best({raw_ ? sum : exp_score(sum), sum, label}, k, state);
  if (changed && bounded_ && static_cast<int64_t>(state.kept.size()) >= k) state.threshold = tie_floor(state.kept.front());
}

/// Whether the label is among the k best so far.
bool Searcher::keep_best(const Kept& candidate, int32_t k, QueryState& state) const {
  auto& kept = state.kept;
  if (static_cast<int64_t>(kept.size()) >= k) {
    if (!heap_order(candidate, kept.front())) return false;
    std::pop_heap(kept.begin(), kept.end(), heap_order);
    kept.back() = candidate;
  } else {
    kept.push_back(candidate);
  }
  std::push_heap(kept.begin(), kept.end(), heap_order);
  return true;
}

void Searcher::score_located(const LevelView& level, int64_t chunk, float above) {
  const int64_t first = level.child_ptr[chunk], n_children = level.n_children(chunk);
  kernels_.margins(level, chunk, rows_.hits.data(), rows_.n, scores_.data());
  if (params_.node_score == params_.label_score) {
    kernels_.to_scores(scores_.data(), n_children, params_.node_score, params_.power, above);
    return;
  }
  // Labels and nodes are rarely mixed under one parent; when they are, each kind has its own score.
  margins_.assign(scores_.begin(), scores_.begin() + n_blocks_of(n_children) * kBlock);
  kernels_.to_scores(scores_.data(), n_children, params_.node_score, params_.power, above);
  kernels_.to_scores(margins_.data(), n_children, params_.label_score, params_.power, above);
  const int32_t* child = level.child + first;
  for (int64_t j = 0; j < n_children; ++j)
    if (child[j] < 0) scores_[static_cast<size_t>(j)] = margins_[static_cast<size_t>(j)];
}

void Searcher::open_chunk(const LevelView& level, size_t depth, const Found& node, const Scope& scope, QueryState& state) {
  ++state.opened;
  const int64_t chunk = node.label;
  score_located(level, chunk, node.score);
  const int32_t* child = level.child + level.child_ptr[chunk];
  // What cannot be in the beam any more need not be kept, nor what is below it taken.
  const auto beam = scope.restricted ? std::numeric_limits<size_t>::max() / 2 : static_cast<size_t>(params_.beam);
  if (!level.has_labels && !scope.restricted) {
    // The common case: all children are nodes, and all are allowed.
    const float least = std::max(node_bound(state), state.floor);
    const auto n = static_cast<size_t>(kernels_.select(scores_.data(), level.n_children(chunk), least, chosen_.data()));
    const size_t before = state.next.size();
    state.next.resize(before + n);
    for (size_t i = 0; i < n; ++i)
      state.next[before + i] = {scores_[static_cast<size_t>(chosen_[i])], child[static_cast<size_t>(chosen_[i])]};
  } else {
    const int64_t n = kernels_.select(scores_.data(), level.n_children(chunk), state.threshold, chosen_.data());
    for (int64_t i = 0; i < n; ++i) {
      const auto j = static_cast<size_t>(chosen_[static_cast<size_t>(i)]);
      if (child[j] >= 0) {
        if (scores_[j] >= state.floor && can_enter(state, scores_[j]) && allows_chunk(tree_, depth + 1, child[j], scope))
          state.next.push_back({scores_[j], child[j]});
      } else if (scope.k > 0 && allows_label(~child[j], scope)) {
        offer(scores_[j], ~child[j], scope.k, state);
      }
    }
  }
  if (state.next.size() >= 2 * beam) trim(state, beam);
}

void Searcher::trim(QueryState& state, size_t beam) const {
  auto& next = state.next;
  std::nth_element(next.begin(), next.begin() + static_cast<int64_t>(beam) - 1, next.end(), better);
  state.floor = next[beam - 1].score;
  next.resize(beam);
}

void Searcher::start_beam(const TreeView& tree, QueryState& state) const {
  state.start();
  state.kept.reserve(static_cast<size_t>(labels_per_tree()));
  for (auto* nodes : {&state.frontier, &state.next}) nodes->reserve(2 * static_cast<size_t>(params_.beam) + kBlock);
  for (int64_t c = 0; c < tree.levels[0].n_chunks; ++c) state.frontier.push_back({0.0f, static_cast<int32_t>(c)});
}

void Searcher::end_level(QueryState& state, bool restricted) const {
  // A query that names its labels is about those labels: all of them are scored, whatever the beam.
  auto& next = state.next;
  if (!restricted && next.size() > static_cast<size_t>(params_.beam)) trim(state, static_cast<size_t>(params_.beam));
  std::sort(next.begin(), next.end(), better);
  state.frontier.swap(next);
  next.clear();
  state.floor = kNothing;
}

void Searcher::search_tree(size_t t, const Query& query, const Scope& scope) {
  const TreeView& tree = trees_[t];
  tree_ = t;
  for (int64_t c = 0; c < tree.levels[0].n_chunks; ++c)
    if (allows_chunk(t, 0, static_cast<int32_t>(c), scope)) own_.frontier.push_back({0.0f, static_cast<int32_t>(c)});
  for (size_t depth = 0; depth < tree.levels.size() && !own_.frontier.empty(); ++depth) {
    const LevelView& level = tree.levels[depth];
    const auto& frontier = own_.frontier;
    find_next(level, frontier[0].label, query);
    locate_next(level, frontier[0].label);
    float bound = node_bound(own_);
    for (size_t i = 0, end = 1; i < frontier.size(); ++i) {
      if (i == end) {
        bound = node_bound(own_);
        end = next_step(end);
      }
      // The frontier is sorted: when one cannot enter, nothing further can.
      if (frontier[i].score < bound) break;
      const bool more = i + 1 < frontier.size() && frontier[i + 1].score >= (i + 1 == end ? node_bound(own_) : bound);
      if (more) find_next(level, frontier[i + 1].label, query);
      open_chunk(level, depth, frontier[i], scope, own_);
      if (more) locate_next(level, frontier[i + 1].label);
    }
    end_level(own_, scope.restricted);
  }
}

const std::vector<Found>& Searcher::finish(QueryState& state) {
  found_.clear();
  for (const Kept& label : state.kept) found_.push_back({label.shown, label.label});
  std::sort(found_.begin(), found_.end(), better);
  return found_;
}

const std::vector<Found>& Searcher::average(std::vector<Found>& kept) {
  std::sort(kept.begin(), kept.end(), [](const Found& a, const Found& b) {
    return a.label < b.label || (a.label == b.label && a.score > b.score);
  });
  const float share = 1.0f / static_cast<float>(trees_.size());
  found_.clear();
  for (size_t i = 0; i < kept.size();) {
    Found sum{0.0f, kept[i].label};
    for (; i < kept.size() && kept[i].label == sum.label; ++i) sum.score += kept[i].score;
    sum.score *= share;
    found_.push_back(sum);
  }
  const size_t n = std::min(found_.size(), static_cast<size_t>(params_.k));
  std::partial_sort(found_.begin(), found_.begin() + static_cast<int64_t>(n), found_.end(), better);
  found_.resize(n);
  return found_;
}

bool Searcher::spent() const {
  if (params_.max_nodes > 0 && own_.opened >= params_.max_nodes) return true;
  return params_.max_ns > 0 && std::chrono::steady_clock::now() >= deadline_;
}

}  // namespace longtail
