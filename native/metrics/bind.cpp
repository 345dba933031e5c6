#include <nanobind/stl/optional.h>

#include <optional>
#include <stdexcept>

#include "core/python.hpp"
#include "metrics/lists.hpp"

namespace longtail {

namespace {

void require(bool ok, const char* what) {
  if (!ok) throw std::invalid_argument(what);
}

nb::tuple bind_check_lists(In<int32_t, 2> labels, std::optional<In<float, 2>> scores, int64_t n_labels, int threads) {
  const auto rows = static_cast<int64_t>(labels.shape(0));
  const auto k = static_cast<int64_t>(labels.shape(1));
  if (scores.has_value())
    require(scores->shape(0) == labels.shape(0) && scores->shape(1) == labels.shape(1),
            "check_lists: labels and scores differ in shape");
  const float* values = scores.has_value() ? scores->data() : nullptr;
  ListFinding finding;
  {
    GilRelease release;
    finding = check_lists(labels.data(), values, rows, k, n_labels, threads);
  }
  return nb::make_tuple(static_cast<int>(finding.fault), finding.row, finding.column);
}

void bind_top_k(nb::object indptr, In<int32_t> indices, In<float> data, int64_t n_cols, Out<int32_t, 2> labels,
                Out<float, 2> scores, int threads) {
  const CsrArg matrix(std::move(indptr), indices, data, n_cols);
  const CsrView view = matrix.view();
  require(static_cast<int64_t>(labels.shape(0)) == view.n_rows && scores.shape(0) == labels.shape(0) &&
              scores.shape(1) == labels.shape(1),
          "top_k: the outputs do not fit the matrix");
  GilRelease release;
  top_k(view, static_cast<int64_t>(labels.shape(1)), threads, labels.data(), scores.data());
}

}  // namespace

void bind_metrics(nb::module_& m) {
  m.def("check_lists", &bind_check_lists, nb::arg("labels"), nb::arg("scores").none(), nb::arg("n_labels"),
        nb::arg("threads"), "(fault, row, column) of the first fault in ranked lists; see metrics/lists.hpp.");
  m.def("top_k", &bind_top_k, nb::arg("indptr"), nb::arg("indices"), nb::arg("data"), nb::arg("n_cols"),
        nb::arg("labels"), nb::arg("scores"), nb::arg("threads"),
        "OUT labels, scores: the best stored entries of each row of a CSR matrix.");
}

}  // namespace longtail
