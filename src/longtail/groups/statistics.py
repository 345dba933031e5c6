"""What all samples have in common: their mean and the spread of every feature."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import CSR, Features, is_sparse

__all__ = ["contrast_statistics", "row_scales", "tamed"]

_LONGEST = 1e15  # rows of this length or its inverse still have dot products that float32 holds

Numbers = npt.NDArray[np.float64]


def row_scales(x: Features) -> Numbers:
    """One over the length of each row; 0 for a row of zeros."""
    if is_sparse(x):
        squares = _like(x, x.data.astype(np.float64) ** 2) @ np.ones(x.shape[1])
    else:
        squares = np.einsum("ij,ij->i", x, x, dtype=np.float64)
    scales: Numbers = np.zeros(x.shape[0])
    np.divide(1.0, np.sqrt(squares), out=scales, where=squares > 0)
    return scales


def tamed(x: Features) -> tuple[Features, Numbers]:
    """The features and the scales of their rows.

    A copy with unit rows where some are so long or short that kernels, which score in float32, could not.
    """
    scale = row_scales(x)
    used = scale[scale > 0]
    if not len(used) or (used.max() <= _LONGEST and used.min() >= 1 / _LONGEST):
        return x, scale
    if is_sparse(x):
        values = x.data * np.repeat(scale, np.diff(x.indptr))
        unit = _like(x, values.astype(np.float32))
    else:
        unit = (x * scale[:, None]).astype(np.float32)
    return unit, row_scales(unit)


def contrast_statistics(x: Features, groups: CSR, scale: Numbers) -> tuple[Numbers, Numbers]:
    """A weight for every feature, and the score that every sample has along the mean of all.

    The weight of a feature is 1 / (its standard deviation + the median of these over the features in use): features
    that vary little count for more, and noise in rare ones for no more than twice that of common ones. Rows are
    unit vectors, and a sample counts as often as it is in a group.
    """
    often = np.diff(groups.indptr).astype(np.float64)
    total = max(often.sum(), 1.0)
    mean = (x.T @ (scale * often)) / total
    if is_sparse(x):
        squares = _like(x, x.data.astype(np.float64) ** 2).T @ (scale**2 * often) / total
    else:
        squares = np.einsum("ij,ij,i->j", x, x, scale**2 * often, dtype=np.float64) / total
    deviation = np.sqrt(np.maximum(squares - mean**2, 0.0))
    used = deviation[deviation > 0]
    floor = float(np.median(used)) if len(used) else 1.0
    weights: Numbers = 1.0 / (deviation + floor)
    background: Numbers = scale * (x @ (weights * mean))
    return weights, background


def _like(x: CSR, data: Any) -> CSR:
    out = type(x)(x.shape, dtype=data.dtype)
    out.data, out.indices, out.indptr = data, x.indices, x.indptr
    return out
