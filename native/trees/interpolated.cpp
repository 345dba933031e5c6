#include "trees/interpolated.hpp"

#include <algorithm>
#include <cmath>

#include "trees/descend.hpp"

namespace longtail {

namespace {

struct InterpolationSettings : InterpolationOptions {
  LabelMass mass;
};

/// Splits by likeness and weight.
template <class Rows>
class InterpolatedSplitter {
 public:
  using Settings = InterpolationSettings;

  explicit InterpolatedSplitter(const Settings& settings)
      : settings_(settings), rule_(settings.knob), two_means_(settings.rounds, settings.tol) {}

  int32_t open(GrowItem& item, std::vector<GrownNode>& nodes) const {
    nodes.push_back({item.depth, item.begin, item.begin + item.n});
    if (item.n <= settings_.max_leaf) return 0;
    item.parts = std::min(settings_.arity, leaves_needed(item.n));
    ++item.depth;
    return item.parts;
  }

  int64_t split(const Rows& rows, int32_t* ids, const int32_t* labels, const GrowItem& item, const SplitTeam& team) {
    rule_.weigh(settings_.mass, ids, labels, item.n, (item.parts + 1) / 2, item.parts);
    return two_means_.split(rows, ids, item.n, rule_, seed_of(item, settings_.seed), team);
  }

  std::pair<GrowItem, GrowItem> halves(const GrowItem& item, int64_t cut) const {
    const auto size = static_cast<int32_t>(cut);
    const int32_t most_first = leaves_needed(size), most_second = leaves_needed(item.n - size);
    int32_t first = std::min((item.parts + 1) / 2, most_first);
    const int32_t second = std::min(item.parts - first, most_second);
    first = item.parts - second;
    return {{item.begin, size, first, item.depth}, {item.begin + size, item.n - size, second, item.depth}};
  }

  int64_t done(const GrowItem& item, const GrowItem& first, const GrowItem& second) const {
    return binary_work(item.n, settings_.max_leaf) - binary_work(first.n, settings_.max_leaf) -
           binary_work(second.n, settings_.max_leaf);
  }

 private:
  int32_t leaves_needed(int32_t n) const { return (n - 1) / settings_.max_leaf + 1; }

  const Settings& settings_;
  MassRule rule_;
  TwoMeans<Rows, MassRule> two_means_;
};

template <class Rows>
std::vector<GrownNode> grow(const Rows& rows, const double* f, const double* heads,
                            const InterpolationOptions& options, std::vector<int32_t>& order) {
  std::vector<double> power(static_cast<size_t>(rows.n_rows));
  for (int64_t l = 0; l < rows.n_rows; ++l) power[l] = std::pow(f[l], options.knob.exponent());
  return descend<InterpolatedSplitter<Rows>>(rows, InterpolationSettings{options, {f, power.data(), heads}}, order);
}

}  // namespace

int64_t binary_work(int64_t n, int64_t max_leaf) {
  if (n <= max_leaf) return 0;
  const auto labels = static_cast<double>(n);
  return std::llround(labels * std::log2(labels / static_cast<double>(max_leaf)));
}

std::vector<GrownNode> grow_interpolated(const CsrView& rows, const double* f, const double* heads,
                                         const InterpolationOptions& options, std::vector<int32_t>& order) {
  return grow(rows, f, heads, options, order);
}

std::vector<GrownNode> grow_interpolated(const DenseView& rows, const double* f, const double* heads,
                                         const InterpolationOptions& options, std::vector<int32_t>& order) {
  return grow(rows, f, heads, options, order);
}

}  // namespace longtail
