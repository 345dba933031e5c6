#include "linear/node.hpp"

#include <algorithm>

#include "core/bits.hpp"
#include "core/random.hpp"
#include "linear/layout.hpp"

namespace longtail {

NodeScratch::NodeScratch(int64_t n_rows, int64_t n_features)
    : local_row_(static_cast<size_t>(n_rows), -1), local_feature_(static_cast<size_t>(n_features), -1) {}

void NodeScratch::collect_rows(const LevelPlan& plan, const CsrView& rows_of_label, int64_t chunk, uint64_t seed) {
  const int64_t first = plan.child_ptr[chunk];
  const int64_t n_children = plan.child_ptr[chunk + 1] - first;
  rows.clear();
  const auto add = [this](int32_t row) {
    if (local_row_[static_cast<size_t>(row)] < 0) {
      local_row_[static_cast<size_t>(row)] = 0;
      rows.push_back(row);
    }
  };
  const auto each_positive = [&](int64_t j, auto&& visit) {
    for (int64_t l = plan.label_begin[first + j]; l < plan.label_end[first + j]; ++l) {
      const int32_t label = plan.order[l];
      for (int64_t p = rows_of_label.indptr[label]; p < rows_of_label.indptr[label + 1]; ++p)
        visit(rows_of_label.indices[p]);
    }
  };

  if (plan.all_rows) {
    for (size_t i = 0; i < local_row_.size(); ++i) rows.push_back(static_cast<int32_t>(i));
  } else {
    for (int64_t j = 0; j < n_children; ++j) each_positive(j, add);
    if (plan.extra.n_rows > 0)
      for (int64_t p = plan.extra.indptr[chunk]; p < plan.extra.indptr[chunk + 1]; ++p) add(plan.extra.indices[p]);
  }
  Random(seed).shuffle(rows.data(), static_cast<int64_t>(rows.size()));
  for (size_t i = 0; i < rows.size(); ++i) local_row_[static_cast<size_t>(rows[i])] = static_cast<int32_t>(i);

  positive.assign(static_cast<size_t>(n_blocks_of(n_children)) * rows.size(), 0);
  for (int64_t j = 0; j < n_children; ++j) {
    uint16_t* block = positive.data() + static_cast<size_t>(j / kBlock) * rows.size();
    const auto bit = static_cast<uint16_t>(1u << (j % kBlock));
    each_positive(j, [&](int32_t row) {
      uint16_t& mask = block[local_row_[static_cast<size_t>(row)]];
      mask = static_cast<uint16_t>(mask | bit);
    });
  }
  for (const int32_t row : rows) local_row_[static_cast<size_t>(row)] = -1;
}

void NodeScratch::compact(const Examples& x, const float* square_norm, const float* cost, float c, NodeRows& out) {
  const size_t n = rows.size();
  out.n_rows = static_cast<int64_t>(n);
  out.dense = x.dense;
  out.square_norm.resize(n);
  out.cost.resize(n);
  for (size_t i = 0; i < n; ++i) {
    out.square_norm[i] = square_norm[rows[i]];
    out.cost[i] = cost == nullptr ? c : c * cost[rows[i]];
  }
  features.clear();
  out.index.clear();
  out.row_ptr.clear();
  out.single_row.clear();
  out.single_value.clear();
  if (x.dense) {
    out.own.assign(n, 0.0f);
    for (int64_t f = 0; f < x.n_features; ++f) features.push_back(static_cast<int32_t>(f));
    out.value.resize(n * static_cast<size_t>(x.n_features));
    for (size_t i = 0; i < n; ++i)
      std::copy_n(x.values + rows[i] * x.n_features, x.n_features, out.value.data() + i * static_cast<size_t>(x.n_features));
    out.n_features = static_cast<int32_t>(x.n_features);
    out.sum.assign(static_cast<size_t>(x.n_features), 0.0f);
    for (size_t i = 0; i < n; ++i)
      for (size_t f = 0; f < out.sum.size(); ++f) out.sum[f] += out.cost[i] * out.value[i * out.sum.size() + f];
    return;
  }

  size_t nnz = 0;
  for (const int32_t row : rows) nnz += static_cast<size_t>(x.sparse.row_nnz(row));
  out.index.resize(nnz);
  out.value.resize(nnz);
  number_features(x.sparse, out);
  split_features(x.sparse, out);
}

/// Numbers the features as they come and counts their rows.
void NodeScratch::number_features(const CsrView& x, NodeRows& out) {
  constexpr size_t kAhead = 8;
  count_.clear();
  size_t q = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i + kAhead < rows.size()) {
      prefetch(x.indices + x.indptr[rows[i + kAhead]]);
      prefetch(x.data + x.indptr[rows[i + kAhead]]);
    }
    for (int64_t p = x.indptr[rows[i]]; p < x.indptr[rows[i] + 1]; ++p, ++q) {
      int32_t& local = local_feature_[static_cast<size_t>(x.indices[p])];
      if (local < 0) {
        local = static_cast<int32_t>(features.size());
        features.push_back(x.indices[p]);
        count_.push_back(0);
      }
      ++count_[static_cast<size_t>(local)];
      out.index[q] = static_cast<uint32_t>(local);
    }
  }
  for (const int32_t f : features) local_feature_[static_cast<size_t>(f)] = -1;
}

/// Gives features of several rows the first numbers, and takes those of one row out of the rows.
void NodeScratch::split_features(const CsrView& x, NodeRows& out) {
  uint32_t n_shared = 0;
  for (const int32_t count : count_) n_shared += count > 1 ? 1 : 0;
  uint32_t next_shared = 0, next_single = n_shared;
  all_features_.resize(features.size());
  for (size_t f = 0; f < features.size(); ++f) {
    const uint32_t number = count_[f] > 1 ? next_shared++ : next_single++;
    all_features_[number] = features[f];
    count_[f] = static_cast<int32_t>(number);
  }
  features.swap(all_features_);

  out.n_features = static_cast<int32_t>(n_shared);
  out.single_row.resize(features.size() - n_shared);
  out.single_value.resize(features.size() - n_shared);
  out.own.assign(rows.size(), 0.0f);
  out.sum.assign(n_shared, 0.0f);
  out.row_ptr.resize(rows.size() + 1);
  out.row_ptr[0] = 0;
  size_t q = 0, kept = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    double own = 0.0;
    for (int64_t p = x.indptr[rows[i]]; p < x.indptr[rows[i] + 1]; ++p, ++q) {
      const auto number = static_cast<uint32_t>(count_[out.index[q]]);
      if (number < n_shared) {
        out.index[kept] = number;
        out.value[kept++] = x.data[p];
        out.sum[number] += out.cost[i] * x.data[p];
      } else {
        out.single_row[number - n_shared] = static_cast<int32_t>(i);
        out.single_value[number - n_shared] = x.data[p];
        own += static_cast<double>(x.data[p]) * static_cast<double>(x.data[p]);
      }
    }
    out.own[i] = static_cast<float>(own);
    out.row_ptr[i + 1] = static_cast<int64_t>(kept);
  }
}

}  // namespace longtail
