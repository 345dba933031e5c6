"""CSR matrices put together from arrays that are known to be right, without a check or a copy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..arrays import CSR, as_csr

__all__ = ["label_matrix", "make_csr"]


def make_csr(
    indptr: npt.NDArray[np.int64], indices: npt.NDArray[np.int32], data: npt.NDArray[np.float32], n_cols: int
) -> CSR:
    """A matrix of sorted, unique column ids. Its ids stay int32 even when there are more than 2^31 entries,
    where SciPy's own constructor would widen them."""
    out = sp.csr_matrix((len(indptr) - 1, n_cols), dtype=np.float32)
    out.data, out.indices = data, indices
    out.indptr = indptr.astype(np.int32) if indptr[-1] < 2**31 else indptr
    out.has_sorted_indices = True
    out.has_canonical_format = True
    return out


def label_matrix(y: Any, name: str = "Y") -> CSR:
    """A checked label matrix whose every stored entry is a label (stored zeros are none)."""
    csr = as_csr(y, name)
    if len(csr.data) and not np.all(csr.data):
        csr = csr.copy()
        csr.eliminate_zeros()
    return csr
