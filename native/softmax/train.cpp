#include "softmax/train.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/random.hpp"

namespace longtail {

namespace {

// Enough to share the work evenly, not so few that taking the next ones costs time.
constexpr int64_t kRowsPerTask = 256;
constexpr uint64_t kOrder = 1, kLabels = 2;  // what a seed is for

void reserve(SgdScratch& scratch, int64_t stride, int64_t n_vectors) {
  const auto wide = static_cast<size_t>(stride), long_ = static_cast<size_t>(n_vectors + 16);
  scratch.hidden.at_least(wide);
  scratch.gradient.at_least(wide);
  std::fill_n(scratch.margin.at_least(long_), long_, 0.0f);
  std::fill_n(scratch.step.at_least(long_), long_, 0.0f);
  scratch.vectors.resize(long_);
}

/// The most vectors that a path takes.
int64_t longest_path(const Decisions& tree, const std::vector<int64_t>& path_ptr, const std::vector<uint32_t>& path) {
  int64_t longest = 0;
  for (size_t l = 0; l + 1 < path_ptr.size(); ++l) {
    int64_t n = 0;
    for (int64_t at = path_ptr[l]; at < path_ptr[l + 1]; ++at) {
      const int32_t d = tree.slot_decision()[path[static_cast<size_t>(at)]];
      n += tree.first_vector()[d + 1] - tree.first_vector()[d];
    }
    longest = std::max(longest, n);
  }
  return longest;
}

}  // namespace

void fill_uniform(float* rows, int64_t n_rows, int64_t dim, int64_t stride, float bound, uint64_t seed, int threads) {
  parallel_blocks(n_rows, 1024, threads, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      float* row = rows + i * stride;
      Random random(seed_of(seed, static_cast<uint64_t>(i)));
      for (int64_t j = 0; j < dim; ++j) {
        const auto whole = static_cast<float>(random.next() >> 40);  // 24 bits, which a float holds exactly
        row[j] = (whole * (1.0f / 8388608.0f) - 1.0f) * bound;
      }
      std::fill(row + dim, row + stride, 0.0f);
    }
  });
}

SgdLoss train_epoch(SgdJob job, int threads, Watch* watch) {
  std::vector<int64_t> path_ptr;
  std::vector<uint32_t> path;
  job.tree->paths(path_ptr, path);
  job.path_ptr = path_ptr.data();
  job.path = path.data();
  std::vector<int32_t> order(static_cast<size_t>(job.x.n_rows));
  std::iota(order.begin(), order.end(), 0);
  Random(seed_of(job.seed, kOrder)).shuffle(order.data(), job.x.n_rows);
  job.order = order.data();
  job.seed = seed_of(job.seed, kLabels);

  const auto team = static_cast<size_t>(std::max(threads, 1));
  const int64_t n_vectors = longest_path(*job.tree, path_ptr, path);
  std::vector<SgdScratch> scratches(team);
  std::vector<SgdLoss> losses(team);
  for (SgdScratch& scratch : scratches) reserve(scratch, job.stride, n_vectors);
  parallel_blocks(
      job.x.n_rows, kRowsPerTask, threads,
      [&](int64_t begin, int64_t end, int worker) {
        const auto w = static_cast<size_t>(worker);
        const SgdLoss loss = LT_DISPATCH(train_rows, job, begin, end, scratches[w]);
        losses[w].sum += loss.sum;
        losses[w].steps += loss.steps;
        if (watch != nullptr) watch->done.fetch_add(end - begin, std::memory_order_relaxed);
      },
      watch);
  SgdLoss total;
  for (const SgdLoss& loss : losses) total.sum += loss.sum, total.steps += loss.steps;
  return total;
}

}  // namespace longtail
