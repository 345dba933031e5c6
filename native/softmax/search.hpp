// From a hidden vector to its best labels.
//
// The score of a label is the sum of log-probabilities on its way; it never rises on the way down. So a node's score
// bounds all labels under it, and a node that scores below the k-th label found cannot change the result.
//
//   exact   best first: the node with the best score is opened next, until the bound says that nothing better is left
//   budget  the same, until so many nodes are opened, or so much time has passed
//   beam    level by level, the best so many nodes of each; the bound applies too
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "softmax/decisions.hpp"
#include "softmax/vectors.hpp"

namespace longtail {

enum class SearchMode : int { exact = 0, budget = 1, beam = 2 };

struct TreeSearchParams {
  SearchMode mode = SearchMode::exact;
  int32_t k = 5;
  int64_t beam = 10;
  int64_t max_nodes = 0;  // mode budget: nodes opened at most, and time taken; 0: no limit
  int64_t max_ns = 0;
  float slack = 0.0f;   // a node is opened only if it may hold a label whose score is better by more than this
};

struct ScoredLabel {
  float score;
  int32_t label;
};

/// Labels that a query allows, or forbids; none if null.
struct LabelFilter {
  const int32_t* only = nullptr;
  int64_t n_only = -1;  // -1: all labels
  const int32_t* exclude = nullptr;
  int64_t n_exclude = 0;
};

/// The memory of one thread, kept from query to query.
class TreeSearcher {
 public:
  TreeSearcher(const Decisions& tree, const VectorTable& output);

  /// The best labels, best first, with probabilities; ties by rising label. `hidden` has output.stride floats.
  const std::vector<ScoredLabel>& run(const float* hidden, const TreeSearchParams& params, const LabelFilter& filter);
  /// Nodes opened for the last query.
  int64_t opened() const { return opened_; }

 private:
  struct Open {
    float score;
    int32_t decision;
  };
  static bool opens_later(const Open& a, const Open& b) {
    return a.score < b.score || (a.score == b.score && a.decision > b.decision);
  }
  void mark(const LabelFilter& filter);
  void best_first();
  bool spent() const;
  void by_level();
  void open(const Open& node, bool into_heap);
  void offer(float score, int32_t label);
  bool out_of_reach(float score) const;
  void to_probabilities();

  const Decisions& tree_;
  const VectorTable& output_;
  const VectorKernels& kernels_;
  TreeSearchParams params_;
  const float* hidden_ = nullptr;
  int64_t max_nodes_ = 0, max_ns_ = 0;  // of this query; 0: no limit
  std::chrono::steady_clock::time_point deadline_;
  bool restricted_ = false, excluding_ = false;
  int64_t opened_ = 0;
  std::vector<float> margin_, log_p_;
  std::vector<Open> frontier_, next_;  // best first: a heap in frontier_
  std::vector<ScoredLabel> found_;     // a heap with the worst on top, until the search is over
  std::vector<uint32_t> label_mark_, exclude_mark_, decision_mark_;
  uint32_t mark_ = 0;
};

}  // namespace longtail
