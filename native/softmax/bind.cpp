// longtail._native.softmax: training of a hierarchical softmax, and the predictor.
#include <algorithm>

#include "core/python.hpp"
#include "softmax/predictor.hpp"
#include "softmax/train.hpp"

namespace longtail {

namespace {

SearchMode mode_of(const std::string& name) {
  if (name == "exact") return SearchMode::exact;
  if (name == "budget") return SearchMode::budget;
  if (name == "beam") return SearchMode::beam;
  throw std::invalid_argument("searches are exact, budget or beam, got " + name);
}

void check_vectors(const Out<float, 2>& vectors, int64_t n_rows, int64_t stride) {
  if (static_cast<int64_t>(vectors.shape(0)) != n_rows || static_cast<int64_t>(vectors.shape(1)) != stride ||
      stride < 16 || stride % 16 != 0)
    throw std::invalid_argument("the vectors do not fit");
}

/// IN OUT: input [features][stride], output [vectors][stride]. OUT: (sum of losses, examples that took a step).
nb::tuple train(Out<float, 2> input, Out<float, 2> output, In<int64_t> child_ptr, In<int32_t> child, int64_t n_labels,
                nb::object x_indptr, In<int32_t> x_indices, In<float> x_data, nb::object y_indptr,
                In<int32_t> y_indices, nb::object weight, float rate_begin, float rate_end, uint64_t seed, int threads,
                nb::object report) {
  const DecisionsArg decisions(child_ptr, child, n_labels);
  const auto stride = static_cast<int64_t>(input.shape(1)), n_features = static_cast<int64_t>(input.shape(0));
  check_vectors(input, n_features, stride);
  check_vectors(output, decisions.tree.n_vectors(), stride);
  const CsrArg x(std::move(x_indptr), x_indices, x_data, n_features);
  const CsrArg y(std::move(y_indptr), y_indices, n_labels);
  if (x.view().n_rows != y.view().n_rows) throw std::invalid_argument("X and Y have different numbers of rows");
  if (x.view().n_rows > INT32_MAX) throw std::invalid_argument("more than 2^31 rows");
  SgdJob job;
  In<float> weights;
  if (!weight.is_none()) {
    weights = nb::cast<In<float>>(weight);
    if (static_cast<int64_t>(weights.shape(0)) != x.view().n_rows) throw std::invalid_argument("one weight per row");
    job.weight = weights.data();
  }
  job.x = x.view();
  job.y = y.view();
  job.tree = &decisions.tree;
  job.input = input.data();
  job.output = output.data();
  job.stride = stride;
  job.rate_begin = rate_begin;
  job.rate_end = rate_end;
  job.seed = seed;
  WatchPython watch(report);
  SgdLoss loss;
  {
    GilRelease release;
    loss = train_epoch(job, std::max(threads, 1), watch.get());
  }
  return nb::make_tuple(loss.sum, loss.steps);
}

}  // namespace

void bind_softmax(nb::module_& m) {
  using namespace nb::literals;
  m.def(
      "fill_uniform",
      [](Out<float, 2> rows, int64_t dim, float bound, uint64_t seed, int threads) {
        const auto n = static_cast<int64_t>(rows.shape(0)), stride = static_cast<int64_t>(rows.shape(1));
        if (dim < 0 || dim > stride) throw std::invalid_argument("the vectors do not fit");
        GilRelease release;
        fill_uniform(rows.data(), n, dim, stride, bound, seed, std::max(threads, 1));
      },
      "rows"_a, "dim"_a, "bound"_a, "seed"_a, "threads"_a);
  m.def("train_epoch", &train, nb::kw_only(), "input"_a, "output"_a, "child_ptr"_a, "child"_a, "n_labels"_a,
        "x_indptr"_a, "x_indices"_a, "x_data"_a, "y_indptr"_a, "y_indices"_a, "weight"_a.none(), "rate_begin"_a,
        "rate_end"_a, "seed"_a, "threads"_a, "report"_a.none());

  nb::class_<SoftmaxQuery>(m, "Query")
      .def(
          "__init__",
          [](SoftmaxQuery* self, const std::string& search, int32_t k, int64_t beam, int64_t max_nodes, int64_t max_ns,
             float slack, nb::object only_ptr, nb::object only, nb::object exclude_ptr, nb::object exclude, int threads) {
            if (k < 1 || beam < 1 || max_nodes < 0 || max_ns < 0 || !(slack >= 0.0f))
              throw std::invalid_argument("the query is out of bounds");
            TreeSearchParams params;
            params.mode = mode_of(search);
            params.k = k;
            params.beam = beam;
            params.max_nodes = max_nodes;
            params.max_ns = max_ns;
            params.slack = slack;
            new (self) SoftmaxQuery{params, std::move(only_ptr), std::move(only), std::move(exclude_ptr),
                                    std::move(exclude), std::max(threads, 1)};
          },
          nb::kw_only(), "search"_a, "k"_a, "beam"_a, "max_nodes"_a, "max_ns"_a, "slack"_a, "only_ptr"_a.none() = nb::none(),
          "only"_a.none() = nb::none(), "exclude_ptr"_a.none() = nb::none(), "exclude"_a.none() = nb::none(),
          "threads"_a = 1);

  nb::class_<SoftmaxPredictor>(m, "Predictor")
      .def(nb::init<In<int64_t>, In<int32_t>, int64_t, nb::object, nb::object, nb::object, nb::object,
                    const std::string&>(),
           "child_ptr"_a, "child"_a, "n_labels"_a, "input"_a, "input_scale"_a.none(), "output"_a,
           "output_scale"_a.none(), "type"_a)
      .def("predict", &SoftmaxPredictor::predict, "indptr"_a, "indices"_a, "data"_a, "query"_a)
      .def("hidden", &SoftmaxPredictor::hidden, "indptr"_a, "indices"_a, "data"_a, "threads"_a);
}

}  // namespace longtail
