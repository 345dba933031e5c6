// Which sample of a group carries which of the group's labels. Two ways to find out; both give every label a direction
// and every group's label to the samples that lie farthest along it.
//
// Steps (the published algorithm): from e = unit(sum of the samples of all groups that have the label), each step takes
// the nearest sample of every such group, g = unit(sum of those), and turns towards it, e = unit(e + rate * g).
// Scores of later steps follow from those of an earlier look at the samples: e turns by what is chosen, so that the score of
// a sample is a sum of two known inner products, and of a rest that is bounded by what was chosen since and let go. Samples
// that may be the best of their group by that bound are summed exactly; where they are many, all are looked at again.
// Contrast: the direction is the mean of these samples (each group as often as it has the label) less the mean of all
// samples, every feature divided by its spread. It says nothing of a label that all groups have alike, so those take steps.
//
// Rows of X count as unit vectors. Sums are in double and a label is worked on by one thread, so the bits depend on
// neither threads nor instruction set.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/csr.hpp"
#include "core/parallel.hpp"

namespace longtail {

/// Samples of groups, groups of labels, and families: labels whose groups are the same, which nothing tells apart.
struct Grouping {
  int64_t n_groups = 0;
  const int64_t* group_indptr = nullptr;  // [n_groups + 1]
  const int32_t* samples = nullptr;       // of each group
  int64_t n_labels = 0;
  const int64_t* label_indptr = nullptr;  // [n_labels + 1]
  const int32_t* groups = nullptr;        // of each label
  const int32_t* counts = nullptr;        // how often the group has the label, > 0
  int64_t n_families = 0;
  const int64_t* family_indptr = nullptr;  // [n_families + 1]
  const int32_t* members = nullptr;        // [n_labels], the labels by families
  const uint8_t* everywhere = nullptr;     // [n_families], whether all groups that have samples have them equally often
};

struct DenseRows {
  int64_t n_rows = 0;
  int64_t n_cols = 0;
  const float* data = nullptr;  // row-major
};

struct EagleSettings {
  int64_t steps = 20;
  double rate = 0.1;
  const double* feature_weights = nullptr;  // [n_cols]; null: steps only
  const double* background = nullptr;       // [n_rows], the score of each sample along the mean of all
  bool embeddings = true;                   // whether the directions that were learnt by steps are wanted
};

/// By labels: the samples that carry each (rising, unique); the directions, as CSR for sparse rows, else as an array.
struct Assigned {
  std::vector<int64_t> sample_indptr;
  std::vector<int32_t> samples;
  std::vector<int64_t> indptr;
  std::unique_ptr<int32_t[]> indices;
  std::unique_ptr<float[]> data;
  std::vector<float> dense;  // n_labels × n_cols
};

/// IN scale [n_rows]: one over the length of each row, 0 for a row of zeros. `watch` counts pairs of label and group.
Assigned assign_groups(const CsrView& x, const double* scale, const Grouping& grouping, const EagleSettings& settings,
                       int threads, Watch* watch);
Assigned assign_groups(const DenseRows& x, const double* scale, const Grouping& grouping, const EagleSettings& settings,
                       int threads, Watch* watch);

}  // namespace longtail
