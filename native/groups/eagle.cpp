#include "groups/eagle.hpp"

#include <algorithm>
#include <numeric>

#include "groups/learner.hpp"

namespace longtail {

namespace {

constexpr int64_t kTaskEntries = int64_t{1} << 20;  // entries of X that one task looks at, roughly
constexpr int64_t kTaskLabels = 4096;

/// Families [begin, end) of one task, and what comes out of it, label after label.
struct Task {
  int64_t begin = 0, end = 0, cost = 0;
  std::vector<int32_t> samples, indices;
  std::vector<float> data;
};

template <class Rows>
std::vector<Task> make_tasks(const Rows& rows, const Grouping& grouping) {
  std::vector<int64_t> group_cost(static_cast<size_t>(grouping.n_groups), 1);
  for (int64_t g = 0; g < grouping.n_groups; ++g)
    for (int64_t p = grouping.group_indptr[g]; p < grouping.group_indptr[g + 1]; ++p)
      group_cost[g] += rows.entries(grouping.samples[p]) + 1;
  std::vector<Task> tasks;
  Task task;
  int64_t labels = 0;
  for (int64_t f = 0; f < grouping.n_families; ++f) {
    const int64_t size = grouping.family_indptr[f + 1] - grouping.family_indptr[f];
    const int32_t label = grouping.members[grouping.family_indptr[f]];
    int64_t cost = 1;
    for (int64_t p = grouping.label_indptr[label]; p < grouping.label_indptr[label + 1]; ++p)
      cost += group_cost[grouping.groups[p]];
    task.cost += cost * size;
    labels += size;
    if (task.cost >= kTaskEntries || labels >= kTaskLabels || f + 1 == grouping.n_families) {
      task.end = f + 1;
      tasks.push_back(task);
      task = Task{};
      task.begin = f + 1;
      labels = 0;
    }
  }
  return tasks;
}

/// Task numbers, the dearest first: the label that half of all groups have must not be started last.
std::vector<size_t> dearest_first(const std::vector<Task>& tasks) {
  std::vector<size_t> order(tasks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return tasks[a].cost > tasks[b].cost; });
  return order;
}

/// Puts what the tasks found in the order of the labels. A task's parts are freed as they are copied.
void gather(std::vector<Task>& tasks, const Grouping& grouping, bool sparse, int threads, Assigned& out) {
  for (int64_t l = 0; l < grouping.n_labels; ++l) {
    out.sample_indptr[l + 1] += out.sample_indptr[l];
    out.indptr[l + 1] += out.indptr[l];
  }
  out.samples.resize(static_cast<size_t>(out.sample_indptr.back()));
  const auto nnz = static_cast<size_t>(out.indptr.back());
  out.indices.reset(new int32_t[sparse ? nnz : 0]);
  out.data.reset(new float[sparse ? nnz : 0]);
  parallel_for(static_cast<int64_t>(tasks.size()), threads, [&](int64_t i, int) {
    Task& task = tasks[i];
    auto sample = task.samples.cbegin();
    auto index = task.indices.cbegin();
    auto value = task.data.cbegin();
    for (int64_t m = grouping.family_indptr[task.begin]; m < grouping.family_indptr[task.end]; ++m) {
      const int32_t label = grouping.members[m];
      const int64_t found = out.sample_indptr[label + 1] - out.sample_indptr[label];
      std::copy_n(sample, found, out.samples.begin() + out.sample_indptr[label]);
      sample += found;
      const int64_t entries = out.indptr[label + 1] - out.indptr[label];
      std::copy_n(index, entries, out.indices.get() + out.indptr[label]);
      std::copy_n(value, entries, out.data.get() + out.indptr[label]);
      index += entries, value += entries;
    }
    task = Task{};
  });
}

constexpr int64_t kSumGroups = 256;  // groups that one task adds up

/// Sums of the groups that labels will ask for.
GroupSums sum_groups(const SparseUnitRows& rows, const Grouping& grouping, int threads) {
  const int64_t n_tasks = (grouping.n_groups + kSumGroups - 1) / kSumGroups;
  std::vector<GroupSums> parts(static_cast<size_t>(n_tasks));
  std::vector<std::unique_ptr<Direction<SparseUnitRows>>> scratch(static_cast<size_t>(std::max(threads, 1)));
  GroupSums out;
  out.indptr.assign(static_cast<size_t>(grouping.n_groups) + 1, 0);
  parallel_for(n_tasks, threads, [&](int64_t i, int worker) {
    auto& sum = scratch[worker];
    if (sum == nullptr) sum = std::make_unique<Direction<SparseUnitRows>>(rows);
    GroupSums& part = parts[i];
    for (int64_t g = i * kSumGroups; g < std::min(grouping.n_groups, (i + 1) * kSumGroups); ++g) {
      sum->clear(false);
      for (int64_t p = grouping.group_indptr[g]; p < grouping.group_indptr[g + 1]; ++p)
        sum->start_with(grouping.samples[p], 1.0);
      sum->each([&](int32_t feature, double value) {
        part.features.push_back(feature);
        part.values.push_back(value);
      });
      out.indptr[g + 1] = static_cast<int64_t>(part.features.size());
    }
  });
  for (int64_t g = 0; g < grouping.n_groups; ++g)
    out.indptr[g + 1] += out.indptr[g / kSumGroups * kSumGroups];  // counted from the start of its part
  out.features.reserve(static_cast<size_t>(out.indptr.back()));
  out.values.reserve(static_cast<size_t>(out.indptr.back()));
  for (GroupSums& part : parts) {
    out.features.insert(out.features.end(), part.features.begin(), part.features.end());
    out.values.insert(out.values.end(), part.values.begin(), part.values.end());
    part = GroupSums{};
  }
  return out;
}

template <class Rows>
Assigned run(const Rows& rows, const Grouping& grouping, const EagleSettings& settings, const GroupSums* sums,
             double spread, int threads, Watch* watch) {
  const bool sparse = sums != nullptr;
  auto tasks = make_tasks(rows, grouping);
  const auto queue = dearest_first(tasks);
  Assigned out;
  out.sample_indptr.assign(static_cast<size_t>(grouping.n_labels) + 1, 0);
  out.indptr.assign(static_cast<size_t>(grouping.n_labels) + 1, 0);
  if (settings.embeddings && !sparse) out.dense.assign(static_cast<size_t>(grouping.n_labels * rows.n_cols()), 0.0f);
  std::vector<std::unique_ptr<Learner<Rows>>> learners(static_cast<size_t>(std::max(threads, 1)));

  parallel_for(static_cast<int64_t>(tasks.size()), threads, [&](int64_t i, int worker) {
    Task& task = tasks[queue[i]];
    auto& learner = learners[worker];
    if (learner == nullptr) learner = std::make_unique<Learner<Rows>>(rows, grouping, settings, sums, spread);
    std::vector<int32_t> found;
    for (int64_t f = task.begin; f < task.end; ++f) {
      learner->begin_family(f);
      const int64_t first = grouping.family_indptr[f];
      for (int64_t m = first; m < grouping.family_indptr[f + 1]; ++m) {
        if (watch != nullptr && watch->stop) return;
        const int32_t label = grouping.members[m];
        learner->learn(m - first, found);
        task.samples.insert(task.samples.end(), found.begin(), found.end());
        out.sample_indptr[label + 1] = static_cast<int64_t>(found.size());
        if (settings.embeddings && sparse) {
          const size_t before = task.indices.size();
          learner->each([&](int32_t feature, float value) {
            task.indices.push_back(feature);
            task.data.push_back(value);
          });
          out.indptr[label + 1] = static_cast<int64_t>(task.indices.size() - before);
        } else if (settings.embeddings) {
          float* row = out.dense.data() + label * rows.n_cols();
          learner->each([&](int32_t feature, float value) { row[feature] = value; });
        }
        if (watch != nullptr) watch->done += grouping.label_indptr[label + 1] - grouping.label_indptr[label];
      }
    }
    task.indices.shrink_to_fit();
    task.data.shrink_to_fit();
  }, watch);

  gather(tasks, grouping, sparse, threads, out);
  return out;
}

/// How far two unit rows can lie apart.
double spread_of(const float* values, int64_t n) {
  return std::any_of(values, values + n, [](float v) { return v < 0.0f; }) ? 2.0 : 1.4142135623731;
}

}  // namespace

Assigned assign_groups(const CsrView& x, const double* scale, const Grouping& grouping, const EagleSettings& settings,
                       int threads, Watch* watch) {
  const SparseUnitRows rows(x, scale);
  const GroupSums sums = sum_groups(rows, grouping, threads);
  return run(rows, grouping, settings, &sums, spread_of(x.data, x.nnz()), threads, watch);
}

Assigned assign_groups(const DenseRows& x, const double* scale, const Grouping& grouping, const EagleSettings& settings,
                       int threads, Watch* watch) {
  return run(DenseUnitRows(x, scale), grouping, settings, nullptr, spread_of(x.data, x.n_rows * x.n_cols), threads,
             watch);
}

}  // namespace longtail
