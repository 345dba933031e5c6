"""Groups beside a matrix of features: groups.npz (rows × groups) and group_labels.npz (groups × labels)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import scipy.sparse as sp

from ..errors import DataError
from .groups import Groups
from .options import ReadOptions
from .repairs import Repairs
from .streams import Outputs

__all__ = ["read_groups", "write_groups"]

_FILES = ("groups.npz", "group_labels.npz")


def read_groups(folder: Path, prefix: str, options: ReadOptions, repairs: Repairs) -> Groups | None:
    """The groups of a split: trn_groups.npz and trn_group_labels.npz. None without these files."""
    from .npz import fit_columns, read_matrix

    samples, labels = (folder / f"{prefix}{name}" for name in _FILES)
    if not samples.is_file() and not labels.is_file():
        return None
    for path, other in ((samples, labels), (labels, samples)):
        if not path.is_file():
            raise DataError(f"is missing, which {other.name} needs.", path=path)
    y1, y2 = (read_matrix(path, "labels", repairs) for path in (samples, labels))
    y2 = fit_columns(y2, options.known_labels, "labels", str(labels))
    if y1.shape[1] != y2.shape[0]:
        raise DataError(
            f"has {y2.shape[0]:,} rows, but {samples.name} has {y1.shape[1]:,} groups.", path=labels
        )
    try:
        return Groups(y1, y2)
    except DataError as error:
        raise DataError(str(error), path=labels) from None


def write_groups(files: Outputs, folder: Path, prefix: str, groups: Groups) -> None:
    """Both matrices."""
    for name, matrix in zip(_FILES, (groups.samples, groups.labels), strict=True):
        file: Any = files.open(folder / f"{prefix}{name}")
        sp.save_npz(file, sp.csr_matrix(matrix), compressed=True)
