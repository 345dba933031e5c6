// Hierarchical balanced spherical k-means: every split is an exact balanced 2-means of the labels of a range.
//
// A split starts from two random labels, puts the labels with the largest x·(μ₊ - μ₋) on the first side, takes the mean
// directions of both sides, and so on. Sides have the sizes that cut_size() says. The sums μ are kept in double and
// changed by the labels that move only, which are few after two rounds.
#pragma once

#include <cstdint>
#include <vector>

#include "core/csr.hpp"
#include "core/parallel.hpp"
#include "trees/grow.hpp"
#include "trees/rows.hpp"

namespace longtail {

struct KMeansOptions {
  int rounds = 20;      // assignments per split, at most
  double tol = 0.0;     // a split ends when the mean cosine to the own centre rises by less
  uint64_t seed = 0;
  int threads = 1;
  Watch* watch = nullptr;  // counts labels times binary levels
};

/// IN rows: of unit length or empty. IN arities: children by depth. OUT order [n_rows]: a permutation.
std::vector<GrownNode> grow_kmeans(const CsrView& rows, const std::vector<int32_t>& arities, const KMeansOptions& options,
                                   std::vector<int32_t>& order);
std::vector<GrownNode> grow_kmeans(const DenseView& rows, const std::vector<int32_t>& arities,
                                   const KMeansOptions& options, std::vector<int32_t>& order);

}  // namespace longtail
