#include <nanobind/stl/optional.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "core/python.hpp"
#include "metrics/lists.hpp"
#include "metrics/measure.hpp"

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

/// Checks that every row of a pattern rises, as the search in it needs.
void require_rising(const CsrView& m, const char* what) {
  for (int64_t i = 0; i < m.n_rows; ++i)
    for (int64_t p = m.indptr[i] + 1; p < m.indptr[i + 1]; ++p) require(m.indices[p - 1] < m.indices[p], what);
}

std::vector<int32_t> checked_ks(In<int32_t> ks) {
  std::vector<int32_t> list(ks.data(), ks.data() + ks.shape(0));
  require(!list.empty() && list.front() >= 1 && list.back() <= 1 << 20, "measure: ks must be in [1, 2^20]");
  for (size_t q = 1; q < list.size(); ++q) require(list[q - 1] < list[q], "measure: ks must rise");
  return list;
}

using Counts = std::optional<Out<int32_t, 2>>;

void bind_measure(In<int32_t, 2> labels, nb::object indptr, In<int32_t> indices, int64_t n_labels,
                  nb::object exclude_indptr, std::optional<In<int32_t>> exclude_indices,
                  std::optional<In<double>> weights, In<int32_t> ks, In<int32_t> wanted, bool skip_empty, int threads,
                  Out<double, 2> sums, Out<int32_t> n_true, std::optional<Out<double, 2>> row_values, Counts hits,
                  Counts predicted, std::optional<Out<int32_t>> truths) {
  const CsrArg truth_arg(std::move(indptr), indices, n_labels);
  MeasureInput in;
  in.truth = truth_arg.view();
  require_rising(in.truth, "measure: the columns of each row of the truth must rise");
  const auto rows = static_cast<size_t>(in.truth.n_rows);
  require(rows < INT32_MAX, "measure: there must be fewer than 2^31 rows");
  require(labels.shape(0) == rows && n_true.shape(0) == rows, "measure: lists and truth differ in rows");
  in.labels = labels.data();
  in.width = static_cast<int64_t>(labels.shape(1));
  int32_t largest = -1;
  for (size_t p = 0; p < labels.size(); ++p) largest = std::max(largest, labels.data()[p]);
  require(largest < n_labels, "measure: a list has a label that the truth has not");
  std::unique_ptr<CsrArg> exclude_arg;
  CsrView exclude;
  if (exclude_indices.has_value()) {
    exclude_arg = std::make_unique<CsrArg>(std::move(exclude_indptr), *exclude_indices, n_labels);
    exclude = exclude_arg->view();
    require(exclude.n_rows == in.truth.n_rows, "measure: excluded labels and truth differ in rows");
    require_rising(exclude, "measure: the columns of each row of the excluded labels must rise");
    in.exclude = &exclude;
  }
  in.ks = checked_ks(ks);
  in.skip_empty = skip_empty;
  const size_t values = weights.has_value() ? kAllRowValues : kPlainRowValues;
  if (weights.has_value()) {
    require(weights->shape(0) == static_cast<size_t>(n_labels), "measure: one weight per label is needed");
    in.weights = weights->data();
  }
  require(sums.shape(0) == values && sums.shape(1) == in.ks.size(), "measure: sums has the wrong shape");
  in.wanted.assign(wanted.data(), wanted.data() + wanted.shape(0));
  for (const int32_t column : in.wanted)
    require(column >= 0 && static_cast<size_t>(column) < values * in.ks.size(), "measure: no such column");
  MeasureOutput out;
  out.sums = sums.data();
  out.n_true = n_true.data();
  if (row_values.has_value()) {
    require(row_values->shape(0) == rows && row_values->shape(1) == in.wanted.size(),
            "measure: row_values has the wrong shape");
    out.row_values = row_values->data();
  }
  if (hits.has_value()) {
    require(predicted.has_value() && truths.has_value(), "measure: all three counts are needed, or none");
    for (const auto& counts : {*hits, *predicted})
      require(counts.shape(0) == in.ks.size() && counts.shape(1) == static_cast<size_t>(n_labels),
              "measure: counts have the wrong shape");
    require(truths->shape(0) == static_cast<size_t>(n_labels), "measure: counts have the wrong shape");
    out.hits = hits->data();
    out.predicted = predicted->data();
    out.truths = truths->data();
  }
  GilRelease release;
  measure(in, out, threads);
}

void bind_bootstrap(In<double, 2> values, uint64_t seed, Out<double, 2> sums, int threads) {
  require(values.shape(0) > 0 && values.shape(0) < UINT32_MAX, "bootstrap_sums: the number of rows must be in [1, 2^32)");
  require(values.shape(1) == sums.shape(1), "bootstrap_sums: values and sums differ in columns");
  GilRelease release;
  bootstrap_sums(values.data(), static_cast<int64_t>(values.shape(0)), static_cast<int64_t>(values.shape(1)),
                 static_cast<int64_t>(sums.shape(0)), seed, threads, sums.data());
}

/// An array argument: one of another dtype is refused, not converted (an output would be a copy that nobody sees).
auto array(const char* name) { return nb::arg(name).noconvert(); }

}  // namespace

void bind_metrics(nb::module_& m) {
  m.def("check_lists", &bind_check_lists, array("labels"), array("scores").none(), nb::arg("n_labels"),
        nb::arg("threads"), "(fault, row, column) of the first fault in ranked lists; see metrics/lists.hpp.");
  m.def("top_k", &bind_top_k, nb::arg("indptr"), array("indices"), array("data"), nb::arg("n_cols"),
        array("labels"), array("scores"), nb::arg("threads"),
        "OUT labels, scores: the best stored entries of each row of a CSR matrix.");
  m.def("measure", &bind_measure, array("labels"), nb::arg("indptr"), array("indices"), nb::arg("n_labels"),
        nb::arg("exclude_indptr").none(), array("exclude_indices").none(), array("weights").none(), array("ks"),
        array("wanted"), nb::arg("skip_empty"), nb::arg("threads"), array("sums"), array("n_true"),
        array("row_values").none(), array("hits").none(), array("predicted").none(), array("truths").none(),
        "OUT sums, n_true, row_values, hits, predicted, truths: see metrics/measure.hpp.");
  m.def("bootstrap_sums", &bind_bootstrap, array("values"), nb::arg("seed"), array("sums"), nb::arg("threads"),
        "OUT sums: of the rows of each resample; see metrics/measure.hpp.");
}

}  // namespace longtail
