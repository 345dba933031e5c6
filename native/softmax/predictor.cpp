#include "softmax/predictor.hpp"

#include <algorithm>
#include <limits>

#include "core/aligned.hpp"
#include "core/label_lists.hpp"

namespace longtail {

namespace {

constexpr int64_t kRowsPerTask = 64;

}  // namespace

DecisionsArg::DecisionsArg(In<int64_t> child_ptr_, In<int32_t> child_, int64_t n_labels)
    : child_ptr(child_ptr_),
      child(child_),
      tree(child_ptr_.data(), static_cast<int64_t>(child_ptr_.shape(0)) - 1, child_.data(),
           static_cast<int64_t>(child_.shape(0)), n_labels) {}

VectorsArg::VectorsArg(nb::object data, nb::object scale, VectorType type) {
  const auto take = [&](const auto& array) {
    view.data = array.data();
    view.n_rows = static_cast<int64_t>(array.shape(0));
    view.stride = static_cast<int64_t>(array.shape(1));
  };
  view.type = type;
  if (type == VectorType::f32) take(f32_ = nb::cast<In<float, 2>>(data));
  if (type == VectorType::f16) take(f16_ = nb::cast<In<uint16_t, 2>>(data));
  if (type == VectorType::int8) take(int8_ = nb::cast<In<int8_t, 2>>(data));
  if (view.stride < 16 || view.stride % 16 != 0) throw std::invalid_argument("vectors must have a multiple of 16 places");
  if (view.n_rows > INT32_MAX) throw std::invalid_argument("there are more than 2^31 vectors");
  if ((type == VectorType::int8) == scale.is_none()) throw std::invalid_argument("int8 vectors, and only they, have scales");
  if (scale.is_none()) return;
  scale_ = nb::cast<In<float>>(scale);
  if (static_cast<int64_t>(scale_.shape(0)) != view.n_rows) throw std::invalid_argument("every vector needs a scale");
  view.scale = scale_.data();
}

SoftmaxPredictor::SoftmaxPredictor(In<int64_t> child_ptr, In<int32_t> child, int64_t n_labels, nb::object input,
                                   nb::object input_scale, nb::object output, nb::object output_scale,
                                   const std::string& type)
    : decisions_(child_ptr, child, n_labels),
      input_(std::move(input), std::move(input_scale), vector_type_of(type)),
      output_(std::move(output), std::move(output_scale), vector_type_of(type)) {
  if (output_.view.n_rows != decisions_.tree.n_vectors() || output_.view.stride != input_.view.stride)
    throw std::invalid_argument("the vectors do not fit the tree or each other");
}

std::unique_ptr<TreeSearcher> SoftmaxPredictor::take_spare() {
  const Isa isa = active_isa();
  std::lock_guard<std::mutex> lock(spare_mutex_);
  if (spare_ && spare_isa_ == isa) return std::move(spare_);
  spare_isa_ = isa;
  return std::make_unique<TreeSearcher>(decisions_.tree, output_.view);
}

void SoftmaxPredictor::keep_spare(std::unique_ptr<TreeSearcher> searcher) {
  std::lock_guard<std::mutex> lock(spare_mutex_);
  spare_ = std::move(searcher);
}

nb::tuple SoftmaxPredictor::predict(nb::object indptr, In<int32_t> indices, In<float> data, const SoftmaxQuery& query) {
  const CsrArg arg(std::move(indptr), indices, data, input_.view.n_rows);
  const CsrView x = arg.view();
  const int64_t n = x.n_rows, n_labels = decisions_.tree.n_labels();
  if (query.search.k > n_labels) throw std::invalid_argument("k is more than there are labels");
  const auto k = static_cast<size_t>(query.search.k);
  const LabelLists only(query.only_ptr, query.only, n, n_labels, "only");
  const LabelLists exclude(query.exclude_ptr, query.exclude, n, n_labels, "exclude");
  std::vector<int32_t> labels(static_cast<size_t>(n) * k, -1);
  std::vector<float> scores(static_cast<size_t>(n) * k, -std::numeric_limits<float>::infinity());
  std::vector<int32_t> opened(static_cast<size_t>(n), 0);
  const VectorKernels& kernels = LT_DISPATCH(vector_kernels);

  const auto answer = [&](int64_t i, TreeSearcher& searcher, AlignedFloats& memory) {
    float* hidden = memory.at_least(static_cast<size_t>(input_.view.stride));
    const int64_t begin = x.indptr[i];
    kernels.mean(input_.view, x.indices + begin, x.data + begin, x.row_nnz(i), hidden);
    LabelFilter filter;
    if (only.given()) filter.only = only.of(i, filter.n_only);
    if (exclude.given()) filter.exclude = exclude.of(i, filter.n_exclude);
    const std::vector<ScoredLabel>& found = searcher.run(hidden, query.search, filter);
    for (size_t j = 0; j < std::min(found.size(), k); ++j) {
      labels[static_cast<size_t>(i) * k + j] = found[j].label;
      scores[static_cast<size_t>(i) * k + j] = found[j].score;
    }
    opened[static_cast<size_t>(i)] = static_cast<int32_t>(std::min<int64_t>(searcher.opened(), INT32_MAX));
  };

  if (n <= kRowsPerTask) {  // few queries: no threads, and the memory of the call before
    std::unique_ptr<TreeSearcher> searcher = take_spare();
    {
      GilRelease release;
      AlignedFloats memory;
      for (int64_t i = 0; i < n; ++i) answer(i, *searcher, memory);
    }
    keep_spare(std::move(searcher));
  } else {
    WatchPython watch{nb::none()};
    std::vector<std::unique_ptr<TreeSearcher>> searchers(static_cast<size_t>(query.threads));
    std::vector<AlignedFloats> memories(static_cast<size_t>(query.threads));
    GilRelease release;
    parallel_blocks(
        n, kRowsPerTask, query.threads,
        [&](int64_t begin, int64_t end, int w) {
          auto& searcher = searchers[static_cast<size_t>(w)];
          if (!searcher) searcher = std::make_unique<TreeSearcher>(decisions_.tree, output_.view);
          for (int64_t i = begin; i < end; ++i) answer(i, *searcher, memories[static_cast<size_t>(w)]);
        },
        watch.get());
  }
  const auto rows = static_cast<size_t>(n);
  return nb::make_tuple(to_numpy(std::move(labels), rows, k), to_numpy(std::move(scores), rows, k),
                        to_numpy(std::move(opened)));
}

nb::ndarray<nb::numpy, float, nb::ndim<2>> SoftmaxPredictor::hidden(nb::object indptr, In<int32_t> indices,
                                                                    In<float> data, int threads) {
  const CsrArg arg(std::move(indptr), indices, data, input_.view.n_rows);
  const CsrView x = arg.view();
  const auto stride = static_cast<size_t>(input_.view.stride);
  std::vector<float> out(static_cast<size_t>(x.n_rows) * stride);
  {
    GilRelease release;
    const VectorKernels& kernels = LT_DISPATCH(vector_kernels);
    parallel_blocks(x.n_rows, kRowsPerTask, std::max(threads, 1), [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i)
        kernels.mean(input_.view, x.indices + x.indptr[i], x.data + x.indptr[i], x.row_nnz(i),
                     out.data() + static_cast<size_t>(i) * stride);
    });
  }
  return to_numpy(std::move(out), static_cast<size_t>(x.n_rows), stride);
}

}  // namespace longtail
