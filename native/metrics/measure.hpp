// All measures of ranked lists against sparse truth, in one pass over the rows.
#pragma once

#include <cstdint>
#include <vector>

#include "core/csr.hpp"

namespace longtail {

/// What a row contributes at each k; a measure is a mean of one of these over rows, or for the propensity-scored ones a
/// ratio of two sums. The order is known to longtail/metrics/tally.py.
enum RowValue : int {
  kPrecision = 0,  // hits / k
  kRecall,         // hits / true
  kNdcg,           // discounted hits / the best for min(k, true)
  kHit,            // 1 if any hit
  kReciprocal,     // 1 / rank of the first hit
  kAverage,        // sum over hits of precision at their rank / min(k, true)
  kPlainRowValues,
  kPspGot = kPlainRowValues,  // propensity-scored: of the list, and of the best list
  kPspBest,
  kPsndcgGot,
  kPsndcgBest,
  kPsrGot,
  kPsrBest,
  kAllRowValues,
};

struct MeasureInput {
  const int32_t* labels = nullptr;  // [rows × width], ids below truth.n_cols, -1 pads at the end
  int64_t width = 0;
  CsrView truth;                     // pattern, columns rising in each row
  const CsrView* exclude = nullptr;  // pattern, likewise: labels taken out of lists and truth; or null
  const double* weights = nullptr;   // [truth.n_cols] inverse propensities, or null: then no propensity-scored values
  std::vector<int32_t> ks;           // rising, from 1
  std::vector<int32_t> wanted;       // columns value · ks.size() + position of k, for `row_values`
  bool skip_empty = false;           // rows without true labels count for nothing, not even as predictions
};

struct MeasureOutput {
  double* sums = nullptr;        // [values × ks]; values is kAllRowValues with weights, else kPlainRowValues
  int32_t* n_true = nullptr;     // [rows], after exclusion
  double* row_values = nullptr;  // [rows × wanted], or null
  // Per label, or all null: rows where it was a hit, and where it was predicted, among the first k; rows where it is
  // true.
  int32_t* hits = nullptr;       // [ks × n_cols]
  int32_t* predicted = nullptr;  // [ks × n_cols]
  int32_t* truths = nullptr;     // [n_cols]
};

/// The same bits for any number of threads: rows are summed in blocks of fixed size, blocks in their order.
void measure(const MeasureInput& in, const MeasureOutput& out, int threads);

/// Sums of the rows of each bootstrap resample (n of n rows, with replacement); resample b depends on seed and b only.
void bootstrap_sums(const double* values, int64_t rows, int64_t columns,  // IN [rows × columns]
                    int64_t resamples, uint64_t seed, int threads,
                    double* sums);  // OUT [resamples × columns]

}  // namespace longtail
