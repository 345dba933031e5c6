"""From samples to their groups: the co-attention mask and the maximum.

Samples stand group after group, without padding: a group is a run of rows, ``sizes`` says how long each is. All sizes
are above 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import CSR, is_sparse

__all__ = ["attention", "group_maximum", "likeness"]

Array = npt.NDArray[np.float32]
Sizes = npt.NDArray[np.int64]


def likeness(x: CSR, directions: Any) -> Array:
    """Inner products of samples with labels: (samples, labels). ``directions`` is features × labels, CSR or dense."""
    found = x @ directions
    return np.asarray(found.toarray() if is_sparse(found) else found, dtype=np.float32)


def attention(alike: Array, sizes: Sizes, tau: float) -> Array:
    """The mask: of every label a softmax of tau × likeness over the samples of each group, times their number. Its
    mean over a group is 1; with tau = 0 it is 1 everywhere."""
    starts = _starts(sizes)
    values = np.float32(tau) * alike
    values = np.exp(values - np.repeat(np.maximum.reduceat(values, starts, axis=0), sizes, axis=0))
    factor = sizes[:, None].astype(np.float32) / np.add.reduceat(values, starts, axis=0)
    mask: Array = values * np.repeat(factor, sizes, axis=0)
    return mask


def group_maximum(values: Array, sizes: Sizes) -> Array:
    """The largest value of each group: (groups, labels)."""
    largest: Array = np.maximum.reduceat(values, _starts(sizes), axis=0)
    return largest


def _starts(sizes: Sizes) -> Sizes:
    return np.cumsum(sizes) - sizes
