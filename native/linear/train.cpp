#include "linear/train.hpp"

#include <algorithm>
#include <memory>
#include <mutex>

#include "core/aligned.hpp"
#include "core/bits.hpp"
#include "core/random.hpp"

namespace longtail {

namespace {

/// A chunk of one of the levels.
struct Place {
  size_t level;
  int64_t chunk;
  int64_t size;  // positives times blocks: in proportion to the time it takes
};

/// One node on its way: rows gathered once, blocks solved by one thread or by several, packed by the last.
struct Job {
  Place place{};
  int64_t size_of_block = 0;  // what a block counts for in progress
  NodeRows rows;
  std::vector<uint16_t> positive;
  std::vector<int32_t> order;  // local features by rising rank
  ChunkWeights weights;
  std::vector<float> bias;
  std::atomic<int64_t> blocks_left{0};
};

/// Puts the features of a node in the order of their ranks without a sort: a bitmap over ranks is marked and read.
class FeatureOrder {
 public:
  /// IN features: global numbers. OUT order: local numbers by rising rank, without those of rank -1 (which only a dense
  /// matrix has: columns without any value); ranks: of those.
  void by_rank(const std::vector<int32_t>& features, const int32_t* rank, int64_t n_internal, std::vector<int32_t>& order,
               std::vector<int32_t>& ranks) {
    marks_.resize(static_cast<size_t>(n_internal / 64 + 1), 0);
    local_.resize(static_cast<size_t>(n_internal));
    for (size_t local = 0; local < features.size(); ++local) {
      const int32_t r = rank[features[local]];
      if (r < 0) continue;
      marks_[static_cast<size_t>(r) / 64] |= uint64_t{1} << (r % 64);
      local_[static_cast<size_t>(r)] = static_cast<int32_t>(local);
    }
    order.clear();
    ranks.clear();
    for (size_t w = 0; w < marks_.size(); ++w) {
      for (uint64_t rest = marks_[w]; rest != 0; rest &= rest - 1) {
        const size_t r = w * 64 + static_cast<size_t>(lowest_bit(rest));
        order.push_back(local_[r]);
        ranks.push_back(static_cast<int32_t>(r));
      }
      marks_[w] = 0;
    }
  }

 private:
  std::vector<uint64_t> marks_;  // all clear between calls
  std::vector<int32_t> local_;
};

/// What a thread reuses from block to block.
struct Worker {
  Worker(int64_t n_rows, int64_t n_features) : node(n_rows, n_features) {}
  NodeScratch node;
  FeatureOrder order;
  Job job;
  AlignedFloats weights, dual, narrow_weights, narrow_dual;
  std::vector<uint16_t> narrow_positive;

  NarrowRoom narrow(const NodeRows& rows) {
    const auto n_rows = static_cast<size_t>(rows.n_rows);
    if (narrow_positive.size() < n_rows) narrow_positive.resize(n_rows);
    return {narrow_weights.at_least((static_cast<size_t>(rows.n_features) + 1) * kBlock / 2),
            narrow_dual.at_least(n_rows * kBlock / 2), narrow_positive.data()};
  }
};

class LevelTrainer {
 public:
  LevelTrainer(const std::vector<LevelPlan>& plans, const std::vector<uint64_t>& seeds, const CsrView& rows_of_label,
               const Examples& x, const float* square_norm, const float* cost, const int32_t* rank, int64_t n_internal,
               const TrainParams& params, std::vector<TrainStats>& stats, Watch* watch)
      : plans_(plans), seeds_(seeds), rows_of_label_(rows_of_label), x_(x), cost_(cost), rank_(rank),
        n_internal_(n_internal), params_(params), solver_(params.solver), stats_(stats), watch_(watch),
        workers_(static_cast<size_t>(params.threads)), norms_(square_norm, square_norm + x.n_rows) {
    for (const LevelPlan& plan : plans) chunks_.emplace_back(static_cast<size_t>(plan.n_chunks));
    for (float& norm : norms_) norm += params.solver.bias * params.solver.bias;
    if (watch != nullptr) solver_.stop = &watch->stop;
  }

  /// The chunks of each level.
  std::vector<std::vector<ChunkParts>> run() {
    std::vector<Place> places;
    int64_t total = 0;
    for (size_t level = 0; level < plans_.size(); ++level)
      for (int64_t c = 0; c < plans_[level].n_chunks; ++c) {
        places.push_back({level, c, size_of(level, c)});
        total += places.back().size;
      }
    std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.size > b.size; });
    // A node of several blocks that holds more than a share of a thread would leave the others idle at the end.
    const auto is_big = [&](const Place& place) {
      return params_.threads > 1 && place.size > total / (2 * params_.threads) && n_children(place) > kBlock;
    };
    const auto alone = std::stable_partition(places.begin(), places.end(), is_big);
    for (auto place = places.begin(); place != alone; ++place) run_shared(*place);
    parallel_for(places.end() - alone, params_.threads, [&](int64_t i, int w) { run_alone(alone[i], worker(w)); },
                 watch_);
    return std::move(chunks_);
  }

 private:
  int64_t n_children(const Place& place) const {
    const LevelPlan& plan = plans_[place.level];
    return plan.child_ptr[place.chunk + 1] - plan.child_ptr[place.chunk];
  }

  int64_t size_of(size_t level, int64_t chunk) const {
    const LevelPlan& plan = plans_[level];
    int64_t positives = plan.all_rows ? x_.n_rows : 1;
    for (int64_t j = plan.child_ptr[chunk]; j < plan.child_ptr[chunk + 1]; ++j)
      for (int64_t l = plan.label_begin[j]; l < plan.label_end[j]; ++l)
        positives += rows_of_label_.row_nnz(plan.order[l]);
    return positives * n_blocks_of(n_children({level, chunk, 0}));
  }

  Worker& worker(int w) {
    auto& slot = workers_[static_cast<size_t>(w)];
    if (!slot) slot = std::make_unique<Worker>(x_.n_rows, x_.n_features);
    return *slot;
  }

  void gather(const Place& place, NodeScratch& node, FeatureOrder& order, Job& job) {
    job.place = place;
    const uint64_t seed = seed_of(seeds_[place.level], static_cast<uint64_t>(place.chunk), 1);
    node.collect_rows(plans_[place.level], rows_of_label_, place.chunk, seed);
    node.compact(x_, norms_.data(), cost_, params_.c, job.rows);
    job.positive.swap(node.positive);
    // Rows of the chunk are written by rising internal feature.
    order.by_rank(node.features, rank_, n_internal_, job.order, job.weights.feature);
    const auto n_blocks = static_cast<size_t>(n_blocks_of(n_children(place)));
    job.weights.n_children = n_children(place);
    job.weights.mask.assign(n_blocks, {});
    job.weights.value.assign(n_blocks, {});
    job.bias.assign(static_cast<size_t>(n_children(place)), 0.0f);
    job.blocks_left = static_cast<int64_t>(n_blocks);
    job.size_of_block = place.size / static_cast<int64_t>(n_blocks);
  }

  void solve(Job& job, int64_t b, Worker& worker) {
    const int64_t lanes = std::min<int64_t>(kBlock, job.weights.n_children - b * kBlock);
    float* weights = worker.weights.at_least((static_cast<size_t>(job.rows.n_features) + 1) * kBlock);
    float* dual = worker.dual.at_least(static_cast<size_t>(job.rows.n_rows) * kBlock);
    const uint16_t* positive = job.positive.data() + b * job.rows.n_rows;
    const auto seed = seed_of(seeds_[job.place.level], static_cast<uint64_t>(job.place.chunk), 2, static_cast<uint64_t>(b));
    const int passes = LT_DISPATCH(solve_block, job.rows, positive, (1u << lanes) - 1, solver_, seed, weights, dual,
                                   worker.narrow(job.rows));
    auto& mask = job.weights.mask[static_cast<size_t>(b)];
    mask.resize(job.order.size());
    LT_DISPATCH(compress_block, job.rows, weights, dual, job.order.data(), static_cast<int64_t>(job.order.size()),
                params_.threshold, mask.data(), job.weights.value[static_cast<size_t>(b)]);
    const float* bias = weights + static_cast<size_t>(job.rows.n_features) * kBlock;
    for (int64_t j = 0; j < lanes; ++j) job.bias[static_cast<size_t>(b * kBlock + j)] = bias[j] * params_.solver.bias;
    {
      std::lock_guard<std::mutex> lock(stats_mutex_);
      TrainStats& stats = stats_[job.place.level];
      stats.passes += passes;
      ++stats.blocks;
      if (passes >= params_.solver.max_iter) ++stats.unfinished;
    }
    if (watch_ != nullptr) watch_->done += job.size_of_block;
    if (--job.blocks_left == 0)
      chunks_[job.place.level][static_cast<size_t>(job.place.chunk)] =
          pack_chunk(job.weights, job.bias, n_internal_, params_.type);
  }

  void run_alone(const Place& place, Worker& worker) {
    gather(place, worker.node, worker.order, worker.job);
    const int64_t n_blocks = worker.job.blocks_left;
    for (int64_t b = 0; b < n_blocks && !(watch_ != nullptr && watch_->stop); ++b) solve(worker.job, b, worker);
  }

  void run_shared(const Place& place) {
    Job job;
    gather(place, worker(0).node, worker(0).order, job);
    parallel_for(job.blocks_left, params_.threads, [&](int64_t b, int w) { solve(job, b, worker(w)); }, watch_);
  }

  const std::vector<LevelPlan>& plans_;
  const std::vector<uint64_t>& seeds_;
  const CsrView& rows_of_label_;
  const Examples& x_;
  const float* cost_;
  const int32_t* rank_;
  const int64_t n_internal_;
  const TrainParams& params_;
  SolverParams solver_;
  std::vector<TrainStats>& stats_;  // [level]
  Watch* watch_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::vector<ChunkParts>> chunks_;  // [level][chunk]
  std::vector<float> norms_;
  std::mutex stats_mutex_;
};

}  // namespace

std::vector<Level> train_levels(const std::vector<LevelPlan>& plans, std::vector<std::vector<int32_t>> child,
                                const std::vector<uint64_t>& seeds, const CsrView& rows_of_label, const Examples& x,
                                const float* square_norm, const float* cost, const int32_t* rank, int64_t n_internal,
                                const TrainParams& params, std::vector<TrainStats>& stats, Watch* watch) {
  stats.assign(plans.size(), {});
  LevelTrainer trainer(plans, seeds, rows_of_label, x, square_norm, cost, rank, n_internal, params, stats, watch);
  std::vector<std::vector<ChunkParts>> chunks = trainer.run();
  std::vector<Level> levels;
  for (size_t level = 0; level < plans.size(); ++level) {
    const int64_t* ptr = plans[level].child_ptr;
    levels.push_back(assemble_level(chunks[level], std::vector<int64_t>(ptr, ptr + plans[level].n_chunks + 1),
                                    std::move(child[level])));
  }
  return levels;
}

}  // namespace longtail
