"""Results as pictures (matplotlib, the extra ``bench``)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

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
    ("single query, µs (bar p50, dot p99)", "predict", lambda r: r["p50"]),
    ("P@1", "predict", lambda r: r["P@1"]),
]


def draw(found: dict[tuple[Any, ...], Record], file: Path) -> None:
    """Every set and system: six panels of bars."""
    found = {key: record for key, record in found.items() if "failed" not in record}
    names = [name for name in SETS if any(key[1] == name for key in found)]
    figure, panels = plt.subplots(2, 3, figsize=(15, 8), layout="constrained")
    for panel, (title, part, value) in zip(panels.flat, PANELS, strict=True):
        for at, (system, colour) in enumerate(COLOURS.items()):
            spreads = [records.of(found, part, name, system, value) for name in names]
            places = [i + (at - 1.5) * 0.2 for i, spread in enumerate(spreads) if spread]
            heights = [spread.median for spread in spreads if spread]
            panel.bar(places, heights, 0.2, color=colour, label=system)
            if "p99" in title:
                tails = [records.of(found, part, name, system, lambda r: r["p99"]) for name in names]
                panel.plot(places, [tail.median for tail in tails if tail], "o", color=colour, ms=4)
        panel.set_title(title)
        panel.set_xticks(
            range(len(names)), [name.replace("synthetic-", "syn. ") for name in names], rotation=20
        )
        if title != "P@1":
            panel.set_yscale("log")
        panel.spines[["top", "right"]].set_visible(False)
    panels.flat[0].legend(frameon=False)
    figure.savefig(file, dpi=110)
    plt.close(figure)


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
            panel.set_yscale("log")
            panel.set_xlabel("drawn features a row" if what == "draws" else what)
            panel.spines[["top", "right"]].set_visible(False)
        panels[0, column].set_title(f"growing {what}")
    for row, (title, _) in enumerate(values):
        panels[row, 0].set_ylabel(title)
    panels[0, 0].legend(frameon=False)
    figure.savefig(file, dpi=110)
    plt.close(figure)
