"""load, save and convert: the front of all formats."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import progress
from ..errors import DataError, ParameterError
from . import matrix_pair, npz
from .chunk import Chunk, chunks_of_csr
from .dataset import Dataset
from .detect import check_format, detect, format_of_name
from .group_column import labels_by_row
from .jsonl import JsonReader, JsonWriter, open_json
from .matrix_pair import PairReader, PairWriter
from .nested_json import NestedJsonReader, write_nested
from .npz import NpzReader, NpzWriter
from .options import ReadOptions
from .parquet import ParquetReader, ParquetWriter
from .repairs import LossWarning
from .source import Facts, Reader, Writer, gather
from .sparse_text import SvmlightReader, SvmlightWriter, XmcReader, XmcWriter
from .streams import Outputs, Source
from .table import TableReader, TableWriter, TsvWriter
from .text_folder import FolderReader, FolderWriter
from .textfile import TextReader, TextWriter

__all__ = ["convert", "load", "save"]

_WRITERS: dict[str, type[Writer]] = {
    "xmc": XmcWriter,
    "pair": PairWriter,
    "svmlight": SvmlightWriter,
    "npz": NpzWriter,
    "jsonl": JsonWriter,
    "csv": TableWriter,
    "tsv": TsvWriter,
    "parquet": ParquetWriter,
    "folder": FolderWriter,
    "text": TextWriter,
}
_ROWS_PER_WRITE = 16384
_GROUP_COLUMN = ("csv", "tsv", "parquet")  # labels stand beside each row's group


def load(path: Source, format: str | None = None, **options: Any) -> Dataset:
    """Reads a data set of any known format; what was repaired is told in one RepairWarning.

    `path` is a file, a folder, "-" for standard input, or an open binary file. `format` is one of "xmc",
    "pair", "svmlight", "npz", "jsonl", "csv", "tsv", "parquet", "folder" and "text"; without it, names and
    contents decide. Files compressed with gzip or zstd are read as they are. The options, of which
    each format uses its own:

    - `split`: which part of a folder, such as "trn" or "tst" (default: the training part).
    - `labels`: a LabelSet, a list of names or a file of names: the known labels, in order. Formats with
      ids get these names; formats with names are read with these ids, and `unknown_labels` says what
      happens to other names: "error" (default) or "drop".
    - `n_features`, `n_labels`: sizes, where a file does not say them or is to be widened.
    - `label_file`: the labels that go with a file of features (pair, npz), if their name does not tell.
    - `zero_based` (svmlight): where feature ids start; "auto": at one unless an id 0 is seen.
    - `group_field`: the field or column that names the group of each row (jsonl, csv, tsv, parquet). Labels then are
      those of the group: of all that its rows have. `samples_field` ("samples") holds the samples of a group in
      nested JSON lines, which are known by it.
    - `text_field`, `label_field`, `features_field`: fields or columns (jsonl, csv, tsv, parquet). Several
      text fields are joined by a blank.
    - `label_separator` (";"), `delimiter`, `quote` (csv, tsv): between labels in a column, between columns,
      around fields (None: quotes are plain characters).
    - `encoding` ("utf-8") and `errors` ("strict", "replace", "ignore").
    - `max_line`: the longest line that is accepted, in bytes (1 GiB).
    - `block_bytes`, `threads`: how much is read at a time, and how many threads parse it. Neither changes the
      result.

    >>> import io
    >>> load(io.BytesIO(b"2 3 2\\n0,1 0:1.5 2:1\\n 1:2\\n"), format="xmc").Y.toarray().tolist()
    [[1.0, 1.0], [0.0, 0.0]]
    """
    reader = open_reader(path, format, ReadOptions.of(options))
    dataset = gather(reader)
    if reader.dense is not None:
        dataset = replace(dataset, X=reader.dense)
    reader.repairs.warn()
    return dataset


def open_reader(path: Source, format: str | None, options: ReadOptions) -> Reader:
    """The reader of a source."""
    kind = detect(path) if format is None else check_format(format)
    if kind == "pair":
        return _open_pair(path, options)
    if kind == "npz":
        if isinstance(path, (str, os.PathLike)) and Path(path).is_dir():
            return FolderReader(path, options)
        beside = npz.label_file_beside(path) if isinstance(path, (str, os.PathLike)) else None
        return NpzReader(path, options, options.label_file or beside)
    if kind == "folder":
        if not isinstance(path, (str, os.PathLike)) or not Path(path).is_dir():
            raise DataError("the 'folder' format needs a folder.", path=str(path))
        return FolderReader(path, options)
    _check_file(path)
    simple: dict[str, Callable[[Source, ReadOptions], Reader]] = {
        "xmc": XmcReader,
        "svmlight": SvmlightReader,
        "jsonl": open_json,
        "csv": lambda source, o: TableReader(source, o, ","),
        "tsv": lambda source, o: TableReader(source, o, "\t"),
        "parquet": ParquetReader,
        "text": TextReader,
    }
    return simple[kind](path, options)


def _check_file(path: Source) -> None:
    if isinstance(path, (str, os.PathLike)) and os.fspath(path) != "-":
        if Path(path).is_dir():
            raise DataError("a file is expected, this is a folder.", path=path)
        if not Path(path).exists():
            raise DataError("there is no such file.", path=path)


def _open_pair(path: Source, options: ReadOptions) -> Reader:
    if not isinstance(path, (str, os.PathLike)):
        return PairReader(path, options, options.label_file)
    here = Path(path)
    if here.is_dir():
        found = sorted(
            p for pattern in ("*X_Xf.txt*", "X.txt*", "*_X.txt*", "features.txt*") for p in here.glob(pattern)
        )
        wanted = [p for p in found if p.name.startswith(options.split)] if options.split else found
        if not wanted:
            raise DataError("the folder holds no features' file such as trn_X_Xf.txt or X.txt.", path=here)
        preferred = [p for p in wanted if p.name.startswith(("trn", "train", "X."))]
        here = (preferred or wanted)[0]
    return PairReader(here, options, options.label_file or matrix_pair.label_file_beside(here))


def save(dataset: Dataset, path: str | os.PathLike[str], format: str | None = None, **options: Any) -> None:
    """Writes a data set. The name's ending decides the format unless it is given; without ending, it is a
    folder.

    The files appear when they are complete, under their final names; names ending in .gz or .zst are
    compressed. What the format cannot hold is told in a LossWarning; if nothing to learn from is left, it
    is a DataError. Options: `zero_based` (svmlight), `text_field`, `label_field`, `features_field`
    (jsonl, csv, tsv), `label_separator`, `delimiter` (csv, tsv), `split` (folder), `label_file` (pair).
    """
    if not isinstance(dataset, Dataset):
        raise ParameterError(
            f"The 'dataset' parameter of save must be a Dataset. Got {type(dataset).__name__} instead."
        )
    kind = _format_to_write(path, format, has_text=dataset.texts is not None)
    facts = Facts(
        dataset.n_rows,
        dataset.n_features,
        dataset.n_labels,
        dataset.labels,
        dataset.label_texts,
        dataset.groups,
    )
    _prepare_parent(path)
    x = None if dataset.X is None else dataset.X if sp.issparse(dataset.X) else sp.csr_matrix(dataset.X)
    with Outputs() as files, progress.phase("write", dataset.n_rows, "rows") as update:
        writer = _WRITERS[kind](path, facts, files, **_checked_options(kind, options))
        valued = dataset.Y is not None and dataset.Y.nnz > 0 and not bool((dataset.Y.data == 1).all())
        _check_losses(writer, kind, _parts_of(dataset.X, dataset.texts, dataset.Y, facts, valued))
        if dataset.groups is not None and isinstance(writer, JsonWriter):
            write_nested(dataset, path, files, facts, options)
            return
        if isinstance(writer, NpzWriter):
            writer.write_matrices(dataset.X, dataset.Y)
            return
        y, members = dataset.Y, None
        if dataset.groups is not None and kind in _GROUP_COLUMN:
            y, members = labels_by_row(dataset.groups, path), dataset.groups.samples
        chunks = chunks_of_csr(dataset.n_rows, dataset.texts, x, y, _ROWS_PER_WRITE, members)
        _write_all(writer, chunks, update)
        writer.end(facts)


def convert(
    source: Source,
    target: str | os.PathLike[str],
    format: str | None = None,
    to: str | None = None,
    write: dict[str, Any] | None = None,
    **options: Any,
) -> Facts:
    """Reads one format and writes another, row by row.

    Memory does not grow with the file, except for npz matrices, the labels of folders and pairs, and data in groups.
    `format` and `options` are those of ``load``, `to` and `write` the format and the options of ``save``.
    Formats that begin with a header of sizes need to know them: a source that does not say its sizes is
    then read twice.
    """
    read_options = ReadOptions.of(options)
    kind = format or detect(source)
    reader = open_reader(source, kind, read_options)
    if _has_groups(reader):
        return _convert_groups(reader, target, to, write or {})
    chunks = reader.chunks()
    try:
        first = next(chunks, Chunk(0))
        out = _format_to_write(target, to, has_text=first.texts is not None)
        if _must_count(reader, out, first):
            reader.close()
            counted = _count(source, kind, read_options)
            facts, base, labelled = counted.facts(), counted.feature_base, counted.has_labels
            reader = open_reader(source, kind, _with_base(read_options, base, kind))
            chunks = _shifted(reader.chunks(), base, labelled)
            first = next(chunks, Chunk(0))
        else:
            facts, chunks = reader.facts(), _shifted(chunks, reader.feature_base, True)
        _prepare_parent(target)
        with Outputs() as files, progress.phase("convert", reader.n_rows, "rows") as update:
            writer = _WRITERS[out](target, facts, files, **_checked_options(out, write or {}))
            _check_losses(writer, out, _parts_of(first.x, first.texts, _labels_of(first), facts, False))
            _write_all(writer, _telling_of_values(chain([first], chunks), writer, out), update)
            facts = reader.facts()
            writer.end(facts)
    finally:
        reader.close()
    reader.repairs.warn()
    return facts


def _has_groups(reader: Reader) -> bool:
    return (
        reader.groups is not None or reader.group_column is not None or isinstance(reader, NestedJsonReader)
    )


def _convert_groups(reader: Reader, target: Any, to: str | None, write: dict[str, Any]) -> Facts:
    """Groups are written whole: which rows are in them shows at the end."""
    dataset = gather(reader)
    save(dataset if reader.dense is None else replace(dataset, X=reader.dense), target, to, **write)
    reader.repairs.warn()
    return reader.facts()


def _must_count(reader: Reader, out: str, first: Chunk) -> bool:
    """Whether sizes, names or the base of feature ids must be known before writing and are not."""
    if isinstance(reader, SvmlightReader) and reader.options.zero_based == "auto":
        return True  # where ids start shows at the end
    named = isinstance(reader, (JsonReader, TableReader, ParquetReader)) and reader.options.labels is None
    if named and first.y is not None:
        return out not in ("npz", "text")  # names are known at the end
    return _WRITERS[out].needs_facts and None in (reader.n_rows, reader.n_features, reader.n_labels)


def _count(source: Source, kind: str, options: ReadOptions) -> Reader:
    """A reader that has read everything: it knows its sizes."""
    readable_again = isinstance(source, (str, os.PathLike)) and (
        Path(source).is_file() or Path(source).is_dir()
    )
    if not readable_again or os.fspath(source) == "-":  # type: ignore[arg-type]
        raise DataError("this conversion reads its source twice, which needs a regular file.")
    counter = open_reader(source, kind, options)
    try:
        for _ in counter.chunks():
            pass
    finally:
        counter.close()
    return counter


def _with_base(options: ReadOptions, base: int, kind: str) -> ReadOptions:
    return replace(options, zero_based=base == 0) if kind == "svmlight" else options


def _shifted(chunks: Iterator[Chunk], base: int, labelled: bool) -> Iterator[Chunk]:
    """Feature ids from zero; no labels where no row turned out to have any."""
    for chunk in chunks:
        if base and chunk.x is not None:
            chunk.x.ids -= np.int32(base)
        yield chunk if labelled else replace(chunk, y=None)


def _labels_of(first: Chunk) -> Any:
    """The labels of a first chunk, if it has any or shows no rows yet."""
    return first.y if first.y is not None and (len(first.y.ids) or not first.n_rows) else None


def _telling_of_values(chunks: Iterator[Chunk], writer: Writer, kind: str) -> Iterator[Chunk]:
    """Warns at the first labels whose values the format cannot hold."""
    told = "label values" in writer.holds
    for chunk in chunks:
        if not told and chunk.y is not None and len(chunk.y.values) and not (chunk.y.values == 1).all():
            warnings.warn(
                f"{writer.path}: the {kind} format does not hold label values.", LossWarning, stacklevel=2
            )
            told = True
        yield chunk


def _write_all(writer: Writer, chunks: Iterator[Chunk], update: Callable[[int], None]) -> None:
    done = 0
    for i, chunk in enumerate(chunks):
        if i == 0:
            writer.begin(chunk)
        writer.write(chunk)
        done += chunk.n_rows
        update(done)


def _format_to_write(path: str | os.PathLike[str], format: str | None, has_text: bool) -> str:
    if format is not None:
        return check_format(format)
    by_name = format_of_name(path)
    if by_name is not None:
        return by_name
    name = Path(path).name
    if "." not in name:
        return "folder" if has_text else "npz"
    raise ParameterError(
        f"The format to write cannot be told from the name {name!r}. Say it with format=... "
        "(longtail convert: --to)."
    )


def _prepare_parent(path: str | os.PathLike[str]) -> None:
    parent = Path(path).parent
    if not parent.is_dir():
        raise DataError(f"the folder {parent} does not exist.", path=path)


def _checked_options(kind: str, options: dict[str, Any]) -> dict[str, Any]:
    known = {
        "svmlight": {"zero_based"},
        "jsonl": {"text_field", "label_field", "features_field", "samples_field"},
        "csv": {"text_field", "label_field", "label_separator", "delimiter", "group_field"},
        "tsv": {"text_field", "label_field", "label_separator", "delimiter", "group_field"},
        "folder": {"split"},
        "pair": {"label_file"},
    }.get(kind, set())
    for name in options:
        if name not in known:
            told = ", ".join(sorted(known)) or "none"
            raise ParameterError(f"Writing {kind} has no option '{name}'. Its options: {told}.")
    return options


def _parts_of(x: Any, texts: Any, y: Any, facts: Facts, valued: bool) -> set[str]:
    parts = {
        "features": x,
        "texts": texts,
        "labels": y,
        "label names": facts.labels,
        "label texts": facts.label_texts,
    }
    named = {name for name, part in parts.items() if part is not None}
    if valued:
        named.add("label values")
    if facts.groups is not None:
        named.add("groups")
        if facts.groups.labels.nnz and facts.groups.labels.data.max() > 1:
            named.add("counts of groups' labels")
    return named


def _check_losses(writer: Writer, kind: str, parts: set[str]) -> None:
    inputs = parts & {"features", "texts"}
    if not inputs or not inputs & writer.holds:
        wanted = " or ".join(sorted({"features", "texts"} & writer.holds))
        raise DataError(
            f"the {kind} format holds {wanted}, and this data set has {' and '.join(sorted(parts))} only.",
            path=writer.path,
        )
    if kind in ("csv", "tsv", "text") and "texts" not in parts:
        raise DataError(f"the {kind} format holds texts, and this data set has none.", path=writer.path)
    lost = parts - writer.holds
    if {"groups", "labels"} <= parts and kind in ("jsonl", *_GROUP_COLUMN):
        lost = lost | {"labels of samples"}
    if lost:
        warnings.warn(
            f"{writer.path}: the {kind} format does not hold {', '.join(sorted(lost))}.",
            LossWarning,
            stacklevel=4,
        )
