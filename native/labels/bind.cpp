#include "core/python.hpp"
#include "labels/heads.hpp"
#include "labels/pifa.hpp"
#include "labels/transpose.hpp"

namespace longtail {

namespace {

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> give(std::unique_ptr<T[]> values, size_t n) {
  T* data = values.release();
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {n}, owner);
}

nb::object transpose(nb::object indptr, In<int32_t> indices, int64_t n_cols) {
  CsrArg y(std::move(indptr), indices, n_cols);
  std::vector<int64_t> starts;
  std::vector<int32_t> rows;
  {
    GilRelease release;
    transpose_pattern(y.view(), starts, rows);
  }
  return nb::make_tuple(to_numpy(std::move(starts)), to_numpy(std::move(rows)));
}

/// Y by labels, checked against the rows of X.
struct LabelRows {
  std::vector<int64_t> indptr;
  std::vector<int32_t> rows;
  LabelRows(const CsrView& y, int64_t n_rows) {
    if (y.n_rows != n_rows) throw std::invalid_argument("pifa: X and Y differ in rows");
    transpose_pattern(y, indptr, rows);
  }
  RowsOfLabels view() const { return {static_cast<int64_t>(indptr.size()) - 1, indptr.data(), rows.data()}; }
};

const float* weights_of(const nb::object& weights, In<float>& keep, int64_t n_rows) {
  if (weights.is_none()) return nullptr;
  keep = nb::cast<In<float>>(weights);
  if (static_cast<int64_t>(keep.shape(0)) != n_rows) throw std::invalid_argument("pifa: one weight per row of X");
  return keep.data();
}

nb::object pifa_csr(nb::object x_indptr, In<int32_t> x_indices, In<float> x_data, int64_t n_features,
                    nb::object y_indptr, In<int32_t> y_indices, int64_t n_labels, nb::object weights, int threads,
                    nb::object report) {
  CsrArg x(std::move(x_indptr), x_indices, x_data, n_features);
  CsrArg y(std::move(y_indptr), y_indices, n_labels);
  In<float> keep;
  const float* w = weights_of(weights, keep, x.view().n_rows);
  WatchPython watch(std::move(report));
  OwnedCsr out;
  {
    GilRelease release;
    const LabelRows rows(y.view(), x.view().n_rows);
    out = pifa_sparse(x.view(), rows.view(), w, threads, watch.get());
  }
  const auto nnz = static_cast<size_t>(out.indptr.back());
  return nb::make_tuple(to_numpy(std::move(out.indptr)), give(std::move(out.indices), nnz),
                        give(std::move(out.data), nnz));
}

nb::object pifa_matrix(In<float, 2> x, nb::object y_indptr, In<int32_t> y_indices, int64_t n_labels,
                       nb::object weights, int threads, nb::object report) {
  CsrArg y(std::move(y_indptr), y_indices, n_labels);
  const auto n_rows = static_cast<int64_t>(x.shape(0)), n_cols = static_cast<int64_t>(x.shape(1));
  In<float> keep;
  const float* w = weights_of(weights, keep, n_rows);
  WatchPython watch(std::move(report));
  std::vector<float> out;
  {
    GilRelease release;
    const LabelRows rows(y.view(), n_rows);
    out.resize(static_cast<size_t>(n_labels * n_cols));
    pifa_dense(x.data(), n_rows, n_cols, rows.view(), w, out.data(), threads, watch.get());
  }
  return nb::cast(to_numpy(std::move(out), static_cast<size_t>(n_labels), static_cast<size_t>(n_cols)));
}

nb::object greedy(nb::object indptr, In<int32_t> indices, int64_t n_labels, In<double> weights) {
  CsrArg y(std::move(indptr), indices, n_labels);
  if (static_cast<int64_t>(weights.shape(0)) != y.view().n_rows)
    throw std::invalid_argument("greedy_heads: one weight per row");
  std::vector<double> out;
  {
    GilRelease release;
    out = greedy_heads(y.view(), weights.data());
  }
  return nb::cast(to_numpy(std::move(out)));
}

}  // namespace

void bind_labels(nb::module_& m) {
  using namespace nb::literals;
  m.def("transpose", &transpose, "indptr"_a, "indices"_a, "n_cols"_a,
        "(indptr int64, rows int32) of the pattern by columns; rows rise within a column.");
  m.def("pifa_csr", &pifa_csr, "x_indptr"_a, "x_indices"_a, "x_data"_a, "n_features"_a, "y_indptr"_a, "y_indices"_a,
        "n_labels"_a, "weights"_a.none(), "threads"_a, "report"_a.none(),
        "(indptr int64, indices int32, data float32) of the embeddings, labels by features.");
  m.def("pifa_dense", &pifa_matrix, "x"_a, "y_indptr"_a, "y_indices"_a, "n_labels"_a, "weights"_a.none(), "threads"_a,
        "report"_a.none(), "The embeddings as a labels × features array.");
  m.def("greedy_heads", &greedy, "indptr"_a, "indices"_a, "n_labels"_a, "weights"_a,
        "What each label gets when, again and again, the one with the most weight left takes its rows.");
}

}  // namespace longtail
