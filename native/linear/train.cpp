#include "linear/train.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <numeric>

#include "core/aligned.hpp"
#include "core/random.hpp"

namespace longtail {

namespace {

/// One node on its way: rows gathered once, blocks solved by one thread or by several, packed by the last.
struct Job {
  int64_t chunk = 0;
  int64_t size_of_block = 0;  // what a block counts for in progress
  NodeRows rows;
  std::vector<uint16_t> positive;
  std::vector<int32_t> order;  // local features by rising rank
  ChunkWeights weights;
  std::vector<float> bias;
  std::atomic<int64_t> blocks_left{0};
};

/// What a thread reuses from block to block.
struct Worker {
  Worker(int64_t n_rows, int64_t n_features) : node(n_rows, n_features) {}
  NodeScratch node;
  Job job;
  AlignedFloats weights, dual;
};

class LevelTrainer {
 public:
  LevelTrainer(const LevelPlan& plan, const CsrView& rows_of_label, const Examples& x, const float* square_norm,
               const float* cost, const int32_t* rank, int64_t n_internal, const TrainParams& params,
               TrainStats& stats, Watch* watch)
      : plan_(plan), rows_of_label_(rows_of_label), x_(x), cost_(cost), rank_(rank), n_internal_(n_internal),
        params_(params), solver_(params.solver), stats_(stats), watch_(watch), workers_(static_cast<size_t>(params.threads)),
        chunks_(static_cast<size_t>(plan.n_chunks)) {
    norms_.assign(square_norm, square_norm + x.n_rows);
    for (float& norm : norms_) norm += params.solver.bias * params.solver.bias;
    if (watch != nullptr) solver_.stop = &watch->stop;
  }

  std::vector<ChunkParts> run() {
    std::vector<int64_t> size(static_cast<size_t>(plan_.n_chunks));
    for (int64_t c = 0; c < plan_.n_chunks; ++c) size[static_cast<size_t>(c)] = size_of(c);
    std::vector<int64_t> by_size(size.size());
    std::iota(by_size.begin(), by_size.end(), int64_t{0});
    std::stable_sort(by_size.begin(), by_size.end(), [&](int64_t a, int64_t b) {
      return size[static_cast<size_t>(a)] > size[static_cast<size_t>(b)];
    });
    const int64_t total = std::accumulate(size.begin(), size.end(), int64_t{0});
    // A node that holds more than a share of a thread would leave the others idle at the end.
    size_t n_big = 0;
    while (params_.threads > 1 && n_big < by_size.size() &&
           size[static_cast<size_t>(by_size[n_big])] > total / (2 * params_.threads))
      ++n_big;
    for (size_t i = 0; i < n_big; ++i) run_shared(by_size[i]);
    parallel_for(static_cast<int64_t>(by_size.size() - n_big), params_.threads,
                 [&](int64_t i, int w) { run_alone(by_size[n_big + static_cast<size_t>(i)], worker(w)); }, watch_);
    return std::move(chunks_);
  }

 private:
  int64_t n_children(int64_t chunk) const { return plan_.child_ptr[chunk + 1] - plan_.child_ptr[chunk]; }

  /// Positives times blocks: in proportion to the time a node takes.
  int64_t size_of(int64_t chunk) const {
    int64_t positives = plan_.all_rows ? x_.n_rows : 1;
    for (int64_t j = plan_.child_ptr[chunk]; j < plan_.child_ptr[chunk + 1]; ++j)
      for (int64_t l = plan_.label_begin[j]; l < plan_.label_end[j]; ++l)
        positives += rows_of_label_.row_nnz(plan_.order[l]);
    return positives * n_blocks_of(n_children(chunk));
  }

  Worker& worker(int w) {
    auto& slot = workers_[static_cast<size_t>(w)];
    if (!slot) slot = std::make_unique<Worker>(x_.n_rows, x_.n_features);
    return *slot;
  }

  void gather(int64_t chunk, NodeScratch& node, Job& job) {
    job.chunk = chunk;
    node.collect_rows(plan_, rows_of_label_, chunk, seed_of(params_.seed, static_cast<uint64_t>(chunk), 1));
    node.compact(x_, norms_.data(), cost_, params_.c, job.rows);
    job.positive.swap(node.positive);
    // Rows of the chunk are written by rising internal feature; features that no example has do not come up here.
    job.order.resize(node.features.size());
    std::iota(job.order.begin(), job.order.end(), 0);
    std::sort(job.order.begin(), job.order.end(), [&](int32_t a, int32_t b) {
      return rank_[node.features[static_cast<size_t>(a)]] < rank_[node.features[static_cast<size_t>(b)]];
    });
    // A dense matrix may have columns without any value: they sort first, having rank -1, and are left out.
    size_t unused = 0;
    while (unused < job.order.size() && rank_[node.features[static_cast<size_t>(job.order[unused])]] < 0) ++unused;
    job.order.erase(job.order.begin(), job.order.begin() + static_cast<int64_t>(unused));
    const auto n_blocks = static_cast<size_t>(n_blocks_of(n_children(chunk)));
    job.weights.n_children = n_children(chunk);
    job.weights.feature.resize(job.order.size());
    for (size_t i = 0; i < job.order.size(); ++i)
      job.weights.feature[i] = rank_[node.features[static_cast<size_t>(job.order[i])]];
    job.weights.mask.assign(n_blocks, {});
    job.weights.value.assign(n_blocks, {});
    job.bias.assign(static_cast<size_t>(n_children(chunk)), 0.0f);
    job.blocks_left = static_cast<int64_t>(n_blocks);
    job.size_of_block = size_of(chunk) / static_cast<int64_t>(n_blocks);
  }

  void solve(Job& job, int64_t b, Worker& worker) {
    const int64_t lanes = std::min<int64_t>(kBlock, job.weights.n_children - b * kBlock);
    float* weights = worker.weights.at_least((static_cast<size_t>(job.rows.n_features) + 1) * kBlock);
    float* dual = worker.dual.at_least(static_cast<size_t>(job.rows.n_rows) * kBlock);
    const uint16_t* positive = job.positive.data() + b * job.rows.n_rows;
    const auto seed = seed_of(params_.seed, static_cast<uint64_t>(job.chunk), 2, static_cast<uint64_t>(b));
    const int passes = LT_DISPATCH(solve_block, job.rows, positive, (1u << lanes) - 1, solver_, seed, weights, dual);
    auto& mask = job.weights.mask[static_cast<size_t>(b)];
    mask.resize(job.order.size());
    LT_DISPATCH(compress_block, weights, job.order.data(), static_cast<int64_t>(job.order.size()), params_.threshold,
                mask.data(), job.weights.value[static_cast<size_t>(b)]);
    const float* bias = weights + static_cast<size_t>(job.rows.n_features) * kBlock;
    for (int64_t j = 0; j < lanes; ++j) job.bias[static_cast<size_t>(b * kBlock + j)] = bias[j] * params_.solver.bias;
    {
      std::lock_guard<std::mutex> lock(stats_mutex_);
      stats_.passes += passes;
      ++stats_.blocks;
      if (passes >= params_.solver.max_iter) ++stats_.unfinished;
    }
    if (watch_ != nullptr) watch_->done += job.size_of_block;
    if (--job.blocks_left == 0)
      chunks_[static_cast<size_t>(job.chunk)] = pack_chunk(job.weights, job.bias, n_internal_, params_.type);
  }

  void run_alone(int64_t chunk, Worker& worker) {
    gather(chunk, worker.node, worker.job);
    const int64_t n_blocks = worker.job.blocks_left;
    for (int64_t b = 0; b < n_blocks && !(watch_ != nullptr && watch_->stop); ++b) solve(worker.job, b, worker);
  }

  void run_shared(int64_t chunk) {
    Job job;
    gather(chunk, worker(0).node, job);
    parallel_for(job.blocks_left, params_.threads, [&](int64_t b, int w) { solve(job, b, worker(w)); }, watch_);
  }

  const LevelPlan& plan_;
  const CsrView& rows_of_label_;
  const Examples& x_;
  const float* cost_;
  const int32_t* rank_;
  const int64_t n_internal_;
  const TrainParams& params_;
  SolverParams solver_;
  TrainStats& stats_;
  Watch* watch_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<ChunkParts> chunks_;
  std::vector<float> norms_;
  std::mutex stats_mutex_;
};

}  // namespace

Level train_level(const LevelPlan& plan, const CsrView& rows_of_label, const Examples& x, const float* square_norm,
                  const float* cost, const int32_t* rank, int64_t n_internal, std::vector<int32_t> child,
                  const TrainParams& params, TrainStats& stats, Watch* watch) {
  LevelTrainer trainer(plan, rows_of_label, x, square_norm, cost, rank, n_internal, params, stats, watch);
  std::vector<ChunkParts> chunks = trainer.run();
  return assemble_level(chunks, std::vector<int64_t>(plan.child_ptr, plan.child_ptr + plan.n_chunks + 1),
                        std::move(child));
}

}  // namespace longtail
