"""Matrices at the border: what SciPy itself would trip over is refused before SciPy converts it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from longtail.arrays import as_csr
from longtail.errors import DataError

FORMATS = ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"]


def sound(format: str) -> Any:
    if format == "dia":  # which is for few diagonals
        return sp.diags([np.arange(1, 51, dtype=np.float32), np.ones(50, np.float32)], [0, 3], (50, 60))
    return sp.random(50, 60, 0.2, format="csr", dtype=np.float32, random_state=0).asformat(format)


@pytest.mark.parametrize("format", FORMATS)
def test_all_formats_give_the_same(format: str) -> None:
    csr = as_csr(sound(format), "X")
    assert csr.format == "csr"
    assert csr.indices.dtype == np.int32
    np.testing.assert_array_equal(csr.toarray(), sound(format).toarray())


@pytest.mark.parametrize("format", ["csr", "csc", "bsr"])
@pytest.mark.parametrize(
    ("part", "at", "value"),
    [
        ("indices", 3, 10**9), ("indices", 3, -(10**9)), ("indptr", 5, 10**9), ("indptr", 5, -1),
        ("indptr", -1, 10**8), ("indptr", 0, 1), ("indices", slice(3), None), ("indptr", slice(3), None),
        ("data", slice(3), None),
    ],
)  # fmt: skip
def test_damaged_compressed_matrices(format: str, part: str, at: Any, value: Any) -> None:
    matrix = sound(format)
    array = getattr(matrix, part).copy()
    if value is None:
        setattr(matrix, part, array[at])
    else:
        array[at] = value
        setattr(matrix, part, array)
    with pytest.raises(DataError, match="X"):
        as_csr(matrix, "X")


@pytest.mark.parametrize("part", ["row", "col"])
@pytest.mark.parametrize("value", [10**9, -1, 60])
def test_damaged_coordinates(part: str, value: int) -> None:
    matrix = sound("coo")
    array = getattr(matrix, part).copy()
    array[7] = value
    setattr(matrix, part, array)
    size = matrix.shape[part == "col"]
    with pytest.raises(
        DataError, match=f"has {'row' if part == 'row' else 'column'} {value}, expected 0 to {size - 1}"
    ):
        as_csr(matrix, "X")
    setattr(matrix, part, array[:9])
    with pytest.raises(DataError, match=r"9 (row|column) ids, but 600 values"):
        as_csr(matrix, "X")


def test_blocks_of_another_shape() -> None:
    matrix = sound("bsr")
    matrix.data = matrix.data.reshape(-1)
    with pytest.raises(DataError, match="X: the bsr matrix has values of shape"):
        as_csr(matrix, "X")
