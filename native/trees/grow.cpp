#include "trees/grow.hpp"

#include <numeric>

namespace longtail {

std::vector<GrownNode> grow_in_order(int64_t n_labels, const std::vector<int32_t>& arities) {
  std::vector<GrownNode> nodes;
  std::vector<GrowItem> open{{0, static_cast<int32_t>(n_labels), 1, 0}};
  while (!open.empty()) {
    GrowItem item = open.back();
    open.pop_back();
    if (item.parts == 1 && open_node(item, arities, nodes) == 0) continue;
    const auto [first, second] = halves(item, cut_of(item).size);
    open.push_back(second);
    open.push_back(first);
  }
  return nodes;
}

std::vector<int32_t> shuffled(int64_t n, uint64_t seed) {
  std::vector<int32_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  uint64_t state = mix(seed);
  for (int64_t i = n - 1; i > 0; --i) {
    state = mix(state);
    std::swap(order[i], order[static_cast<int64_t>(state % static_cast<uint64_t>(i + 1))]);
  }
  return order;
}

}  // namespace longtail
