#include "linear/batch.hpp"

#include <algorithm>

#include "core/bits.hpp"

namespace longtail {

void BatchBeam::run(const std::vector<Query>& queries,
                    const std::function<void(int64_t, const std::vector<Found>&, int64_t)>& take) {
  if (states_.size() < queries.size()) states_.resize(queries.size());
  for (const Query& query : queries) searcher_.make_room(query);
  if (trees_.size() == 1) {
    search_tree(trees_[0], queries);
    for (size_t i = 0; i < queries.size(); ++i)
      take(static_cast<int64_t>(i), searcher_.finish(states_[i]), states_[i].opened);
    return;
  }
  if (kept_.size() < queries.size()) kept_.resize(queries.size());
  for (auto& kept : kept_) kept.clear();
  opened_.assign(queries.size(), 0);
  for (const TreeView& tree : trees_) {
    search_tree(tree, queries);
    for (size_t i = 0; i < queries.size(); ++i) {
      for (const Kept& label : states_[i].kept) kept_[i].push_back({label.shown, label.label});
      opened_[i] += states_[i].opened;
    }
  }
  for (size_t i = 0; i < queries.size(); ++i) take(static_cast<int64_t>(i), searcher_.average(kept_[i]), opened_[i]);
}

void BatchBeam::search_tree(const TreeView& tree, const std::vector<Query>& queries) {
  active_.clear();
  for (size_t i = 0; i < queries.size(); ++i) {
    searcher_.start_beam(tree, states_[i]);
    active_.push_back(static_cast<int32_t>(i));
  }
  for (const LevelView& level : tree.levels) {
    if (active_.empty()) return;
    open_level(level, queries);
    still_active_.clear();
    for (const int32_t i : active_) {
      QueryState& state = states_[static_cast<size_t>(i)];
      searcher_.end_level(state);
      if (!state.frontier.empty()) still_active_.push_back(i);
    }
    active_.swap(still_active_);
  }
}

void BatchBeam::open_level(const LevelView& level, const std::vector<Query>& queries) {
  for (size_t begin = 0, end = 1;; begin = end, end = searcher_.next_step(end)) {
    visits_.clear();
    for (const int32_t i : active_) {
      const QueryState& state = states_[static_cast<size_t>(i)];
      for (size_t at = begin; at < std::min(end, state.frontier.size()); ++at) {
        if (!searcher_.can_enter(state, state.frontier[at].score)) break;  // the frontier is sorted
        visits_.push_back({state.frontier[at], i});
      }
    }
    if (visits_.empty()) return;
    sort_visits(static_cast<size_t>(level.n_chunks));
    open_all(level, queries);
  }
}

/// OUT sorted_: by node, the queries of a node in their order. A counting sort.
void BatchBeam::sort_visits(size_t n_chunks) {
  ends_.assign(n_chunks + 1, 0);
  for (const Visit& visit : visits_) ++ends_[static_cast<size_t>(visit.node.label) + 1];
  for (size_t c = 0; c + 1 < ends_.size(); ++c) ends_[c + 1] += ends_[c];
  sorted_.resize(visits_.size());
  for (const Visit& visit : visits_) sorted_[static_cast<size_t>(ends_[static_cast<size_t>(visit.node.label)]++)] = visit;
}

void BatchBeam::open_all(const LevelView& level, const std::vector<Query>& queries) {
  const auto query_of = [&](size_t v) -> const Query& { return queries[static_cast<size_t>(sorted_[v].query)]; };
  searcher_.find_next(level, sorted_[0].node.label, query_of(0));
  searcher_.locate_next(level, sorted_[0].node.label);
  for (size_t v = 0; v < sorted_.size(); ++v) {
    const bool more = v + 1 < sorted_.size();
    if (v + 2 < sorted_.size()) {  // the query may lie anywhere
      const Query& query = query_of(v + 2);
      for (int64_t p = 0; p < query.n; p += 16) {
        prefetch(query.feature + p);
        prefetch(query.value + p);
      }
      prefetch(&states_[static_cast<size_t>(sorted_[v + 2].query)]);
    }
    if (more) searcher_.find_next(level, sorted_[v + 1].node.label, query_of(v + 1));
    searcher_.open_node(level, sorted_[v].node, states_[static_cast<size_t>(sorted_[v].query)]);
    if (more) searcher_.locate_next(level, sorted_[v + 1].node.label);
  }
}

}  // namespace longtail
