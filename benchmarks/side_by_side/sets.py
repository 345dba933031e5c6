"""The data sets: made, or found in a folder of real ones, and put in one form that all systems read.

A prepared set is a folder with trn_X.npz, trn_Y.npz, tst_X.npz, tst_Y.npz (float32 CSR, not compressed, rows of length
1) and train.txt, the same training data in the format of the Extreme Classification Repository for systems that only
read files. Sets of texts keep them in trn.txt and tst.txt; they become features once, by
``TextVectorizer(sublinear_tf=True)``.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .synthetic import ALL_SHAPES, SHAPES, write

__all__ = ["KNOWN", "REAL", "SETS", "Prepared", "load", "prepare", "texts"]

REAL = ("eurlex-4k", "debian-depends", "yso-titles-en")
SETS = (*REAL, *SHAPES)
KNOWN = (*REAL, *ALL_SHAPES)
NAMES = ("trn_X", "trn_Y", "tst_X", "tst_Y")
MOST_TEST_ROWS = 20_000  # the first so many test rows are ranked


@dataclass(frozen=True)
class Prepared:
    """The matrices of a set."""

    x: sp.csr_matrix
    y: sp.csr_matrix
    x_test: sp.csr_matrix
    y_test: sp.csr_matrix


def prepare(name: str, work: Path, data: Path | None) -> Path | None:
    """The folder of a prepared set, made if it is not there; None if it is a real set that ``data`` does not have."""
    folder = work / "sets" / name
    if (folder / "ready").exists():
        return folder
    if name in REAL and (data is None or not (data / name).is_dir()):
        return None
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if name in ALL_SHAPES:
        write(ALL_SHAPES[name], folder)
    else:
        _convert(data / name, folder)
    _write_text(folder)
    (folder / "ready").touch()
    return folder


def _convert(source: Path, folder: Path) -> None:
    import longtail as lt

    train, test = lt.data.load(source, split="trn"), lt.data.load(source, split="tst")
    if train.texts is None:
        x, x_test = _unit_rows(train.X), _unit_rows(test.X)
    else:
        vectorizer = lt.TextVectorizer(sublinear_tf=True)
        x, x_test = vectorizer.fit_transform(train.texts), vectorizer.transform(test.texts)
        for split, texts in (("trn", train.texts), ("tst", test.texts[:MOST_TEST_ROWS])):
            (folder / f"{split}.txt").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    most = MOST_TEST_ROWS
    for name, matrix in zip(NAMES, (x, train.Y, x_test[:most], test.Y[:most]), strict=True):
        kept = sp.csr_matrix(matrix).astype(np.float32)
        kept.sort_indices()  # PECOS asks for it
        sp.save_npz(folder / f"{name}.npz", kept, compressed=False)


def _unit_rows(x: Any) -> sp.csr_matrix:
    norms = np.sqrt(np.asarray(x.multiply(x).sum(axis=1)).ravel())
    return sp.csr_matrix(sp.diags(1 / np.maximum(norms, 1e-30)) @ x).astype(np.float32)


def _write_text(folder: Path) -> None:
    import longtail as lt

    x, y = (sp.load_npz(folder / f"{name}.npz") for name in NAMES[:2])
    lt.data.save(lt.data.Dataset(X=x, Y=y), folder / "train.txt", format="xmc")


def texts(folder: Path, split: str) -> list[str] | None:
    """The raw texts of a split ("trn", "tst"), if the set has them."""
    file = folder / f"{split}.txt"
    if not file.exists():
        return None
    return file.read_text(encoding="utf-8").split("\n")[:-1]


def load(folder: Path, *, train: bool = True, test: bool = True) -> Prepared:
    """The matrices of a prepared set; what is not wanted is empty."""
    empty = sp.csr_matrix((0, 0), dtype=np.float32)
    wanted = (train, train, test, test)
    return Prepared(
        *(
            sp.load_npz(folder / f"{name}.npz") if want else empty
            for name, want in zip(NAMES, wanted, strict=True)
        )
    )
