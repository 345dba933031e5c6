"""What was put right while reading, counted and told once."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

__all__ = ["LossWarning", "RepairWarning", "Repairs"]


class RepairWarning(UserWarning):
    """A file was not quite as it should be and was read all the same; counts and first lines are told."""


class LossWarning(UserWarning):
    """A format cannot hold all of a data set: something is left out of the file."""


class Repairs:
    """Counts of repairs by name, with the place of the first of each."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self._first: dict[str, str] = {}

    def note(self, what: str, count: int, path: str, line: int | None = None) -> None:
        """Adds `count` repairs named `what`; `line` (from 1) is where the first of them is."""
        if count <= 0:
            return
        self.counts[what] = self.counts.get(what, 0) + count
        self._first.setdefault(what, path if line is None else f"{path}, line {line}")

    def note_block(self, found: Mapping[str, tuple[int, int]], path: str, lines_before: int) -> None:
        """Adds what a native parser counted in a block that begins after `lines_before` lines."""
        for what, (count, line) in found.items():
            self.note(what, count, path, lines_before + line + 1)

    def join(self, other: Repairs) -> None:
        """Adds those of another file."""
        for what, count in other.counts.items():
            self.counts[what] = self.counts.get(what, 0) + count
            self._first.setdefault(what, other._first[what])

    def warn(self) -> None:
        """One RepairWarning that names everything, if there is anything."""
        if self.counts:
            told = [f"{count:,} {what} (first: {self._first[what]})" for what, count in self.counts.items()]
            warnings.warn("Repaired while reading: " + "; ".join(told) + ".", RepairWarning, stacklevel=3)
