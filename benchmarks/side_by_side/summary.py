"""The few lines for the front page: longtail beside PECOS, a row a set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import records
from .records import Record
from .sets import SETS
from .tables import table

__all__ = ["summary"]

_Value = Callable[[Record], float]
_COLUMNS: list[tuple[str, str, _Value, str]] = [
    ("training, s", "train", lambda r: r["seconds"], "{:,.1f}"),
    ("peak over data, MB", "train", lambda r: r["extra_bytes"] / 1e6, "{:,.0f}"),
    ("model, MB", "train", lambda r: r["model_bytes"] / 1e6, "{:,.0f}"),
    ("rows/s, 1 thread", "predict", lambda r: r["batch_1"], "{:,.0f}"),
    ("one row, µs", "predict", lambda r: r["p50"], "{:,.0f}"),
    ("P@1", "predict", lambda r: r["P@1"], "{:.1f}"),
    ("P@5", "predict", lambda r: r["P@5"], "{:.1f}"),
]


def summary(found: dict[tuple[Any, ...], Record]) -> str:
    """Medians of longtail, and behind a stroke those of PECOS, of the sets that longtail was measured on."""
    found = {key: record for key, record in found.items() if "failed" not in record}
    there = {key[1] for key in found if key[0] == "predict" and key[2] == "longtail"}
    rows = []
    for name in (name for name in SETS if name in there):
        cells = []
        for title, part, value, form in _COLUMNS:
            timed = not title.startswith("P@")
            ours, theirs = (
                records.of(found, part, name, system, value, timed) for system in ("longtail", "pecos")
            )
            shown = [form.format(spread.median) for spread in (ours, theirs) if spread is not None]
            cells.append(" / ".join(shown) or "–")
        rows.append([name, *cells])
    return table(["longtail / PECOS", *(title for title, *_ in _COLUMNS)], rows)
