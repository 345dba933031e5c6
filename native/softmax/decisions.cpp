#include "softmax/decisions.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace longtail {

namespace {

[[noreturn]] void damaged(const char* what) { throw std::invalid_argument(std::string("the tree is damaged: ") + what); }

}  // namespace

Decisions::Decisions(const int64_t* child_ptr, int64_t n_decisions, const int32_t* child, int64_t n_slots,
                     int64_t n_labels)
    : child_ptr_(child_ptr), child_(child), n_decisions_(n_decisions) {
  if (n_labels < 1 || n_labels > INT32_MAX || n_decisions < 1 || n_slots > INT32_MAX)
    damaged("wrong counts of decisions or labels");
  if (child_ptr[0] != 0 || child_ptr[n_decisions] != n_slots) damaged("its children do not fit its decisions");
  for (int64_t d = 0; d < n_decisions; ++d)
    if (child_ptr[d + 1] <= child_ptr[d] || child_ptr[d + 1] > n_slots) damaged("a decision has no children");
  first_vector_.assign(static_cast<size_t>(n_decisions) + 1, 0);
  slot_decision_.assign(static_cast<size_t>(n_slots), 0);
  label_slot_.assign(static_cast<size_t>(n_labels), -1);
  decision_slot_.assign(static_cast<size_t>(n_decisions), -1);
  for (int64_t d = 0; d < n_decisions; ++d) {
    const int64_t n = child_ptr[d + 1] - child_ptr[d];
    first_vector_[static_cast<size_t>(d) + 1] = first_vector_[static_cast<size_t>(d)] + (n == 1 ? 0 : n == 2 ? 1 : n);
    all_binary_ = all_binary_ && n == 2;
    widest_ = std::max(widest_, n);
    for (int64_t s = child_ptr[d]; s < child_ptr[d + 1]; ++s) {
      slot_decision_[static_cast<size_t>(s)] = static_cast<int32_t>(d);
      const int32_t to = child[s];
      if (to >= 0 ? to <= d || to >= n_decisions : ~to >= n_labels) damaged("a child is out of place");
      int32_t& slot = to >= 0 ? decision_slot_[static_cast<size_t>(to)] : label_slot_[static_cast<size_t>(~to)];
      if (slot >= 0) damaged("a decision or label has two parents");
      slot = static_cast<int32_t>(s);
    }
  }
  for (int64_t d = 1; d < n_decisions; ++d)
    if (decision_slot_[static_cast<size_t>(d)] < 0) damaged("a decision has no parent");
  for (const int32_t slot : label_slot_)
    if (slot < 0) damaged("a label has no parent");
}

void Decisions::paths(std::vector<int64_t>& path_ptr, std::vector<uint32_t>& slots) const {
  path_ptr.assign(label_slot_.size() + 1, 0);
  std::vector<int32_t> depth(static_cast<size_t>(n_decisions_), 0);
  for (int64_t d = 1; d < n_decisions_; ++d)
    depth[static_cast<size_t>(d)] = depth[static_cast<size_t>(slot_decision_[static_cast<size_t>(decision_slot(d))])] + 1;
  for (size_t l = 0; l < label_slot_.size(); ++l)
    path_ptr[l + 1] = path_ptr[l] + depth[static_cast<size_t>(slot_decision_[static_cast<size_t>(label_slot_[l])])] + 1;
  slots.resize(static_cast<size_t>(path_ptr.back()));
  for (size_t l = 0; l < label_slot_.size(); ++l) {
    int32_t slot = label_slot_[l];
    for (int64_t at = path_ptr[l + 1] - 1; at >= path_ptr[l]; --at) {
      slots[static_cast<size_t>(at)] = static_cast<uint32_t>(slot);
      slot = decision_slot(slot_decision_[static_cast<size_t>(slot)]);
    }
  }
}

}  // namespace longtail
