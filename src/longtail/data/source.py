"""What every reader and every writer is."""

from __future__ import annotations

import abc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import DataError
from .chunk import Chunk, SparseRows, join_sparse
from .dataset import Dataset
from .group_column import GroupColumn, groups_of_rows
from .groups import Groups
from .options import MOST, ReadOptions
from .repairs import Repairs
from .streams import Outputs

if TYPE_CHECKING:
    from ..labels import LabelSet

__all__ = ["Facts", "Reader", "Writer", "closed_on_error", "gather", "limit_of", "sparse_of"]


@dataclass
class Facts:
    """What is known of a data set before its rows come."""

    n_rows: int = 0
    n_features: int = 0
    n_labels: int = 0
    labels: LabelSet | None = None
    label_texts: list[str] | None = None
    groups: Groups | None = None  # only of a whole data set that is being written


class Reader(abc.ABC):
    """Rows of one source, once, as chunks. Sizes that are None become known when the last chunk has come."""

    def __init__(self, name: str, options: ReadOptions):
        self.name = name
        self.title = Path(name).name
        self.options = options
        self.repairs = Repairs()
        self.n_rows: int | None = None
        self.n_features: int | None = options.n_features
        self.n_labels: int | None = options.known_labels
        self.labels: LabelSet | None = options.labels
        self.label_texts: list[str] | None = None
        self.groups: Groups | None = None  # of formats that keep them beside the rows
        self.group_column: GroupColumn | None = None if options.group_field is None else GroupColumn()
        self.group_labels: Any = None  # of formats that tell them apart from the rows, after the last chunk
        self.dense: Any = None  # the features as they are, when they are a dense matrix
        self.has_labels = True  # False once it is known that no row has any
        self.feature_base = (
            0  # what has to be taken off feature ids; 1 when a file turns out to count from one
        )

    @abc.abstractmethod
    def chunks(self) -> Iterator[Chunk]:
        """The rows. All chunks have the same parts (texts, features, labels)."""

    def close(self) -> None:
        """Closes files."""
        return None

    def facts(self) -> Facts:
        """Sizes and names, after the last chunk."""
        return Facts(
            self.n_rows or 0, self.n_features or 0, self.n_labels or 0, self.labels, self.label_texts
        )


class Writer(abc.ABC):
    """Takes chunks and writes them into files that appear when all went well."""

    # Of "features", "texts", "labels", "label names", "label texts", "label values", "groups" and
    # "counts of groups' labels".
    holds: ClassVar[frozenset[str]]
    needs_facts: ClassVar[bool] = False  # sizes must be known before the first row

    def __init__(self, path: str | os.PathLike[str], facts: Facts, files: Outputs, **options: Any):
        self.path = Path(path)
        self.facts = facts
        self.files = files
        self.take_options(**options)

    def take_options(self, **options: Any) -> None:
        """Takes the format's own options; unknown ones are a TypeError of Python's."""
        if options:
            raise DataError(f"this format has no option '{next(iter(options))}'.", path=self.path)

    def begin(self, first: Chunk) -> None:
        """Before the first chunk, which is shown; it is written afterwards like the others."""
        return None

    @abc.abstractmethod
    def write(self, chunk: Chunk) -> None:
        """Writes rows."""

    def end(self, facts: Facts) -> None:
        """After the last chunk, with final sizes and names."""
        return None


@contextmanager
def closed_on_error(*files: Any) -> Iterator[None]:
    """Closes files when the block fails: for constructors that open a file and look into it."""
    try:
        yield
    except BaseException:
        for file in files:
            file.close()
        raise


def gather(reader: Reader) -> Dataset:
    """All rows of a reader as a data set; warns once of what was repaired."""
    parts = _Parts()
    try:
        for chunk in reader.chunks():
            parts.add(chunk)
    finally:
        reader.close()
    texts, x, y = parts.texts, parts.x, parts.y
    if x is not None and reader.feature_base:
        for piece in x:
            piece.ids -= reader.feature_base
    features = None if x is None else join_sparse(x, reader.n_features or 0)
    matrix = None if y is None or not reader.has_labels else join_sparse(y, reader.n_labels or 0)
    if features is None and texts is None and matrix is None:
        raise DataError("no texts, features or labels were found.", path=reader.name)
    groups = reader.groups
    if parts.groups is not None and reader.group_column is not None:
        try:
            groups, matrix = groups_of_rows(parts.groups, matrix, reader.group_column.names), None
        except DataError as error:
            raise DataError(str(error), path=reader.name) from None
    elif parts.groups is not None:
        groups = Groups(join_sparse(parts.groups, reader.group_labels.shape[0]), reader.group_labels)
    labelled = matrix is not None or groups is not None
    names = reader.labels if labelled else None
    label_texts = reader.label_texts if labelled else None
    return Dataset(
        features, texts, matrix, names, label_texts, groups, reader.title, dict(reader.repairs.counts)
    )


class _Parts:
    """The parts of chunks, each None until a chunk has it."""

    def __init__(self) -> None:
        self.texts: list[str] | None = None
        self.x: list[SparseRows] | None = None
        self.y: list[SparseRows] | None = None
        self.groups: list[SparseRows] | None = None

    def add(self, chunk: Chunk) -> None:
        if chunk.texts is not None:
            self.texts = self.texts or []
            self.texts.extend(chunk.texts)
        if chunk.x is not None:
            self.x = self.x or []
            self.x.append(chunk.x)
        if chunk.y is not None:
            self.y = self.y or []
            self.y.append(chunk.y)
        if chunk.groups is not None:
            self.groups = self.groups or []
            self.groups.append(chunk.groups)


def limit_of(header: int | None, option: int | None, what: str, path: str, line: int) -> int | None:
    """The number of labels or features by header and option, which may be larger but not smaller."""
    if header is None:
        return option
    if header > MOST:
        raise DataError(
            f"the header promises {header:,} {what}, at most {MOST:,} are supported.", path=path, line=line
        )
    if option is not None and option < header:
        raise DataError(
            f"the header promises {header:,} {what}, but only {option:,} were asked for.",
            path=path,
            line=line,
        )
    return header if option is None else option


def sparse_of(result: dict[str, Any], which: str) -> SparseRows:
    """The sparse rows of a native parser's result: which = "x" or "y"."""
    return SparseRows(result[f"{which}_counts"], result[f"{which}_ids"], result[f"{which}_values"])
