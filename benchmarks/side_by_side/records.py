"""Results: one JSON object a line, one line a measurement; medians, spreads and ratios of them."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .machine import DISTURBED

__all__ = ["Record", "Spread", "append", "latest", "ratios", "read", "spread"]

Record = dict[str, Any]
KEY = ("part", "set", "system", "repeat")


def read(path: Path) -> list[Record]:
    """All lines of a results file; none if there is no file."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def append(path: Path, record: Record) -> None:
    """Adds a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps(record) + "\n")


def latest(records: Iterable[Record]) -> dict[tuple[Any, ...], Record]:
    """By part, set, system and repeat: a later line replaces an earlier one."""
    return {tuple(record[name] for name in KEY): record for record in records}


def disturbed(record: Record) -> bool:
    """Whether other processes had a noticeable share of the machine meanwhile."""
    return float(record.get("others", 0.0)) > DISTURBED


@dataclass(frozen=True)
class Spread:
    """A median with the least and the most of several values, and how many of them were disturbed."""

    median: float
    low: float
    high: float
    n: int
    disturbed: int = 0


def spread(values: Iterable[tuple[float, bool]]) -> Spread | None:
    """Of values with a mark each that says whether it was disturbed. Undisturbed values count if there are any."""
    pairs = list(values)
    if not pairs:
        return None
    clean = [value for value, bad in pairs if not bad]
    used = clean or [value for value, _ in pairs]
    return Spread(statistics.median(used), min(used), max(used), len(used), 0 if clean else len(used))


def of(
    records: dict[tuple[Any, ...], Record],
    part: str,
    name: str,
    system: str,
    value: Callable[[Record], float],
    timed: bool = True,
) -> Spread | None:
    """A value over the repeats of one system on one set. What is not timed cannot be disturbed."""
    found = [record for key, record in records.items() if key[:3] == (part, name, system)]
    return spread((value(record), timed and disturbed(record)) for record in found)


def ratios(
    records: dict[tuple[Any, ...], Record],
    part: str,
    name: str,
    over: str,
    under: str,
    value: Callable[[Record], float],
    timed: bool = True,
) -> Spread | None:
    """value(over) / value(under), taken within each repeat that both have; nothing is said of zeros (memory too
    little to see)."""
    pairs = []
    for (own_part, own_set, system, repeat), record in records.items():
        other = records.get((part, name, under, repeat))
        if (own_part, own_set, system) == (part, name, over) and other is not None and value(other) > 0:
            bad = timed and (disturbed(record) or disturbed(other))
            pairs.append((value(record) / value(other), bad))
    return spread(pairs)
