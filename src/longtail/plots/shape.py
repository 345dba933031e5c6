"""How deep labels lie in a tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import DataError
from ..trees import LabelTree
from .canvas import COLORS, axes_for, legend_below

__all__ = ["tree_shape"]


def tree_shape(
    trees: LabelTree | Mapping[str, LabelTree],
    frequencies: Any = None,
    *,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """The depths of leaves: the share of labels at each, weighted by frequency.

    Args:
        trees: one tree, or several by name.
        frequencies: how often each label is wanted, one number >= 0 per label; all the same if None.
        title: above the picture.
        ax: Matplotlib axes to draw on.
    """
    named = {"": trees} if isinstance(trees, LabelTree) else dict(trees)
    if not named:
        raise DataError("There are no trees to draw.")
    shares = {name: _shares(tree, frequencies) for name, tree in named.items()}
    what = "labels, %" if frequencies is None else "labels by frequency, %"
    ax = axes_for(ax, title, "depth of the leaf", what)
    width = 0.8 / len(named)
    for i, (name, share) in enumerate(shares.items()):
        depth = np.arange(len(share))
        mean = float(share @ depth)
        label = f"{name}: mean {mean:.2f}" if name else f"mean {mean:.2f}"
        color = COLORS[i % len(COLORS)]
        ax.bar(depth + (i - (len(named) - 1) / 2) * width, share * 100, width, color=color, label=label)
        ax.axvline(mean, color=color, linewidth=1, linestyle="--")
    deepest = max(len(share) for share in shares.values()) - 1
    ax.set_xticks(range(0, deepest + 1, deepest // 16 + 1))
    legend_below(ax)
    return ax


def _shares(tree: LabelTree, frequencies: Any) -> Any:
    tree.describe(frequencies)  # for its checks
    f = np.ones(tree.n_labels) if frequencies is None else np.asarray(frequencies, np.float64)
    if f.sum() == 0:
        f = np.ones(tree.n_labels)
    return np.bincount(tree.depth, weights=f / f.sum())
