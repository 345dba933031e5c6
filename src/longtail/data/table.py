"""CSV and TSV: a header, a column of texts, a column of labels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .. import _native
from ..errors import DataError
from .chunk import Chunk, SparseRows
from .group_column import group_names_of
from .lines import LineReader
from .named import finish_labels, label_names_of, label_table
from .options import MOST, ReadOptions
from .source import Reader, Writer, closed_on_error, sparse_of
from .streams import Source, name_of

__all__ = ["GROUP_COLUMN", "LABEL_COLUMN", "LABEL_ID_COLUMN", "TableReader", "TableWriter"]

LABEL_COLUMN, LABEL_ID_COLUMN, GROUP_COLUMN = "labels", "label_ids", "group"


class TableReader(Reader):
    """Records by RFC 4180. A column named `labels` holds names, one named `label_ids` whole numbers."""

    def __init__(self, source: Source, options: ReadOptions, delimiter: str):
        super().__init__(name_of(source), options)
        self._delimiter = options.delimiter or delimiter
        self._quote = options.quote or ""
        if self._quote == self._delimiter:
            raise DataError("the delimiter and the quote are the same character.", path=self.name)
        self._lines = LineReader(source, options)
        self._table = label_table(options)
        with closed_on_error(self._lines):
            self._columns = self._read_header()
            self._text_columns = [self._column(field) for field in options.text_fields]
            self._label_column, self._ids = self._find_labels()
            self._group_column = -1 if options.group_field is None else self._column(options.group_field)
        self.has_labels = self._label_column >= 0

    def _read_header(self) -> list[str]:
        longer = False
        while (block := self._lines.next_block(longer)) is not None:
            found = _native.data.read_record(block, self._delimiter, self._quote)
            if found is not None:
                columns, consumed = found
                if columns is None:
                    raise self._lines.error(0, consumed)
                header = block[:consumed].tobytes()
                if b'"' not in header and b"\r" in header.removesuffix(b"\n").removesuffix(b"\r"):
                    message = "lines end in a bare carriage return. Expected line feeds, alone or after one."
                    raise DataError(message, path=self.name, line=1)
                self._lines.consume(consumed, header.count(b"\n"))
                return [str(column).strip() for column in columns]
            longer = True
        message = "a quote of the header is never closed." if self._lines.left() else "the file is empty."
        raise DataError(message, path=self.name, line=1)

    def _column(self, name: str) -> int:
        if self._columns.count(name) > 1:
            raise DataError(f"the column {name!r} appears twice.", path=self.name, line=1)
        if name not in self._columns:
            shown = ", ".join(map(repr, self._columns[:20]))
            raise DataError(f"there is no column {name!r}. The columns are {shown}.", path=self.name, line=1)
        return self._columns.index(name)

    def _find_labels(self) -> tuple[int, bool]:
        wanted = self.options.label_field
        if wanted is not None:
            return self._column(wanted), wanted == LABEL_ID_COLUMN
        for name in (LABEL_COLUMN, LABEL_ID_COLUMN):
            if name in self._columns:
                return self._column(name), name == LABEL_ID_COLUMN
        return -1, False

    def chunks(self) -> Iterator[Chunk]:
        """The rows."""
        options = self.options
        n_labels = MOST if options.known_labels is None else options.known_labels
        self.n_rows, largest_label = 0, -1
        yield self._chunk(0, [], None)
        for block in self._lines.blocks("read"):
            result = _native.data.parse_table(
                block,
                self._table,
                self._delimiter,
                self._quote,
                self._text_columns,
                self._label_column,
                len(self._columns),
                options.label_separator,
                self._ids,
                n_labels,
                options.n_threads,
            )
            if result["error"]:
                raise self._lines.error(*result["error"])
            largest_label = max(largest_label, result["largest_label"])
            self.repairs.note_block(result["repairs"], self.name, self._lines.line)
            groups = self._groups_of(block[: result["consumed"]])
            self._lines.consume(result["consumed"], result["lines"])
            self.n_rows += result["rows"]
            yield self._chunk(result["rows"], result["texts"], result, groups)
        if self._lines.left():
            raise self._lines.error(0, "a quote is opened and never closed")
        finish_labels(self, self._table, largest_label)
        if self.n_labels is None and self.has_labels and not self._ids:
            self.n_labels = 0
        self.repairs.note("undecodable bytes replaced", self._lines.replaced, self.name)

    def _groups_of(self, block: Any) -> SparseRows | None:
        """The group of each record: the block is parsed once more, for that column."""
        if self.group_column is None or not len(block):
            return None
        result = _native.data.parse_table(
            block,
            _native.data.LabelTable(),
            self._delimiter,
            self._quote,
            [self._group_column],
            -1,
            len(self._columns),
            self.options.label_separator,
            False,
            MOST,
            self.options.n_threads,
        )
        return self.group_column.rows([name.strip() for name in result["texts"]])

    def _chunk(
        self, n: int, texts: list[str], result: dict[str, Any] | None, groups: SparseRows | None = None
    ) -> Chunk:
        y = None
        if self.has_labels:
            y = SparseRows.empty(0) if result is None else sparse_of(result, "y")
        return Chunk(n, texts, None, y, groups)

    def close(self) -> None:
        """Closes the file."""
        self._lines.close()


class TableWriter(Writer):
    """Writes CSV or TSV: text and labels (or label_ids, when labels have no names), and the group if there are any."""

    holds = frozenset({"texts", "labels", "label names", "groups"})
    delimiter = ","

    def take_options(
        self,
        text_field: str = "text",
        label_field: str | None = None,
        label_separator: str = ";",
        delimiter: str | None = None,
        group_field: str = GROUP_COLUMN,
        **options: Any,
    ) -> None:
        """Names of columns, separator of labels, delimiter of columns."""
        super().take_options(**options)
        self._text_field, self._label_field = text_field, label_field
        self._separator = label_separator
        self._group_field = group_field
        self.delimiter = delimiter or self.delimiter

    def begin(self, first: Chunk) -> None:
        """The header."""
        self._file = self.files.open(self.path)
        columns = [self._text_field]
        if first.y is not None:
            columns.append(
                self._label_field or (LABEL_ID_COLUMN if self.facts.labels is None else LABEL_COLUMN)
            )
        if first.groups is not None:
            columns.append(self._group_field)
        self._write_rows([columns])

    def write(self, chunk: Chunk) -> None:
        """Rows."""
        assert chunk.texts is not None
        if chunk.y is None:
            self._write_rows([[text] for text in chunk.texts])
            return
        labels = label_names_of(chunk.y, self.facts)
        self._check_names(labels)
        cells = [self._separator.join(map(str, row)) for row in labels]
        columns = [chunk.texts, cells]
        if chunk.groups is not None:
            columns.append(group_names_of(chunk.groups, self.facts.groups))
        self._write_rows([list(row) for row in zip(*columns, strict=True)])

    def _check_names(self, labels: list[list[str]] | list[list[int]]) -> None:
        if self.facts.labels is None:
            return
        for name in {name for row in labels for name in row}:
            text = str(name)
            if self._separator in text or not text or text != text.strip(" \t"):
                raise DataError(
                    f"the label {name!r} is empty, holds the separator {self._separator!r}, "
                    "or begins or ends with a blank. Choose another label_separator or format.",
                    path=self.path,
                )

    def _write_rows(self, rows: list[list[str]]) -> None:
        special = re.compile('["\r\n' + re.escape(self.delimiter) + "]")  # a bare \r could end up before a \n

        def field(text: str) -> str:
            return '"' + text.replace('"', '""') + '"' if special.search(text) else text

        lines = [self.delimiter.join(map(field, row)) or '""' for row in rows]  # a blank line would be no row
        try:
            self._file.write("".join(line + "\n" for line in lines).encode())
        except UnicodeEncodeError as error:
            raise DataError(f"a text cannot be written as UTF-8: {error.reason}.", path=self.path) from None


class TsvWriter(TableWriter):
    """The same with tabs."""

    delimiter = "\t"
