"""The Extreme Classification Repository's pair of matrix files: each `rows cols`, then `i:v i:v`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from .. import _native
from ..errors import DataError
from .chunk import Chunk, SparseRows
from .options import ReadOptions
from .source import Reader, Writer, closed_on_error
from .sparse_text import MatrixFile
from .streams import Source, name_of

__all__ = ["PairReader", "PairWriter", "label_file_beside"]

_ENDINGS = (("X_Xf.txt", "X_Y.txt"), ("X.txt", "Y.txt"), ("features.txt", "labels.txt"), ("_X.mat", "_Y.mat"))


def label_file_beside(path: str | os.PathLike[str]) -> Path | None:
    """The labels' file that goes with a features' file: trn_X_Xf.txt → trn_X_Y.txt, X.txt → Y.txt."""
    here = Path(path)
    for packing in ("", ".gz", ".zst"):
        for features, labels in _ENDINGS:
            if here.name.endswith(features + packing):
                stem = here.name[: -len(features + packing)]
                for other in ("", ".gz", ".zst"):
                    if (here.with_name(stem + labels + other)).is_file():
                        return here.with_name(stem + labels + other)
    return None


class PairReader(Reader):
    """Reads both files row by row; they must promise the same number of rows."""

    def __init__(self, source: Source, options: ReadOptions, label_file: Source | None):
        super().__init__(name_of(source), options)
        self._features = MatrixFile(source, options, labels=False)
        self._labels: MatrixFile | None = None
        self.n_rows, self.n_features = self._features.n_rows, self._features.n_cols
        if label_file is None:
            return
        with closed_on_error(self._features):
            self._labels = MatrixFile(label_file, options, labels=True)
        with closed_on_error(self._features, self._labels):
            self.n_labels = self._labels.n_cols
            if self._labels.n_rows != self.n_rows:
                message = (
                    f"the header promises {self._labels.n_rows:,} rows, but {self.name} has {self.n_rows:,}."
                )
                raise DataError(message, path=self._labels.name, line=1)

    def chunks(self) -> Iterator[Chunk]:
        """The rows."""
        if self._labels is None:
            yield Chunk(0, None, SparseRows.empty(0))
            for x in self._features.blocks(self, "read features"):
                yield Chunk(len(x.counts), None, x)
            return
        labels = self._labels.matrix(self, "read labels")
        row = 0
        yield Chunk(0, None, SparseRows.empty(0), SparseRows.empty(0))
        for x in self._features.blocks(self, "read features"):
            end = row + len(x.counts)
            yield Chunk(end - row, None, x, SparseRows.of_csr(labels, row, end))
            row = end

    def close(self) -> None:
        """Closes both files."""
        self._features.close()
        if self._labels is not None:
            self._labels.close()


class PairWriter(Writer):
    """Writes a folder with X.txt and Y.txt, or with a `label_file`, the two files named."""

    holds = frozenset({"features", "labels", "label values"})
    needs_facts = True

    def take_options(self, label_file: str | os.PathLike[str] | None = None, **options: object) -> None:
        """Where the labels go; without it the path is a folder."""
        super().take_options(**options)
        self._label_file = label_file

    def begin(self, first: Chunk) -> None:
        """The headers."""
        if self._label_file is None:
            self.path.mkdir(parents=True, exist_ok=True)
            features, labels = self.path / "X.txt", self.path / "Y.txt"
        else:
            features, labels = self.path, Path(self._label_file)
        self._x = self.files.open(features)
        self._x.write(f"{self.facts.n_rows} {self.facts.n_features}\n".encode())
        self._y = None
        if first.y is not None:
            self._y = self.files.open(labels)
            self._y.write(f"{self.facts.n_rows} {self.facts.n_labels}\n".encode())

    def write(self, chunk: Chunk) -> None:
        """Rows."""
        assert chunk.x is not None
        self._x.write(_matrix_lines(chunk.x, self.facts.n_features))
        if self._y is not None and chunk.y is not None:
            self._y.write(_matrix_lines(chunk.y, self.facts.n_labels))


def _matrix_lines(rows: SparseRows, n_cols: int) -> bytes:
    lines: bytes = _native.data.write_matrix(rows.indptr(), rows.ids, rows.filled(), n_cols, 1)
    return lines
