// The arrays of a label tree: checked, derived from each other, renumbered.
//
// Canonical numbering: node 0 is the root, parents come before children in breadth-first order, so `parent` never
// falls, the children of one parent are contiguous and so is every level. Given that, two arrays say everything:
// parent [n_nodes] (-1 for the root) and leaf_of [n_labels].
#pragma once

#include <cstdint>
#include <vector>

namespace longtail {

/// What follows from (parent, leaf_of).
struct TreeLayout {
  std::vector<int32_t> child_start;  // [n_nodes + 1], children of i: child_start[i] .. child_start[i + 1]
  std::vector<int32_t> label_begin;  // [n_nodes], labels under i: order[label_begin[i] .. label_end[i]]
  std::vector<int32_t> label_end;    // [n_nodes]
  std::vector<int32_t> node_depth;   // [n_nodes], root = 0
  std::vector<int32_t> order;        // [n_labels], leaves depth-first, rising ids within a leaf
};

/// IN parent, leaf_of. Throws std::invalid_argument, saying what is wrong, unless they are a tree in canonical numbering
/// whose leaves, and nothing but its leaves, hold at least one label each.
TreeLayout derive_layout(const int32_t* parent, int64_t n_nodes, const int32_t* leaf_of, int64_t n_labels);

/// A tree in canonical numbering.
struct NumberedTree {
  std::vector<int32_t> parent;   // [n_nodes]
  std::vector<int32_t> leaf_of;  // [n_labels]
  std::vector<int32_t> old_of;   // [n_nodes], the number each node had before; -1 for a leaf that was added
};

/// IN parent: any numbering, exactly one root (-1). IN node_of: any node of each label. A label at an inner node gets a
/// leaf of its own below it. Nodes without any label below them are removed if `prune`, else they are an error.
/// Children keep the order of their old numbers, added leaves come last. Throws std::invalid_argument.
NumberedTree renumber_tree(const int32_t* parent, int64_t n_nodes, const int32_t* node_of, int64_t n_labels, bool prune);

/// IN parent: canonical. IN keep [n_nodes], keep[0] must be true. OUT up [n_nodes]: the nearest kept proper ancestor.
std::vector<int32_t> nearest_kept(const int32_t* parent, const uint8_t* keep, int64_t n_nodes);

/// A node of a tree that is being grown over positions of `order`.
struct GrownNode {
  int32_t depth;
  int32_t begin;
  int32_t end;
};

/// IN nodes: each depth's ranges are disjoint and nested in ranges one depth up; any order. IN order: a permutation.
/// Sorts the nodes.
NumberedTree assemble_tree(std::vector<GrownNode>& nodes, const std::vector<int32_t>& order);

}  // namespace longtail
