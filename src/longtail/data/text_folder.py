"""A folder of texts or features with a label matrix: trn.txt, trn_X.npz, trn_Y.npz, tst_Y.npz, lbl.txt."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from ..arrays import CSR
from ..errors import DataError, ParameterError
from .chunk import Chunk, SparseRows, join_sparse
from .group_files import read_groups, write_groups
from .npz import ROWS_PER_CHUNK, fit_columns, read_matrix, write_matrix
from .options import ReadOptions
from .source import Facts, Reader, Writer
from .textfile import TextReader, lines_of, read_lines, write_lines

__all__ = ["FolderReader", "FolderWriter", "find_splits"]

_PACKED = ("", ".gz", ".zst")


def find_splits(folder: Path) -> dict[str, dict[str, Path]]:
    """The splits of a folder: name → its files by role (texts, features, labels). The unnamed split is ""."""
    splits: dict[str, dict[str, Path]] = {}
    names = {p.name for p in folder.iterdir()}
    for name in sorted(names):
        if name.endswith(("X.npz", "X.npy", "Y.npz")) and (len(name) == 5 or name[-6] == "_"):
            role = "labels" if name.endswith("Y.npz") else "features"
            splits.setdefault(name[:-6], {})[role] = folder / name
    for split in ("trn", "tst", "val", "train", "test", *splits):
        for packing in _PACKED:
            name = f"{split or 'texts'}.txt{packing}"
            if name in names:
                splits.setdefault(split, {}).setdefault("texts", folder / name)
    return {k: v for k, v in splits.items() if "texts" in v or "features" in v}


def choose_split(splits: dict[str, Any], wanted: str | None, folder: Path) -> str:
    """The split asked for; without a wish the training split, or the only one."""
    if wanted is not None:
        if wanted not in splits:
            raise DataError(
                f"there is no split {wanted!r}. There is {', '.join(map(repr, splits))}.", path=folder
            )
        return wanted
    for name in ("trn", "train", ""):
        if name in splits:
            return name
    if len(splits) == 1:
        return next(iter(splits))
    raise DataError(f"choose a split: {', '.join(map(repr, splits))}.", path=folder)


class FolderReader(Reader):
    """One split of a folder."""

    def __init__(self, folder: str | os.PathLike[str], options: ReadOptions):
        super().__init__(os.fspath(folder), options)
        here = Path(folder)
        splits = find_splits(here)
        split = choose_split(splits, options.split, here)
        files = splits[split]
        if options.label_file is not None:
            if not isinstance(options.label_file, (str, os.PathLike)):
                raise ParameterError("The 'label_file' parameter of load must be a path for a folder.")
            files["labels"] = Path(options.label_file)
        self.name = f"{here}/{split}" if split else str(here)
        self.title = here.resolve().name + (f"/{split}" if split else "")
        self._texts = files.get("texts")
        self._x: Any = None
        self._y: CSR | None = None
        if "features" in files:
            path = files["features"]
            self._x = fit_columns(
                read_matrix(path, "features", self.repairs), options.n_features, "features", str(path)
            )
            self.n_rows, self.n_features = self._x.shape
            self.dense = None if sp.issparse(self._x) else self._x
        if "labels" in files:
            path = files["labels"]
            self._y = fit_columns(
                read_matrix(path, "labels", self.repairs), options.known_labels, "labels", str(path)
            )
            self.n_labels = int(self._y.shape[1])
            if self.n_rows is not None and self._y.shape[0] != self.n_rows:
                raise DataError(
                    f"has {self._y.shape[0]:,} rows, but {files['features']} has {self.n_rows:,}.", path=path
                )
            self.n_rows = int(self._y.shape[0])
            self._name_labels(here)
        self.groups = read_groups(here, f"{split}_" if split else "", options, self.repairs)
        if self.groups is not None and self._y is None:
            self.n_labels = self.groups.n_labels
            self._name_labels(here)

    def _name_labels(self, here: Path) -> None:
        """lbl.txt describes labels; lbl_id.txt or, if they differ, lbl.txt names them."""
        from ..labels import LabelSet

        options = replace(
            self.options, encoding="utf-8", errors="strict", progress=False, labels=None, n_labels=None
        )
        found: dict[str, list[str]] = {}
        for stem in ("lbl", "lbl_id"):
            for packing in _PACKED:
                path = here / f"{stem}.txt{packing}"
                if stem not in found and path.is_file():
                    found[stem] = read_lines(path, options, self.repairs)
                    if len(found[stem]) != self.n_labels:
                        raise DataError(
                            f"has {len(found[stem]):,} lines, but there are {self.n_labels:,} labels.",
                            path=path,
                        )
        self.label_texts = found.get("lbl")
        if self.options.labels is not None:
            return
        for stem in ("lbl", "lbl_id"):
            names = found.get(stem)
            if names is not None and len(set(names)) == len(names):
                self.labels = LabelSet(names)
                return

    def chunks(self) -> Iterator[Chunk]:
        """The rows."""
        x = self._x if self._x is None or sp.issparse(self._x) else sp.csr_matrix(self._x)
        row = 0
        for texts in self._text_chunks():
            n = len(texts) if texts is not None else min(ROWS_PER_CHUNK, (self.n_rows or 0) - row)
            end = row + n
            if self.n_rows is not None and end > self.n_rows:
                raise DataError(
                    f"has more lines than the {self.n_rows:,} rows of its matrices.",
                    path=self._texts,
                    line=self.n_rows + 1,
                )
            yield Chunk(
                n, texts, *(None if m is None else SparseRows.of_csr(m, row, end) for m in (x, self._y))
            )
            row = end
        if self.n_rows is not None and row < self.n_rows:
            raise DataError(
                f"has {row:,} lines, but its matrices have {self.n_rows:,} rows.", path=self._texts, line=row
            )
        self.n_rows = row

    def _text_chunks(self) -> Iterator[list[str] | None]:
        if self._texts is None:
            for _ in range(0, max(1, self.n_rows or 0), ROWS_PER_CHUNK):
                yield None
            return
        reader = TextReader(self._texts, self.options)
        try:
            for chunk in reader.chunks():
                yield chunk.texts
        finally:
            reader.close()
            self.repairs.join(reader.repairs)


class FolderWriter(Writer):
    """Writes one split of a folder; texts go out as they come, labels are collected."""

    holds = frozenset(
        {
            "features",
            "texts",
            "labels",
            "label names",
            "label texts",
            "label values",
            "groups",
            "counts of groups' labels",
        }
    )

    def take_options(self, split: str = "trn", **options: Any) -> None:
        """Which split to write."""
        super().take_options(**options)
        self._split = split

    def begin(self, first: Chunk) -> None:
        """Opens the file of texts."""
        self.path.mkdir(parents=True, exist_ok=True)
        self._row = 0
        self._text_path = self.path / f"{self._split}.txt"
        self._texts = None if first.texts is None else self.files.open(self._text_path)
        self._x: list[SparseRows] | None = None if first.x is None else []
        self._y: list[SparseRows] | None = None if first.y is None else []

    def write(self, chunk: Chunk) -> None:
        """Rows."""
        if self._texts is not None and chunk.texts is not None:
            self._texts.write(lines_of(chunk.texts, self._row, str(self._text_path)))
        if self._x is not None and chunk.x is not None:
            self._x.append(chunk.x)
        if self._y is not None and chunk.y is not None:
            self._y.append(chunk.y)
        self._row += chunk.n_rows

    def end(self, facts: Facts) -> None:
        """Matrices and names."""
        if self._x is not None:
            write_matrix(
                self.files, self.path / f"{self._split}_X.npz", join_sparse(self._x, facts.n_features)
            )
        if self._y is not None:
            write_matrix(self.files, self.path / f"{self._split}_Y.npz", join_sparse(self._y, facts.n_labels))
        if facts.groups is not None:
            write_groups(self.files, self.path, f"{self._split}_", facts.groups)
        if self._y is None and facts.groups is None:
            return
        names = None if facts.labels is None else list(facts.labels.names)
        if facts.label_texts is not None:
            self._write_names("lbl.txt", facts.label_texts)
            if names is not None and names != facts.label_texts:
                self._write_names("lbl_id.txt", names)
        elif names is not None:
            self._write_names("lbl_id.txt", names)

    def _write_names(self, name: str, lines: list[str]) -> None:
        write_lines(self.files.open(self.path / name), lines, str(self.path / name))
