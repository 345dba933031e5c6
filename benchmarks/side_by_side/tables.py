"""Results as Markdown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import records
from .records import Record, Spread
from .sets import SETS
from .synthetic import GROWTH
from .systems import SYSTEMS

__all__ = ["cell", "growth", "line", "markdown"]

Records = dict[tuple[Any, ...], Record]


def line(record: Record) -> str:
    """One measurement in a line, for whoever watches."""
    head = f"{record['set']:15} {record['system']:10} {record['part']:7} #{record['repeat']}"
    if "failed" in record:
        return f"{head}  failed"
    mark = f"  DISTURBED: others used {record['others']:.2f} cores" if records.disturbed(record) else ""
    if record["part"] != "predict":
        phases = ", ".join(f"{name} {seconds:.2f}" for name, seconds in record["phases"].items())
        times = f"{head}  {record['seconds']:8.2f} s (cpu {record['cpu']:.2f}; {phases})  "
        if record["part"] == "text":
            return (
                f"{times}peak {record['extra_bytes'] / 1e6:,.0f} MB over data  "
                f"single text p50 {record['text_p50']:.1f} p99 {record['text_p99']:.1f} µs, "
                f"its features p50 {record['row_p50']:.1f} p99 {record['row_p99']:.1f} µs{mark}"
            )
        return (
            f"{times}peak {record['extra_bytes'] / 1e6:,.0f} MB over data, {record['peak_bytes'] / 1e6:,.0f} in all  "
            f"model {record['model_bytes'] / 1e6:,.1f} MB{mark}"
        )
    return (
        f"{head}  P@1/3/5 {record['P@1']:.2f} {record['P@3']:.2f} {record['P@5']:.2f}  PSP@5 {record['PSP@5']:.2f}  "
        f"batch {record['batch_1']:,.0f} / {record['batch_2']:,.0f} per s  "
        f"single p50 {record['p50']:.1f} p99 {record['p99']:.1f} µs  load {record['load_seconds']:.3f} s{mark}"
    )


@dataclass(frozen=True)
class Column:
    """A value of a measurement. ``better`` says what longtail's advantage is: "less", "more", or "" for no ratio. Only
    what is timed can be disturbed by other processes."""

    title: str
    unit: str
    part: str
    value: Callable[[Record], float]
    form: str
    better: str = ""
    timed: bool = True

    @property
    def head(self) -> str:
        return f"{self.title}, {self.unit}" if self.unit else self.title


COLUMNS = [
    Column("training", "s", "train", lambda r: r["seconds"], "{:,.2f}", "less"),
    Column("peak over data", "MB", "train", lambda r: r["extra_bytes"] / 1e6, "{:,.0f}", "less", False),
    Column("peak in all", "MB", "train", lambda r: r["peak_bytes"] / 1e6, "{:,.0f}", "less", False),
    Column("model on disk", "MB", "train", lambda r: r["model_bytes"] / 1e6, "{:,.1f}", "less", False),
    Column("loading", "s", "predict", lambda r: r["load_seconds"], "{:.3f}", "less"),
    Column("batch on 1 thread", "rows/s", "predict", lambda r: r["batch_1"], "{:,.0f}", "more"),
    Column("batch on 2 threads", "rows/s", "predict", lambda r: r["batch_2"], "{:,.0f}", "more"),
    Column("single query p50", "µs", "predict", lambda r: r["p50"], "{:,.1f}", "less"),
    Column("single query p99", "µs", "predict", lambda r: r["p99"], "{:,.1f}", "less"),
    Column("P@1", "", "predict", lambda r: r["P@1"], "{:.2f}", "", False),
    Column("P@3", "", "predict", lambda r: r["P@3"], "{:.2f}", "", False),
    Column("P@5", "", "predict", lambda r: r["P@5"], "{:.2f}", "", False),
    Column("PSP@5", "", "predict", lambda r: r["PSP@5"], "{:.2f}", "", False),
]


def cell(value: Spread | None, form: str) -> str:
    """A median, with the least and the most in brackets; a star if it was disturbed."""
    if value is None:
        return "–"
    shown = form.format(value.median)
    low, high = form.format(value.low), form.format(value.high)
    if value.n > 1 and (low, high) != (shown, shown):
        shown += f" ({low}–{high})"
    return shown + (" *" if value.disturbed else "")


def table(heads: list[str], rows: list[list[str]], align: str = "---:|") -> str:
    """A Markdown table, the first column left and the others right."""
    lines = ["| " + " | ".join(heads) + " |", "|---|" + align * (len(heads) - 1)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def markdown(found: Records, facts: dict[str, Any]) -> str:
    """All tables."""
    found = {key: record for key, record in found.items() if "failed" not in record}
    names = [name for name in dict.fromkeys(key[1] for key in found) if not name.startswith("grow-")]
    parts = ["Measured on: " + "; ".join(f"{name} {value}" for name, value in facts.items()) + "."]
    parts += [_versions(found)]
    for name in sorted(names, key=lambda name: SETS.index(name) if name in SETS else len(SETS)):
        there = {(part, system) for part, set_, system, _ in found if set_ == name}
        present = [s for s in SYSTEMS if {("train", s), ("predict", s)} & there]
        texts = [s for s in SYSTEMS if ("text", s) in there]
        parts += [f"### {name}"]
        if present:
            parts += [_values(found, name, present), _phases(found, name, present)]
        if "longtail" in present and len(present) > 1:
            parts += ["How many times better longtail is, within each repeat:"]
            parts += [_ratios(found, name, present)]
        parts += [_texts(found, name, texts), _same(found, name)]
    parts += [growth(found)]
    parts += [
        "Medians; in brackets the least and the most. A star: other processes used the machine meanwhile. pecos-same "
        "is PECOS with the weights that longtail learnt."
    ]
    return "\n\n".join(part for part in parts if part)


def _versions(found: Records) -> str:
    """What each system is and was told."""
    told = {key[2]: record for key, record in found.items() if key[0] == "train"}
    rows = [
        [name, told[name]["version"], ", ".join(f"{k} = {v}" for k, v in told[name]["settings"].items())]
        for name in SYSTEMS
        if name in told
    ]
    return table(["", "version", "settings"], rows, align="---|") if rows else ""


def _texts(found: Records, name: str, given: list[str]) -> str:
    """From raw text to a trained model, and a raw string ranked in one call beside the search alone."""
    if not given:
        return ""
    columns: list[tuple[str, Callable[[Record], float], str]] = [
        ("raw texts to model, s", lambda r: r["seconds"], "{:,.2f}"),
        ("of which features, s", lambda r: r["phases"]["make features"], "{:,.2f}"),
        ("peak over data, MB", lambda r: r["extra_bytes"] / 1e6, "{:,.0f}"),
        ("one raw text p50, µs", lambda r: r["text_p50"], "{:,.1f}"),
        ("one raw text p99, µs", lambda r: r["text_p99"], "{:,.1f}"),
        ("its features alone p50, µs", lambda r: r["row_p50"], "{:,.1f}"),
        ("raw text / features alone, p50", lambda r: r["text_p50"] / r["row_p50"], "{:.2f}"),
    ]
    rows = [
        [title, *(cell(records.of(found, "text", name, system, value), form) for system in given)]
        for title, value, form in columns
    ]
    shown = table(["from raw texts", *given], rows)
    if len(given) == 2:
        ratio = records.ratios(found, "text", name, "pecos", "longtail", lambda r: r["seconds"])
        shown += f"\n\nFrom raw texts to a trained model longtail is {cell(ratio, '{:.2f}')} times faster."
    return shown


def _same(found: Records, name: str) -> str:
    """Whether the same weights give the same lists."""
    last = [
        r["same"] for key, r in found.items() if key[:3] == ("predict", name, "pecos-same") and r.get("same")
    ]
    if not last:
        return ""
    same = last[-1]
    return (
        f"With the same weights, {same['identical']:,} of {same['rows']:,} rows get the same ten labels in the same "
        f"order from PECOS; {same['ties']:,} more differ only where scores tie up to rounding, "
        f"{same['different']:,} otherwise."
    )


def growth(found: Records) -> str:
    """Time and memory of training against the size of the data, one thing grown at a time."""
    parts = []
    for what, line_ in GROWTH.items():
        rows = []
        for size, _ in line_:
            name = f"grow-{what}-{size}"
            cells = [
                cell(records.of(found, "train", name, system, value), form)
                for value, form in (
                    (lambda r: r["seconds"], "{:,.2f}"),
                    (lambda r: r["extra_bytes"] / 1e6, "{:,.0f}"),
                )
                for system in ("longtail", "pecos")
            ]
            if any(shown != "–" for shown in cells):
                rows.append([f"{size:,}", *cells])
        if rows:
            heads = [what, "longtail, s", "pecos, s", "longtail, MB", "pecos, MB"]
            parts.append(table(heads, rows))
    return "### Growth\n\n" + "\n\n".join(parts) if parts else ""


def _values(found: Records, name: str, present: list[str]) -> str:
    rows = []
    for column in COLUMNS:
        spreads = [
            records.of(found, column.part, name, system, column.value, column.timed) for system in present
        ]
        rows.append([column.head, *(cell(spread, column.form) for spread in spreads)])
    return table(["", *present], rows)


def _phases(found: Records, name: str, present: list[str]) -> str:
    rows = []
    titles = dict.fromkeys(
        title for key, r in found.items() if key[:2] == ("train", name) for title in r["phases"]
    )
    for title in titles:
        cells = [
            cell(
                records.of(found, "train", name, system, lambda r, t=title: r["phases"].get(t, 0.0)), "{:.2f}"
            )
            if any(key[:3] == ("train", name, system) and title in r["phases"] for key, r in found.items())
            else "–"
            for system in present
        ]
        rows.append([f"{title}, s", *cells])
    return table(["of training", *present], rows) if rows else ""


def _ratios(found: Records, name: str, present: list[str]) -> str:
    others = [system for system in present if system != "longtail"]
    rows = []
    for column in COLUMNS:
        if not column.better:
            continue
        cells = []
        for other in others:
            pair = ("longtail", other) if column.better == "more" else (other, "longtail")
            ratio = records.ratios(found, column.part, name, *pair, column.value, column.timed)
            cells.append(cell(ratio, "{:.2f}"))
        rows.append([column.title, *cells])
    return table(["", *others], rows)
