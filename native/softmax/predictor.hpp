// A trained hierarchical softmax that answers queries: checked arrays, threads, label filters.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/python.hpp"
#include "softmax/search.hpp"

namespace longtail {

/// The children of all decisions as Python gives them.
struct DecisionsArg {
  DecisionsArg(In<int64_t> child_ptr, In<int32_t> child, int64_t n_labels);
  In<int64_t> child_ptr;
  In<int32_t> child;
  Decisions tree;
};

/// Stored vectors as Python gives them: [n][stride] of float32, uint16 (halves) or int8, the last with scales.
struct VectorsArg {
  VectorsArg(nb::object data, nb::object scale, VectorType type);
  VectorTable view;

 private:
  In<float, 2> f32_;
  In<uint16_t, 2> f16_;
  In<int8_t, 2> int8_;
  In<float> scale_;
};

struct SoftmaxQuery {
  TreeSearchParams search;
  nb::object only_ptr, only, exclude_ptr, exclude;
  int threads = 1;
};

class SoftmaxPredictor {
 public:
  SoftmaxPredictor(In<int64_t> child_ptr, In<int32_t> child, int64_t n_labels, nb::object input, nb::object input_scale,
                   nb::object output, nb::object output_scale, const std::string& type);

  /// (labels [n][k], scores [n][k], nodes opened [n]); rows with fewer labels end in -1 and -inf.
  nb::tuple predict(nb::object indptr, In<int32_t> indices, In<float> data, const SoftmaxQuery& query);
  /// Hidden vectors [n][stride].
  nb::ndarray<nb::numpy, float, nb::ndim<2>> hidden(nb::object indptr, In<int32_t> indices, In<float> data, int threads);

 private:
  std::unique_ptr<TreeSearcher> take_spare();
  void keep_spare(std::unique_ptr<TreeSearcher> searcher);

  DecisionsArg decisions_;
  VectorsArg input_, output_;
  std::mutex spare_mutex_;
  std::unique_ptr<TreeSearcher> spare_;  // the memory of the last small call
  Isa spare_isa_ = Isa::portable;
};

}  // namespace longtail
