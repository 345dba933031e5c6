// The tree of least expected depth with one label per leaf.
#pragma once

#include <cstdint>
#include <vector>

namespace longtail {

/// IN f [n]: finite, >= 0. OUT parent: of the n labels (nodes 0 .. n - 1) and of the inner nodes, in any order; -1 for
/// the root. All nodes have `arity` children but one of the deepest, which has what is left over, two at least. Of equal
/// weights labels come before inner nodes, and those that came first before others, so the tree is as flat as can be.
std::vector<int32_t> huffman_parents(const double* f, int64_t n, int64_t arity);

}  // namespace longtail
