// Growing a tree from the root by splits in two: what every top-down builder shares.
//
// A node with k children is split in two and those halves again, until there are k parts: 16 children are four levels
// of halving. A splitter says how one range of labels falls in two; the rest is here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "trees/structure.hpp"

namespace longtail {

/// Part of a node that is still to become `parts` nodes of depth `depth`: labels order[begin .. begin + n].
struct GrowItem {
  int32_t begin;
  int32_t n;
  int32_t parts;
  int32_t depth;
};

/// How many labels the first side of a split gets: `size`, or one more if `either` and the middle label prefers it.
struct CutSize {
  int64_t size;
  bool either;
};

/// n labels that become `first` + `second` parts, all of floor or ceil of n / (first + second) labels.
inline CutSize cut_size(int64_t n, int64_t first, int64_t second) {
  if (first == second) return {n / 2, n % 2 == 1};
  return {n / (first + second) * first + n % (first + second) * first / (first + second), false};
}

/// Takes an item that is a whole node (parts == 1): records it and says into how many parts it falls, 0 for a leaf.
/// `arities` holds the number of children by depth; a node without labels enough has fewer.
inline int32_t open_node(GrowItem& item, const std::vector<int32_t>& arities, std::vector<GrownNode>& nodes) {
  nodes.push_back({item.depth, item.begin, item.begin + item.n});
  if (item.depth >= static_cast<int32_t>(arities.size()) || item.n <= 1) return 0;
  item.parts = std::min(arities[item.depth], item.n);
  ++item.depth;
  return item.parts;
}

/// The two items that an item of several parts falls into, given the size of the first.
inline std::pair<GrowItem, GrowItem> halves(const GrowItem& item, int64_t first_size) {
  const int32_t first = (item.parts + 1) / 2, size = static_cast<int32_t>(first_size);
  return {{item.begin, size, first, item.depth},
          {item.begin + size, item.n - size, item.parts - first, item.depth}};
}

inline CutSize cut_of(const GrowItem& item) {
  const int32_t first = (item.parts + 1) / 2;
  return cut_size(item.n, first, item.parts - first);
}

/// SplitMix64: the same numbers on every machine.
inline uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// What the random choices of one split start from: it depends on the seed and the labels' range alone.
inline uint64_t seed_of(const GrowItem& item, uint64_t seed) {
  return mix(mix(mix(seed) ^ static_cast<uint64_t>(item.begin)) ^ static_cast<uint64_t>(item.n));
}

/// The tree whose splits keep the given order: complete and random trees.
std::vector<GrownNode> grow_in_order(int64_t n_labels, const std::vector<int32_t>& arities);

/// 0 .. n - 1 in an order drawn from the seed.
std::vector<int32_t> shuffled(int64_t n, uint64_t seed);

}  // namespace longtail
