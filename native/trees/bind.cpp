#include "core/python.hpp"
#include "trees/grow.hpp"
#include "trees/huffman.hpp"
#include "trees/interpolated.hpp"
#include "trees/kmeans.hpp"
#include "trees/structure.hpp"
#include "trees/unit.hpp"

namespace longtail {

namespace {

int64_t length(const In<int32_t>& array) { return static_cast<int64_t>(array.shape(0)); }

nb::object layout(In<int32_t> parent, In<int32_t> leaf_of) {
  TreeLayout out;
  {
    GilRelease release;
    out = derive_layout(parent.data(), length(parent), leaf_of.data(), length(leaf_of));
  }
  return nb::make_tuple(to_numpy(std::move(out.child_start)), to_numpy(std::move(out.label_begin)),
                        to_numpy(std::move(out.label_end)), to_numpy(std::move(out.node_depth)),
                        to_numpy(std::move(out.order)));
}

nb::object renumber(In<int32_t> parent, In<int32_t> node_of, bool prune) {
  NumberedTree out;
  {
    GilRelease release;
    out = renumber_tree(parent.data(), length(parent), node_of.data(), length(node_of), prune);
  }
  return nb::make_tuple(to_numpy(std::move(out.parent)), to_numpy(std::move(out.leaf_of)),
                        to_numpy(std::move(out.old_of)));
}

nb::object kept_above(In<int32_t> parent, In<uint8_t> keep) {
  if (keep.shape(0) != parent.shape(0)) throw std::invalid_argument("keep and parent differ in length");
  return nb::cast(to_numpy(nearest_kept(parent.data(), keep.data(), length(parent))));
}

std::vector<int32_t> checked_arities(const In<int32_t>& arities) {
  std::vector<int32_t> out(arities.data(), arities.data() + arities.shape(0));
  if (out.size() > 64) throw std::invalid_argument("a grown tree has at most 64 levels");
  for (const int32_t arity : out)
    if (arity < 2 || arity > (1 << 30)) throw std::invalid_argument("arities must be in [2, 2^30]");
  return out;
}

nb::object numbered(std::vector<GrownNode>& nodes, const std::vector<int32_t>& order) {
  NumberedTree out;
  {
    GilRelease release;
    out = assemble_tree(nodes, order);
  }
  return nb::make_tuple(to_numpy(std::move(out.parent)), to_numpy(std::move(out.leaf_of)));
}

nb::object grow_keeping_order(In<int32_t> order, In<int32_t> arities) {
  const std::vector<int32_t> levels = checked_arities(arities), labels(order.data(), order.data() + length(order));
  if (labels.empty()) throw std::invalid_argument("a tree has at least one label");
  std::vector<uint8_t> seen(labels.size(), 0);
  for (const int32_t label : labels) {
    if (label < 0 || static_cast<size_t>(label) >= labels.size() || seen[label])
      throw std::invalid_argument("order must hold every label once");
    seen[label] = 1;
  }
  auto nodes = grow_in_order(static_cast<int64_t>(labels.size()), levels);
  return numbered(nodes, labels);
}

nb::object shuffle(int64_t n, uint64_t seed) {
  if (n < 0 || n > INT32_MAX) throw std::invalid_argument("shuffle: n must be in [0, 2^31)");
  return nb::cast(to_numpy(shuffled(n, seed)));
}

template <class Rows>
nb::object grow_means(Rows rows, const In<int32_t>& arities, int rounds, double tol, uint64_t seed, int threads,
                      nb::object report) {
  const int64_t n_rows = rows.n_rows;
  if (n_rows < 1 || n_rows > INT32_MAX) throw std::invalid_argument("k-means: 1 to 2^31 - 1 rows");
  if (rows.n_cols > INT32_MAX) throw std::invalid_argument("k-means: at most 2^31 - 1 columns");
  if (rounds < 1 || !(tol >= 0.0)) throw std::invalid_argument("k-means: rounds must be >= 1 and tol >= 0");
  const std::vector<int32_t> levels = checked_arities(arities);
  WatchPython watch(std::move(report));
  std::vector<int32_t> order;
  std::vector<GrownNode> nodes;
  {
    GilRelease release;
    const std::vector<float> unit = unit_values(rows, threads);
    if (!unit.empty()) rows.data = unit.data();
    nodes = grow_kmeans(rows, levels, {rounds, tol, seed, threads, watch.get()}, order);
  }
  return numbered(nodes, order);
}

nb::object kmeans_csr(nb::object indptr, In<int32_t> indices, In<float> data, int64_t n_cols, In<int32_t> arities,
                      int rounds, double tol, uint64_t seed, int threads, nb::object report) {
  CsrArg rows(std::move(indptr), indices, data, n_cols);
  return grow_means(rows.view(), arities, rounds, tol, seed, threads, std::move(report));
}

nb::object kmeans_dense(In<float, 2> matrix, In<int32_t> arities, int rounds, double tol, uint64_t seed, int threads,
                        nb::object report) {
  const DenseView rows{static_cast<int64_t>(matrix.shape(0)), static_cast<int64_t>(matrix.shape(1)), matrix.data()};
  return grow_means(rows, arities, rounds, tol, seed, threads, std::move(report));
}

/// What interpolated_csr and interpolated_dense take beside the embeddings.
struct Interpolation {
  In<double> f, heads;
  InterpolationOptions options;
  WatchPython watch;

  Interpolation(In<double> f_, In<double> heads_, double tradeoff, double gamma, bool midpoint, int32_t arity,
                int32_t max_leaf, int rounds, double tol, uint64_t seed, int threads, nb::object report)
      : f(std::move(f_)), heads(std::move(heads_)), watch(std::move(report)) {
    if (!(tradeoff >= 0.0 && tradeoff <= 2.0)) throw std::invalid_argument("interpolation: tradeoff must be in [0, 2]");
    if (!(gamma >= 0.0 && gamma <= 1e6)) throw std::invalid_argument("interpolation: gamma must be in [0, 10^6]");
    if (arity < 2 || arity > 64) throw std::invalid_argument("interpolation: arity must be in [2, 64]");
    if (max_leaf < 1) throw std::invalid_argument("interpolation: max_leaf must be >= 1");
    if (rounds < 1 || !(tol >= 0.0)) throw std::invalid_argument("interpolation: rounds must be >= 1 and tol >= 0");
    options = {{tradeoff, gamma, midpoint}, arity, max_leaf, rounds, tol, seed, threads, watch.get()};
  }

  void check(const In<double>& values, int64_t n) const {
    if (static_cast<int64_t>(values.shape(0)) != n) throw std::invalid_argument("interpolation: one frequency per row");
    for (int64_t i = 0; i < n; ++i)
      if (!(values.data()[i] >= 0.0 && values.data()[i] <= 1.0))
        throw std::invalid_argument("interpolation: frequencies must be in [0, 1]");
  }

  template <class Rows>
  nb::object grow(Rows rows) {
    const int64_t n_rows = rows.n_rows;
    if (n_rows < 1 || n_rows > INT32_MAX) throw std::invalid_argument("interpolation: 1 to 2^31 - 1 rows");
    if (rows.n_cols > INT32_MAX) throw std::invalid_argument("interpolation: at most 2^31 - 1 columns");
    check(f, n_rows);
    check(heads, n_rows);
    std::vector<int32_t> order;
    std::vector<GrownNode> nodes;
    {
      GilRelease release;
      const std::vector<float> unit = unit_values(rows, options.threads);
      if (!unit.empty()) rows.data = unit.data();
      nodes = grow_interpolated(rows, f.data(), heads.data(), options, order);
    }
    return numbered(nodes, order);
  }
};

nb::object interpolated_csr(nb::object indptr, In<int32_t> indices, In<float> data, int64_t n_cols, In<double> f,
                            In<double> heads, double tradeoff, double gamma, bool midpoint, int32_t arity,
                            int32_t max_leaf, int rounds, double tol, uint64_t seed, int threads, nb::object report) {
  CsrArg rows(std::move(indptr), indices, data, n_cols);
  return Interpolation(f, heads, tradeoff, gamma, midpoint, arity, max_leaf, rounds, tol, seed, threads,
                       std::move(report))
      .grow(rows.view());
}

nb::object interpolated_dense(In<float, 2> matrix, In<double> f, In<double> heads, double tradeoff, double gamma,
                              bool midpoint, int32_t arity, int32_t max_leaf, int rounds, double tol, uint64_t seed,
                              int threads, nb::object report) {
  const DenseView rows{static_cast<int64_t>(matrix.shape(0)), static_cast<int64_t>(matrix.shape(1)), matrix.data()};
  return Interpolation(f, heads, tradeoff, gamma, midpoint, arity, max_leaf, rounds, tol, seed, threads,
                       std::move(report))
      .grow(rows);
}

nb::object huffman(In<double> f, int64_t arity) {
  for (size_t i = 0; i < f.shape(0); ++i)
    if (!(f.data()[i] >= 0.0 && f.data()[i] <= 1.0))
      throw std::invalid_argument("huffman: frequencies must be in [0, 1]");
  std::vector<int32_t> parent;
  {
    GilRelease release;
    parent = huffman_parents(f.data(), static_cast<int64_t>(f.shape(0)), arity);
  }
  return nb::cast(to_numpy(std::move(parent)));
}

}  // namespace

void bind_trees(nb::module_& m) {
  using namespace nb::literals;
  m.def("layout", &layout, "parent"_a, "leaf_of"_a,
        "(child_start, label_begin, label_end, node_depth, order) of a canonical tree; ValueError if it is none.");
  m.def("renumber", &renumber, "parent"_a, "node_of"_a, "prune"_a,
        "(parent, leaf_of, old_of) in canonical numbering, from any numbering and labels at any node.");
  m.def("kept_above", &kept_above, "parent"_a, "keep"_a, "The nearest kept ancestor of each node, -1 for the root.");
  m.def("grow_keeping_order", &grow_keeping_order, "order"_a, "arities"_a,
        "(parent, leaf_of) of the balanced tree whose leaves cut the given order in pieces.");
  m.def("shuffle", &shuffle, "n"_a, "seed"_a, "0 .. n - 1 in an order drawn from the seed.");
  m.def("kmeans_csr", &kmeans_csr, "indptr"_a, "indices"_a, "data"_a, "n_cols"_a, "arities"_a, "rounds"_a, "tol"_a,
        "seed"_a, "threads"_a, "report"_a.none(),
        "(parent, leaf_of) of hierarchical balanced spherical 2-means; report hears labels times binary levels.");
  m.def("kmeans_dense", &kmeans_dense, "matrix"_a, "arities"_a, "rounds"_a, "tol"_a, "seed"_a, "threads"_a,
        "report"_a.none(), "The same of a dense matrix.");
  m.def("interpolated_csr", &interpolated_csr, "indptr"_a, "indices"_a, "data"_a, "n_cols"_a, "f"_a, "heads"_a,
        "tradeoff"_a, "gamma"_a, "midpoint"_a, "arity"_a, "max_leaf"_a, "rounds"_a, "tol"_a, "seed"_a, "threads"_a,
        "report"_a.none(), "(parent, leaf_of) of a tree between 2-means and Fano; report hears up to binary_work().");
  m.def("interpolated_dense", &interpolated_dense, "matrix"_a, "f"_a, "heads"_a, "tradeoff"_a, "gamma"_a, "midpoint"_a,
        "arity"_a, "max_leaf"_a, "rounds"_a, "tol"_a, "seed"_a, "threads"_a, "report"_a.none(),
        "The same of a dense matrix.");
  m.def("binary_work", &binary_work, "n"_a, "max_leaf"_a, "Labels times the binary levels that they need at least.");
  m.def("huffman", &huffman, "f"_a, "arity"_a, "Parents of labels and inner nodes of the tree of least expected depth.");
}

}  // namespace longtail
