#include "softmax/search.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "core/bits.hpp"

namespace longtail {

namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

bool better(const ScoredLabel& a, const ScoredLabel& b) {
  return a.score > b.score || (a.score == b.score && a.label < b.label);
}

}  // namespace

VectorType vector_type_of(const std::string& name) {
  if (name == "f32") return VectorType::f32;
  if (name == "f16") return VectorType::f16;
  if (name == "int8") return VectorType::int8;
  throw std::invalid_argument("vectors are stored as f32, f16 or int8, got " + name);
}

TreeSearcher::TreeSearcher(const Decisions& tree, const VectorTable& output)
    : tree_(tree), output_(output), kernels_(LT_DISPATCH(vector_kernels)) {
  margin_.resize(static_cast<size_t>(tree.widest()) + 16);
  log_p_.resize(margin_.size());
}

const std::vector<ScoredLabel>& TreeSearcher::run(const float* hidden, const TreeSearchParams& params,
                                                  const LabelFilter& filter) {
  params_ = params;
  hidden_ = hidden;
  opened_ = 0;
  found_.clear();
  frontier_.clear();
  mark(filter);
  if (restricted_ ? filter.n_only > 0 : true) frontier_.push_back({0.0f, 0});
  // A query that names its labels is about those labels: all of them are looked at, however the search goes.
  const bool limited = params.mode == SearchMode::budget && !restricted_;
  max_nodes_ = limited ? params.max_nodes : 0;
  max_ns_ = limited ? params.max_ns : 0;
  if (max_ns_ > 0) deadline_ = std::chrono::steady_clock::now() + std::chrono::nanoseconds(max_ns_);
  if (params.mode == SearchMode::beam && !restricted_) by_level();
  else best_first();
  to_probabilities();
  return found_;
}

void TreeSearcher::mark(const LabelFilter& filter) {
  restricted_ = filter.n_only >= 0;
  excluding_ = filter.n_exclude > 0;
  if (!restricted_ && !excluding_) return;
  if (++mark_ == 0) {  // after 2^32 queries old marks would look new
    for (auto* marks : {&label_mark_, &exclude_mark_, &decision_mark_}) std::fill(marks->begin(), marks->end(), 0u);
    mark_ = 1;
  }
  if (excluding_) {
    exclude_mark_.resize(static_cast<size_t>(tree_.n_labels()), 0u);
    for (int64_t i = 0; i < filter.n_exclude; ++i) exclude_mark_[static_cast<size_t>(filter.exclude[i])] = mark_;
  }
  if (!restricted_) return;
  label_mark_.resize(static_cast<size_t>(tree_.n_labels()), 0u);
  decision_mark_.resize(static_cast<size_t>(tree_.n_decisions()), 0u);
  for (int64_t i = 0; i < filter.n_only; ++i) {
    label_mark_[static_cast<size_t>(filter.only[i])] = mark_;
    int32_t slot = tree_.label_slot(filter.only[i]);
    while (slot >= 0) {
      const int32_t d = tree_.slot_decision()[slot];
      if (decision_mark_[static_cast<size_t>(d)] == mark_) break;
      decision_mark_[static_cast<size_t>(d)] = mark_;
      slot = tree_.decision_slot(d);
    }
  }
}

bool TreeSearcher::out_of_reach(float score) const {
  if (static_cast<int64_t>(found_.size()) < params_.k) return false;
  const float worst = found_.front().score;
  // Without slack a node that ties is opened: its label may have the smaller number.
  return params_.slack > 0.0f ? score <= worst + params_.slack : score < worst;
}

void TreeSearcher::offer(float score, int32_t label) {
  const ScoredLabel candidate{score, label};
  if (static_cast<int64_t>(found_.size()) < params_.k) {
    found_.push_back(candidate);
    std::push_heap(found_.begin(), found_.end(), better);
  } else if (better(candidate, found_.front())) {
    std::pop_heap(found_.begin(), found_.end(), better);
    found_.back() = candidate;
    std::push_heap(found_.begin(), found_.end(), better);
  }
}

void TreeSearcher::open(const Open& node, bool into_heap) {
  ++opened_;
  const int64_t d = node.decision;
  const int64_t begin = tree_.child_ptr()[d], n = tree_.child_ptr()[d + 1] - begin;
  const int64_t first = tree_.first_vector()[d], n_vectors = tree_.first_vector()[d + 1] - first;
  kernels_.margins(output_, first, n_vectors, hidden_, margin_.data());
  if (n_vectors == 0) log_p_[0] = 0.0f;
  else if (n_vectors == 1) kernels_.log_logistic(margin_[0], log_p_.data());
  else kernels_.log_softmax(margin_.data(), n_vectors, log_p_.data());
  for (int64_t j = 0; j < n; ++j) {
    const float sum = node.score + log_p_[static_cast<size_t>(j)];
    const float score = sum <= 0.0f ? sum : kNever;  // damaged vectors may give no number, and nothing sorts those
    const int32_t child = tree_.child()[begin + j];
    if (child < 0) {
      const auto label = static_cast<size_t>(~child);
      if (restricted_ && label_mark_[label] != mark_) continue;
      if (excluding_ && exclude_mark_[label] == mark_) continue;
      offer(score, ~child);
      continue;
    }
    if (restricted_ && decision_mark_[static_cast<size_t>(child)] != mark_) continue;
    if (out_of_reach(score)) continue;
    auto& open_nodes = into_heap ? frontier_ : next_;
    open_nodes.push_back({score, child});
    if (into_heap) std::push_heap(frontier_.begin(), frontier_.end(), opens_later);
  }
}

/// Whether the query has used up what it may; the root is always opened.
bool TreeSearcher::spent() const {
  if (opened_ == 0) return false;
  if (max_nodes_ > 0 && opened_ >= max_nodes_) return true;
  return max_ns_ > 0 && std::chrono::steady_clock::now() >= deadline_;
}

void TreeSearcher::best_first() {
  while (!frontier_.empty() && !spent()) {
    const Open node = frontier_.front();
    if (out_of_reach(node.score)) break;  // all others are no better
    std::pop_heap(frontier_.begin(), frontier_.end(), opens_later);
    frontier_.pop_back();
    open(node, true);
  }
}

void TreeSearcher::by_level() {
  const auto best = [](const Open& a, const Open& b) { return opens_later(b, a); };
  const auto beam = static_cast<size_t>(params_.beam);
  while (!frontier_.empty()) {
    next_.clear();
    for (const Open& node : frontier_) {
      if (out_of_reach(node.score)) break;  // they are sorted
      open(node, false);
    }
    if (next_.size() > beam) {
      std::nth_element(next_.begin(), next_.begin() + static_cast<int64_t>(beam), next_.end(), best);
      next_.resize(beam);
    }
    std::sort(next_.begin(), next_.end(), best);
    frontier_.swap(next_);
  }
}

void TreeSearcher::to_probabilities() {
  const size_t n = found_.size();
  if (log_p_.size() < n + 16) log_p_.resize(n + 16);
  for (size_t i = 0; i < n; ++i) log_p_[i] = found_[i].score;
  kernels_.exponentials(log_p_.data(), static_cast<int64_t>(n));
  for (size_t i = 0; i < n; ++i) found_[i].score = log_p_[i];
  // Logarithms that differ may have the same exponential: such ties are ordered by label, as all are.
  std::sort(found_.begin(), found_.end(), better);
}

}  // namespace longtail
