// Label lists of queries as Python gives them: none, one for all, or one each.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "core/python.hpp"

namespace longtail {

class LabelLists {
 public:
  /// Throws std::invalid_argument if there is neither one row nor one for each query; `name` says which lists these are.
  LabelLists(const nb::object& indptr, const nb::object& indices, int64_t n_queries, int64_t n_labels,
             const char* name) {
    if (indptr.is_none()) return;
    arg_ = std::make_unique<CsrArg>(indptr, nb::cast<In<int32_t>>(indices), n_labels);
    const int64_t n = arg_->view().n_rows;
    if (n != 1 && n != n_queries)
      throw std::invalid_argument(std::string(name) + " must have one row, or one for each of the " +
                                  std::to_string(n_queries) + " queries. Got " + std::to_string(n) + " instead.");
  }
  bool given() const { return arg_ != nullptr; }
  /// The list of query i; OUT n: how long it is. Only of lists that are given.
  const int32_t* of(int64_t i, int64_t& n) const {
    const CsrView v = arg_->view();
    const int64_t row = v.n_rows == 1 ? 0 : i;
    n = v.row_nnz(row);
    return v.indices + v.indptr[row];
  }

 private:
  std::unique_ptr<CsrArg> arg_;
};

}  // namespace longtail
