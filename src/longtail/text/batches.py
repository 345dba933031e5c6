"""Texts as they come, made into lists that the native code can work on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from longtail.errors import DataError

__all__ = ["check_strings", "check_texts", "chunks", "moved", "size_of"]

_CHUNK = 1 << 15  # texts taken from an iterable at a time


def check_texts(texts: Any) -> None:
    """Raises DataError for what cannot be many texts: one string, or nothing to iterate over."""
    if isinstance(texts, (str, bytes)) or not isinstance(texts, Iterable):
        got = type(texts).__name__
        raise DataError(f"Texts must be a list (or another iterable) of str. Got one {got} instead.")


def check_strings(texts: Iterable[Any], row: int) -> None:
    """Raises DataError at the first that is no str, counting from `row`."""
    for i, text in enumerate(texts, row):
        if not isinstance(text, str):
            raise DataError(f"Texts must be str. Row {i} is {type(text).__name__} instead.")


def size_of(texts: Any) -> int | None:
    """How many texts there are, where that is known before."""
    return len(texts) if hasattr(texts, "__len__") else None


def chunks(texts: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """(number of the first text, texts) as lists that nobody else can change."""
    source = iter(texts)
    row = 0
    while chunk := list(islice(source, _CHUNK)):
        yield row, chunk
        row += len(chunk)


def moved(update: Callable[[int], None], row: int) -> Callable[[int], None]:
    """Progress of a part that begins at `row`."""
    return lambda done: update(row + done)
