#include "trees/kmeans.hpp"

#include "trees/descend.hpp"

namespace longtail {

namespace {

struct KMeansSettings : KMeansOptions {
  const std::vector<int32_t>* arities;
};

/// Halves by number of labels.
template <class Rows>
class KMeansSplitter {
 public:
  using Settings = KMeansSettings;

  explicit KMeansSplitter(const Settings& settings) : settings_(settings), two_means_(settings.rounds, settings.tol) {}

  int32_t open(GrowItem& item, std::vector<GrownNode>& nodes) const {
    return open_node(item, *settings_.arities, nodes);
  }
  int64_t split(const Rows& rows, int32_t* ids, const int32_t*, const GrowItem& item, const SplitTeam& team) {
    return two_means_.split(rows, ids, item.n, SizeRule(cut_of(item)), seed_of(item, settings_.seed), team);
  }
  static std::pair<GrowItem, GrowItem> halves(const GrowItem& item, int64_t cut) { return longtail::halves(item, cut); }
  static int64_t done(const GrowItem& item, const GrowItem&, const GrowItem&) { return item.n; }

 private:
  const Settings& settings_;
  TwoMeans<Rows, SizeRule> two_means_;
};

template <class Rows>
std::vector<GrownNode> grow(const Rows& rows, const std::vector<int32_t>& arities, const KMeansOptions& options,
                            std::vector<int32_t>& order) {
  return descend<KMeansSplitter<Rows>>(rows, KMeansSettings{options, &arities}, order);
}

}  // namespace

std::vector<GrownNode> grow_kmeans(const CsrView& rows, const std::vector<int32_t>& arities, const KMeansOptions& options,
                                   std::vector<int32_t>& order) {
  return grow(rows, arities, options, order);
}

std::vector<GrownNode> grow_kmeans(const DenseView& rows, const std::vector<int32_t>& arities,
                                   const KMeansOptions& options, std::vector<int32_t>& order) {
  return grow(rows, arities, options, order);
}

}  // namespace longtail
