// longtail._native.linear: training of one level of a tree, and the predictor.
#include <cmath>

#include "core/python.hpp"
#include "linear/features.hpp"
#include "linear/predictor.hpp"
#include "linear/train.hpp"
#include "trees/unit.hpp"

namespace longtail {

namespace {

ScoreKind score_kind_of(const std::string& name) {
  if (name == "hinge") return ScoreKind::hinge;
  if (name == "sigmoid") return ScoreKind::sigmoid;
  if (name == "raw") return ScoreKind::raw;
  throw std::invalid_argument("scores are hinge, sigmoid or raw, got " + name);
}

SearchParams search_params(int32_t k, int64_t beam, const std::string& node_score, const std::string& label_score,
                           int power, bool bound, int32_t per_tree, const std::string& kind, float slack,
                           int64_t max_nodes, int64_t max_ns) {
  if (k < 1 || beam < 1 || power < 1 || per_tree < 1) throw std::invalid_argument("k, beam and power must be positive");
  if (kind != "beam" && kind != "best_first") throw std::invalid_argument("the search is beam or best_first, got " + kind);
  if (!(slack >= 0.0f) || max_nodes < 0 || max_ns < 0)
    throw std::invalid_argument("slack, max_nodes and max_ns must not be negative");
  SearchParams p;
  p.k = k;
  p.beam = beam;
  p.node_score = score_kind_of(node_score);
  p.label_score = score_kind_of(label_score);
  p.power = power;
  p.bound = bound;
  p.per_tree = per_tree;
  p.kind = kind == "beam" ? SearchKind::beam : SearchKind::best_first;
  p.slack = slack;
  p.max_nodes = max_nodes;
  p.max_ns = max_ns;
  return p;
}

/// X as Python gives it: CSR arrays, or None, None and a dense matrix.
struct ExamplesArg {
  ExamplesArg(const nb::object& indptr, const nb::object& indices, const nb::object& data, int64_t n_features) {
    view.n_features = n_features;
    if (indptr.is_none()) {
      dense_ = nb::cast<In<float, 2>>(data);
      if (static_cast<int64_t>(dense_.shape(1)) != n_features)
        throw std::invalid_argument("X has " + std::to_string(dense_.shape(1)) + " columns, expected " +
                                    std::to_string(n_features) + ".");
      view.dense = true;
      view.values = dense_.data();
      view.n_rows = static_cast<int64_t>(dense_.shape(0));
    } else {
      sparse_ = std::make_unique<CsrArg>(indptr, nb::cast<In<int32_t>>(indices), nb::cast<In<float>>(data), n_features);
      view.sparse = sparse_->view();
      view.n_rows = view.sparse.n_rows;
    }
  }
  Examples view;

 private:
  std::unique_ptr<CsrArg> sparse_;
  In<float, 2> dense_;
};

/// OUT: (square norm of each row, internal number of each feature, how many features occur).
nb::tuple survey(nb::object indptr, nb::object indices, nb::object data, int64_t n_features, int threads) {
  const ExamplesArg x(indptr, indices, data, n_features);
  std::vector<float> norms;
  std::vector<int32_t> rank;
  int64_t n_internal = 0;
  {
    GilRelease release;
    norms = square_norms(x.view, threads);
    n_internal = rank_features(x.view, threads, rank);
  }
  return nb::make_tuple(to_numpy(std::move(norms)), to_numpy(std::move(rank)), n_internal);
}

/// IN: X. OUT: its values with every row at length 1, or None if they are so already.
nb::object unit_rows(nb::object indptr, nb::object indices, nb::object data, int64_t n_features, int threads) {
  const ExamplesArg x(indptr, indices, data, n_features);
  std::vector<float> values;
  {
    GilRelease release;
    values = x.view.dense ? unit_values(DenseView{x.view.n_rows, n_features, x.view.values}, threads)
                          : unit_values(x.view.sparse, threads);
  }
  if (values.empty()) return nb::none();
  if (!x.view.dense) return nb::cast(to_numpy(std::move(values)));
  return nb::cast(to_numpy(std::move(values), static_cast<size_t>(x.view.n_rows), static_cast<size_t>(n_features)));
}

/// One level of the plan as Python gives it, checked: (child_ptr, child, label_begin, label_end, order, all_rows, extra_ptr
/// or None, extra or None, seed).
struct PlanArg {
  PlanArg(const nb::tuple& level, const CsrView& rows_of_label) {
    if (nb::len(level) != 9) throw std::invalid_argument("the plan of a level has nine parts");
    child_ptr_ = nb::cast<In<int64_t>>(level[0]);
    child_ = nb::cast<In<int32_t>>(level[1]);
    label_begin_ = nb::cast<In<int64_t>>(level[2]);
    label_end_ = nb::cast<In<int64_t>>(level[3]);
    order_ = nb::cast<In<int32_t>>(level[4]);
    view.n_chunks = static_cast<int64_t>(child_ptr_.shape(0)) - 1;
    view.child_ptr = child_ptr_.data();
    view.label_begin = label_begin_.data();
    view.label_end = label_end_.data();
    view.order = order_.data();
    view.all_rows = nb::cast<bool>(level[5]);
    if (!level[6].is_none()) {
      extra_ = std::make_unique<CsrArg>(level[6], nb::cast<In<int32_t>>(level[7]), rows_of_label.n_cols);
      view.extra = extra_->view();
      if (view.extra.n_rows != view.n_chunks) throw std::invalid_argument("extra rows do not fit the level");
    }
    seed = nb::cast<uint64_t>(level[8]);
    check(rows_of_label);
  }
  std::vector<int32_t> child() const { return {child_.data(), child_.data() + child_.shape(0)}; }

  LevelPlan view;
  uint64_t seed = 0;

 private:
  void check(const CsrView& rows_of_label) const {
    const auto n_children = static_cast<int64_t>(child_.shape(0)), n_order = static_cast<int64_t>(order_.shape(0));
    if (view.n_chunks < 1 || view.child_ptr[0] != 0 || view.child_ptr[view.n_chunks] != n_children ||
        static_cast<int64_t>(label_begin_.shape(0)) != n_children ||
        static_cast<int64_t>(label_end_.shape(0)) != n_children)
      throw std::invalid_argument("the plan of the level does not fit together");
    for (int64_t i = 0; i < view.n_chunks; ++i) {
      const int64_t size = view.child_ptr[i + 1] - view.child_ptr[i];
      if (size < 1 || size > kMaxChildren)
        throw std::invalid_argument("a tree node has " + std::to_string(size) + " children, expected 1 to " +
                                    std::to_string(kMaxChildren));
    }
    for (int64_t j = 0; j < n_children; ++j)
      if (view.label_begin[j] < 0 || view.label_end[j] < view.label_begin[j] || view.label_end[j] > n_order)
        throw std::invalid_argument("the plan of the level names labels that do not exist");
    for (int64_t i = 0; i < n_order; ++i)
      if (view.order[i] < 0 || view.order[i] >= rows_of_label.n_rows)
        throw std::invalid_argument("the plan of the level names labels that do not exist");
  }

  In<int64_t> child_ptr_, label_begin_, label_end_;
  In<int32_t> child_, order_;
  std::unique_ptr<CsrArg> extra_;
};

/// IN: plans of levels, rows of each label, examples. OUT: the arrays of each level; the statistics of each.
nb::tuple train(nb::list plans, nb::object rows_ptr, In<int32_t> rows, nb::object x_indptr, nb::object x_indices,
                nb::object x_data, In<float> square_norm, nb::object cost, In<int32_t> rank, int64_t n_internal,
                const std::string& loss, float c, float bias, float tol, int max_iter, float threshold,
                const std::string& weights, int threads, nb::object report) {
  const auto n_rows = static_cast<int64_t>(square_norm.shape(0));
  const auto n_features = static_cast<int64_t>(rank.shape(0));
  const ExamplesArg x(x_indptr, x_indices, x_data, n_features);
  if (x.view.n_rows != n_rows) throw std::invalid_argument("X and the row norms do not fit each other");
  if (n_internal < 0 || n_internal > n_features)
    throw std::invalid_argument("the number of features in use is out of range");
  for (int64_t f = 0; f < n_features; ++f)
    if (rank.data()[f] < -1 || rank.data()[f] >= n_internal) throw std::invalid_argument("a feature rank is out of range");
  const CsrArg rows_of_label(rows_ptr, rows, n_rows);
  In<float> costs;
  if (!cost.is_none()) {
    costs = nb::cast<In<float>>(cost);
    if (static_cast<int64_t>(costs.shape(0)) != n_rows) throw std::invalid_argument("cost must have one value per row");
  }
  std::vector<PlanArg> args;
  std::vector<LevelPlan> views;
  std::vector<std::vector<int32_t>> child;
  std::vector<uint64_t> seeds;
  for (nb::handle plan : plans) {
    const PlanArg& arg = args.emplace_back(nb::cast<nb::tuple>(plan), rows_of_label.view());
    views.push_back(arg.view);
    child.push_back(arg.child());
    seeds.push_back(arg.seed);
  }

  TrainParams params;
  if (!(c >= 0.0f) || !std::isfinite(c) || !(bias >= 0.0f) || !std::isfinite(bias) || !(tol >= 0.0f) || max_iter < 1)
    throw std::invalid_argument("c, bias and tol must be numbers >= 0, max_iter at least 1");
  // Chunks count on this: the lanes past a node's last child are 0, and never above the threshold.
  if (!(threshold >= 0.0f)) throw std::invalid_argument("threshold must not be negative");
  if (loss != "squared_hinge" && loss != "logistic") throw std::invalid_argument("unknown loss " + loss);
  params.solver = {loss == "logistic" ? Loss::logistic : Loss::squared_hinge, bias, tol, max_iter};
  params.c = c;
  params.threshold = threshold;
  params.type = value_type_of(weights);
  params.threads = std::max(threads, 1);
  std::vector<TrainStats> stats;
  WatchPython watch(report);
  std::vector<Level> levels;
  {
    GilRelease release;
    levels = train_levels(views, std::move(child), seeds, rows_of_label.view(), x.view, square_norm.data(),
                          cost.is_none() ? nullptr : costs.data(), rank.data(), n_internal, params, stats, watch.get());
  }
  nb::list out;
  for (Level& level : levels) out.append(level_to_python(std::move(level)));
  nb::list facts;
  for (const TrainStats& of_level : stats) {
    nb::dict fact;
    fact["passes"] = of_level.passes;
    fact["blocks"] = of_level.blocks;
    fact["unfinished"] = of_level.unfinished;
    facts.append(fact);
  }
  return nb::make_tuple(out, facts);
}

}  // namespace

void bind_linear(nb::module_& m) {
  using namespace nb::literals;
  m.def("survey", &survey, "indptr"_a.none(), "indices"_a.none(), "data"_a, "n_features"_a, "threads"_a);
  m.def("unit_rows", &unit_rows, "indptr"_a.none(), "indices"_a.none(), "data"_a, "n_features"_a, "threads"_a);
  m.def("train_levels", &train, "plans"_a, nb::kw_only(), "rows_ptr"_a, "rows"_a, "x_indptr"_a.none(),
        "x_indices"_a.none(), "x_data"_a, "square_norm"_a, "cost"_a.none(), "rank"_a, "n_internal"_a, "loss"_a, "c"_a,
        "bias"_a, "tol"_a, "max_iter"_a, "threshold"_a, "weights"_a, "threads"_a, "report"_a.none());

  nb::class_<Predictor::Options>(m, "SearchOptions")
      .def(
          "__init__",
          [](Predictor::Options* self, int32_t k, int64_t beam, const std::string& node_score,
             const std::string& label_score, int power, bool bound, int32_t per_tree, const std::string& kind,
             float slack, int64_t max_nodes, int64_t max_ns, nb::object only_ptr, nb::object only, nb::object exclude_ptr,
             nb::object exclude, int threads, nb::object report) {
            const SearchParams search = search_params(k, beam, node_score, label_score, power, bound, per_tree, kind, slack,
                                                      max_nodes, max_ns);
            new (self) Predictor::Options{search,  std::move(only_ptr),     std::move(only), std::move(exclude_ptr),
                                          std::move(exclude), std::max(threads, 1), std::move(report)};
          },
          nb::kw_only(), "k"_a, "beam"_a, "node_score"_a, "label_score"_a, "power"_a, "bound"_a, "per_tree"_a,
          "kind"_a = "beam", "slack"_a = 0.0f, "max_nodes"_a = 0, "max_ns"_a = 0,
          "only_ptr"_a.none() = nb::none(), "only"_a.none() = nb::none(), "exclude_ptr"_a.none() = nb::none(),
          "exclude"_a.none() = nb::none(), "threads"_a = 1, "report"_a.none() = nb::none());

  nb::class_<Predictor>(m, "Predictor")
      .def(nb::init<nb::list, In<int32_t>, int64_t, int64_t, const std::string&, bool, bool, int>(), "trees"_a,
           "rank"_a, "n_internal"_a, "n_labels"_a, "weights"_a, nb::kw_only(), "deep"_a = true, "partial"_a = false,
           "threads"_a = 1)
      .def("predict_sparse", &Predictor::predict_sparse)
      .def("predict_row", &Predictor::predict_row, "indices"_a.noconvert(), "data"_a.noconvert(), "unit"_a.noconvert(),
           "options"_a,
           "labels"_a.noconvert(), "scores"_a.noconvert(), "opened"_a.noconvert())
      .def("predict_dense", &Predictor::predict_dense)
      .def("frontier_sparse", &Predictor::frontier_sparse)
      .def("frontier_dense", &Predictor::frontier_dense)
      .def("path", &Predictor::path)
      .def("child_weights", &Predictor::child_weights)
      .def("repacked", &Predictor::repacked);
}

}  // namespace longtail
