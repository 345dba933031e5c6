"""Results as pictures (matplotlib, the extra ``bench``)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from . import records
from .records import Record
from .sets import SETS
from .synthetic import GROWTH

__all__ = ["draw", "draw_growth"]

COLOURS = {"longtail": "#00796b", "pecos": "#e08e0b", "omikuji": "#7a6ff0", "napkinxc": "#9e9e9e"}
PANELS: list[tuple[str, str, Callable[[Record], float]]] = [
    ("training, s", "train", lambda r: r["seconds"]),
    ("peak memory over data, MB", "train", lambda r: r["extra_bytes"] / 1e6),
    ("model on disk, MB", "train", lambda r: r["model_bytes"] / 1e6),
    ("batch, rows/s, 1 thread", "predict", lambda r: r["batch_1"]),
    ("single query, µs (dot p50, dash p99)", "predict", lambda r: r["p50"]),
    ("P@1", "predict", lambda r: r["P@1"]),
]


def draw(found: dict[tuple[Any, ...], Record], file: Path) -> None:
    """Every set and system: six panels of medians, with lines from the least to the most."""
    found = {key: record for key, record in found.items() if "failed" not in record}
    names = [name for name in SETS if any(key[1] == name for key in found)]
    present = [system for system in COLOURS if any(key[2] == system for key in found)]
    figure, panels = plt.subplots(2, 3, figsize=(15, 8), layout="constrained")
    for panel, (title, part, value) in zip(panels.flat, PANELS, strict=True):
        for at, system in enumerate(present):
            shift = (at - (len(present) - 1) / 2) * 0.15
            _points(panel, found, part, names, system, value, shift, "o")
            if "p99" in title:
                _points(panel, found, part, names, system, lambda r: r["p99"], shift, "_")
        panel.set_title(title)
        panel.set_xticks(
            range(len(names)), [name.replace("synthetic-", "made-up ") for name in names], rotation=15
        )
        panel.set_xlim(-0.5, len(names) - 0.5)
        if title == "P@1":
            panel.set_ylim(0, 100)
        else:
            _logarithmic(panel)
        panel.grid(axis="y", alpha=0.3)
        panel.spines[["top", "right"]].set_visible(False)
    panels.flat[0].legend(handles=_handles(present), frameon=False)
    figure.savefig(file, dpi=110)
    plt.close(figure)


def _handles(present: list[str]) -> list[Any]:
    return [plt.Line2D([], [], color=COLOURS[system], marker="o", ls="", label=system) for system in present]


def _points(
    panel: Any,
    found: dict[tuple[Any, ...], Record],
    part: str,
    names: list[str],
    system: str,
    value: Callable[[Record], float],
    shift: float,
    marker: str,
) -> None:
    spreads = [(at, records.of(found, part, name, system, value)) for at, name in enumerate(names)]
    there = [(at + shift, spread) for at, spread in spreads if spread]
    if not there:
        return
    below = [spread.median - spread.low for _, spread in there]
    above = [spread.high - spread.median for _, spread in there]
    places, medians = [at for at, _ in there], [spread.median for _, spread in there]
    panel.errorbar(places, medians, [below, above], fmt=marker, color=COLOURS[system], ms=8, mew=2)


def _logarithmic(axes: Any) -> None:
    """Plain numbers on the axis, and room above and below."""
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    axes.set_ylim(low / 1.5, high * 1.5)
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:,g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def draw_growth(found: dict[tuple[Any, ...], Record], file: Path) -> None:
    """Time and memory of training against labels, rows and entries of a row, one grown at a time."""
    figure, panels = plt.subplots(2, 3, figsize=(13, 7), layout="constrained", sharey="row")
    values = [
        ("training, s", lambda r: r["seconds"]),
        ("peak over data, MB", lambda r: r["extra_bytes"] / 1e6),
    ]
    for column, (what, line) in enumerate(GROWTH.items()):
        for row, (_, value) in enumerate(values):
            panel = panels[row, column]
            for system in ("longtail", "pecos"):
                spreads = [
                    (size, records.of(found, "train", f"grow-{what}-{size}", system, value))
                    for size, _ in line
                ]
                there = [(size, spread.median) for size, spread in spreads if spread]
                if there:
                    panel.plot(*zip(*there, strict=True), "o-", color=COLOURS[system], label=system)
            panel.set_xscale("log")
            panel.set_xticks([size for size, _ in line], [f"{size:,}" for size, _ in line], rotation=30)
            panel.xaxis.set_minor_locator(NullLocator())
            panel.grid(alpha=0.3)
            panel.set_xlabel("drawn features a row" if what == "draws" else what)
            panel.spines[["top", "right"]].set_visible(False)
        panels[0, column].set_title(f"growing {what}, the rest fixed")
    for row, (title, _) in enumerate(values):
        panels[row, 0].set_ylabel(title)
        _logarithmic(panels[row, 0])  # the row shares it
    panels[0, 0].legend(handles=_handles(["longtail", "pecos"]), frameon=False)
    figure.savefig(file, dpi=110)
    plt.close(figure)
