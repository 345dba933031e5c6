"""Examples: what a model sees (features, texts) and what is true of it (labels)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..arrays import CSR, Features, as_csr, as_features
from ..errors import DataError, ParameterError
from .groups import Groups

if TYPE_CHECKING:
    from ..labels import LabelSet

__all__ = ["Dataset"]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Rows with features or texts (or both) and their labels. Checked when made, then never changed.

    >>> data = Dataset(texts=["a red car", "a green tree"], Y=[[1, 0], [0, 1]])
    >>> data.n_rows, data.n_labels
    (2, 2)

    `X` is CSR or a dense float32 array, `Y` a CSR matrix of rows × labels without stored zeros; `labels`
    names the columns of Y, `label_texts` describes them. `groups` are those of the rows, where labels are
    known of groups; its labels have the columns of Y. `repairs` counts what was put right when the data was read.
    """

    X: Features | None = None
    texts: list[str] | None = None
    Y: CSR | None = None
    labels: LabelSet | None = None
    label_texts: list[str] | None = None
    groups: Groups | None = None
    name: str = ""
    repairs: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.groups is not None and not isinstance(self.groups, Groups):
            raise DataError(f"groups must be Groups. Got {type(self.groups).__name__} instead.")
        if self.X is None and self.texts is None and self.Y is None:
            raise DataError("A data set needs features (X), texts or labels (Y). Got none of them.")
        if self.X is not None:
            self._set("X", as_features(self.X, "X"))
        if self.texts is not None:
            self._set("texts", _strings(self.texts, "texts"))
        if self.Y is not None:
            self._set("Y", _label_matrix(self.Y))
        if self.label_texts is not None:
            self._set("label_texts", _strings(self.label_texts, "label_texts"))
        self._check_counts()

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _check_counts(self) -> None:
        rows = {"X": None if self.X is None else self.X.shape[0]}
        rows["texts"] = None if self.texts is None else len(self.texts)
        rows["Y"] = None if self.Y is None else self.Y.shape[0]
        rows["groups"] = None if self.groups is None else self.groups.n_samples
        _check_equal("rows", rows)
        labels: dict[str, int | None] = {"Y": None if self.Y is None else self.Y.shape[1]}
        labels["labels"] = None if self.labels is None else len(self.labels)
        labels["groups"] = None if self.groups is None else self.groups.n_labels
        labels["label_texts"] = None if self.label_texts is None else len(self.label_texts)
        _check_equal("labels", labels)

    @property
    def n_rows(self) -> int:
        """The number of examples."""
        for part in (self.X, self.Y):
            if part is not None:
                return int(part.shape[0])
        return len(self.texts or [])

    @property
    def n_labels(self) -> int:
        """The number of labels, also of those that no row has."""
        if self.Y is not None:
            return int(self.Y.shape[1])
        if self.groups is not None:
            return self.groups.n_labels
        if self.labels is not None:
            return len(self.labels)
        return len(self.label_texts or [])

    @property
    def n_features(self) -> int:
        """The number of columns of X; 0 without X."""
        return 0 if self.X is None else int(self.X.shape[1])

    @property
    def inputs(self) -> Any:
        """What a model is given: the texts if there are texts, else X."""
        return self.texts if self.texts is not None else self.X

    def __len__(self) -> int:
        return self.n_rows

    def take(self, rows: Any) -> Dataset:
        """The data set of some rows, in the order given: numbers, a mask of booleans, or a slice."""
        index = _row_numbers(rows, self.n_rows)
        return replace(
            self,
            X=None if self.X is None else self.X[index],
            texts=None if self.texts is None else [self.texts[i] for i in index.tolist()],
            Y=None if self.Y is None else self.Y[index],
            groups=None if self.groups is None else self.groups.take(index),
        )

    def split(self, held_out: float | int = 0.1, seed: int = 0) -> tuple[Dataset, Dataset]:
        """The rest and a random part held out: a share of the rows in (0, 1), or a number of rows.

        The same seed gives the same split. Rows keep their order. Groups stay whole: as many of them, at random, as
        have the number of rows asked for or just more.

        >>> rest, held_out = Dataset(texts=["a", "b", "c", "d"]).split(0.25, seed=1)
        >>> len(rest), len(held_out)
        (3, 1)
        """
        n = _held_out_rows(held_out, self.n_rows)
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
            raise ParameterError(
                f"The 'seed' parameter of split must be a whole number >= 0. Got {seed!r} instead."
            )
        random = np.random.Generator(np.random.PCG64(int(seed)))
        if self.groups is not None:
            out = _whole_parts(self.groups.together(), n, random)
        else:
            out = np.zeros(self.n_rows, dtype=bool)
            out[random.permutation(self.n_rows)[:n]] = True
        return self.take(~out), self.take(out)

    def describe(self) -> dict[str, Any]:
        """Facts as plain numbers, ready for JSON."""
        facts: dict[str, Any] = {"name": self.name, "rows": self.n_rows}
        if self.X is not None:
            nnz = int(self.X.nnz if sp.issparse(self.X) else np.count_nonzero(self.X))
            facts.update(features=self.n_features, features_per_row=_ratio(nnz, self.n_rows))
            facts["sparse"] = bool(sp.issparse(self.X))
            if sp.issparse(self.X):
                facts["rows_without_features"] = int((np.diff(self.X.indptr) == 0).sum())
        if self.texts is not None:
            facts["characters_per_text"] = _ratio(sum(map(len, self.texts)), self.n_rows)
            facts["empty_texts"] = sum(not text for text in self.texts)
        if self.Y is not None:
            frequency = np.bincount(self.Y.indices, minlength=self.n_labels)
            facts.update(labels=self.n_labels, labels_per_row=_ratio(self.Y.nnz, self.n_rows))
            facts["rows_per_label"] = _ratio(self.Y.nnz, self.n_labels)
            facts["rows_without_labels"] = int((np.diff(self.Y.indptr) == 0).sum())
            facts["labels_without_rows"] = int((frequency == 0).sum())
            facts["most_frequent_label_rows"] = int(frequency.max()) if len(frequency) else 0
            facts["median_label_rows"] = float(np.median(frequency)) if len(frequency) else 0.0
        if self.groups is not None:
            facts.update(self.groups.describe(), labels=self.n_labels)
        facts["named_labels"] = self.labels is not None
        facts["label_texts"] = self.label_texts is not None
        facts["repairs"] = dict(self.repairs)
        return facts

    def __repr__(self) -> str:
        parts = [f"{self.n_rows:,} rows"]
        if self.texts is not None:
            parts.append("texts")
        if self.X is not None:
            parts.append(f"{self.n_features:,} features")
        if self.Y is not None:
            parts.append(f"{self.n_labels:,} labels")
        if self.groups is not None:
            parts.append(f"{self.groups.n_groups:,} groups with {self.n_labels:,} labels")
        return f"<Dataset {self.name + ': ' if self.name else ''}{', '.join(parts)}>"


def _ratio(total: int, n: int) -> float:
    return round(float(total) / n, 4) if n else 0.0


def _strings(values: Sequence[str], name: str) -> list[str]:
    if isinstance(values, (str, bytes)):
        raise DataError(f"{name} must be a list of strings. Got one {type(values).__name__} instead.")
    strings = values if isinstance(values, list) else list(values)
    if set(map(type, strings)) <= {str}:
        return strings
    for i, value in enumerate(strings):
        if not isinstance(value, str):
            raise DataError(f"{name} must be strings. Got {type(value).__name__} at {i} instead.")
    return strings


def _label_matrix(matrix: Any) -> CSR:
    """Y as checked CSR. Zeros are not labels and are not stored; negative values mean nothing."""
    if not sp.issparse(matrix):
        matrix = sp.csr_matrix(as_features(matrix, "Y"))
    csr = as_csr(matrix, "Y")
    if csr.nnz and csr.data.min() < 0:
        row = int(np.searchsorted(csr.indptr, int(np.argmin(csr.data)), side="right")) - 1
        raise DataError(f"Y has the negative value {csr.data.min()} in row {row}. Labels have values > 0.")
    if csr.nnz and not csr.data.all():
        csr = csr.copy()
        csr.eliminate_zeros()
    return csr


def _check_equal(what: str, counts: Mapping[str, int | None]) -> None:
    known = {name: n for name, n in counts.items() if n is not None}
    if len(set(known.values())) > 1:
        told = ", ".join(f"{name} has {n:,}" for name, n in known.items())
        raise DataError(f"The parts of a data set must agree in the number of {what}: {told}.")


def _row_numbers(rows: Any, n_rows: int) -> Any:
    if isinstance(rows, slice):
        return np.arange(n_rows)[rows]
    index = np.asarray(rows)
    if index.ndim != 1 or (index.dtype.kind not in "iub" and index.size):
        raise DataError("take needs row numbers, a mask of booleans, or a slice.")
    if index.dtype.kind == "b":
        if len(index) != n_rows:
            raise DataError(f"take needs a mask of {n_rows:,} booleans. Got {len(index):,} instead.")
        return np.flatnonzero(index)
    index = index.astype(np.int64)
    wrong = (index < 0) | (index >= n_rows)
    if wrong.any():
        raise DataError(
            f"take needs row numbers from 0 to {n_rows - 1:,}. Got {int(index[wrong][0])} instead."
        )
    return index


def _whole_parts(part: npt.NDArray[np.int64], n: int, random: np.random.Generator) -> Any:
    """A mask of rows: whole parts in random order until there are n rows, but never all of them."""
    sizes = np.bincount(part)
    if len(sizes) < 2:
        raise DataError("All rows are in one group, directly or by way of others, so they cannot be split.")
    order = random.permutation(len(sizes))
    enough = int(np.searchsorted(np.cumsum(sizes[order]), n)) + 1
    chosen = np.zeros(len(sizes), dtype=bool)
    chosen[order[: min(enough, len(sizes) - 1)]] = True
    return chosen[part]


def _held_out_rows(held_out: float | int, n_rows: int) -> int:
    whole = isinstance(held_out, (int, np.integer)) and not isinstance(held_out, bool)
    if whole and 0 < held_out < n_rows:
        return int(held_out)
    if not whole and isinstance(held_out, (float, np.floating)) and 0.0 < held_out < 1.0:
        return min(max(round(float(held_out) * n_rows), 1), max(n_rows - 1, 0))
    raise ParameterError(
        "The 'held_out' parameter of split must be a share in (0, 1) or a number of rows in "
        f"[1, {max(n_rows - 1, 0)}]. Got {held_out!r} instead."
    )
