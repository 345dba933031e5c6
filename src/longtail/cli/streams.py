"""Rows from standard input: as many at a time as are there.

So a pipe is fast, and a conversation is not held up.
"""

from __future__ import annotations

import os
import select
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from ..errors import DataError

__all__ = ["STDIN", "Batch", "arriving", "features"]

STDIN = "standard input"
CHUNK = 1 << 16
MOST_LINES = 4096
LONGEST_LINE = 1 << 28
LARGEST = 3.4028234e38  # of float32


@dataclass(frozen=True)
class Batch:
    """Some lines without their ends, and the number of the first (from 1)."""

    first: int
    lines: list[str]


def arriving(stream: BinaryIO, most: int = MOST_LINES) -> Iterator[Batch]:
    """Yields the complete lines that have arrived, at most about ``most`` at once, until the stream ends."""
    descriptor = _descriptor(stream)
    first = 1
    rest: list[
        bytes
    ] = []  # of a line whose end has not come; joined once, or a long line would cost its square
    size = 0
    lines: list[bytes] = []
    ended = False
    while not ended:
        chunk = stream.read(CHUNK) if descriptor is None else os.read(descriptor, CHUNK)
        ended = not chunk
        if b"\n" in chunk:
            *complete, last = b"".join([*rest, chunk]).split(b"\n")
            lines += complete
            rest, size = [last], len(last)
        else:
            rest.append(chunk)
            size += len(chunk)
        if size > LONGEST_LINE:
            raise DataError(f"longer than {LONGEST_LINE:,} bytes.", path=STDIN, line=first + len(lines))
        if ended and size:
            lines.append(b"".join(rest))
        if lines and (ended or len(lines) >= most or not _has_more(descriptor)):
            yield Batch(first, _decode(lines, first))
            first += len(lines)
            lines = []


def _decode(lines: list[bytes], first: int) -> list[str]:
    texts = [_text(line, number) for number, line in enumerate(lines, start=first)]
    if first == 1 and texts:
        texts[0] = texts[0].removeprefix("\ufeff")
    return texts


def _text(line: bytes, number: int) -> str:
    try:
        return line.removesuffix(b"\r").decode("utf-8")
    except UnicodeDecodeError as error:
        where = f"byte {error.start + 1} of the line"
        raise DataError(f"not UTF-8 text ({where}).", path=STDIN, line=number) from None


def _descriptor(stream: BinaryIO) -> int | None:
    try:
        return stream.fileno()
    except (OSError, AttributeError):
        return None  # not a file, as under a test runner


def _has_more(descriptor: int | None) -> bool:
    """Whether the next read would not wait."""
    if descriptor is None:
        return True
    try:
        return bool(select.select([descriptor], [], [], 0)[0])
    except (OSError, ValueError):
        return False  # Windows cannot tell for pipes: then every read is a batch


def features(batch: Batch, n_features: int, base: int = 0) -> Any:
    """Lines of svmlight as a matrix: ``feature:value …``, after labels, if any, which are not looked at.

    Features are counted from ``base``, 0 or 1.
    """
    import numpy as np
    import scipy.sparse as sp

    indptr, indices, values = [0], array("i"), array("f")
    for number, line in enumerate(batch.lines, start=batch.first):
        for column, value in sorted(_entries(line, number, n_features, base).items()):
            indices.append(column)
            values.append(value)
        indptr.append(len(indices))
    parts = np.frombuffer(values, np.float32), np.frombuffer(indices, np.int32), np.array(indptr)
    return sp.csr_matrix(parts, shape=(len(batch.lines), n_features))


def _entries(line: str, number: int, n_features: int, base: int) -> dict[int, float]:
    row: dict[int, float] = {}
    fields = line.split("#", 1)[0].split()
    if fields and ":" not in fields[0]:
        del fields[0]  # the labels
    for field in fields:
        left, _, right = field.partition(":")
        try:
            column, value = int(left), float(right)
        except ValueError:
            raise DataError(
                f"expected feature:value. Got {field[:40]!r} instead.", path=STDIN, line=number
            ) from None
        if not base <= column < n_features + base:
            last = n_features + base - 1
            raise DataError(f"feature {column}, expected {base} to {last}.", path=STDIN, line=number)
        if not abs(value) <= LARGEST:
            raise DataError(f"value {right[:40]} of feature {column} is not finite.", path=STDIN, line=number)
        if column - base in row:
            raise DataError(f"feature {column} occurs twice.", path=STDIN, line=number)
        row[column - base] = value
    return row
