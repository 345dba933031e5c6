#include "trees/huffman.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace longtail {

std::vector<int32_t> huffman_parents(const double* f, int64_t n, int64_t arity) {
  if (n < 1 || n > (int64_t{1} << 30)) throw std::invalid_argument("huffman: 1 to 2^30 labels");
  if (arity < 2) throw std::invalid_argument("huffman: arity must be at least 2");
  std::vector<int32_t> rising(static_cast<size_t>(n));
  std::iota(rising.begin(), rising.end(), 0);
  std::sort(rising.begin(), rising.end(), [&](int32_t a, int32_t b) { return f[a] != f[b] ? f[a] < f[b] : a < b; });

  // Labels by weight are one queue; inner nodes, whose weights rise as they are made, the other.
  std::vector<double> weight;  // of inner node n + i
  std::vector<int32_t> parent(static_cast<size_t>(n), -1);
  size_t label = 0, inner = 0;
  auto lightest = [&]() {
    const bool from_labels =
        label < rising.size() && (inner == weight.size() || f[rising[label]] <= weight[inner]);
    return from_labels ? rising[label++] : static_cast<int32_t>(n + static_cast<int64_t>(inner++));
  };
  int64_t left = n;
  while (left > 1) {
    // Every later merge takes `arity` nodes and leaves one, down to the root; the first takes what that leaves over.
    const int64_t rest = (n - 1) % (arity - 1);
    const int64_t take = left == n && rest > 0 ? rest + 1 : std::min(arity, left);
    const auto node = static_cast<int32_t>(parent.size());
    double sum = 0.0;
    for (int64_t i = 0; i < take; ++i) {
      const int32_t child = lightest();
      parent[child] = node;
      sum += child < n ? f[child] : weight[static_cast<size_t>(child - n)];
    }
    parent.push_back(-1);
    weight.push_back(sum);
    left -= take - 1;
  }
  return parent;
}

}  // namespace longtail
