"""SciPy's sparse matrices in .npz files, read without pickle, every array checked before it is used."""

from __future__ import annotations

import io
import math
import os
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..arrays import CSR, as_csr, as_features
from ..errors import DataError
from .chunk import Chunk, SparseRows, chunks_of_csr
from .group_files import read_groups, write_groups
from .options import MOST, ReadOptions
from .repairs import Repairs
from .source import Reader, Writer
from .streams import Outputs, Source, name_of

__all__ = ["ROWS_PER_CHUNK", "NpzReader", "NpzWriter", "label_file_beside", "read_matrix", "write_matrix"]

ROWS_PER_CHUNK = 65536
_MOST_ROWS_NEARLY_EMPTY = 100_000_000
_LONGEST_HEADER = 65536


def read_matrix(source: Source, what: str, repairs: Repairs) -> Any:
    """A matrix as checked CSR, or a dense array from .npy; `what` is what errors call it."""
    path = name_of(source)
    try:
        matrix = _dense(source, path) if path.endswith(".npy") else _sparse(source, path)
        if what == "labels" and not sp.issparse(matrix):
            matrix = sp.csr_matrix(matrix)
        return _tidy(matrix, what, path, repairs)
    except DataError as error:
        raise error if error.path is not None else DataError(str(error), path=path) from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}.", path=path) from None
    except MemoryError:
        raise DataError("the matrix does not fit into memory.", path=path) from None


def _tidy(matrix: Any, what: str, path: str, repairs: Repairs) -> Any:
    """Sorted, summed, and for labels without zeros; what had to be done is noted."""
    if not sp.issparse(matrix):
        return as_features(matrix, what)
    if not matrix.has_canonical_format:
        matrix = _sorted_rows(matrix, what, path, repairs)
    csr = as_csr(matrix, what)
    if what == "labels" and csr.nnz:
        if csr.data.min() < 0:
            raise DataError(f"labels have the negative value {csr.data.min()}.")
        zeros = int(np.count_nonzero(csr.data == 0))
        if zeros:
            csr = csr.copy()
            csr.eliminate_zeros()
            repairs.note("labels of value zero dropped", zeros, path)
    return csr


def _sorted_rows(matrix: CSR, what: str, path: str, repairs: Repairs) -> CSR:
    """Columns sorted and unique: duplicate features are summed, of duplicate labels the first stays."""
    before = matrix.nnz
    repairs.note(f"matrix of {what} with unsorted columns", int(not matrix.has_sorted_indices), path)
    tidy = matrix.copy()
    tidy.sort_indices()
    if what == "labels":
        rows = np.repeat(np.arange(tidy.shape[0]), np.diff(tidy.indptr))
        first = np.ones(before, dtype=bool)
        first[1:] = (rows[1:] != rows[:-1]) | (tidy.indices[1:] != tidy.indices[:-1])
        indptr = np.concatenate(([0], np.cumsum(np.bincount(rows[first], minlength=tidy.shape[0]))))
        tidy.data, tidy.indices = tidy.data[first], tidy.indices[first]
        tidy.indptr = indptr.astype(tidy.indptr.dtype)
        repairs.note("duplicate labels merged", before - tidy.nnz, path)
    else:
        with np.errstate(over="ignore"):
            tidy.sum_duplicates()
        repairs.note("duplicate features summed", before - tidy.nnz, path)
    return tidy


def _dense(source: Source, path: str) -> Any:
    data = Path(source).read_bytes() if isinstance(source, (str, os.PathLike)) else source.read()
    return _array(io.BytesIO(data), len(data), path, path)


def _sparse(source: Source, path: str) -> Any:
    try:
        with zipfile.ZipFile(source) as archive:
            return _assemble(_Members(archive, path))
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,
        RuntimeError,
        UnicodeDecodeError,
        OverflowError,
    ) as error:
        raise DataError(f"not a readable npz file: {error}.", path=path) from None
    except ValueError as error:
        raise (
            error
            if isinstance(error, DataError)
            else DataError(f"not a readable npz file: {error}.", path=path)
        ) from None


class _Members:
    """The arrays of an npz file by name."""

    def __init__(self, archive: zipfile.ZipFile, path: str):
        self._archive = archive
        self._path = path
        self.names = {n.removesuffix(".npy") for n in archive.namelist()}

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        if name not in self.names:
            raise DataError(
                f"the array {name!r} is missing; a SciPy sparse matrix is expected.", path=self._path
            )
        info = self._archive.getinfo(name + ".npy")
        with self._archive.open(info) as file:
            return _array(file, info.file_size, name, self._path)


_HEADER = re.compile(
    r"\s*\{\s*'descr':\s*'([<>|=]?[biufSU]\d{1,9})',\s*'fortran_order':\s*(True|False),"
    r"\s*'shape':\s*\(((?:\d{1,18}L?,?\s*)*)\),?\s*\}\s*"
)


def _header(file: Any, name: str, path: str) -> tuple[tuple[int, ...], bool, Any]:
    """Shape, order and dtype by the header of an .npy file, which is matched and never evaluated."""
    start = file.read(8)
    if len(start) < 8 or start[:6] != b"\x93NUMPY" or start[6] not in (1, 2, 3):
        raise DataError(f"the array {name!r} does not begin as .npy files do.", path=path)
    width = 2 if start[6] == 1 else 4
    length = int.from_bytes(file.read(width), "little")
    text = file.read(length).decode("latin-1") if length <= _LONGEST_HEADER else ""
    found = _HEADER.fullmatch(text)
    if found is None or len(text) < length:
        raise DataError(f"the array {name!r} has no readable header of numbers.", path=path)
    try:
        dtype = np.dtype(found[1])
    except (TypeError, ValueError):
        raise DataError(f"the array {name!r} has the unknown type {found[1]!r}.", path=path) from None
    shape = tuple(int(n.rstrip("L")) for n in re.findall(r"\d+L?", found[3]))
    return shape, found[2] == "True", dtype


def _array(file: Any, size: int, name: str, path: str) -> npt.NDArray[Any]:
    """One .npy array. Its header is believed only as far as the bytes are there; objects are refused."""
    shape, fortran, dtype = _header(file, name, path)
    count = math.prod(shape)
    wanted = count * dtype.itemsize
    data = file.read(wanted) if wanted <= size else b""
    if len(data) < wanted or (dtype.itemsize == 0 and count > size):
        raise DataError(f"the array {name!r} is truncated: its header promises {count:,} values.", path=path)
    array = np.frombuffer(data, dtype=dtype, count=count) if dtype.itemsize else np.zeros(count, dtype)
    return array.reshape(shape, order="F" if fortran else "C")


def _assemble(members: _Members) -> Any:
    """A SciPy matrix from its arrays, once their structure is sound."""
    path = members._path
    form = _format_name(members["format"])
    shape = members["shape"]
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or (shape < 0).any():
        raise DataError("the shape must be two whole numbers.", path=path)
    n_rows, n_cols = int(shape[0]), int(shape[1])
    if n_cols > MOST:
        raise DataError(f"the matrix has {n_cols:,} columns, at most {MOST:,} are supported.", path=path)
    values = _vector(members, "data", "numbers")
    if form == "coo":
        return _from_coo(members, values, n_rows, n_cols)
    if form not in ("csr", "csc"):
        raise DataError(f"the matrix is in {form!r} format, expected csr, csc or coo.", path=path)
    indptr, indices = (
        _vector(members, "indptr", "whole numbers"),
        _vector(members, "indices", "whole numbers"),
    )
    lines, width = (n_rows, n_cols) if form == "csr" else (n_cols, n_rows)
    _check_compressed(indptr, indices, values, lines, width, path)
    if form == "csc":
        _check_rows(n_rows, len(values), path)
    kind = sp.csr_matrix if form == "csr" else sp.csc_matrix
    matrix = kind((n_rows, n_cols), dtype=np.float32)
    narrow = np.int32 if len(values) <= MOST and width <= MOST else np.int64
    matrix.data, matrix.indices, matrix.indptr = values, indices.astype(narrow), indptr.astype(narrow)
    return matrix.tocsr() if form == "csc" else matrix


def _format_name(array: npt.NDArray[Any]) -> str:
    if array.size != 1 or array.dtype.kind not in "SU":
        return "unknown"
    value = array.reshape(-1)[0]
    return value.decode("ascii", "replace") if isinstance(value, bytes) else str(value)


def _vector(members: _Members, name: str, kind: str) -> npt.NDArray[Any]:
    array = members[name]
    if array.ndim != 1 or array.dtype.kind not in ("iu" if kind == "whole numbers" else "biuf"):
        raise DataError(f"the array {name!r} must be a vector of {kind}.", path=members._path)
    if kind == "whole numbers":
        return array.astype(np.int64)
    with np.errstate(over="ignore"):
        return array.astype(np.float32)


def _check_rows(n_rows: int, nnz: int, path: str) -> None:
    """Formats whose row pointers have to be made must not promise rows without end."""
    if n_rows > max(_MOST_ROWS_NEARLY_EMPTY, 64 * nnz):
        raise DataError(f"the matrix promises {n_rows:,} rows but has only {nnz:,} entries.", path=path)


def _check_compressed(indptr: Any, indices: Any, values: Any, lines: int, width: int, path: str) -> None:
    if (
        len(indptr) != lines + 1
        or indptr[0] != 0
        or indptr[-1] != len(indices)
        or (np.diff(indptr) < 0).any()
    ):
        raise DataError(
            f"the array 'indptr' does not fit {lines:,} rows and {len(indices):,} entries.", path=path
        )
    if len(indices) != len(values):
        raise DataError(f"there are {len(indices):,} indices but {len(values):,} values.", path=path)
    _check_ids(indices, width, "indices", path)


def _check_ids(ids: Any, width: int, name: str, path: str) -> None:
    if len(ids) and (ids.min() < 0 or ids.max() >= width):
        at = int(np.flatnonzero((ids < 0) | (ids >= width))[0])
        raise DataError(
            f"the array {name!r} holds {int(ids[at])} at {at}, expected 0 to {width - 1:,}.", path=path
        )


def _from_coo(members: _Members, values: Any, n_rows: int, n_cols: int) -> Any:
    path = members._path
    names = ("row", "col")
    if "coords" in members.names:
        coords = members["coords"]
        if coords.ndim != 2 or coords.shape[0] != 2 or coords.dtype.kind not in "iu":
            raise DataError("the array 'coords' must be two rows of whole numbers.", path=path)
        row, col = coords[0].astype(np.int64), coords[1].astype(np.int64)
    else:
        row, col = (_vector(members, name, "whole numbers") for name in names)
    if not len(row) == len(col) == len(values):
        raise DataError(
            f"there are {len(row):,} rows, {len(col):,} columns and {len(values):,} values.", path=path
        )
    _check_rows(n_rows, len(values), path)
    _check_ids(row, n_rows, "row", path)
    _check_ids(col, n_cols, "col", path)
    order = np.lexsort((col, row))
    matrix = sp.csr_matrix((n_rows, n_cols), dtype=np.float32)
    matrix.data, matrix.indices = values[order], col[order].astype(np.int32)
    pointers = np.concatenate(([0], np.cumsum(np.bincount(row, minlength=n_rows))))
    matrix.indptr = pointers.astype(np.int32 if len(values) <= MOST else np.int64)
    return matrix


def label_file_beside(path: str | os.PathLike[str]) -> Path | None:
    """The labels' file that goes with a features' file by its name: X.npz → Y.npz, trn_X.npz → trn_Y.npz."""
    here = Path(path)
    for suffix in (".npz", ".npy"):
        if here.name.endswith("X" + suffix):
            other = here.with_name(here.name[: -len("X" + suffix)] + "Y.npz")
            if other.is_file():
                return other
    return None


class NpzReader(Reader):
    """One features' file and perhaps one labels' file."""

    def __init__(self, source: Source, options: ReadOptions, label_file: Source | None):
        super().__init__(name_of(source), options)
        self._x = fit_columns(
            read_matrix(source, "features", self.repairs), options.n_features, "features", self.name
        )
        self._y: CSR | None = None
        self.n_rows, self.n_features = self._x.shape
        self.dense = None if sp.issparse(self._x) else self._x
        if label_file is not None:
            path = name_of(label_file)
            self._y = fit_columns(
                read_matrix(label_file, "labels", self.repairs), options.known_labels, "labels", path
            )
            self.n_labels = int(self._y.shape[1])
            if self._y.shape[0] != self.n_rows:
                raise DataError(
                    f"has {self._y.shape[0]:,} rows, but {self.name} has {self.n_rows:,}.", path=path
                )
        if isinstance(source, (str, os.PathLike)) and Path(source).stem.endswith("X"):
            self.groups = read_groups(Path(source).parent, Path(source).stem[:-1], options, self.repairs)
            if self.groups is not None and self._y is None:
                self.n_labels = self.groups.n_labels

    def chunks(self) -> Iterator[Chunk]:
        """The rows."""
        x = self._x if sp.issparse(self._x) else sp.csr_matrix(self._x)
        return chunks_of_csr(x.shape[0], None, x, self._y, ROWS_PER_CHUNK)


def fit_columns(matrix: Any, wanted: int | None, what: str, path: str) -> Any:
    """The matrix with the number of columns that was asked for, which may be larger."""
    if wanted is None or matrix.shape[1] == wanted:
        return matrix
    if matrix.shape[1] > wanted:
        raise DataError(f"has {matrix.shape[1]:,} {what}, but only {wanted:,} were asked for.", path=path)
    if not sp.issparse(matrix):
        raise DataError(f"has {matrix.shape[1]:,} {what}, expected {wanted:,}.", path=path)
    wider = sp.csr_matrix((matrix.shape[0], wanted), dtype=np.float32)
    wider.data, wider.indices, wider.indptr = matrix.data, matrix.indices, matrix.indptr
    return wider


def write_matrix(files: Outputs, path: Path, matrix: Any) -> None:
    """A matrix as SciPy's save_npz writes it, or a dense one as .npy."""
    file = files.open(path)
    if sp.issparse(matrix):
        sp.save_npz(file, sp.csr_matrix(matrix), compressed=True)
    else:
        np.save(file, matrix, allow_pickle=False)


class NpzWriter(Writer):
    """A folder with X.npz and Y.npz; or, when the path ends in .npz, that file and its labels beside it."""

    holds = frozenset({"features", "labels", "label values", "groups", "counts of groups' labels"})
    needs_facts = False

    def begin(self, first: Chunk) -> None:
        """Matrices are collected: npz files cannot be written row by row."""
        self._x: list[SparseRows] = []
        self._y: list[SparseRows] | None = None if first.y is None else []

    def write(self, chunk: Chunk) -> None:
        """Rows."""
        assert chunk.x is not None
        self._x.append(chunk.x)
        if self._y is not None and chunk.y is not None:
            self._y.append(chunk.y)

    def end(self, facts: Any) -> None:
        """Writes the files."""
        from .chunk import join_sparse

        y = None if self._y is None else join_sparse(self._y, facts.n_labels)
        self.write_matrices(join_sparse(self._x, facts.n_features), y)

    def write_matrices(self, x: Any, y: CSR | None) -> None:
        """Writes matrices as they are."""
        if self.path.suffix == ".npz":
            stem = self.path.name.removesuffix(".npz")
            labels = self.path.with_name(
                stem.removesuffix("X") + "Y.npz" if stem.endswith("X") else stem + "_Y.npz"
            )
            features = self.path
        else:
            self.path.mkdir(parents=True, exist_ok=True)
            features, labels = self.path / ("X.npz" if sp.issparse(x) else "X.npy"), self.path / "Y.npz"
        write_matrix(self.files, features, x)
        if y is not None:
            write_matrix(self.files, labels, y)
        if self.facts.groups is not None:
            prefix = features.stem.removesuffix("X")
            if prefix == features.stem:
                raise DataError(
                    "the name must end in X.npz, so that the groups can stand beside it.", path=features
                )
            write_groups(self.files, features.parent, prefix, self.facts.groups)
