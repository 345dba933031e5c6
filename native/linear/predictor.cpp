#include "linear/predictor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/bits.hpp"
#include "core/label_lists.hpp"
#include "linear/batch.hpp"
#include "trees/unit.hpp"

namespace longtail {

namespace {

constexpr int64_t kRowsPerTask = 64;
constexpr int64_t kQuickBeam = 64;
// Queries answered together: as many as share the nodes of large trees without their own memory becoming the cost.
constexpr int64_t kRowsTogether = 16384;
// Labels that the queries of a thread may keep together, over all trees.
constexpr int64_t kKeptTogether = int64_t{1} << 22;
// Of deeper trees most levels have no nodes worth sharing, and each costs a pass over the queries.
constexpr size_t kFewLevels = 64;

/// The features of one query by internal numbers.
struct QueryBuffer {
  std::vector<int32_t> feature;
  std::vector<float> value;
  Query view() const { return {static_cast<int64_t>(feature.size()), feature.data(), value.data()}; }
};

struct SparseRows {
  CsrView x;
  const int32_t* rank;
  void operator()(int64_t i, QueryBuffer& out) const {
    out.feature.clear();
    out.value.clear();
    for (int64_t p = x.indptr[i]; p < x.indptr[i + 1]; ++p) {
      const int32_t r = rank[x.indices[p]];
      if (r < 0 || x.data[p] == 0.0f) continue;
      out.feature.push_back(r);
      out.value.push_back(x.data[p]);
    }
  }
};

struct DenseRows {
  const float* x;
  int64_t n_features;
  const int32_t* rank;
  void operator()(int64_t i, QueryBuffer& out) const {
    out.feature.clear();
    out.value.clear();
    for (int64_t f = 0; f < n_features; ++f) {
      const float v = x[i * n_features + f];
      if (rank[f] < 0 || v == 0.0f) continue;
      out.feature.push_back(rank[f]);
      out.value.push_back(v);
    }
  }
};

/// Rows with internal feature numbers, one after the other.
struct BatchRows {
  std::vector<int32_t> feature;
  std::vector<float> value;
  std::vector<Query> queries;

  template <class Fill>
  void fill(int64_t begin, int64_t end, const Fill& one, QueryBuffer& buffer) {
    feature.clear();
    value.clear();
    queries.clear();
    for (int64_t i = begin; i < end; ++i) {
      one(i, buffer);
      queries.push_back({static_cast<int64_t>(buffer.feature.size()), nullptr, nullptr});
      feature.insert(feature.end(), buffer.feature.begin(), buffer.feature.end());
      value.insert(value.end(), buffer.value.begin(), buffer.value.end());
    }
    size_t at = 0;
    for (Query& query : queries) {
      query.feature = feature.data() + at;
      query.value = value.data() + at;
      at += static_cast<size_t>(query.n);
    }
  }
};

bool same(const SearchParams& a, const SearchParams& b) {
  return a.k == b.k && a.beam == b.beam && a.node_score == b.node_score && a.label_score == b.label_score &&
         a.power == b.power && a.bound == b.bound && a.per_tree == b.per_tree && a.kind == b.kind && a.slack == b.slack &&
         a.max_nodes == b.max_nodes && a.max_ns == b.max_ns;
}

}  // namespace

Predictor::Predictor(nb::list trees, In<int32_t> rank, int64_t n_internal, int64_t n_labels,
                     const std::string& weights, bool deep, bool partial, int threads)
    : rank_(rank), n_internal_(n_internal), n_labels_(n_labels), type_(value_type_of(weights)) {
  if (n_internal < 0 || n_internal > INT32_MAX || n_labels < 1 || n_labels > INT32_MAX)
    throw std::invalid_argument("the classifiers are damaged: wrong counts of features or labels");
  for (size_t f = 0; f < rank.shape(0); ++f)
    if (rank.data()[f] < -1 || rank.data()[f] >= n_internal)
      throw std::invalid_argument("the classifiers are damaged: a feature has a wrong internal number");
  if (nb::len(trees) == 0) throw std::invalid_argument("the classifiers are damaged: no trees");
  for (nb::handle tree : trees) {
    auto& levels = levels_.emplace_back();
    for (nb::handle level : nb::cast<nb::list>(tree))
      levels.emplace_back(nb::cast<nb::dict>(level), n_internal, type_);
    if (levels.empty()) throw std::invalid_argument("the classifiers are damaged: a tree without levels");
  }
  for (auto& levels : levels_)
    for (size_t d = 0; d < levels.size(); ++d) {
      const int64_t n_next = d + 1 < levels.size() ? levels[d + 1].view.n_chunks : partial ? INT32_MAX : 0;
      validate_level(levels[d].view, levels[d].sizes, n_next, n_labels, deep, threads);
    }
  trees_.resize(levels_.size());
  for (size_t t = 0; t < levels_.size(); ++t) build_tree(t, partial);
}

void Predictor::build_tree(size_t t, bool partial) {
  TreeView& tree = trees_[t];
  for (const PythonLevel& level : levels_[t]) tree.levels.push_back(level.view);
  tree.label_level.assign(static_cast<size_t>(n_labels_), -1);
  tree.label_chunk.assign(static_cast<size_t>(n_labels_), -1);
  tree.parent_chunk.resize(tree.levels.size());
  for (size_t d = 0; d < tree.levels.size(); ++d)
    tree.parent_chunk[d].assign(static_cast<size_t>(tree.levels[d].n_chunks), -1);
  int64_t n_found = 0;
  for (size_t d = 0; d < tree.levels.size(); ++d) {
    const LevelView& level = tree.levels[d];
    for (int64_t c = 0; c < level.n_chunks; ++c)
      for (int64_t j = level.child_ptr[c]; j < level.child_ptr[c + 1]; ++j) {
        const int32_t to = level.child[j];
        if (to >= 0) {
          if (d + 1 == tree.levels.size()) continue;
          int32_t& parent = tree.parent_chunk[d + 1][static_cast<size_t>(to)];
          if (parent >= 0) throw std::invalid_argument("the classifiers are damaged: a node has two parents");
          parent = static_cast<int32_t>(c);
        } else {
          auto& at = tree.label_level[static_cast<size_t>(~to)];
          if (at >= 0) throw std::invalid_argument("the classifiers are damaged: a label is in two places");
          at = static_cast<int32_t>(d);
          tree.label_chunk[static_cast<size_t>(~to)] = static_cast<int32_t>(c);
          ++n_found;
        }
      }
  }
  if (partial) return;
  if (n_found != n_labels_) throw std::invalid_argument("the classifiers are damaged: a label is in no tree node");
  for (size_t d = 1; d < tree.levels.size(); ++d)
    for (const int32_t parent : tree.parent_chunk[d])
      if (parent < 0) throw std::invalid_argument("the classifiers are damaged: a node has no parent");
}

template <class Fill>
nb::tuple Predictor::predict(int64_t n, const Options& options, const Fill& fill) {
  const auto k = static_cast<size_t>(options.search.k);
  const LabelLists only(options.only_ptr, options.only, n, n_labels_, "only");
  const LabelLists exclude(options.exclude_ptr, options.exclude, n, n_labels_, "exclude");
  std::vector<int32_t> labels(static_cast<size_t>(n) * k, -1);
  std::vector<float> scores(static_cast<size_t>(n) * k, -std::numeric_limits<float>::infinity());
  std::vector<int32_t> opened(static_cast<size_t>(n), 0);

  const auto take = [&](int64_t i, const std::vector<Found>& found, int64_t n_opened) {
    for (size_t j = 0; j < std::min(found.size(), k); ++j) {
      labels[static_cast<size_t>(i) * k + j] = found[j].label;
      scores[static_cast<size_t>(i) * k + j] = found[j].score;
    }
    opened[static_cast<size_t>(i)] = static_cast<int32_t>(std::min<int64_t>(n_opened, INT32_MAX));
  };
  const auto answer = [&](int64_t i, Searcher& searcher, QueryBuffer& buffer) {
    fill(i, buffer);
    Allowed allowed;
    if (only.given()) allowed.only = only.of(i, allowed.n_only);
    if (exclude.given()) allowed.exclude = exclude.of(i, allowed.n_exclude);
    const std::vector<Found>& found = searcher.run(buffer.view(), allowed);
    take(i, found, searcher.opened());
  };

  if (n <= kRowsPerTask) {
    // Few queries: no threads, and the memory of the call before.
    std::unique_ptr<Searcher> searcher = borrow(options.search);
    QueryBuffer buffer;
    {
      GilRelease release;
      for (int64_t i = 0; i < n; ++i) answer(i, *searcher, buffer);
    }
    give_back(std::move(searcher));
  } else {
    WatchPython watch(options.report);
    const auto team = static_cast<size_t>(options.threads);
    std::vector<std::unique_ptr<BatchBeam>> batches(team);
    std::vector<std::unique_ptr<Searcher>> searchers(team);
    std::vector<QueryBuffer> buffers(team);
    std::vector<BatchRows> rows(team);
    const bool together = options.search.kind == SearchKind::beam && !only.given() && !exclude.given() &&
                          options.search.beam <= kQuickBeam &&
                          std::all_of(trees_.begin(), trees_.end(),
                                      [](const TreeView& tree) { return tree.levels.size() <= kFewLevels; });
    const auto n_trees = static_cast<int64_t>(trees_.size());
    const int64_t kept = n_trees * std::max<int64_t>(options.search.k, n_trees > 1 ? options.search.per_tree : 0);
    const int64_t at_most = std::min({kRowsTogether, kKeptTogether / kept, (n + options.threads - 1) / options.threads});
    const int64_t per_task = together ? std::max(kRowsPerTask, at_most) : kRowsPerTask;
    GilRelease release;
    parallel_blocks(
        n, per_task, options.threads,
        [&](int64_t begin, int64_t end, int w) {
          if (together) {
            auto& batch = batches[static_cast<size_t>(w)];
            if (!batch) batch = std::make_unique<BatchBeam>(trees_, n_labels_, options.search);
            rows[static_cast<size_t>(w)].fill(begin, end, fill, buffers[static_cast<size_t>(w)]);
            batch->run(rows[static_cast<size_t>(w)].queries,
                       [&](int64_t i, const std::vector<Found>& found, int64_t n_opened) { take(begin + i, found, n_opened); });
            watch.get()->done += end - begin;
            return;
          }
          auto& searcher = searchers[static_cast<size_t>(w)];
          if (!searcher) searcher = std::make_unique<Searcher>(trees_, n_labels_, options.search);
          for (int64_t i = begin; i < end; ++i) answer(i, *searcher, buffers[static_cast<size_t>(w)]);
          watch.get()->done += end - begin;
        },
        watch.get());
  }
  const auto n_rows = static_cast<size_t>(n);
  return nb::make_tuple(to_numpy(std::move(labels), n_rows, k), to_numpy(std::move(scores), n_rows, k),
                        to_numpy(std::move(opened)));
}

std::unique_ptr<Searcher> Predictor::borrow(const SearchParams& params) {
  {
    std::lock_guard<std::mutex> lock(spare_mutex_);
    if (spare_ && same(spare_->params(), params)) return std::move(spare_);
  }
  return std::make_unique<Searcher>(trees_, n_labels_, params);
}

void Predictor::give_back(std::unique_ptr<Searcher> searcher) {
  std::lock_guard<std::mutex> lock(spare_mutex_);
  spare_ = std::move(searcher);
}

bool Predictor::predict_row(In<int32_t> indices, In<float> data, bool unit, const Options& options, Out<int32_t, 2> labels,
                            Out<float, 2> scores, Out<int32_t> opened) {
  const auto k = static_cast<size_t>(options.search.k);
  if (labels.shape(0) != 1 || labels.shape(1) != k || scores.shape(0) != 1 || scores.shape(1) != k || opened.shape(0) != 1)
    throw std::invalid_argument("the arrays for the answer do not fit one row of k labels");
  const auto n = static_cast<int64_t>(indices.shape(0));
  if (data.shape(0) != indices.shape(0)) return false;
  thread_local QueryBuffer query;
  query.feature.resize(static_cast<size_t>(n));
  query.value.resize(static_cast<size_t>(n));
  // What predict_sparse would be given only after checks is checked on the way: columns rise and exist, values are finite.
  int64_t last = -1;
  double square = 0.0;
  for (int64_t p = 0; p < n; ++p) {
    const int64_t f = indices.data()[p];
    if (f <= last || f >= n_features()) return false;
    last = f;
    square += static_cast<double>(data.data()[p]) * data.data()[p];
  }
  if (!std::isfinite(square)) return false;
  const double length = unit ? unit_length(square) : 1.0;
  size_t m = 0;
  for (int64_t p = 0; p < n; ++p) {
    const float v = length == 1.0 ? data.data()[p] : static_cast<float>(static_cast<double>(data.data()[p]) / length);
    query.feature[m] = rank_.data()[indices.data()[p]];
    query.value[m] = v;
    m += static_cast<size_t>((query.feature[m] >= 0) & (v != 0.0f));
  }
  query.feature.resize(m);
  query.value.resize(m);
  std::unique_ptr<Searcher> searcher = borrow(options.search);
  const std::vector<Found>* found = nullptr;
  if (options.search.kind == SearchKind::beam && options.search.beam <= kQuickBeam) {
    // Over in microseconds: handing the interpreter's lock to another thread could cost milliseconds.
    found = &searcher->run(query.view(), {});
  } else {
    GilRelease release;
    found = &searcher->run(query.view(), {});
  }
  for (size_t j = 0; j < k; ++j) {
    const bool is_there = j < found->size();
    labels.data()[j] = is_there ? (*found)[j].label : -1;
    scores.data()[j] = is_there ? (*found)[j].score : -std::numeric_limits<float>::infinity();
  }
  *opened.data() = static_cast<int32_t>(std::min<int64_t>(searcher->opened(), INT32_MAX));
  give_back(std::move(searcher));
  return true;
}

nb::tuple Predictor::predict_sparse(nb::object indptr, In<int32_t> indices, In<float> data, const Options& options) {
  const CsrArg x(std::move(indptr), indices, data, n_features());
  return predict(x.view().n_rows, options, SparseRows{x.view(), rank_.data()});
}

nb::tuple Predictor::predict_dense(In<float, 2> x, const Options& options) {
  if (static_cast<int64_t>(x.shape(1)) != n_features())
    throw std::invalid_argument("X has " + std::to_string(x.shape(1)) + " columns, expected " +
                                std::to_string(n_features()) + ".");
  return predict(static_cast<int64_t>(x.shape(0)), options, DenseRows{x.data(), n_features(), rank_.data()});
}

template <class Fill>
nb::tuple Predictor::frontier(int64_t n, const Options& options, const Fill& fill) {
  WatchPython watch(options.report);
  std::vector<std::vector<int32_t>> chunks(static_cast<size_t>(n));
  {
    std::vector<std::unique_ptr<Searcher>> searchers(static_cast<size_t>(options.threads));
    std::vector<QueryBuffer> buffers(static_cast<size_t>(options.threads));
    GilRelease release;
    parallel_blocks(
        n, kRowsPerTask, options.threads,
        [&](int64_t begin, int64_t end, int w) {
          auto& searcher = searchers[static_cast<size_t>(w)];
          if (!searcher) searcher = std::make_unique<Searcher>(trees_, n_labels_, options.search);
          for (int64_t i = begin; i < end; ++i) {
            fill(i, buffers[static_cast<size_t>(w)]);
            for (const Found& f : searcher->last_frontier(buffers[static_cast<size_t>(w)].view()))
              chunks[static_cast<size_t>(i)].push_back(f.label);
            std::sort(chunks[static_cast<size_t>(i)].begin(), chunks[static_cast<size_t>(i)].end());
          }
          watch.get()->done += end - begin;
        },
        watch.get());
  }
  std::vector<int64_t> out_ptr(1, 0);
  std::vector<int32_t> out;
  for (auto& row : chunks) {
    out.insert(out.end(), row.begin(), row.end());
    out_ptr.push_back(static_cast<int64_t>(out.size()));
    row = {};
  }
  return nb::make_tuple(to_numpy(std::move(out_ptr)), to_numpy(std::move(out)));
}

nb::tuple Predictor::frontier_sparse(nb::object indptr, In<int32_t> indices, In<float> data, const Options& options) {
  const CsrArg x(std::move(indptr), indices, data, n_features());
  return frontier(x.view().n_rows, options, SparseRows{x.view(), rank_.data()});
}

nb::tuple Predictor::frontier_dense(In<float, 2> x, const Options& options) {
  if (static_cast<int64_t>(x.shape(1)) != n_features()) throw std::invalid_argument("X has a wrong number of columns");
  return frontier(static_cast<int64_t>(x.shape(0)), options, DenseRows{x.data(), n_features(), rank_.data()});
}

nb::list Predictor::path(int64_t t, int64_t label) const {
  if (t < 0 || t >= static_cast<int64_t>(trees_.size()) || label < 0 || label >= n_labels_)
    throw std::invalid_argument("no such tree or label");
  const TreeView& tree = trees_[static_cast<size_t>(t)];
  nb::list steps;  // from the label up: (level, chunk, child)
  int32_t to = ~static_cast<int32_t>(label);
  int32_t chunk = tree.label_chunk[static_cast<size_t>(label)];
  for (int32_t d = tree.label_level[static_cast<size_t>(label)]; d >= 0; --d) {
    const LevelView& level = tree.levels[static_cast<size_t>(d)];
    int64_t j = level.child_ptr[chunk];
    while (level.child[j] != to) ++j;
    steps.append(nb::make_tuple(d, chunk, j - level.child_ptr[chunk]));
    to = chunk;
    chunk = tree.parent_chunk[static_cast<size_t>(d)][static_cast<size_t>(chunk)];
  }
  steps.reverse();
  return steps;
}

nb::tuple Predictor::child_weights(int64_t t, int64_t d, int64_t chunk, int64_t child) const {
  if (t < 0 || t >= static_cast<int64_t>(trees_.size())) throw std::invalid_argument("no such tree");
  const TreeView& tree = trees_[static_cast<size_t>(t)];
  if (d < 0 || d >= static_cast<int64_t>(tree.levels.size())) throw std::invalid_argument("no such level");
  const LevelView& level = tree.levels[static_cast<size_t>(d)];
  if (chunk < 0 || chunk >= level.n_chunks || child < 0 || child >= level.n_children(chunk))
    throw std::invalid_argument("no such node");
  const ChunkWeights all = unpack_chunk(level, chunk);
  const auto b = static_cast<size_t>(child / kBlock);
  const uint32_t bit = 1u << (child % kBlock);
  std::vector<int32_t> features;
  std::vector<float> values;
  const float* value = all.value[b].data();
  for (size_t i = 0; i < all.feature.size(); ++i) {
    const uint32_t mask = all.mask[b][i];
    if (mask & bit) {
      features.push_back(all.feature[i]);
      values.push_back(value[count_bits(mask & (bit - 1))]);
    }
    value += count_bits(mask);
  }
  return nb::make_tuple(to_numpy(std::move(features)), to_numpy(std::move(values)),
                        level.bias[level.child_ptr[chunk] + child]);
}

nb::list Predictor::repacked(const std::string& weights, int threads) const {
  const ValueType type = value_type_of(weights);
  nb::list trees;
  for (const TreeView& tree : trees_) {
    nb::list levels;
    for (const LevelView& level : tree.levels) {
      Level packed;
      {
        GilRelease release;
        std::vector<ChunkParts> chunks(static_cast<size_t>(level.n_chunks));
        parallel_for(level.n_chunks, threads, [&](int64_t c, int) {
          const std::vector<float> bias(level.bias + level.child_ptr[c], level.bias + level.child_ptr[c + 1]);
          chunks[static_cast<size_t>(c)] = pack_chunk(unpack_chunk(level, c), bias, n_internal_, type);
        });
        packed = assemble_level(
            chunks, std::vector<int64_t>(level.child_ptr, level.child_ptr + level.n_chunks + 1),
            std::vector<int32_t>(level.child, level.child + level.child_ptr[level.n_chunks]));
      }
      levels.append(level_to_python(std::move(packed)));
    }
    trees.append(levels);
  }
  return trees;
}

}  // namespace longtail
