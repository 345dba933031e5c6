// The beam for many queries at once, node by node: all queries that open a node at the same step do it one after the
// other, so that the node's classifiers come from memory once, not once for each query. The nodes are those that each query
// would open on its own: results are the same.
#pragma once

#include <functional>

#include "linear/search.hpp"

namespace longtail {

/// The memory of one thread.
class BatchBeam {
 public:
  BatchBeam(const std::vector<TreeView>& trees, int64_t n_labels, const SearchParams& params)
      : trees_(trees), searcher_(trees, n_labels, params) {}

  /// Answers queries, tree after tree. take(i, found, opened) is called once for each.
  void run(const std::vector<Query>& queries,
           const std::function<void(int64_t, const std::vector<Found>&, int64_t)>& take);

 private:
  /// A query and the node that it opens next.
  struct Visit {
    Found node;
    int32_t query;
  };
  void search_tree(const TreeView& tree, const std::vector<Query>& queries);
  void open_level(const LevelView& level, const std::vector<Query>& queries);
  void sort_visits(size_t n_chunks);
  void open_all(const LevelView& level, const std::vector<Query>& queries);

  const std::vector<TreeView>& trees_;
  Searcher searcher_;
  std::vector<QueryState> states_;
  // Of several trees: what each query has from the trees so far.
  std::vector<std::vector<Found>> kept_;
  std::vector<int64_t> opened_;
  std::vector<Visit> visits_, sorted_;
  std::vector<int32_t> active_, still_active_;
  std::vector<int64_t> ends_;
};

}  // namespace longtail
