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
from .options import MOST, ReadOptions
from .source import Reader, Writer, sparse_of
from .streams import Source, name_of

__all__ = ["JsonReader", "JsonWriter"]


class JsonReader(Reader):
    """One object per line. What the first row has, all must have; only labels may be missing."""

    def __init__(self, source: Source, options: ReadOptions):
        super().__init__(name_of(source), options)
        self._lines = LineReader(source, options)
        self._table = label_table(options)

    def chunks(self) -> Iterator[Chunk]:
        """The rows."""
        options = self.options
        n_features = MOST if options.n_features is None else options.n_features
        n_labels = MOST if options.known_labels is None else options.known_labels
        self.n_rows, largest_feature, largest_label, any_line = 0, -1, -1, False
        has: dict[str, bool] = {}
        unlabelled = (0, 0)
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
                has = {what: result[f"has_{what}"][1] >= 0 for what in ("text", "x", "y")}
                has["text"] = has["text"] and result["has_text"][2] != _first_row(result)
                has["x"] = has["x"] and result["has_x"][2] != _first_row(result)
            self._same_parts(result, has)
            if rows and result["has_y"][0] < rows:
                first = self._lines.line + result["has_y"][2] + 1
                unlabelled = (unlabelled[0] + rows - result["has_y"][0], unlabelled[1] or first)
            has["y"] = has.get("y", False) or result["has_y"][0] > 0
            largest_feature = max(largest_feature, result["largest_feature"])
            largest_label = max(largest_label, result["largest_label"])
            self.repairs.note_block(result["repairs"], self.name, self._lines.line)
            self._lines.consume(len(block), result["lines"])
            self.n_rows += rows
            yield Chunk(
                rows,
                result["texts"] if has.get("text") else None,
                sparse_of(result, "x") if has.get("x") else None,
                sparse_of(result, "y"),
            )
        if not any_line or not self.n_rows:
            raise DataError("the file is empty.", path=self.name, line=1)
        if has["y"]:
            self.repairs.note("rows without a label field", unlabelled[0], self.name, unlabelled[1])
        self.has_labels = has["y"]
        if self.n_features is None:
            self.n_features = largest_feature + 1
        finish_labels(self, self._table, largest_label)
        self.repairs.note("undecodable bytes replaced", self._lines.replaced, self.name)

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

    holds = frozenset({"features", "texts", "labels", "label names"})

    def take_options(
        self,
        text_field: str = "text",
        label_field: str = "labels",
        features_field: str = "features",
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
