// A label tree as a series of decisions, each between the children of one node.
//
// Decision 0 is the root. A child is a later decision or a label; slots number all children of all decisions in order. A
// decision between two children takes one vector (a logistic), between more one vector a child (a softmax), and where
// there is a single child nothing has to be decided.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace longtail {

class Decisions {
 public:
  /// Throws std::invalid_argument unless every later decision and every label has exactly one parent, which comes before
  /// it. The arrays are kept, not copied: child_ptr[n_decisions + 1]; child: >= 0 a decision, < 0 ~label.
  Decisions(const int64_t* child_ptr, int64_t n_decisions, const int32_t* child, int64_t n_slots, int64_t n_labels);

  int64_t n_decisions() const { return n_decisions_; }
  int64_t n_labels() const { return static_cast<int64_t>(label_slot_.size()); }
  int64_t n_slots() const { return static_cast<int64_t>(slot_decision_.size()); }
  int64_t n_vectors() const { return first_vector_.back(); }
  /// Every decision is between two: vector i belongs to decision i, and its children are the slots 2i and 2i + 1.
  bool all_binary() const { return all_binary_; }
  int64_t widest() const { return widest_; }

  const int64_t* child_ptr() const { return child_ptr_; }
  const int32_t* child() const { return child_; }
  const int64_t* first_vector() const { return first_vector_.data(); }
  const int32_t* slot_decision() const { return slot_decision_.data(); }
  int32_t label_slot(int64_t label) const { return label_slot_[static_cast<size_t>(label)]; }
  /// The slot that leads to a decision; -1 for the root.
  int32_t decision_slot(int64_t decision) const { return decision_slot_[static_cast<size_t>(decision)]; }

  /// The slots from the root to each label, one after another: path_ptr[n_labels + 1], slots.
  void paths(std::vector<int64_t>& path_ptr, std::vector<uint32_t>& slots) const;

 private:
  const int64_t* child_ptr_;
  const int32_t* child_;
  int64_t n_decisions_;
  int64_t widest_ = 0;
  bool all_binary_ = true;
  std::vector<int64_t> first_vector_;  // [n_decisions + 1]
  std::vector<int32_t> slot_decision_, label_slot_, decision_slot_;
};

}  // namespace longtail
