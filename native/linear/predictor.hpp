// Trained trees as one object that answers queries; a call from Python passes a few arrays.
#pragma once

#include <memory>
#include <mutex>

#include "core/python.hpp"
#include "linear/level_arrays.hpp"
#include "linear/search.hpp"

namespace longtail {

class Predictor {
 public:
  /// trees: a list of lists of level dicts; rank: internal number of each feature or -1. Checks everything, rows of the
  /// classifiers only with `deep`. With `partial`, the last level may point to nodes that are not trained yet.
  Predictor(nb::list trees, In<int32_t> rank, int64_t n_internal, int64_t n_labels, const std::string& weights,
            bool deep, bool partial, int threads);

  struct Options {
    SearchParams search;
    nb::object only_ptr, only, exclude_ptr, exclude;  // arrays or None; one row for all queries or one each
    int threads = 1;
    nb::object report;
  };

  nb::tuple predict_sparse(nb::object indptr, In<int32_t> indices, In<float> data, const Options& options);
  nb::tuple predict_dense(In<float, 2> x, const Options& options);
  /// One sparse row, without any setting up; brought to length 1 with `unit`. OUT labels[1][k], scores[1][k], opened[1]. Gives false, and does nothing, if
  /// the row is not sorted, or has columns or values that it must not have: predict_sparse says what is wrong.
  bool predict_row(In<int32_t> indices, In<float> data, bool unit, const Options& options, Out<int32_t, 2> labels,
                   Out<float, 2> scores, Out<int32_t> opened);
  /// For each row the chunks of the level after the last that its beam would open: (indptr, chunks).
  nb::tuple frontier_sparse(nb::object indptr, In<int32_t> indices, In<float> data, const Options& options);
  nb::tuple frontier_dense(In<float, 2> x, const Options& options);
  /// Margins of all children of a chunk for one query, and the path to a label, for explanations.
  nb::list path(int64_t tree, int64_t label) const;
  nb::tuple child_weights(int64_t tree, int64_t level, int64_t chunk, int64_t child) const;
  nb::list repacked(const std::string& weights, int threads) const;

  int64_t n_features() const { return static_cast<int64_t>(rank_.shape(0)); }

 private:
  void build_tree(size_t t, bool partial);
  std::unique_ptr<Searcher> borrow(const SearchParams& params);
  void give_back(std::unique_ptr<Searcher> searcher);

  template <class Fill>
  nb::tuple predict(int64_t n, const Options& options, const Fill& fill);
  template <class Fill>
  nb::tuple frontier(int64_t n, const Options& options, const Fill& fill);

  std::vector<std::vector<PythonLevel>> levels_;
  std::vector<TreeView> trees_;
  In<int32_t> rank_;
  int64_t n_internal_, n_labels_;
  ValueType type_;

  // A searcher used by single queries is kept for the next one.
  std::mutex spare_mutex_;
  std::unique_ptr<Searcher> spare_;
};

}  // namespace longtail
