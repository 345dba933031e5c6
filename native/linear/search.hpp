// From a query to its best labels: beam search over one tree or several.
//
// Scores of a path never rise when node and label scores are of a kind that is never positive. Then a node, or a child
// on its way into the frontier, that scores below the k-th label found cannot change the result and is left out: the
// list is the same as without the bound.
#pragma once

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

struct SearchParams {
  int32_t k = 5;
  int64_t beam = 10;  // nodes kept per level
  ScoreKind node_score = ScoreKind::hinge;
  ScoreKind label_score = ScoreKind::hinge;
  int power = 3;
  /// Without the bound every node of the beam is opened (raw scores; or to test that the bound changes nothing).
  bool bound = true;
  /// How many labels each of several trees hands to the average.
  int32_t per_tree = 100;
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

/// The memory of one thread, kept from query to query.
class Searcher {
 public:
  Searcher(const std::vector<TreeView>& trees, int64_t n_labels, const SearchParams& params);

  /// The best labels, best first; scores are exponentials of path sums (raw: the sums themselves), averaged over trees.
  const std::vector<Found>& run(const Query& query, const Allowed& allowed);
  /// The chunks of the level after the last one of tree 0 that the beam would open, best first.
  const std::vector<Found>& last_frontier(const Query& query);
  int64_t opened() const { return opened_; }

 private:
  void search_tree(size_t tree, const Query& query, bool restricted, bool excluding, int32_t k);
  void open_chunk(const LevelView& level, size_t depth, const Found& node, const Query& query, bool restricted,
                  bool excluding, int32_t k);
  void offer(float score, int32_t label, int32_t k);
  void mark_allowed(const TreeView& tree, const Allowed& allowed);
  void average(int32_t k);
  float bound(int32_t k) const;

  const std::vector<TreeView>& trees_;
  const int64_t n_labels_;
  const SearchParams params_;
  const ScoreKernels kernels_;
  bool bounded_;
  int64_t opened_ = 0;
  std::vector<float> scores_;
  std::vector<Hit> hits_;
  std::vector<int32_t> chosen_;
  std::vector<Found> frontier_, next_, found_, all_;  // in the frontier, `label` is a chunk
  std::vector<uint32_t> label_mark_, exclude_mark_;
  std::vector<std::vector<uint32_t>> chunk_mark_;
  uint32_t mark_ = 0;
};

/// exp, the same bits everywhere.
float exp_score(float x);

}  // namespace longtail
