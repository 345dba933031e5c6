#include "trees/structure.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace longtail {

namespace {

[[noreturn]] void bad(const std::string& message) { throw std::invalid_argument(message); }

std::string at(const char* array, int64_t i) { return std::string(array) + "[" + std::to_string(i) + "]"; }

void check_sizes(int64_t n_nodes, int64_t n_labels) {
  if (n_nodes < 1 || n_nodes > INT32_MAX) bad("a tree has 1 to 2^31 - 1 nodes, got " + std::to_string(n_nodes));
  if (n_labels < 1 || n_labels > INT32_MAX) bad("a tree has 1 to 2^31 - 1 labels, got " + std::to_string(n_labels));
}

/// Children of each node in rising order: children[start[i] .. start[i + 1]].
struct Children {
  std::vector<int32_t> start, list;

  Children(const std::vector<int32_t>& parent, int64_t n) : start(static_cast<size_t>(n) + 1, 0) {
    for (int64_t i = 0; i < n; ++i)
      if (parent[i] >= 0) ++start[static_cast<size_t>(parent[i]) + 1];
    for (int64_t i = 0; i < n; ++i) start[i + 1] += start[i];
    list.resize(static_cast<size_t>(start[n]));
    std::vector<int32_t> next(start.begin(), start.end() - 1);
    for (int64_t i = 0; i < n; ++i)
      if (parent[i] >= 0) list[next[parent[i]]++] = static_cast<int32_t>(i);
  }
};

/// Breadth-first from the root; shorter than n if some nodes hang in a cycle.
std::vector<int32_t> breadth_first(const Children& children, int32_t root) {
  std::vector<int32_t> queue{root};
  for (size_t head = 0; head < queue.size(); ++head) {
    const int32_t node = queue[head];
    queue.insert(queue.end(), children.list.begin() + children.start[node],
                 children.list.begin() + children.start[node + 1]);
  }
  return queue;
}

int32_t find_root(const int32_t* parent, int64_t n_nodes) {
  int64_t root = -1;
  for (int64_t i = 0; i < n_nodes; ++i) {
    if (parent[i] < -1 || parent[i] >= n_nodes)
      bad(at("parent", i) + " is " + std::to_string(parent[i]) + ", expected -1 to " + std::to_string(n_nodes - 1));
    if (parent[i] != -1) continue;
    if (root >= 0) bad("nodes " + std::to_string(root) + " and " + std::to_string(i) + " are both roots");
    root = i;
  }
  if (root < 0) bad("no node is the root (parent -1)");
  return static_cast<int32_t>(root);
}

}  // namespace

TreeLayout derive_layout(const int32_t* parent, int64_t n_nodes, const int32_t* leaf_of, int64_t n_labels) {
  check_sizes(n_nodes, n_labels);
  if (parent[0] != -1) bad("parent[0] is " + std::to_string(parent[0]) + ", expected -1: node 0 is the root");
  for (int64_t i = 1; i < n_nodes; ++i) {
    if (parent[i] < 0 || parent[i] >= i)
      bad(at("parent", i) + " is " + std::to_string(parent[i]) + ", expected 0 to " + std::to_string(i - 1));
    if (parent[i] < parent[i - 1]) bad(at("parent", i) + " falls: nodes must be numbered breadth-first");
  }
  TreeLayout out;
  const auto n = static_cast<size_t>(n_nodes);
  out.child_start.assign(n + 1, 0);
  for (int64_t i = 1; i < n_nodes; ++i) ++out.child_start[static_cast<size_t>(parent[i]) + 1];
  out.child_start[0] = 1;
  for (size_t i = 0; i < n; ++i) out.child_start[i + 1] += out.child_start[i];

  std::vector<int32_t> count(n, 0);
  for (int64_t l = 0; l < n_labels; ++l) {
    const int32_t node = leaf_of[l];
    if (node < 0 || node >= n_nodes)
      bad(at("leaf_of", l) + " is " + std::to_string(node) + ", expected 0 to " + std::to_string(n_nodes - 1));
    if (out.child_start[node] != out.child_start[node + 1])
      bad(at("leaf_of", l) + " is " + std::to_string(node) + ", which is not a leaf");
    ++count[node];
  }
  out.node_depth.assign(n, 0);
  for (int64_t i = 1; i < n_nodes; ++i) out.node_depth[i] = out.node_depth[parent[i]] + 1;
  for (int64_t i = n_nodes - 1; i > 0; --i) {
    if (count[i] == 0) bad("leaf " + std::to_string(i) + " holds no label");
    count[parent[i]] += count[i];
  }
  out.label_begin.assign(n, 0);
  out.label_end.assign(n, 0);
  out.label_end[0] = static_cast<int32_t>(n_labels);
  for (int64_t i = 0; i < n_nodes; ++i) {
    int32_t begin = out.label_begin[i];
    for (int32_t c = out.child_start[i]; c < out.child_start[i + 1]; ++c) {
      out.label_begin[c] = begin;
      out.label_end[c] = begin += count[c];
    }
  }
  out.order.resize(static_cast<size_t>(n_labels));
  std::vector<int32_t> next(out.label_begin);
  for (int64_t l = 0; l < n_labels; ++l) out.order[next[leaf_of[l]]++] = static_cast<int32_t>(l);
  return out;
}

NumberedTree renumber_tree(const int32_t* parent, int64_t n_nodes, const int32_t* node_of, int64_t n_labels,
                           bool prune) {
  check_sizes(n_nodes, n_labels);
  if (n_nodes + n_labels > INT32_MAX) bad("nodes and labels together must be below 2^31");
  const int32_t root = find_root(parent, n_nodes);
  std::vector<int32_t> above(parent, parent + n_nodes);
  const std::vector<int32_t> reached = breadth_first(Children(above, n_nodes), root);
  if (static_cast<int64_t>(reached.size()) != n_nodes) {
    std::vector<uint8_t> seen(static_cast<size_t>(n_nodes), 0);
    for (int32_t node : reached) seen[node] = 1;
    const auto lost = std::find(seen.begin(), seen.end(), uint8_t{0}) - seen.begin();
    bad("node " + std::to_string(lost) + " does not descend from the root: its parents run in a circle");
  }

  // Labels below each node, own ones included.
  std::vector<int32_t> count(static_cast<size_t>(n_nodes), 0);
  for (int64_t l = 0; l < n_labels; ++l) {
    if (node_of[l] < 0 || node_of[l] >= n_nodes)
      bad("label " + std::to_string(l) + " is at node " + std::to_string(node_of[l]) + ", expected 0 to " +
          std::to_string(n_nodes - 1));
    ++count[node_of[l]];
  }
  std::vector<uint8_t> inner(static_cast<size_t>(n_nodes), 0);
  for (size_t i = reached.size(); i-- > 1;) {
    const int32_t node = reached[i];
    if (count[node] == 0) {
      if (!prune) bad("node " + std::to_string(node) + " has no label at or below it");
      continue;
    }
    count[above[node]] += count[node];
    inner[above[node]] = 1;
  }

  // Nodes to be removed hang nowhere; labels of inner nodes hang on new leaves.
  for (int64_t i = 0; i < n_nodes; ++i)
    if (count[i] == 0) above[i] = -1;
  std::vector<int32_t> place(node_of, node_of + n_labels);
  for (int64_t l = 0; l < n_labels; ++l) {
    if (!inner[place[l]]) continue;
    above.push_back(place[l]);
    place[l] = static_cast<int32_t>(above.size()) - 1;
  }
  const std::vector<int32_t> numbered = breadth_first(Children(above, static_cast<int64_t>(above.size())), root);

  NumberedTree out;
  std::vector<int32_t> new_of(above.size(), -1);
  for (size_t i = 0; i < numbered.size(); ++i) new_of[numbered[i]] = static_cast<int32_t>(i);
  out.parent.resize(numbered.size());
  out.old_of.resize(numbered.size());
  for (size_t i = 0; i < numbered.size(); ++i) {
    out.parent[i] = i == 0 ? -1 : new_of[above[numbered[i]]];
    out.old_of[i] = numbered[i] < n_nodes ? numbered[i] : -1;
  }
  out.leaf_of.resize(static_cast<size_t>(n_labels));
  for (int64_t l = 0; l < n_labels; ++l) out.leaf_of[l] = new_of[place[l]];
  return out;
}

std::vector<int32_t> nearest_kept(const int32_t* parent, const uint8_t* keep, int64_t n_nodes) {
  if (n_nodes < 1 || !keep[0]) bad("the root must be kept");
  std::vector<int32_t> up(static_cast<size_t>(n_nodes), -1);
  for (int64_t i = 1; i < n_nodes; ++i) {
    if (parent[i] < 0 || parent[i] >= i) bad(at("parent", i) + " must be below " + std::to_string(i));
    up[i] = keep[parent[i]] ? parent[i] : up[parent[i]];
  }
  return up;
}

NumberedTree assemble_tree(std::vector<GrownNode>& nodes, const std::vector<int32_t>& order) {
  std::sort(nodes.begin(), nodes.end(), [](const GrownNode& a, const GrownNode& b) {
    return a.depth != b.depth ? a.depth < b.depth : a.begin < b.begin;
  });
  NumberedTree out;
  out.parent.assign(nodes.size(), -1);
  out.leaf_of.assign(order.size(), 0);
  // Deeper nodes come later and overwrite, so the deepest node over a position, its leaf, is what stays.
  size_t up = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (i > 0) {
      while (nodes[up].depth + 1 != nodes[i].depth || nodes[up].end <= nodes[i].begin) ++up;
      out.parent[i] = static_cast<int32_t>(up);
    }
    for (int32_t p = nodes[i].begin; p < nodes[i].end; ++p) out.leaf_of[order[p]] = static_cast<int32_t>(i);
  }
  return out;
}

}  // namespace longtail
