"""Whether scores can be read as chances."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import DataError
from ..metrics import Reliability
from .canvas import COLORS, INK, axes_for, legend_below

__all__ = ["reliability"]


def reliability(
    curves: Reliability | Mapping[str, Reliability], *, title: str | None = None, ax: Any = None
) -> Any:
    """The share of right labels against their scores; on the diagonal, scores are chances.

    Args:
        curves: what ``metrics.reliability`` gives, or several by name. The larger a dot, the more labels.
        title: above the picture.
        ax: Matplotlib axes to draw on.
    """
    named = {"": curves} if isinstance(curves, Reliability) else dict(curves)
    if not any(len(curve.count) for curve in named.values()):
        raise DataError("There are no scores to draw.")
    ax = axes_for(ax, title, "mean score", "share of labels that are right")
    ax.plot([0, 1], [0, 1], color=INK, linewidth=0.8, linestyle=":")
    for color, (name, curve) in zip(COLORS, named.items(), strict=False):
        label = f"{name}: " if name else ""
        label += f"calibration error {curve.error:.3f}"
        ax.plot(curve.score, curve.right, "-", color=color, linewidth=1.2, label=label)
        ax.scatter(curve.score, curve.right, s=8 + 150 * curve.count / curve.count.sum(), color=color)
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    legend_below(ax)
    return ax
