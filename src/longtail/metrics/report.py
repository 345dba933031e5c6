"""What ``evaluate`` gives: numbers by name, and a small table of them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Report", "Slice"]

Interval = tuple[float, float]


@dataclass(frozen=True)
class Slice:
    """The measures of some of the labels. Means are over the rows that have a true label among them."""

    n_labels: int
    n_rows: int
    n_true: int  # pairs of a row and a true label
    metrics: dict[str, float]
    intervals: dict[str, Interval] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        counts = {"n_labels": self.n_labels, "n_rows": self.n_rows, "n_true": self.n_true}
        return counts | _values(self.metrics, self.intervals)


@dataclass(frozen=True)
class Report(Mapping[str, float]):
    """Measures by name, such as ``report["P@1"]``: shares between 0 and 1. Printed as a table in percent."""

    metrics: dict[str, float]
    n_rows: int  # rows that means are taken over
    n_empty: int  # rows without a true label
    n_labels: int
    empty: str = "zero"
    propensity: dict[str, float] | None = None  # a and b, if propensities were used
    intervals: dict[str, Interval] = field(default_factory=dict)
    bootstrap: int | None = None  # resamples
    confidence: float | None = None
    seed: int | None = None
    slices: dict[str, Slice] = field(default_factory=dict)

    def __getitem__(self, name: str) -> float:
        try:
            return self.metrics[name]
        except KeyError:
            raise KeyError(f"{name}: the report has {', '.join(self.metrics)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.metrics)

    def __len__(self) -> int:
        return len(self.metrics)

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON and for ``store.update_evaluation``."""
        out = _values(self.metrics, self.intervals)
        out |= {
            "n_rows": self.n_rows,
            "n_empty": self.n_empty,
            "n_labels": self.n_labels,
            "empty": self.empty,
        }
        if self.propensity is not None:
            out["propensity"] = dict(self.propensity)
        if self.bootstrap is not None:
            out |= {"bootstrap": self.bootstrap, "confidence": self.confidence, "seed": self.seed}
        if self.slices:
            out["slices"] = {name: part.to_dict() for name, part in self.slices.items()}
        return out

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """``to_dict`` as JSON; also written to a file, if there is a path."""
        text = json.dumps(self.to_dict(), indent=2, allow_nan=False)
        if path is not None:
            Path(path).write_text(text + "\n", encoding="utf-8")
        return text

    def __str__(self) -> str:
        parts = [self._title(), *_lines(self.metrics, self.intervals)]
        for name, part in self.slices.items():
            parts += ["", f"{name}: {_of(part)}", *_lines(part.metrics, part.intervals)]
        return "\n".join(parts)

    def __repr__(self) -> str:
        return str(self)

    def __rich__(self) -> Any:
        """The tables for a terminal, by rich."""
        from rich.console import Group

        tables = [_rich_table(self._title(), self.metrics, self.intervals)]
        for name, part in self.slices.items():
            tables.append(_rich_table(f"{name}: {_of(part)}", part.metrics, part.intervals))
        return Group(*tables)

    def _title(self) -> str:
        rows = f"{self.n_rows:,} rows"
        if self.n_empty:
            left = "left out" if self.empty == "skip" else "counted as 0"
            rows += f" ({self.n_empty:,} without a true label, {left})"
        sure = "" if self.confidence is None else f", {100 * self.confidence:g} % intervals"
        return f"percent over {rows}{sure}"


def _values(metrics: dict[str, float], intervals: dict[str, Interval]) -> dict[str, Any]:
    out: dict[str, Any] = {"metrics": dict(metrics)}
    if intervals:
        out["intervals"] = {name: list(interval) for name, interval in intervals.items()}
    return out


def _of(part: Slice) -> str:
    return f"{part.n_labels:,} labels, {part.n_rows:,} rows, {part.n_true:,} true pairs"


def _cells(metrics: dict[str, float], intervals: dict[str, Interval]) -> tuple[list[str], list[list[str]]]:
    """The head and the rows of the table: measures down, k across."""
    ks = sorted({int(name.partition("@")[2]) for name in metrics})
    measures = dict.fromkeys(name.partition("@")[0] for name in metrics)
    rows = []
    for measure in measures:
        row = [measure]
        for k in ks:
            name = f"{measure}@{k}"
            cell = f"{100 * metrics[name]:.2f}" if name in metrics else ""
            if name in intervals:
                low, high = intervals[name]
                cell += f" [{100 * low:.2f}, {100 * high:.2f}]"
            row.append(cell)
        rows.append(row)
    return ["", *(f"@{k}" for k in ks)], rows


def _lines(metrics: dict[str, float], intervals: dict[str, Interval]) -> list[str]:
    if not metrics:
        return ["(no row has a true label here)"]
    head, rows = _cells(metrics, intervals)
    widths = [max(len(row[c]) for row in [head, *rows]) for c in range(len(head))]
    lines = []
    for row in [head, *rows]:
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        cells[0] = row[0].ljust(widths[0])
        lines.append("  ".join(cells).rstrip())
    return lines


def _rich_table(title: str, metrics: dict[str, float], intervals: dict[str, Interval]) -> Any:
    from rich.table import Table

    head, rows = _cells(metrics, intervals)
    table = Table(title=title, title_justify="left")
    for c, name in enumerate(head):
        table.add_column(name, justify="right" if c else "left")
    for row in rows:
        table.add_row(*row)
    return table
