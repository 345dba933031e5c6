"""The transposed pattern against SciPy, and what the kernel refuses."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from longtail import _native


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (1, 1), (50, 7), (7, 50), (400, 300)])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_equals_scipy(shape, dtype):
    y = sp.random(*shape, density=0.1, format="csr", random_state=3)
    indptr, rows = _native.labels.transpose(y.indptr.astype(dtype), y.indices.astype(np.int32), shape[1])
    truth = y.tocsc()
    assert indptr.dtype == np.int64
    assert rows.dtype == np.int32
    np.testing.assert_array_equal(indptr, truth.indptr)
    np.testing.assert_array_equal(rows, truth.indices)


def test_duplicates_and_unsorted_ids_are_kept():
    indptr, rows = _native.labels.transpose(np.array([0, 3, 4]), np.array([2, 0, 2, 2], np.int32), 3)
    assert indptr.tolist() == [0, 1, 1, 4]
    assert rows.tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize(
    ("indptr", "indices", "n_cols"),
    [
        ([0, 1], [3], 3),
        ([0, 1], [-1], 3),
        ([0, 2], [0], 3),
        ([1, 1], [0], 3),
        ([0, 1, 0], [0], 3),
        ([], [], 3),
        ([0], [], -1),
    ],
)
def test_refuses_what_would_be_read_out_of_bounds(indptr, indices, n_cols):
    with pytest.raises(ValueError, match="CSR"):
        _native.labels.transpose(np.array(indptr, np.int64), np.array(indices, np.int32), n_cols)
