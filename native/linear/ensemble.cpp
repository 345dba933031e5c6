// Best-first search over several trees whose scores are averaged.
//
// A label that no tree has shown yet averages at most the mean of the best nodes that wait in each tree. One that some
// trees have shown averages at most the mean of its scores there and of the best nodes that wait in the others. The larger
// of these bounds says what is done next: open the best node, or the nodes on the paths to that label. When both are below
// the k-th label of the list, the list is final.
#include <algorithm>

#include "linear/search.hpp"

namespace longtail {

namespace {

/// Rounding may carry a score above the bound that its node has by a few units in the last place.
constexpr float kRounding = 1.0f + 1e-6f;

bool worse(const Found& a, const Found& b) { return better(b, a); }

}  // namespace

void Searcher::best_first_trees(const Query& query, const Scope& scope) {
  states_.resize(trees_.size());
  seen_mark_.resize(static_cast<size_t>(n_labels_), 0u);
  candidates_.clear();
  for (size_t t = 0; t < trees_.size(); ++t) start_tree(t, scope);
  const float slack = exp_score(params_.slack);
  while (!spent()) {
    const size_t best = best_waiting();
    shares_ = ceilings_;
    const float unseen = mean_of_shares() * kRounding;
    const float seen = best_candidate();
    const float bound = std::max(unseen, seen);
    if (candidates_.empty() && best == trees_.size()) return;  // everything is scored
    if (static_cast<int64_t>(own_.kept.size()) >= scope.k && bound < own_.kept.front().shown * slack) return;
    if (bound == 0.0f) return add_unscored(scope);
    if (best == trees_.size() || seen >= unseen) {
      if (!offer_candidate(query, scope)) break;
    } else {
      open_in(best, pop_open(states_[best].heap), query, scope);
    }
  }
  // Out of budget: as in the beam, a label counts 0 in trees that have not reached it.
  for (const Found& candidate : candidates_) {
    shares_.clear();
    for (size_t t = 0; t < trees_.size(); ++t)
      shares_.push_back(is_open(t, candidate.label) ? exp_score(known_score(t, candidate.label)) : 0.0f);
    keep_best({mean_of_shares(), 0.0f, candidate.label}, scope.k, own_);
  }
}

/// OUT ceilings_: what a label can still score in each tree, if it is not known there. Gives the tree with the best node
/// that waits, or the number of trees if there is none.
size_t Searcher::best_waiting() {
  size_t best = trees_.size();
  ceilings_.clear();
  for (size_t t = 0; t < trees_.size(); ++t) {
    TreeState& state = states_[t];
    auto& heap = state.heap;
    while (!heap.empty() && state.mark[static_cast<size_t>(heap.front().level)][static_cast<size_t>(heap.front().chunk)] == mark_)
      pop_open(heap);  // opened on the way to a label
    ceilings_.push_back(heap.empty() ? 0.0f : exp_score(heap.front().score));
    if (!heap.empty() && (best == trees_.size() || heap.front().score > states_[best].heap.front().score)) best = t;
  }
  return best;
}

/// The bound of the best label that is not in all trees known yet, which comes to the top; 0 if there is none.
float Searcher::best_candidate() {
  while (!candidates_.empty()) {
    // Bounds fall while nodes are opened, and are brought up to date where it matters.
    const Found candidate = candidates_.front();
    shares_.clear();
    for (size_t t = 0; t < trees_.size(); ++t)
      shares_.push_back(is_open(t, candidate.label) ? exp_score(known_score(t, candidate.label)) : ceilings_[t]);
    const float bound = mean_of_shares() * kRounding;
    if (bound >= candidate.score) return bound;
    std::pop_heap(candidates_.begin(), candidates_.end(), worse);
    candidates_.back().score = bound;
    std::push_heap(candidates_.begin(), candidates_.end(), worse);
  }
  return 0.0f;
}

void Searcher::start_tree(size_t t, const Scope& scope) {
  TreeState& state = states_[t];
  const TreeView& tree = trees_[t];
  state.heap.clear();
  state.scores.clear();
  state.mark.resize(tree.levels.size());
  state.scores_at.resize(tree.levels.size());
  for (size_t d = 0; d < tree.levels.size(); ++d) {
    state.mark[d].resize(static_cast<size_t>(tree.levels[d].n_chunks), 0u);
    state.scores_at[d].resize(static_cast<size_t>(tree.levels[d].n_chunks));
  }
  for (int64_t c = 0; c < tree.levels[0].n_chunks; ++c)
    if (allows_chunk(t, 0, static_cast<int32_t>(c), scope)) push_open(state.heap, {0.0f, 0, static_cast<int32_t>(c)});
}

void Searcher::open_in(size_t t, const Open& node, const Query& query, const Scope& scope) {
  TreeState& state = states_[t];
  const auto d = static_cast<size_t>(node.level);
  const auto chunk = static_cast<size_t>(node.chunk);
  if (state.mark[d][chunk] == mark_) return;
  ++own_.opened;
  state.mark[d][chunk] = mark_;
  state.scores_at[d][chunk] = static_cast<int64_t>(state.scores.size());
  const LevelView& level = trees_[t].levels[d];
  score_children(level, node.chunk, node.score, query);
  const int64_t n_children = level.n_children(node.chunk);
  state.scores.insert(state.scores.end(), scores_.begin(), scores_.begin() + n_children);
  const int32_t* child = level.child + level.child_ptr[node.chunk];
  for (int64_t j = 0; j < n_children; ++j) {
    const float score = scores_[static_cast<size_t>(j)];
    if (child[j] >= 0) {
      if (allows_chunk(t, d + 1, child[j], scope)) push_open(state.heap, {score, node.level + 1, child[j]});
    } else if (seen_mark_[static_cast<size_t>(~child[j])] != mark_ && allows_label(~child[j], scope)) {
      seen_mark_[static_cast<size_t>(~child[j])] = mark_;
      candidates_.push_back({1.0f, ~child[j]});
      std::push_heap(candidates_.begin(), candidates_.end(), worse);
    }
  }
}

/// Scores the best candidate in all trees. False if the budget does not allow that.
bool Searcher::offer_candidate(const Query& query, const Scope& scope) {
  const int32_t label = candidates_.front().label;
  if (params_.max_nodes > 0) {
    int64_t missing = 0;
    for (size_t t = 0; t < trees_.size(); ++t) missing += closed_on_path(t, label);
    if (own_.opened + missing > params_.max_nodes) return false;
  }
  // Out of the heap first: the nodes that are opened may bring candidates of their own.
  std::pop_heap(candidates_.begin(), candidates_.end(), worse);
  candidates_.pop_back();
  for (size_t t = 0; t < trees_.size(); ++t) open_path(t, label, query, scope);
  shares_.clear();
  for (size_t t = 0; t < trees_.size(); ++t) shares_.push_back(exp_score(known_score(t, label)));
  keep_best({mean_of_shares(), 0.0f, label}, scope.k, own_);
  return true;
}

bool Searcher::is_open(size_t t, int32_t label) const {
  const auto l = static_cast<size_t>(label);
  return states_[t].mark[static_cast<size_t>(trees_[t].label_level[l])][static_cast<size_t>(trees_[t].label_chunk[l])] == mark_;
}

/// The path sum of a child of a chunk that has been opened.
float Searcher::child_score(size_t t, size_t d, int32_t chunk, int32_t to) const {
  const LevelView& level = trees_[t].levels[d];
  const int32_t* child = level.child + level.child_ptr[chunk];
  const int64_t j = std::find(child, child + level.n_children(chunk), to) - child;
  return states_[t].scores[static_cast<size_t>(states_[t].scores_at[d][static_cast<size_t>(chunk)] + j)];
}

float Searcher::known_score(size_t t, int32_t label) const {
  const auto l = static_cast<size_t>(label);
  return child_score(t, static_cast<size_t>(trees_[t].label_level[l]), trees_[t].label_chunk[l], ~label);
}

int64_t Searcher::closed_on_path(size_t t, int32_t label) const {
  const TreeView& tree = trees_[t];
  int64_t closed = 0;
  auto chunk = static_cast<size_t>(tree.label_chunk[static_cast<size_t>(label)]);
  for (auto d = static_cast<size_t>(tree.label_level[static_cast<size_t>(label)]);; --d) {
    if (states_[t].mark[d][chunk] == mark_) return closed;
    ++closed;
    if (d == 0) return closed;
    chunk = static_cast<size_t>(tree.parent_chunk[d][chunk]);
  }
}

void Searcher::open_path(size_t t, int32_t label, const Query& query, const Scope& scope) {
  const TreeView& tree = trees_[t];
  path_.clear();
  int32_t chunk = tree.label_chunk[static_cast<size_t>(label)];
  for (int32_t d = tree.label_level[static_cast<size_t>(label)]; d >= 0; --d) {
    path_.push_back(chunk);
    chunk = tree.parent_chunk[static_cast<size_t>(d)][static_cast<size_t>(chunk)];
  }
  float above = 0.0f;
  for (size_t d = 0; d < path_.size(); ++d) {
    const int32_t at = path_[path_.size() - 1 - d];
    open_in(t, {above, static_cast<int32_t>(d), at}, query, scope);
    if (d + 1 < path_.size()) above = child_score(t, d, at, path_[path_.size() - 2 - d]);
  }
}

/// As in average(): the largest first, so that equal shares give equal sums whatever tree they are from.
float Searcher::mean_of_shares() {
  std::sort(shares_.begin(), shares_.end(), [](float a, float b) { return a > b; });
  float sum = 0.0f;
  for (const float share : shares_) sum += share;
  return sum * (1.0f / static_cast<float>(trees_.size()));
}

}  // namespace longtail
