"""Parquet (the `parquet` extra): columns text, labels or label_ids, feature_ids and feature_values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..errors import DataError, MissingExtraError
from .chunk import Chunk, SparseRows
from .group_column import group_names_of
from .named import label_names_of
from .options import MOST, ReadOptions
from .source import Reader, Writer
from .streams import Source, name_of
from .table import GROUP_COLUMN, LABEL_COLUMN, LABEL_ID_COLUMN

__all__ = ["ParquetReader", "ParquetWriter"]

_FEATURE_IDS, _FEATURE_VALUES = "feature_ids", "feature_values"
_ROWS = 65536


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("Parquet", "parquet") from None
    return pyarrow


class ParquetReader(Reader):
    """Reads row groups in batches; only the columns that are wanted."""

    def __init__(self, source: Source, options: ReadOptions):
        super().__init__(name_of(source), options)
        self._pa = _pyarrow()
        with self._told():
            self._file = self._pa.parquet.ParquetFile(source)
            self._columns = list(self._file.schema_arrow.names)
            self.n_rows = int(self._file.metadata.num_rows)
        self._text = [f for f in options.text_fields if f in self._columns]
        if self._text and len(self._text) < len(options.text_fields):
            missing = next(f for f in options.text_fields if f not in self._columns)
            raise DataError(
                f"there is no column {missing!r}. The columns are {', '.join(map(repr, self._columns))}.",
                path=self.name,
            )
        self._label = self._label_column()
        self.has_labels = self._label is not None
        if options.group_field is not None and options.group_field not in self._columns:
            raise DataError(f"there is no column {options.group_field!r}.", path=self.name)
        self._features = {_FEATURE_IDS, _FEATURE_VALUES} <= set(self._columns)
        if not self._text and not self._features:
            shown = ", ".join(map(repr, self._columns[:20]))
            raise DataError(
                f"there is no column {options.text_fields[0]!r} or {_FEATURE_IDS!r}. "
                f"The columns are {shown}.",
                path=self.name,
            )
        self._names: dict[str, int] = {}
        self._by_name = False
        if options.labels is not None:
            self._names = {name: i for i, name in enumerate(options.labels.names)}

    def _told(self) -> Any:
        return _Told(self._pa, self.name)

    def _label_column(self) -> str | None:
        wanted = self.options.label_field
        if wanted is not None:
            if wanted not in self._columns:
                raise DataError(
                    f"there is no column {wanted!r}. The columns are {', '.join(map(repr, self._columns))}.",
                    path=self.name,
                )
            return wanted
        return next((name for name in (LABEL_COLUMN, LABEL_ID_COLUMN) if name in self._columns), None)

    def chunks(self) -> Iterator[Chunk]:
        """The rows."""
        from ..labels import LabelSet

        wanted = [*self._text, *([self._label] if self._label else [])]
        wanted += [_FEATURE_IDS, _FEATURE_VALUES] if self._features else []
        if self.options.group_field is not None:
            wanted.append(self.options.group_field)
        self._largest_label = self._largest_feature = -1
        row = 0
        with self._told():
            for batch in self._file.iter_batches(batch_size=_ROWS, columns=wanted):
                yield self._chunk(batch, row)
                row += len(batch)
        if row == 0:
            yield Chunk(
                0,
                [] if self._text else None,
                SparseRows.empty(0) if self._features else None,
                SparseRows.empty(0) if self._label else None,
            )
        if self.n_features is None:
            self.n_features = self._largest_feature + 1
        if self._by_name and self.options.labels is None:
            self.labels = LabelSet(list(self._names))
            self.n_labels = len(self._names)
        elif self.n_labels is None:
            self.n_labels = self._largest_label + 1

    def _chunk(self, batch: Any, row: int) -> Chunk:
        n = len(batch)
        texts = None
        if self._text:
            columns = [self._strings(batch.column(field), field, row) for field in self._text]
            texts = (
                columns[0] if len(columns) == 1 else [" ".join(parts) for parts in zip(*columns, strict=True)]
            )
        x = self._feature_rows(batch, row) if self._features else None
        y = self._label_rows(batch.column(self._label), row) if self._label else None
        return Chunk(n, texts, x, y, self._groups_of(batch))

    def _groups_of(self, batch: Any) -> SparseRows | None:
        """The group of each row; null and "" are none. Numbers are names too."""
        field = self.options.group_field
        if self.group_column is None or field is None:
            return None
        column = batch.column(field)
        if not self._pa.types.is_string(column.type):
            column = column.cast(self._pa.string())
        return self.group_column.rows([name or "" for name in column.to_pylist()])

    def _strings(self, column: Any, field: str, row: int) -> list[str]:
        if not (self._pa.types.is_string(column.type) or self._pa.types.is_large_string(column.type)):
            raise DataError(f"the column {field!r} holds {column.type}, expected strings.", path=self.name)
        if column.null_count:
            first = row + int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
            raise DataError(f"the column {field!r} has no text in row {first}.", path=self.name)
        values: list[str] = column.to_pylist()
        return values

    def _lists(self, column: Any, field: str, row: int) -> tuple[Any, Any]:
        """Lengths and the flat values of a column of lists; no list is an empty one."""
        types = self._pa.types
        if not (types.is_list(column.type) or types.is_large_list(column.type)):
            raise DataError(f"the column {field!r} holds {column.type}, expected lists.", path=self.name)
        lengths = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False).astype(np.int32)
        values = column.flatten()
        if values.null_count:
            raise DataError(
                f"the column {field!r} has an empty value in a list from row {row} on.", path=self.name
            )
        return lengths, values

    def _label_rows(self, column: Any, row: int) -> SparseRows:
        field = str(self._label)
        lengths, values = self._lists(column, field, row)
        types = self._pa.types
        if types.is_null(values.type):
            ids = np.zeros(0, np.int64)
        elif types.is_integer(values.type):
            self._set_kind(False)
            ids = values.to_numpy(zero_copy_only=False).astype(np.int64)
            self._check_ids(ids, lengths, self.options.known_labels, field, row)
        elif types.is_string(values.type) or types.is_large_string(values.type):
            self._set_kind(True)
            ids = self._ids_of_names(values, lengths, field, row)
        else:
            raise DataError(
                f"the column {field!r} holds lists of {values.type}, expected names or ids.", path=self.name
            )
        if len(ids):
            self._largest_label = max(self._largest_label, int(ids.max()))
        rows, merged, _ = _tidy(lengths, ids, np.ones(len(ids), np.float32), keep_first=True)
        self.repairs.note("duplicate labels merged", merged, self.name)
        return rows

    def _set_kind(self, by_name: bool) -> None:
        self._by_name = by_name

    def _ids_of_names(self, values: Any, lengths: Any, field: str, row: int) -> Any:
        coded = values.dictionary_encode()
        names: list[str] = coded.dictionary.to_pylist()
        fixed = self.options.labels is not None
        local = np.empty(len(names), np.int64)
        for i, name in enumerate(names):
            local[i] = self._names.get(name, -1) if fixed else self._names.setdefault(name, len(self._names))
        ids = local[coded.indices.to_numpy(zero_copy_only=False)] if len(names) else np.zeros(0, np.int64)
        unknown = ids < 0
        if unknown.any():
            where = np.repeat(np.arange(len(lengths)), lengths)[unknown]
            if self.options.unknown_labels == "error":
                name = values[int(np.flatnonzero(unknown)[0])].as_py()
                raise DataError(
                    f"label {name!r} in row {row + int(where[0])} is not one of the "
                    f"{len(self._names):,} known labels.",
                    path=self.name,
                )
            self.repairs.note("unknown labels dropped", int(unknown.sum()), self.name)
            np.subtract.at(lengths, where, 1)
            ids = ids[~unknown]
        return ids

    def _check_ids(self, ids: Any, lengths: Any, limit: int | None, field: str, row: int) -> None:
        limit = MOST if limit is None else limit
        wrong = (ids < 0) | (ids >= limit)
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            where = row + int(np.searchsorted(np.cumsum(lengths), at, side="right"))
            raise DataError(
                f"the column {field!r} holds {int(ids[at])} in row {where}, expected 0 to {limit - 1:,}.",
                path=self.name,
            )

    def _feature_rows(self, batch: Any, row: int) -> SparseRows:
        lengths, ids = self._lists(batch.column(_FEATURE_IDS), _FEATURE_IDS, row)
        value_lengths, values = self._lists(batch.column(_FEATURE_VALUES), _FEATURE_VALUES, row)
        types = self._pa.types
        if not types.is_integer(ids.type) or not (
            types.is_floating(values.type) or types.is_integer(values.type)
        ):
            raise DataError("features must be lists of whole numbers and lists of numbers.", path=self.name)
        if (lengths != value_lengths).any():
            first = row + int(np.flatnonzero(lengths != value_lengths)[0])
            raise DataError(f"row {first} has a different number of feature ids and values.", path=self.name)
        numbers = ids.to_numpy(zero_copy_only=False).astype(np.int64)
        with np.errstate(over="ignore"):
            data = values.to_numpy(zero_copy_only=False).astype(np.float32)
        self._check_ids(numbers, lengths, self.options.n_features, _FEATURE_IDS, row)
        if not np.isfinite(data).all():
            at = int(np.flatnonzero(~np.isfinite(data))[0])
            where = row + int(np.searchsorted(np.cumsum(lengths), at, side="right"))
            raise DataError(f"a feature value of row {where} is not finite.", path=self.name)
        if len(numbers):
            self._largest_feature = max(self._largest_feature, int(numbers.max()))
        rows, summed, unsorted = _tidy(lengths, numbers, data, keep_first=False)
        if not np.isfinite(rows.values).all():
            raise DataError(
                f"duplicate features sum to more than a float32 holds, from row {row} on.", path=self.name
            )
        self.repairs.note("duplicate features summed", summed, self.name)
        self.repairs.note("rows with unsorted features", unsorted, self.name)
        return rows

    def close(self) -> None:
        """Closes the file."""
        self._file.close()


class _Told:
    """Errors of pyarrow as DataError."""

    def __init__(self, pa: Any, name: str):
        self._kinds = (pa.ArrowException, OSError, UnicodeDecodeError, OverflowError)
        self._name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, self._kinds) and not isinstance(error, DataError):
            first = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise DataError(f"not a readable Parquet file: {first}.", path=self._name) from None


def _tidy(lengths: Any, ids: Any, values: Any, keep_first: bool) -> tuple[SparseRows, int, int]:
    """Sorted rows without duplicates; how many entries were merged, and how many rows were not in order."""
    rows = np.repeat(np.arange(len(lengths)), lengths)
    same = rows[1:] == rows[:-1]
    falls = same & (ids[1:] < ids[:-1])
    unsorted = len(np.unique(rows[1:][falls]))
    order = np.lexsort((ids, rows)) if unsorted else slice(None)
    rows, ids, values = rows[order], ids[order], values[order]
    first = np.ones(len(ids), dtype=bool)
    first[1:] = (rows[1:] != rows[:-1]) | (ids[1:] != ids[:-1])
    merged = int(len(ids) - first.sum())
    if merged and not keep_first:
        with np.errstate(over="ignore"):
            values = np.add.reduceat(values.astype(np.float64), np.flatnonzero(first)).astype(np.float32)
    else:
        values = values[first]
    counts = np.bincount(rows[first], minlength=len(lengths)).astype(np.int32)
    return (
        SparseRows(counts, ids[first].astype(np.int32), np.ascontiguousarray(values, dtype=np.float32)),
        merged,
        unsorted,
    )


class ParquetWriter(Writer):
    """Writes one row group per chunk."""

    holds = frozenset({"features", "texts", "labels", "label names", "groups"})

    def begin(self, first: Chunk) -> None:
        """The schema."""
        self._pa = pa = _pyarrow()
        fields = []
        if first.texts is not None:
            fields.append(pa.field("text", pa.string()))
        if first.y is not None:
            named = self.facts.labels is not None
            fields.append(
                pa.field(
                    LABEL_COLUMN if named else LABEL_ID_COLUMN, pa.list_(pa.string() if named else pa.int32())
                )
            )
        if first.x is not None:
            fields += [
                pa.field(_FEATURE_IDS, pa.list_(pa.int32())),
                pa.field(_FEATURE_VALUES, pa.list_(pa.float32())),
            ]
        if first.groups is not None:
            fields.append(pa.field(GROUP_COLUMN, pa.string()))
        self._schema = pa.schema(fields)
        self._writer = pa.parquet.ParquetWriter(self.files.open(self.path), self._schema, compression="zstd")
        self.files.on_discard(self._writer.close)

    def write(self, chunk: Chunk) -> None:
        """Rows."""
        pa = self._pa
        columns: list[Any] = []
        try:
            if chunk.texts is not None:
                columns.append(pa.array(chunk.texts, pa.string()))
            if chunk.y is not None:
                columns.append(
                    pa.array(label_names_of(chunk.y, self.facts), self._schema.field(len(columns)).type)
                )
        except UnicodeEncodeError as error:
            raise DataError(f"a text cannot be written as UTF-8: {error.reason}.", path=self.path) from None
        if chunk.x is not None:
            offsets = pa.array(chunk.x.indptr().astype(np.int32), pa.int32())
            columns.append(pa.ListArray.from_arrays(offsets, pa.array(chunk.x.ids, pa.int32())))
            columns.append(pa.ListArray.from_arrays(offsets, pa.array(chunk.x.filled(), pa.float32())))
        if chunk.groups is not None:
            columns.append(pa.array(group_names_of(chunk.groups, self.facts.groups), pa.string()))
        if chunk.n_rows:
            self._writer.write_table(pa.table(columns, schema=self._schema))

    def end(self, facts: Any) -> None:
        """The footer."""
        self._writer.close()
