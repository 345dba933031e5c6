"""Axes to draw on, in one style."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import DataError, MissingExtraError

__all__ = ["COLORS", "INK", "axes_for", "check_picture", "legend_below", "save"]

# Told apart also by the colour-blind, and in grey.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
INK = "#444444"
FORMATS = ("png", "svg", "pdf")


def axes_for(ax: Any, title: str | None, x_label: str, y_label: str) -> Any:
    """The given axes, or those of a new figure; with a title, labels and a light grid."""
    if ax is None:
        try:
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure
        except ImportError:
            raise MissingExtraError("Drawing", "plots") from None
        # A figure of its own: no state is kept that somebody would have to close.
        figure = Figure(figsize=(6.4, 4.6), dpi=120, layout="constrained")
        FigureCanvasAgg(figure)
        ax = figure.add_subplot()
    if title:
        ax.set_title(title, fontsize=11, loc="left")
    ax.set_xlabel(x_label, color=INK)
    ax.set_ylabel(y_label, color=INK)
    ax.grid(True, color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.tick_params(colors=INK)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def legend_below(ax: Any, columns: int = 3, title: str | None = None) -> None:
    """A legend under the axes, where it hides nothing."""
    ax.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.16),
        ncols=columns,
        title=title,
        frameon=False,
        fontsize=9,
        title_fontsize=9,
    )


def check_picture(path: Any) -> Path:
    """The path of a picture, or an error that says which formats there are."""
    target = Path(path)
    if target.suffix.lower().lstrip(".") not in FORMATS:
        raise DataError(f"a picture ends in .{', .'.join(FORMATS)}.", path=target)
    return target


def save(ax: Any, path: Any) -> None:
    """Writes the figure of some axes as .png, .svg or .pdf, by the ending of the path."""
    target = check_picture(path)
    try:
        ax.figure.savefig(target, facecolor="white")
    except OSError as error:
        raise DataError(f"{error.strerror or error}.", path=target) from None
