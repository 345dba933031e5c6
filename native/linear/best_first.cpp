// Best-first search of one tree: the best node that waits is opened, until none that waits can change the list. Nodes
// wait in a heap whose memory is kept from query to query.
#include <algorithm>

#include "linear/search.hpp"

namespace longtail {

namespace {

// Exponentials of such sums are 0.
constexpr float kShownAsZero = -104.0f;

}  // namespace

void Searcher::push_open(std::vector<Open>& heap, const Open& node) {
  heap.push_back(node);
  std::push_heap(heap.begin(), heap.end(), waits_behind);
}

Searcher::Open Searcher::pop_open(std::vector<Open>& heap) {
  std::pop_heap(heap.begin(), heap.end(), waits_behind);
  const Open node = heap.back();
  heap.pop_back();
  return node;
}

bool Searcher::waits_behind(const Open& a, const Open& b) {
  if (a.score != b.score) return a.score < b.score;
  // Of equal nodes the deeper one is closer to labels.
  return a.level != b.level ? a.level < b.level : a.chunk > b.chunk;
}

void Searcher::best_first(const Query& query, const Scope& scope) {
  heap_.clear();
  for (int64_t c = 0; c < trees_[0].levels[0].n_chunks; ++c)
    if (allows_chunk(0, 0, static_cast<int32_t>(c), scope)) push_open(heap_, {0.0f, 0, static_cast<int32_t>(c)});
  while (!heap_.empty() && !spent()) {
    const Open node = pop_open(heap_);
    if (!can_enter(own_, node.score)) return;  // the best that waits: nothing can enter any more
    if (bounded_ && node.score <= kShownAsZero) {
      add_unscored(scope);
      return;
    }
    open_waiting(node, query, scope);
  }
}

void Searcher::open_waiting(const Open& node, const Query& query, const Scope& scope) {
  const LevelView& level = trees_[0].levels[static_cast<size_t>(node.level)];
  ++own_.opened;
  score_children(level, node.chunk, node.score, query);
  const int32_t* child = level.child + level.child_ptr[node.chunk];
  const int64_t n = kernels_.select(scores_.data(), level.n_children(node.chunk), own_.threshold, chosen_.data());
  for (int64_t i = 0; i < n; ++i) {
    const auto j = static_cast<size_t>(chosen_[static_cast<size_t>(i)]);
    if (child[j] < 0) {
      if (allows_label(~child[j], scope)) offer(scores_[j], ~child[j], scope.k, own_);
    } else if (can_enter(own_, scores_[j]) && allows_chunk(0, static_cast<size_t>(node.level) + 1, child[j], scope)) {
      push_open(heap_, {scores_[j], node.level + 1, child[j]});
    }
  }
}

/// When all that is left scores 0, the list is filled with the first labels by number that do not score more.
void Searcher::add_unscored(const Scope& scope) {
  auto& kept = own_.kept;
  kept.erase(std::remove_if(kept.begin(), kept.end(), [](const Kept& label) { return label.shown == 0.0f; }), kept.end());
  std::vector<int32_t> taken;
  for (const Kept& label : kept) taken.push_back(label.label);
  std::sort(taken.begin(), taken.end());
  auto next = taken.begin();
  for (int32_t label = 0; label < n_labels_ && static_cast<int64_t>(kept.size()) < scope.k; ++label) {
    if (next != taken.end() && *next == label) ++next;
    else if (allows_label(label, scope)) kept.push_back({0.0f, kShownAsZero, label});
  }
}

}  // namespace longtail
