"""Precision against what it costs, for trees of one sweep or several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import DataError
from ..tuning import TreePoint, TreeSweep
from .canvas import COLORS, INK, axes_for, legend_below

__all__ = ["precision_against_depth", "precision_against_time"]

Curves = TreeSweep | Sequence[TreePoint] | Mapping[str, Sequence[TreePoint]]


def precision_against_depth(points: Curves, k: int = 1, *, title: str | None = None, ax: Any = None) -> Any:
    """P@k against expected depth@k, a curve for each arity (or each name, if points is a mapping).

    Args:
        points: what ``tune_tree`` gives, a list of ``TreePoint``, or lists by name.
        k: of precision and depth.
        title: above the picture.
        ax: Matplotlib axes to draw on.
    """
    return _draw(points, k, lambda point: point.depth[k], f"expected depth@{k}", title, ax)


def precision_against_time(points: Curves, k: int = 1, *, title: str | None = None, ax: Any = None) -> Any:
    """P@k against the median time of a single query; parameters as ``precision_against_depth``."""
    return _draw(points, k, lambda point: point.p50, "median time of a query, ms", title, ax)


def _draw(points: Curves, k: int, cost: Any, x_label: str, title: str | None, ax: Any) -> Any:
    curves = _curves(points)
    if not any(curves.values()):
        raise DataError("There are no points to draw.")
    for point in (p for curve in curves.values() for p in curve):
        if k not in point.precision:
            known = ", ".join(map(str, point.precision))
            raise DataError(f"The points have precision at {known}, not at {k}.")
    ax = axes_for(ax, title, x_label, f"P@{k}, %")
    for color, (name, curve) in zip(COLORS, curves.items(), strict=False):
        curve = sorted(curve, key=lambda p: p.tradeoff)
        x, y = [cost(p) for p in curve], [p.precision[k] * 100 for p in curve]
        ax.plot(x, y, "o-", color=color, markersize=4, linewidth=1.2, label=name)
        for at in {0, len(curve) - 1}:  # between them, names would lie over each other
            ax.annotate(
                f"λ={curve[at].tradeoff:.3g}",
                (x[at], y[at]),
                textcoords="offset points",
                xytext=(4, 5),
                fontsize=8,
                color=color,
            )
    if isinstance(points, TreeSweep) and points.best is not None:
        best = points.best
        ax.plot(
            [cost(best)],
            [best.precision[k] * 100],
            "o",
            markersize=11,
            markerfacecolor="none",
            markeredgecolor=INK,
            label=f"picked: λ={best.tradeoff:.3g}, arity {best.arity}",
        )
    ax.margins(0.08)
    ax.locator_params(axis="x", nbins=6)
    legend_below(ax)
    return ax


def _curves(points: Curves) -> dict[str, list[TreePoint]]:
    if isinstance(points, Mapping):
        return {str(name): list(curve) for name, curve in points.items()}
    given = points.points if isinstance(points, TreeSweep) else list(points)
    curves: dict[str, list[TreePoint]] = {}
    for point in given:
        curves.setdefault(f"arity {point.arity}", []).append(point)
    return curves
