// longtail._native.groups
#include <memory>

#include "core/python.hpp"
#include "groups/eagle.hpp"

namespace longtail {

namespace {

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> give(std::unique_ptr<T[]> values, size_t n) {
  T* data = values.release();
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {n}, owner);
}

/// The arrays of a grouping, checked against each other.
class GroupingArg {
 public:
  GroupingArg(nb::object group_indptr, In<int32_t> samples, int64_t n_samples, nb::object label_indptr, In<int32_t> groups,
              In<int32_t> counts, In<int64_t> family_indptr, In<int32_t> members, In<uint8_t> everywhere)
      : of_groups_(std::move(group_indptr), samples, n_samples),
        of_labels_(std::move(label_indptr), groups, of_groups_.view().n_rows),
        counts_(counts), family_indptr_(family_indptr), members_(members), everywhere_(everywhere) {
    const CsrView g = of_groups_.view(), l = of_labels_.view();
    view_.n_groups = g.n_rows;
    view_.group_indptr = g.indptr;
    view_.samples = g.indices;
    view_.n_labels = l.n_rows;
    view_.label_indptr = l.indptr;
    view_.groups = l.indices;
    view_.counts = counts.data();
    view_.n_families = static_cast<int64_t>(everywhere.shape(0));
    view_.family_indptr = family_indptr.data();
    view_.members = members.data();
    view_.everywhere = everywhere.data();
    check(static_cast<int64_t>(counts.shape(0)));
  }
  const Grouping& view() const { return view_; }

 private:
  void check(int64_t n_counts) const {
    if (n_counts != view_.label_indptr[view_.n_labels]) throw std::invalid_argument("counts: one for each group of each label");
    for (int64_t p = 0; p < n_counts; ++p)
      if (view_.counts[p] < 1) throw std::invalid_argument("counts: must be above 0");
    if (static_cast<int64_t>(members_.shape(0)) != view_.n_labels) throw std::invalid_argument("members: one for each label");
    std::vector<bool> seen(static_cast<size_t>(view_.n_labels));
    for (int64_t m = 0; m < view_.n_labels; ++m) {
      const int32_t label = view_.members[m];
      if (label < 0 || label >= view_.n_labels || seen[label]) throw std::invalid_argument("members: every label once");
      seen[label] = true;
    }
    if (static_cast<int64_t>(family_indptr_.shape(0)) != view_.n_families + 1 || view_.family_indptr[0] != 0 ||
        view_.family_indptr[view_.n_families] != view_.n_labels)
      throw std::invalid_argument("family_indptr: must go from 0 to the number of labels");
    for (int64_t f = 0; f < view_.n_families; ++f) check_family(f);
  }

  /// All of a family have the same groups as often, which the kernel relies on.
  void check_family(int64_t f) const {
    const int64_t begin = view_.family_indptr[f], end = view_.family_indptr[f + 1];
    if (begin >= end) throw std::invalid_argument("family_indptr: must rise");
    const auto pairs = [&](int64_t m) { return view_.label_indptr + view_.members[m]; };
    const int64_t first = pairs(begin)[0], size = pairs(begin)[1] - first;
    for (int64_t m = begin + 1; m < end; ++m) {
      const int64_t own = pairs(m)[0];
      if (pairs(m)[1] - own != size || !std::equal(view_.groups + first, view_.groups + first + size, view_.groups + own) ||
          !std::equal(view_.counts + first, view_.counts + first + size, view_.counts + own))
        throw std::invalid_argument("members: labels of a family must have the same groups");
    }
  }

  CsrArg of_groups_, of_labels_;
  In<int32_t> counts_;
  In<int64_t> family_indptr_;
  In<int32_t> members_;
  In<uint8_t> everywhere_;
  Grouping view_;
};

/// Numbers for every feature and every sample: both or none.
struct SettingsArg {
  In<double> weights, background;
  EagleSettings view;
  SettingsArg(int64_t steps, double rate, nb::object feature_weights, nb::object background_scores, bool embeddings,
              int64_t n_rows, int64_t n_cols) {
    if (steps < 0) throw std::invalid_argument("steps: must not be negative");
    view.steps = steps;
    view.rate = rate;
    view.embeddings = embeddings;
    if (feature_weights.is_none() != background_scores.is_none())
      throw std::invalid_argument("feature_weights and background: both or none");
    if (feature_weights.is_none()) return;
    weights = nb::cast<In<double>>(feature_weights);
    background = nb::cast<In<double>>(background_scores);
    if (static_cast<int64_t>(weights.shape(0)) != n_cols) throw std::invalid_argument("feature_weights: one per column");
    if (static_cast<int64_t>(background.shape(0)) != n_rows) throw std::invalid_argument("background: one per row");
    view.feature_weights = weights.data();
    view.background = background.data();
  }
};

void check_scale(const In<double>& scale, int64_t n_rows) {
  if (static_cast<int64_t>(scale.shape(0)) != n_rows) throw std::invalid_argument("scale: one per row");
}

nb::object assign_csr(nb::object x_indptr, In<int32_t> x_indices, In<float> x_data, int64_t n_features, In<double> scale,
                      nb::object group_indptr, In<int32_t> samples, nb::object label_indptr, In<int32_t> groups,
                      In<int32_t> counts, In<int64_t> family_indptr, In<int32_t> members, In<uint8_t> everywhere,
                      int64_t steps, double rate, nb::object feature_weights, nb::object background, bool embeddings,
                      int threads, nb::object report) {
  CsrArg x(std::move(x_indptr), x_indices, x_data, n_features);
  const int64_t n_rows = x.view().n_rows;
  check_scale(scale, n_rows);
  GroupingArg grouping(std::move(group_indptr), samples, n_rows, std::move(label_indptr), groups, counts, family_indptr, members, everywhere);
  SettingsArg settings(steps, rate, std::move(feature_weights), std::move(background), embeddings, n_rows, n_features);
  WatchPython watch(std::move(report));
  Assigned out;
  {
    GilRelease release;
    out = assign_groups(x.view(), scale.data(), grouping.view(), settings.view, threads, watch.get());
  }
  const auto nnz = static_cast<size_t>(out.indptr.back());
  return nb::make_tuple(to_numpy(std::move(out.sample_indptr)), to_numpy(std::move(out.samples)),
                        to_numpy(std::move(out.indptr)), give(std::move(out.indices), nnz), give(std::move(out.data), nnz));
}

nb::object assign_dense(In<float, 2> x, In<double> scale, nb::object group_indptr, In<int32_t> samples,
                        nb::object label_indptr, In<int32_t> groups, In<int32_t> counts, In<int64_t> family_indptr,
                        In<int32_t> members, In<uint8_t> everywhere, int64_t steps, double rate, nb::object feature_weights,
                        nb::object background, bool embeddings, int threads, nb::object report) {
  const DenseRows rows{static_cast<int64_t>(x.shape(0)), static_cast<int64_t>(x.shape(1)), x.data()};
  check_scale(scale, rows.n_rows);
  GroupingArg grouping(std::move(group_indptr), samples, rows.n_rows, std::move(label_indptr), groups, counts, family_indptr, members, everywhere);
  SettingsArg settings(steps, rate, std::move(feature_weights), std::move(background), embeddings, rows.n_rows, rows.n_cols);
  WatchPython watch(std::move(report));
  Assigned out;
  {
    GilRelease release;
    out = assign_groups(rows, scale.data(), grouping.view(), settings.view, threads, watch.get());
  }
  const auto n_labels = static_cast<size_t>(grouping.view().n_labels);
  const size_t width = embeddings ? static_cast<size_t>(rows.n_cols) : 0;
  return nb::make_tuple(to_numpy(std::move(out.sample_indptr)), to_numpy(std::move(out.samples)),
                        to_numpy(std::move(out.dense), n_labels, width));
}

}  // namespace

void bind_groups(nb::module_& m) {
  using namespace nb::literals;
  m.def("assign_csr", &assign_csr, "x_indptr"_a, "x_indices"_a, "x_data"_a, "n_features"_a, "scale"_a, "group_indptr"_a,
        "samples"_a, "label_indptr"_a, "groups"_a, "counts"_a, "family_indptr"_a, "members"_a, "everywhere"_a, "steps"_a,
        "rate"_a, "feature_weights"_a.none(), "background"_a.none(), "embeddings"_a, "threads"_a, "report"_a.none(),
        "By labels: (indptr int64, samples int32), and the directions as (indptr int64, indices int32, data float32).");
  m.def("assign_dense", &assign_dense, "x"_a, "scale"_a, "group_indptr"_a, "samples"_a, "label_indptr"_a, "groups"_a,
        "counts"_a, "family_indptr"_a, "members"_a, "everywhere"_a, "steps"_a, "rate"_a, "feature_weights"_a.none(),
        "background"_a.none(), "embeddings"_a, "threads"_a, "report"_a.none(),
        "By labels: (indptr int64, samples int32), and the directions as an array, without columns if not wanted.");
}

}  // namespace longtail
