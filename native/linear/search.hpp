// From a query to its best labels, over one tree or several.
//
// Scores of a path never rise when node and label scores are of a kind that is never positive. Then a node scores at
// least as high as everything under it, and one that scores below the k-th label found cannot change the result. The
// beam leaves such nodes out: the list is the same as without the bound. Best-first search (best_first.cpp,
// ensemble.cpp) opens the best node there is until none can change the result: the list is that of scoring all labels.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "core/csr.hpp"
#include "core/parallel.hpp"
#include "linear/score.hpp"

namespace longtail {

struct TreeView {
  std::vector<LevelView> levels;  // all chunks of level 0 are roots
  // The way up, for queries that name the labels they allow: where each label and chunk hangs.
  std::vector<int32_t> label_level, label_chunk;
  std::vector<std::vector<int32_t>> parent_chunk;  // [level][chunk]
};

enum class SearchKind : int { beam = 0, best_first = 1 };

struct SearchParams {
  int32_t k = 5;
  int64_t beam = 10;  // nodes kept per level
  ScoreKind node_score = ScoreKind::hinge;
  ScoreKind label_score = ScoreKind::hinge;
  int power = 3;
  /// Without the bound every node of the beam is opened (raw scores; or to test that the bound changes nothing).
  bool bound = true;
  /// How many labels each of several trees hands to the average (beam).
  int32_t per_tree = 100;
  SearchKind kind = SearchKind::beam;
  /// A label that the list misses for stopping early scores at most exp(slack) times the last label of the list.
  float slack = 0.0f;
  /// Best-first: a query stops when it has opened so many nodes, or has taken so long; 0: no limit.
  int64_t max_nodes = 0;
  int64_t max_ns = 0;
};

struct Found {
  float score;
  int32_t label;
};
inline bool better(const Found& a, const Found& b) {
  return a.score > b.score || (a.score == b.score && a.label < b.label);
}

/// Labels that a query allows, or forbids; none if null.
struct Allowed {
  const int32_t* only = nullptr;
  int64_t n_only = -1;  // -1: all labels
  const int32_t* exclude = nullptr;
  int64_t n_exclude = 0;
};

/// A label of the list so far: what is shown of it, and the path sum that this came from.
struct Kept {
  float shown, sum;
  int32_t label;
};

/// How far a query has come.
struct QueryState {
  std::vector<Kept> kept;               // a heap, the worst on top
  std::vector<Found> frontier, next;    // of this level and the one below; `label` is a chunk
  float threshold;                      // no label that scores less can enter the list
  float floor;                          // no node that scores less can be among the best of the level below
  int64_t opened;
  void start();
};

/// The rows of a chunk that a query has features for.
struct FoundRows {
  int64_t n = 0;
  std::vector<Hit> hits;
};

/// The memory of one thread, kept from query to query.
class Searcher {
 public:
  Searcher(const std::vector<TreeView>& trees, int64_t n_labels, const SearchParams& params);

  /// The best labels, best first; scores are exponentials of path sums (raw: the sums themselves), averaged over trees.
  const std::vector<Found>& run(const Query& query, const Allowed& allowed);
  /// The chunks of the level after the last one of tree 0 that the beam would open, best first.
  const std::vector<Found>& last_frontier(const Query& query);
  int64_t opened() const { return own_.opened; }
  const SearchParams& params() const { return params_; }

  // The beam step by step, for those who order the work of many queries themselves (batch.hpp).
  void start_beam(const TreeView& tree, QueryState& state) const;
  /// For queries of so many features.
  void make_room(const Query& query) {
    for (FoundRows* rows : {&rows_, &next_rows_})
      if (rows->hits.size() < static_cast<size_t>(query.n) + 1) rows->hits.resize(static_cast<size_t>(query.n) + 1);
  }
  /// Whether a node of the frontier could still change the list.
  bool can_enter(const QueryState& state, float score) const { return !(score < node_bound(state)); }
  // A node is opened in three steps, so that what it needs of memory is on its way while the one before is worked on:
  // find_next for the next node, open_node for this one, locate_next for the next one, which then is this one.
  void find_next(const LevelView& level, int64_t chunk, const Query& query) {
    next_rows_.n = kernels_.find(level, chunk, query, next_rows_.hits.data());
  }
  void locate_next(const LevelView& level, int64_t chunk) {
    kernels_.locate(level, chunk, next_rows_.hits.data(), next_rows_.n);
    std::swap(rows_, next_rows_);
  }
  void open_node(const LevelView& level, const Found& node, QueryState& state) {
    open_chunk(level, 0, node, {false, false, labels_per_tree()}, state);
  }
  /// The best of what is under the nodes that were opened becomes the frontier.
  void end_level(QueryState& state, bool restricted = false) const;
  /// Nodes of a frontier are opened in steps, each of which takes those that could still change the list when it began: the
  /// first one, two more, four more … Many queries so share the nodes of a step (batch.hpp), and a query on its own opens
  /// the same ones. Gives where the step ends that begins where the last one ended.
  static size_t next_step(size_t end) { return 2 * end + 1; }
  /// The list, best first. Uses up state.kept.
  const std::vector<Found>& finish(QueryState& state);
  /// How many labels are kept of a tree: of several, more than the list has, as the averages may put others on top.
  int32_t labels_per_tree() const { return trees_.size() == 1 ? params_.k : std::max(params_.k, params_.per_tree); }
  /// The list by average score, best first, from the labels that each tree kept. Changes the order of `kept`.
  const std::vector<Found>& average(std::vector<Found>& kept);

 private:
  /// A node that waits to be opened.
  struct Open {
    float score;
    int32_t level, chunk;
  };
  /// What a search is about beside its query.
  struct Scope {
    bool restricted, excluding;
    int32_t k;
  };
  /// What best-first search over several trees keeps of one tree: the heap, and the scores of all that was opened.
  struct TreeState {
    std::vector<Open> heap;
    std::vector<std::vector<uint32_t>> mark;     // [level][chunk]: opened in this query if it is the query's mark
    std::vector<std::vector<int64_t>> scores_at;  // [level][chunk]: where the scores of its children begin
    std::vector<float> scores;
  };

  void search_tree(size_t tree, const Query& query, const Scope& scope);
  /// Opens a chunk whose rows have been located.
  void open_chunk(const LevelView& level, size_t depth, const Found& node, const Scope& scope, QueryState& state);
  /// IN rows_, located. OUT scores_: of all children of a chunk whose own score is `above`.
  void score_located(const LevelView& level, int64_t chunk, float above);
  void score_children(const LevelView& level, int64_t chunk, float above, const Query& query) {
    find_next(level, chunk, query);
    locate_next(level, chunk);
    score_located(level, chunk, above);
  }
  bool allows_chunk(size_t tree, size_t level, int32_t chunk, const Scope& scope) const {
    return !scope.restricted || chunk_mark_[tree][level][static_cast<size_t>(chunk)] == mark_;
  }
  bool allows_label(int32_t label, const Scope& scope) const {
    return !(scope.restricted && label_mark_[static_cast<size_t>(label)] != mark_) &&
           !(scope.excluding && exclude_mark_[static_cast<size_t>(label)] == mark_);
  }
  void offer(float sum, int32_t label, int32_t k, QueryState& state) const;
  void trim(QueryState& state, size_t beam) const;
  bool keep_best(const Kept& candidate, int32_t k, QueryState& state) const;
  void mark_allowed(const Allowed& allowed);
  /// Nodes that score less are not worth opening.
  float node_bound(const QueryState& state) const { return state.threshold + params_.slack; }
  bool spent() const;

  // best_first.cpp
  static bool waits_behind(const Open& a, const Open& b);
  static void push_open(std::vector<Open>& heap, const Open& node);
  static Open pop_open(std::vector<Open>& heap);
  void best_first(const Query& query, const Scope& scope);
  void open_waiting(const Open& node, const Query& query, const Scope& scope);
  void add_unscored(const Scope& scope);
  // ensemble.cpp
  void best_first_trees(const Query& query, const Scope& scope);
  void start_tree(size_t t, const Scope& scope);
  void open_in(size_t t, const Open& node, const Query& query, const Scope& scope);
  size_t best_waiting();
  float best_candidate();
  bool offer_candidate(const Query& query, const Scope& scope);
  bool is_open(size_t t, int32_t label) const;
  float child_score(size_t t, size_t d, int32_t chunk, int32_t to) const;
  float known_score(size_t t, int32_t label) const;
  int64_t closed_on_path(size_t t, int32_t label) const;
  void open_path(size_t t, int32_t label, const Query& query, const Scope& scope);
  float mean_of_shares();

  const std::vector<TreeView>& trees_;
  const int64_t n_labels_;
  const SearchParams params_;
  const ScoreKernels kernels_;
  bool raw_, bounded_;
  std::chrono::steady_clock::time_point deadline_;
  QueryState own_;
  std::vector<float> scores_, margins_;
  FoundRows rows_, next_rows_;
  std::vector<int32_t> chosen_;
  std::vector<Found> found_, all_;
  std::vector<Open> heap_;
  std::vector<TreeState> states_;
  std::vector<Found> candidates_;  // a heap: labels whose average is not known yet, by its bound
  std::vector<float> ceilings_;    // of what has not been opened in each tree
  std::vector<float> shares_;      // of each tree in one average
  std::vector<int32_t> path_;
  size_t tree_ = 0;  // that the beam is in
  std::vector<uint32_t> label_mark_, exclude_mark_, seen_mark_;
  std::vector<std::vector<std::vector<uint32_t>>> chunk_mark_;  // [tree][level][chunk]
  uint32_t mark_ = 0;
};

/// exp, the same bits everywhere.
float exp_score(float x);

}  // namespace longtail
