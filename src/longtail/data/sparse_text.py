"""Lines of sparse numbers: the Extreme Classification Repository's single file, svmlight, one matrix file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .. import _native
from ..arrays import CSR
from ..errors import DataError
from .chunk import Chunk, SparseRows, join_sparse
from .lines import LineReader
from .options import MOST, ReadOptions
from .source import Facts, Reader, Writer, closed_on_error, limit_of, sparse_of
from .streams import Source, name_of

__all__ = ["MatrixFile", "SvmlightReader", "SvmlightWriter", "XmcReader", "XmcWriter", "read_header"]

_MOST_ROWS = 2**63 - 1


def read_header(reader: LineReader, wanted: str) -> list[int]:
    """The whole numbers of a header line; `wanted` names them, such as "rows features labels"."""
    line = reader.header()
    text = line[:200].decode("ascii", "replace").strip()
    names = wanted.split()
    fields = text.split()
    if (
        len(fields) != len(names)
        or not all(re.fullmatch(r"[0-9]{1,30}", field) for field in fields)
        or len(line) > 200
    ):
        shown = text if len(text) <= 60 else text[:60] + "..."
        raise DataError(
            f"expected a header of {len(names)} whole numbers ({', '.join(names)}), got {shown!r}.",
            path=reader.name,
            line=1,
        )
    numbers = [int(field) for field in fields]
    if numbers[0] > _MOST_ROWS:
        raise DataError(f"the header promises {numbers[0]:,} rows.", path=reader.name, line=1)
    return numbers


class _Rows:
    """Rows of a file whose header promises how many; blank lines after the last are no rows."""

    def __init__(self, reader: LineReader, promised: int):
        self.reader = reader
        self.promised = promised
        self.seen = 0

    def take(self, result: dict[str, Any], rows: SparseRows, other: SparseRows | None) -> int:
        """How many rows of a parsed block count. Too many are an error unless they are blank."""
        n = int(result["rows"])
        surplus = self.seen + n - self.promised
        if surplus > 0:
            keep = n - surplus
            for part in (rows, other):
                if part is not None and part.counts[keep:].any():
                    first = keep + int(part.counts[keep:].argmax() if surplus else 0)
                    raise self.reader.error(
                        first, f"the header promises {self.promised:,} rows, but there are more"
                    )
            n = keep
        self.seen += n
        return n

    def finish(self) -> None:
        """The file has ended: were there as many as promised?"""
        if self.seen < self.promised:
            raise DataError(
                f"the header promises {self.promised:,} rows, but the file ends after {self.seen:,}.",
                path=self.reader.name,
                line=self.reader.line,
            )


class XmcReader(Reader):
    """`N D L`, then `l,l f:v f:v` per row. Rows without labels begin with a blank."""

    def __init__(self, source: Source, options: ReadOptions):
        super().__init__(name_of(source), options)
        self._lines = LineReader(source, options)
        with closed_on_error(self._lines):
            self.n_rows, features, labels = read_header(self._lines, "rows features labels")
            self.n_features = limit_of(features, options.n_features, "features", self.name, 1)
            self.n_labels = limit_of(labels, options.known_labels, "labels", self.name, 1)
        self._limits = (features, labels)

    def chunks(self) -> Iterator[Chunk]:
        """The rows."""
        rows = _Rows(self._lines, self.n_rows or 0)
        features, labels = self._limits
        yield Chunk(0, None, SparseRows.empty(0), SparseRows.empty(0))
        for block in self._lines.blocks("read"):
            result = _native.data.parse_sparse(
                block, True, False, False, features, labels, " (by the header)", self.options.n_threads
            )
            if result["error"]:
                raise self._lines.error(*result["error"])
            x, y = sparse_of(result, "x"), sparse_of(result, "y")
            n = rows.take(result, x, y)
            self.repairs.note_block(result["repairs"], self.name, self._lines.line)
            self._lines.consume(len(block), result["lines"])
            yield Chunk(n, None, x.part(0, n), y.part(0, n))
        rows.finish()
        self.repairs.note("undecodable bytes replaced", self._lines.replaced, self.name)

    def close(self) -> None:
        """Closes the file."""
        self._lines.close()


class SvmlightReader(Reader):
    """`l,l i:v i:v # comment` per row; feature ids from 0 or from 1."""

    def __init__(self, source: Source, options: ReadOptions):
        super().__init__(name_of(source), options)
        self.feature_base = int(options.zero_based is False)
        self._lines = LineReader(source, options)

    def chunks(self) -> Iterator[Chunk]:
        """The rows. Ids are as in the file: `feature_base` is known at the end."""
        options = self.options
        fixed_base = None if options.zero_based == "auto" else int(not options.zero_based)
        room = 1 if fixed_base != 0 else 0
        limit = MOST if options.n_features is None else min(MOST, options.n_features + room)
        n_labels = MOST if options.known_labels is None else options.known_labels
        asked = "" if options.n_features is None else f" (n_features={options.n_features})"
        self.n_rows, smallest, largest, largest_label, empty = 0, MOST, -1, -1, True
        yield Chunk(0, None, SparseRows.empty(0), SparseRows.empty(0))
        for block in self._lines.blocks("read"):
            empty = False
            result = _native.data.parse_sparse(
                block, True, True, False, limit, n_labels, asked, options.n_threads
            )
            if result["error"]:
                raise self._lines.error(*result["error"])
            smallest = min(smallest, result["smallest_feature"])
            largest = max(largest, result["largest_feature"])
            largest_label = max(largest_label, result["largest_label"])
            if fixed_base == 1 and smallest == 0:
                raise DataError(
                    "a feature has the id 0, but ids were said to start at 1 (zero_based=False).",
                    path=self.name,
                )
            self.repairs.note_block(result["repairs"], self.name, self._lines.line)
            self._lines.consume(len(block), result["lines"])
            self.n_rows += result["rows"]
            yield Chunk(result["rows"], None, sparse_of(result, "x"), sparse_of(result, "y"))
        if empty:
            raise DataError("the file is empty.", path=self.name, line=1)
        self._finish(fixed_base, smallest, largest, largest_label)

    def _finish(self, fixed_base: int | None, smallest: int, largest: int, largest_label: int) -> None:
        self.feature_base = int(largest >= 0 and smallest > 0) if fixed_base is None else fixed_base
        found = largest + 1 - self.feature_base if largest >= 0 else 0
        if self.options.n_features is None:
            self.n_features = found
        elif found > self.options.n_features:
            raise DataError(
                f"feature {largest} is out of range: "
                f"only {self.options.n_features:,} features were asked for.",
                path=self.name,
            )
        self.n_labels = (
            self.options.known_labels if self.options.known_labels is not None else largest_label + 1
        )
        self.repairs.note("undecodable bytes replaced", self._lines.replaced, self.name)

    def close(self) -> None:
        """Closes the file."""
        self._lines.close()


class MatrixFile:
    """One matrix: `rows cols`, then `i:v i:v` per row."""

    def __init__(self, source: Source, options: ReadOptions, labels: bool):
        self._lines = LineReader(source, options)
        self.name = self._lines.name
        self._options, self._labels = options, labels
        what, option = ("labels", options.known_labels) if labels else ("features", options.n_features)
        with closed_on_error(self._lines):
            self.n_rows, self.header_cols = read_header(self._lines, "rows columns")
            self.n_cols = limit_of(self.header_cols, option, what, self.name, 1) or 0

    def blocks(self, into: Reader, title: str) -> Iterator[SparseRows]:
        """The rows; repairs are noted with `into`."""
        rows = _Rows(self._lines, self.n_rows)
        for block in self._lines.blocks(title):
            result = _native.data.parse_sparse(
                block,
                False,
                False,
                self._labels,
                self.header_cols,
                self.header_cols,
                " (by the header)",
                self._options.n_threads,
            )
            if result["error"]:
                raise self._lines.error(*result["error"])
            part = sparse_of(result, "y" if self._labels else "x")
            n = rows.take(result, part, None)
            into.repairs.note_block(result["repairs"], self.name, self._lines.line)
            self._lines.consume(len(block), result["lines"])
            yield part.part(0, n)
        rows.finish()

    def matrix(self, into: Reader, title: str) -> CSR:
        """All rows as one CSR matrix."""
        return join_sparse(list(self.blocks(into, title)), self.n_cols)

    def close(self) -> None:
        """Closes the file."""
        self._lines.close()


class XmcWriter(Writer):
    """Writes the Extreme Classification Repository's single file."""

    holds = frozenset({"features", "labels"})
    needs_facts = True

    def begin(self, first: Chunk) -> None:
        """The header."""
        self._file = self.files.open(self.path)
        self._file.write(f"{self.facts.n_rows} {self.facts.n_features} {self.facts.n_labels}\n".encode())

    def write(self, chunk: Chunk) -> None:
        """Rows."""
        self._file.write(_labelled_lines(chunk, self.facts, False, 0))


class SvmlightWriter(Writer):
    """Writes svmlight; ids from 1 unless `zero_based`."""

    holds = frozenset({"features", "labels"})

    def take_options(self, zero_based: bool = False, **options: Any) -> None:
        """Where feature ids begin."""
        super().take_options(**options)
        self._base = 0 if zero_based else 1

    def begin(self, first: Chunk) -> None:
        """There is no header."""
        self._file = self.files.open(self.path)

    def write(self, chunk: Chunk) -> None:
        """Rows."""
        self._file.write(_labelled_lines(chunk, Facts(0, MOST, MOST), True, self._base))


def _labelled_lines(chunk: Chunk, facts: Facts, svmlight: bool, base: int) -> bytes:
    x = chunk.x if chunk.x is not None else SparseRows.empty(chunk.n_rows)
    y = chunk.y if chunk.y is not None else SparseRows.empty(chunk.n_rows)
    lines: bytes = _native.data.write_labelled(
        y.indptr(), y.ids, facts.n_labels, x.indptr(), x.ids, x.filled(), facts.n_features, svmlight, base, 1
    )
    return lines
