"""A stream as blocks of whole lines, for the native parsers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import progress
from ..errors import DataError
from .options import ReadOptions
from .streams import Inputs, Source, open_input

__all__ = ["LineReader"]

Block = npt.NDArray[np.uint8]
_LF = 10
_LOOK = 1 << 16


class LineReader:
    """Reads blocks of whole lines and counts lines. A last line without its end gets one.

    A block is a view that is good until the next one is asked for.
    """

    def __init__(self, source: Source, options: ReadOptions):
        self._input: Inputs = open_input(source, options.encoding, options.errors)
        self.name = self._input.name
        self.line = 0  # lines before the next block
        self.replaced = 0
        self._options = options
        self._buffer = np.empty(options.block_bytes + 1, dtype=np.uint8)
        self._begin = self._end = 0
        self._at_end = False

    def header(self) -> bytes:
        """The first line, without its end. An empty file is a DataError."""
        block = self.next_block()
        if block is None:
            raise DataError("the file is empty.", path=self.name, line=1)
        length = int(np.argmax(block == _LF)) if len(block) <= _LOOK else _find_first(block)
        line = block[:length].tobytes().rstrip(b"\r")
        self.consume(length + 1, 1)
        return line

    def next_block(self, longer: bool = False) -> Block | None:
        """The next lines, or None at the end. `longer`: more is wanted with what is there."""
        known = self._end - self._begin if longer else 0
        self._move_to_front()
        wanted = known + self._options.block_bytes
        while True:
            self._fill(wanted)
            last = self._last_line_end(known)
            if last is not None:
                return self._buffer[: last + 1]
            if self._at_end:
                return self._last_block(known)
            if self._end >= self._options.max_line:
                limit = f"{self._options.max_line:,}"
                raise DataError(
                    f"the line is longer than {limit} bytes (max_line).", path=self.name, line=self.line + 1
                )
            wanted = 2 * max(self._end, wanted)
            self._grow(wanted)

    def _last_block(self, known: int) -> Block | None:
        """What is left at the end of the file, if there is more than is known."""
        if self._end == known:
            return None
        if self._buffer[self._end - 1] != _LF:
            self._buffer[self._end] = _LF  # there is always room for one more byte
            self._end += 1
        return self._buffer[: self._end]

    def consume(self, n_bytes: int, n_lines: int) -> None:
        """The first bytes of the block are done with."""
        self._begin += n_bytes
        self.line += n_lines

    def blocks(self, title: str) -> Iterator[Block]:
        """All blocks; the caller consumes each. Reports progress in bytes of the file."""
        context: Any = (
            progress.phase(title, self._input.total, "B") if self._options.progress else nullcontext(_ignore)
        )
        update: Callable[[int], None]
        with context as update:
            longer = False
            while (block := self.next_block(longer)) is not None:
                before = self._begin
                yield block
                longer = self._begin == before
                self.replaced = self._input.replaced
                update(self._input.position())
        self.replaced = self._input.replaced

    def error(self, line: int, message: str) -> DataError:
        """A DataError at a line counted from 0 within the current block."""
        return DataError(
            message + ("" if message.endswith(".") else "."), path=self.name, line=self.line + line + 1
        )

    def left(self) -> int:
        """Bytes that have been read and not consumed."""
        return self._end - self._begin

    def close(self) -> None:
        """Closes the file."""
        self._input.close()

    def __enter__(self) -> LineReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _move_to_front(self) -> None:
        if self._begin:
            left = self._end - self._begin
            self._buffer[:left] = self._buffer[self._begin : self._end].copy()
            self._begin, self._end = 0, left

    def _fill(self, wanted: int) -> None:
        """Reads until the buffer (but for one byte) is full, or there is enough, or the file ends."""
        while not self._at_end and self._end < min(wanted, len(self._buffer) - 1):
            try:
                n = self._input.readinto(
                    memoryview(self._buffer.data)[self._end : min(wanted, len(self._buffer) - 1)]
                )
            except DataError as error:
                if error.line is not None:
                    raise
                lines = self.line + int(np.count_nonzero(self._buffer[: self._end] == _LF)) + 1
                raise DataError(
                    str(error).removeprefix(f"{self.name}: "), path=self.name, line=lines
                ) from None
            self._at_end = n == 0
            self._end += n

    def _last_line_end(self, after: int) -> int | None:
        """The last line end at `after` or later."""
        end = self._end
        while end > after:
            begin = max(after, end - _LOOK)
            at = np.flatnonzero(self._buffer[begin:end] == _LF)
            if len(at):
                return begin + int(at[-1])
            end = begin
        return None

    def _grow(self, wanted: int) -> None:
        size = min(wanted, self._options.max_line + self._options.block_bytes) + 1
        if size > len(self._buffer):
            self._buffer.resize(size, refcheck=False)


def _find_first(block: Block) -> int:
    for begin in range(0, len(block), _LOOK):
        at = np.flatnonzero(block[begin : begin + _LOOK] == _LF)
        if len(at):
            return begin + int(at[0])
    return len(block)


def _ignore(done: int) -> None:
    return None
