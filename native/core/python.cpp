#include "core/python.hpp"

namespace longtail {

namespace {

void check_csr(const CsrView& m, int64_t nnz) {
  if (m.n_cols < 0 || m.n_cols > INT32_MAX) throw std::invalid_argument("CSR: the number of columns must be in [0, 2^31)");
  if (m.indptr[0] != 0) throw std::invalid_argument("CSR: indptr must start at 0");
  for (int64_t i = 0; i < m.n_rows; ++i) {
    if (m.indptr[i + 1] < m.indptr[i] || m.indptr[i + 1] > nnz)
      throw std::invalid_argument("CSR: indptr must rise and stay within the arrays (row " + std::to_string(i) + ")");
  }
  if (m.indptr[m.n_rows] != nnz) throw std::invalid_argument("CSR: indptr must end at the number of stored entries");
  // One unsigned maximum over all ids, which the compiler vectorises; the row is looked for only when it is too large.
  uint32_t largest = 0;
  const auto* ids = reinterpret_cast<const uint32_t*>(m.indices);
  for (int64_t p = 0; p < nnz; ++p) largest = ids[p] > largest ? ids[p] : largest;
  if (nnz > 0 && static_cast<int64_t>(largest) >= m.n_cols) {
    for (int64_t i = 0; i < m.n_rows; ++i)
      for (int64_t p = m.indptr[i]; p < m.indptr[i + 1]; ++p)
        if (m.indices[p] < 0 || m.indices[p] >= m.n_cols)
          throw std::invalid_argument("CSR: row " + std::to_string(i) + " has column " + std::to_string(m.indices[p]) +
                                      ", expected 0 to " + std::to_string(m.n_cols - 1));
  }
}

}  // namespace

CsrArg::CsrArg(nb::object indptr, In<int32_t> indices, In<float> data, int64_t n_cols)
    : indices_(indices), data_(data) {
  if (data.shape(0) != indices.shape(0)) throw std::invalid_argument("CSR: data and indices differ in length");
  view_.data = data.data();
  take(std::move(indptr), n_cols);
}

CsrArg::CsrArg(nb::object indptr, In<int32_t> indices, int64_t n_cols) : indices_(indices) {
  take(std::move(indptr), n_cols);
}

void CsrArg::take(nb::object indptr, int64_t n_cols) {
  In<int64_t> wide;
  In<int32_t> narrow;
  size_t length = 0;
  if (nb::try_cast(indptr, wide, false)) {
    keep_indptr_ = indptr;
    view_.indptr = wide.data();
    length = wide.shape(0);
  } else if (nb::try_cast(indptr, narrow, false)) {
    widened_.assign(narrow.data(), narrow.data() + narrow.shape(0));
    view_.indptr = widened_.data();
    length = narrow.shape(0);
  } else {
    throw nb::type_error("CSR: indptr must be a contiguous int32 or int64 array");
  }
  if (length == 0) throw std::invalid_argument("CSR: indptr must not be empty");
  view_.n_rows = static_cast<int64_t>(length) - 1;
  view_.n_cols = n_cols;
  view_.indices = indices_.data();
  check_csr(view_, static_cast<int64_t>(indices_.shape(0)));
}

int csr_flaws(const CsrView& m) {
  int flaws = 0;
  for (int64_t i = 0; i < m.n_rows; ++i)
    for (int64_t p = m.indptr[i] + 1; p < m.indptr[i + 1]; ++p) {
      flaws |= m.indices[p] < m.indices[p - 1] ? 1 : 0;
      flaws |= m.indices[p] == m.indices[p - 1] ? 2 : 0;
    }
  const int64_t nnz = m.nnz();
  bool finite = true;
  // x - x is 0 for finite x and NaN otherwise.
  for (int64_t p = 0; p < nnz; ++p) finite &= m.data[p] - m.data[p] == 0.0f;
  return flaws | (finite ? 0 : 4);
}

WatchPython::WatchPython(nb::object report) : report_(std::move(report)) {
  watch_.poll = [this](int64_t done) {
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (!report_.is_none()) report_(done);
    return false;
  };
}

}  // namespace longtail
