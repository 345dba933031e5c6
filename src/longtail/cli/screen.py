"""What is printed where: results on standard output, what is said beside them on standard error."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .progress_display import reporting

__all__ = ["Screen", "folder_size", "human_size", "table"]


class Screen:
    """The two streams, under --quiet and --json."""

    def __init__(self, quiet: bool = False, as_json: bool = False):
        self.quiet = quiet
        self.as_json = as_json

    def say(self, text: str) -> None:
        """A remark for the person in front of the screen."""
        if not self.quiet:
            print(text, file=sys.stderr, flush=True)

    def show(self, text: str) -> None:
        """A result in words; with --json nothing, as ``give`` prints it for programs."""
        if not self.as_json:
            print(text)

    def give(self, result: Mapping[str, Any]) -> None:
        """A result as one JSON object, with --json."""
        if self.as_json:
            print(json.dumps(_plain(result), ensure_ascii=False, allow_nan=False))

    @contextmanager
    def progress(self, visible: bool = True) -> Iterator[None]:
        """Shows the progress of the block, and its warnings as one line each."""
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: self.say(f"Warning: {message}")
            with reporting(quiet=self.quiet or not visible):
                yield


def _plain(value: Any) -> Any:
    """NumPy's scalars and arrays as Python's own; what is not finite as null."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    return str(value)


def human_size(n: float) -> str:
    """Bytes as people say them."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if abs(n) < 1000:
            return f"{n:,.0f} {unit}" if unit == "bytes" or abs(n) >= 100 else f"{n:.1f} {unit}"
        n /= 1000
    return f"{n:,.1f} TB"


def folder_size(path: Path) -> int:
    """The bytes of a file, or of all files in a folder."""
    if path.is_file():
        return path.stat().st_size
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def table(rows: Iterable[Sequence[object]], header: Sequence[str] | None = None, indent: str = "  ") -> str:
    """Columns of text: words to the left, columns of numbers to the right."""
    rows = list(rows)
    cells = [[_cell(value) for value in row] for row in rows]
    right = [all(isinstance(value, (int, float)) for value in column) for column in zip(*rows, strict=False)]
    if header is not None:
        cells.insert(0, list(header))
    if not cells:
        return ""
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    lines = []
    for row in cells:
        aligned = [
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(row, widths, right or [False] * len(row), strict=True)
        ]
        lines.append((indent + "  ".join(aligned)).rstrip())
    return "\n".join(lines)


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.4g}"
    return str(value)
