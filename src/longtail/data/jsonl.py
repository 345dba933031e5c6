"""JSON lines: {"text": "...", "labels": ["a", "b"], "features": {"12": 0.5}}."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .. import _native
from ..errors import DataError
from .chunk import Chunk, SparseRows
from .lines import LineReader
from .named import finish_labels, label_names_of, label_table
from .nested_json import NestedJsonReader, is_nested
from .options import MOST, ReadOptions
from .source import Reader, Writer, closed_on_error, sparse_of
from .streams import Source

__all__ = ["JsonReader", "JsonWriter", "open_json"]


def open_json(source: Source, options: ReadOptions) -> Reader:
    """The reader of rows or, if the first line is a group with samples, that of groups."""
    lines = LineReader(source, options)
    with closed_on_error(lines):
        return NestedJsonReader(lines, options) if is_nested(lines, options) else JsonReader(lines, options)


class JsonReader(Reader):
    """One object per line. What the first row has, all must have; only labels may be missing."""

    def __init__(self, lines: LineReader, options: ReadOptions):
        super().__init__(lines.name, options)
        self._lines = lines
        self._table = label_table(options)

    def chunks(self) -> Iterator[Chunk]:
        """The rows."""
        options = self.options
        n_features = MOST if options.n_features is None else options.n_features
        n_labels = MOST if options.known_labels is None else options.known_labels
        self.n_rows, largest_feature, largest_label, any_line = 0, -1, -1, False
        has: dict[str, bool] = {}
        labelled, unlabelled = False, (0, 0)
        for block in self._lines.blocks("read"):
            any_line = True
            result = _native.data.parse_json(
                block,
                self._table,
                options.text_fields,
                options.label_field or "labels",
                options.features_field,
                n_features,
                n_labels,
                options.n_threads,
            )
            if result["error"]:
                raise self._lines.error(*result["error"])
            rows = result["rows"]
            if rows and not has:
                has = {what: result[f"has_{what}"][1] >= 0 for what in ("text", "x")}
                has["text"] = has["text"] and result["has_text"][2] != _first_row(result)
                has["x"] = has["x"] and result["has_x"][2] != _first_row(result)
            self._same_parts(result, has)
            if rows and result["has_y"][0] < rows:
                first = self._lines.line + result["has_y"][2] + 1
                unlabelled = (unlabelled[0] + rows - result["has_y"][0], unlabelled[1] or first)
            labelled = labelled or result["has_y"][0] > 0
            largest_feature = max(largest_feature, result["largest_feature"])
            largest_label = max(largest_label, result["largest_label"])
            self.repairs.note_block(result["repairs"], self.name, self._lines.line)
            groups = self._groups_of(block)
            self._lines.consume(len(block), result["lines"])
            self.n_rows += rows
            if rows:
                texts = result["texts"] if has["text"] else None
                x = sparse_of(result, "x") if has["x"] else None
                yield Chunk(rows, texts, x, sparse_of(result, "y"), groups)
        if not any_line or not self.n_rows:
            raise DataError("the file is empty.", path=self.name, line=1)
        if labelled:
            self.repairs.note("rows without a label field", unlabelled[0], self.name, unlabelled[1])
        self.has_labels = labelled
        if self.n_features is None:
            self.n_features = largest_feature + 1
        finish_labels(self, self._table, largest_label)
        self.repairs.note("undecodable bytes replaced", self._lines.replaced, self.name)

    def _groups_of(self, block: Any) -> SparseRows | None:
        """The group of each row: the block is parsed once more, for that field."""
        if self.group_column is None:
            return None
        options = self.options
        result = _native.data.parse_json(
            block, _native.data.LabelTable(), [options.group_field], "", "", MOST, MOST, options.n_threads
        )
        if result["error"]:
            raise self._lines.error(*result["error"])
        return self.group_column.rows(result["texts"])

    def _same_parts(self, result: dict[str, Any], has: dict[str, bool]) -> None:
        names = {
            "text": " or ".join(map(repr, self.options.text_fields)),
            "x": repr(self.options.features_field),
        }
        for what, field in names.items():
            _, first_with, first_without = result[f"has_{what}"]
            if has.get(what) and first_without >= 0:
                raise self._lines.error(first_without, f"the row has no field {field}, as the first row has")
            if has and not has[what] and first_with >= 0:
                raise self._lines.error(
                    first_with, f"the row has the field {field}, which the first row lacks"
                )
        if has and not has["text"] and not has["x"] and result["rows"]:
            raise self._lines.error(
                _first_row(result), f"the row has neither the field {names['text']} nor {names['x']}"
            )

    def close(self) -> None:
        """Closes the file."""
        self._lines.close()


def _first_row(result: dict[str, Any]) -> int:
    """The line of the first row, which has a text or has none."""
    return int(min(line for line in result["has_text"][1:] if line >= 0))


class JsonWriter(Writer):
    """Writes one object per line: text, labels (names when there are names, else ids), features."""

    holds = frozenset({"features", "texts", "labels", "label names", "groups", "counts of groups' labels"})

    def take_options(
        self,
        text_field: str = "text",
        label_field: str = "labels",
        features_field: str = "features",
        samples_field: str = "samples",
        **options: Any,
    ) -> None:
        """The names of the fields."""
        super().take_options(**options)
        self._fields = (text_field, label_field, features_field)

    def begin(self, first: Chunk) -> None:
        """Opens the file."""
        self._file = self.files.open(self.path)

    def write(self, chunk: Chunk) -> None:
        """Rows."""
        text_field, label_field, features_field = self._fields
        labels = None if chunk.y is None else label_names_of(chunk.y, self.facts)
        features = None if chunk.x is None else _feature_objects(chunk.x)
        lines = []
        for row in range(chunk.n_rows):
            record: dict[str, Any] = {}
            if chunk.texts is not None:
                record[text_field] = chunk.texts[row]
            if labels is not None:
                record[label_field] = labels[row]
            line = json.dumps(record, ensure_ascii=False)
            if features is not None:
                opening = line[:-1] + ", " if record else "{"
                line = f"{opening}{json.dumps(features_field)}: {features[row]}}}"
            lines.append(line)
        text = "\n".join(lines) + "\n" if lines else ""
        self._file.write(text.encode("utf-8", "surrogatepass") if text.isascii() else _utf8(text, self))


def _utf8(text: str, writer: Writer) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise DataError(f"a text cannot be written as UTF-8: {error.reason}.", path=writer.path) from None


def _feature_objects(x: SparseRows) -> list[str]:
    """Features of each row as JSON, values in the shortest form that reads back."""
    lines = bytes(_native.data.write_matrix(x.indptr(), x.ids, x.filled(), MOST, 1)).decode().split("\n")[:-1]
    return ["{" + ", ".join('"' + e.replace(":", '": ', 1) for e in line.split()) + "}" for line in lines]
