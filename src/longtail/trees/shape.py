"""The shape of balanced trees: how many children at each depth.

With k = arity and n = the fewest leaves that hold all labels, ceil(n_labels / max_leaf), the tree has the
fewest levels h with k^h >= n. Every node has k children except the root, which needs at least ceil(n /
k^(h-1)). The solver and the search take 16 siblings at once, so what is left over is left over at one node,
the root, and of the numbers of its children that leave leaves at least half full the fewest is taken with
which the labels of a leaf fill the fewest blocks of 16: smaller leaves are less work. All parts differ in
size by one at most, so leaves hold nearly the same number of labels, never more than max_leaf; all leaves
are equally deep, except that a node with one label is not split any further.

    3,993 labels, k = 16, max_leaf = 100: 4 × 16 leaves of 62 or 63      (40 were needed)
    30,000                                2 × 16 × 16 leaves of 58 or 59  (300 were needed)
    131,000                               8 × 16 × 16 leaves of 63 or 64  (1,310 were needed)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import DataError
from ..params import Check, Int, check

__all__ = ["MAX_ARITY", "check_shape", "level_arities"]

MAX_ARITY = 64
LANES = 16  # siblings that the solver and the search take at once

_SHAPE: Mapping[str, Check] = {"arity": Int(2, MAX_ARITY), "max_leaf": Int(1)}


def check_shape(owner: str, **values: Any) -> None:
    """Checks 'arity' and 'max_leaf', and 'seed' where there is one."""
    check(owner, {**_SHAPE, "seed": Int(0, 2**63 - 1)}, values)


def level_arities(n_labels: int, arity: int, max_leaf: int) -> npt.NDArray[np.int32]:
    """Children per node by depth, from the root down; empty if one leaf holds all labels.

    >>> level_arities(30_000, arity=16, max_leaf=100).tolist()
    [2, 16, 16]
    """
    if n_labels < 1:
        raise DataError("A label tree needs at least one label. Got none.")
    if n_labels >= 2**31:
        raise DataError(f"A label tree has at most 2^31 - 1 labels. Got {n_labels} instead.")
    leaves = -(-n_labels // max_leaf)
    if leaves == 1:
        return np.zeros(0, np.int32)
    below_root = 1
    levels = [arity]
    while below_root * arity < leaves:
        below_root *= arity
        levels.append(arity)
    fewest = -(-leaves // below_root)
    half_full = 2 * n_labels // (below_root * max_leaf)
    roots = range(fewest, max(fewest, min(arity, half_full)) + 1)
    levels[0] = min(roots, key=lambda k: -(-n_labels // (k * below_root * LANES)))
    return np.array(levels, dtype=np.int32)
