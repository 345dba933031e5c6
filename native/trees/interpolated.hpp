// Trees between balanced 2-means, which looks at likeness alone, and Fano coding, which looks at frequency alone.
//
// A node of more than max_leaf labels becomes min(arity, ceil(labels / max_leaf)) children, by splits in two: each side
// is to become about half of the children, so it gets that share of the weight, and is split on. A side with few labels,
// which are the frequent ones, becomes fewer children, as soon as max_leaf allows; the other side becomes the rest.
#pragma once

#include <cstdint>
#include <vector>

#include "core/csr.hpp"
#include "core/parallel.hpp"
#include "trees/grow.hpp"
#include "trees/mass_rule.hpp"
#include "trees/rows.hpp"

namespace longtail {

struct InterpolationOptions {
  Knob knob{0.0, 0.1, true};
  int32_t arity = 2;
  int32_t max_leaf = 100;
  int rounds = 20;   // assignments per split, at most
  double tol = 0.0;  // a split ends when the objective rises by less
  uint64_t seed = 0;
  int threads = 1;
  Watch* watch = nullptr;  // counts up to binary_work(n_labels, max_leaf)
};

/// Labels times the binary levels that they need at least: the units of progress.
int64_t binary_work(int64_t n, int64_t max_leaf);

/// IN rows: of unit length or empty; f, heads [n_rows]: finite, >= 0. OUT order [n_rows]: a permutation.
std::vector<GrownNode> grow_interpolated(const CsrView& rows, const double* f, const double* heads,
                                         const InterpolationOptions& options, std::vector<int32_t>& order);
std::vector<GrownNode> grow_interpolated(const DenseView& rows, const double* f, const double* heads,
                                         const InterpolationOptions& options, std::vector<int32_t>& order);

}  // namespace longtail
