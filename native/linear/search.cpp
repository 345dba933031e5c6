#include "linear/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/bits.hpp"

namespace longtail {

namespace {

constexpr float kNothing = -std::numeric_limits<float>::infinity();

/// Worst first, as a heap of the k best keeps its worst on top.
bool heap_order(const Found& a, const Found& b) { return better(a, b); }

}  // namespace

float exp_score(float x) {
  if (!(x > -104.0f)) return 0.0f;
  if (x > 88.7f) return std::numeric_limits<float>::infinity();
  // exp(x) = 2^n exp(r), |r| ≤ ln 2 / 2, in double and with a Taylor polynomial: nothing that a libm could round otherwise.
  const double n = std::floor(static_cast<double>(x) * 1.4426950408889634 + 0.5);
  const double r = static_cast<double>(x) - n * 0.6931471805599453;
  double p = 1.0 / 3628800;
  for (const double c : {1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0})
    p = p * r + c;
  return static_cast<float>(std::ldexp(p, static_cast<int>(n)));
}

Searcher::Searcher(const std::vector<TreeView>& trees, int64_t n_labels, const SearchParams& params)
    : trees_(trees), n_labels_(n_labels), params_(params), kernels_(LT_DISPATCH(score_kernels)) {
  bounded_ = params.bound && params.node_score != ScoreKind::raw && params.label_score != ScoreKind::raw;
  int64_t widest = 0;
  for (const TreeView& tree : trees)
    for (const LevelView& level : tree.levels)
      for (int64_t c = 0; c < level.n_chunks; ++c) widest = std::max(widest, level.n_children(c));
  scores_.resize(static_cast<size_t>(n_blocks_of(widest) * kBlock + kBlock));
  chosen_.resize(scores_.size());
}

const std::vector<Found>& Searcher::run(const Query& query, const Allowed& allowed) {
  opened_ = 0;
  const bool restricted = allowed.n_only >= 0, excluding = allowed.n_exclude > 0;
  if (++mark_ == 0) {  // after 2^32 queries old marks would look new
    std::fill(label_mark_.begin(), label_mark_.end(), 0u);
    std::fill(exclude_mark_.begin(), exclude_mark_.end(), 0u);
    for (auto& level : chunk_mark_) std::fill(level.begin(), level.end(), 0u);
    mark_ = 1;
  }
  if (excluding) {
    exclude_mark_.resize(static_cast<size_t>(n_labels_), 0u);
    for (int64_t i = 0; i < allowed.n_exclude; ++i) exclude_mark_[static_cast<size_t>(allowed.exclude[i])] = mark_;
  }
  const bool one = trees_.size() == 1;
  const int32_t k = one ? params_.k : std::max(params_.k, params_.per_tree);
  all_.clear();
  for (size_t t = 0; t < trees_.size(); ++t) {
    if (restricted) {
      // Marks of another tree's chunks would mislead.
      if (t > 0) ++mark_;
      if (t > 0 && excluding)
        for (int64_t i = 0; i < allowed.n_exclude; ++i) exclude_mark_[static_cast<size_t>(allowed.exclude[i])] = mark_;
      mark_allowed(trees_[t], allowed);
    }
    search_tree(t, query, restricted, excluding, k);
    const bool raw = params_.node_score == ScoreKind::raw || params_.label_score == ScoreKind::raw;
    if (!raw) {
      for (Found& f : found_) f.score = exp_score(f.score);
      // Logarithms that differ may have the same exponential: such ties are ordered by label, as all are.
      if (one) std::sort(found_.begin(), found_.end(), better);
    }
    if (!one) all_.insert(all_.end(), found_.begin(), found_.end());
  }
  if (!one) average(params_.k);
  return found_;
}

const std::vector<Found>& Searcher::last_frontier(const Query& query) {
  opened_ = 0;
  search_tree(0, query, false, false, std::numeric_limits<int32_t>::max());
  return frontier_;
}

void Searcher::mark_allowed(const TreeView& tree, const Allowed& allowed) {
  label_mark_.resize(static_cast<size_t>(n_labels_), 0u);
  if (chunk_mark_.size() < tree.levels.size()) chunk_mark_.resize(tree.levels.size());
  for (size_t d = 0; d < tree.levels.size(); ++d)
    if (chunk_mark_[d].size() < static_cast<size_t>(tree.levels[d].n_chunks))
      chunk_mark_[d].resize(static_cast<size_t>(tree.levels[d].n_chunks), 0u);
  for (int64_t i = 0; i < allowed.n_only; ++i) {
    const auto label = static_cast<size_t>(allowed.only[i]);
    label_mark_[label] = mark_;
    auto chunk = static_cast<size_t>(tree.label_chunk[label]);
    for (int32_t d = tree.label_level[label]; d >= 0 && chunk_mark_[static_cast<size_t>(d)][chunk] != mark_; --d) {
      chunk_mark_[static_cast<size_t>(d)][chunk] = mark_;
      chunk = static_cast<size_t>(tree.parent_chunk[static_cast<size_t>(d)][chunk]);
    }
  }
}

float Searcher::bound(int32_t k) const {
  return bounded_ && static_cast<int64_t>(found_.size()) >= k ? found_.front().score : kNothing;
}

void Searcher::offer(float score, int32_t label, int32_t k) {
  const Found candidate{score, label};
  if (static_cast<int64_t>(found_.size()) < k) {
    found_.push_back(candidate);
    std::push_heap(found_.begin(), found_.end(), heap_order);
  } else if (better(candidate, found_.front())) {
    std::pop_heap(found_.begin(), found_.end(), heap_order);
    found_.back() = candidate;
    std::push_heap(found_.begin(), found_.end(), heap_order);
  }
}

void Searcher::open_chunk(const LevelView& level, size_t depth, const Found& node, const Query& query, bool restricted,
                          bool excluding, int32_t k) {
  ++opened_;
  const int64_t chunk = node.label;
  const int64_t first = level.child_ptr[chunk], n_children = level.n_children(chunk);
  kernels_.margins(level, chunk, query, scores_.data(), hits_.data());
  const int32_t* child = level.child + first;
  // Labels and nodes are rarely mixed under one parent; when they are, each kind has its own score.
  const bool mixed = params_.node_score != params_.label_score;
  if (mixed) {
    std::vector<float> margins(scores_.begin(), scores_.begin() + n_children);
    kernels_.to_scores(scores_.data(), n_children, params_.label_score, params_.power, node.score);
    std::vector<float> labels(scores_.begin(), scores_.begin() + n_children);
    std::copy(margins.begin(), margins.end(), scores_.begin());
    kernels_.to_scores(scores_.data(), n_children, params_.node_score, params_.power, node.score);
    for (int64_t j = 0; j < n_children; ++j)
      if (child[j] < 0) scores_[static_cast<size_t>(j)] = labels[static_cast<size_t>(j)];
  } else {
    kernels_.to_scores(scores_.data(), n_children, params_.node_score, params_.power, node.score);
  }
  const int64_t n = kernels_.select(scores_.data(), n_children, bound(k), chosen_.data());
  for (int64_t i = 0; i < n; ++i) {
    const auto j = static_cast<size_t>(chosen_[static_cast<size_t>(i)]);
    if (child[j] >= 0) {
      if (!restricted || chunk_mark_[depth + 1][static_cast<size_t>(child[j])] == mark_)
        next_.push_back({scores_[j], child[j]});
      continue;
    }
    const int32_t label = ~child[j];
    if (restricted && label_mark_[static_cast<size_t>(label)] != mark_) continue;
    if (excluding && exclude_mark_[static_cast<size_t>(label)] == mark_) continue;
    offer(scores_[j], label, k);
  }
}

void Searcher::search_tree(size_t t, const Query& query, bool restricted, bool excluding, int32_t k) {
  const TreeView& tree = trees_[t];
  found_.clear();
  frontier_.clear();
  if (hits_.size() < static_cast<size_t>(query.n) + 1) hits_.resize(static_cast<size_t>(query.n) + 1);
  if (tree.levels.empty()) return;
  for (int64_t c = 0; c < tree.levels[0].n_chunks; ++c)
    if (!restricted || chunk_mark_[0][static_cast<size_t>(c)] == mark_)
      frontier_.push_back({0.0f, static_cast<int32_t>(c)});
  // A query that names its labels is about those labels: all of them are scored, whatever the beam.
  const auto beam = restricted ? std::numeric_limits<size_t>::max() : static_cast<size_t>(params_.beam);
  for (size_t depth = 0; depth < tree.levels.size() && !frontier_.empty(); ++depth) {
    next_.clear();
    for (const Found& node : frontier_) {
      if (node.score < bound(k)) break;  // the frontier is sorted: nothing further can enter
      open_chunk(tree.levels[depth], depth, node, query, restricted, excluding, k);
    }
    if (next_.size() > beam) {
      std::nth_element(next_.begin(), next_.begin() + static_cast<int64_t>(beam), next_.end(), better);
      next_.resize(beam);
    }
    std::sort(next_.begin(), next_.end(), better);
    frontier_.swap(next_);
  }
  std::sort(found_.begin(), found_.end(), better);
}

void Searcher::average(int32_t k) {
  std::sort(all_.begin(), all_.end(), [](const Found& a, const Found& b) {
    return a.label < b.label || (a.label == b.label && a.score > b.score);
  });
  const float share = 1.0f / static_cast<float>(trees_.size());
  found_.clear();
  for (size_t i = 0; i < all_.size();) {
    Found sum{0.0f, all_[i].label};
    for (; i < all_.size() && all_[i].label == sum.label; ++i) sum.score += all_[i].score;
    sum.score *= share;
    found_.push_back(sum);
  }
  const size_t n = std::min(found_.size(), static_cast<size_t>(k));
  std::partial_sort(found_.begin(), found_.begin() + static_cast<int64_t>(n), found_.end(), better);
  found_.resize(n);
}

}  // namespace longtail
