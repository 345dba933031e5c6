"""Ranked lists of labels: what every model's ``predict`` gives and what the measures take.

>>> import numpy as np
>>> r = Ranking(np.array([[2, 0], [1, -1]], np.int32), np.array([[0.9, 0.5], [0.7, 0.0]], np.float32))
>>> r[0]
[(2, 0.8999999761581421), (0, 0.5)]
>>> r.names()
[['2', '0'], ['1']]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from . import _native
from .errors import DataError, MissingExtraError, ParameterError
from .threads import resolve_threads

if TYPE_CHECKING:
    from .arrays import CSR

__all__ = ["Ranking"]

Item: TypeAlias = "tuple[str | int, float]"


class Names(Protocol):
    """What a ranking needs of a ``LabelSet``: names by id."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> str: ...


_FAULTS = {
    1: "label {label}, expected -1 (no label) or an id from 0",
    2: "label {label}, but there are only {n_labels} labels",
    3: "label {label} after a pad (-1); pads belong at the end of a row",
    4: "score {score}, which is not finite",
    5: "score {score} after the smaller {before}; scores must fall",
    6: "label {label} after label {label_before} with the same score; ties are ordered by rising label id",
    7: "label {label} twice",
}


class Ranking:
    """Ranked labels of n rows, at most k each.

    Args:
        labels: n×k label ids, best first. Rows with fewer labels end in -1.
        scores: n×k scores, falling. Equal scores are ordered by rising label id. The score of a pad is -inf,
            whatever is given for it.
        label_set: The names of the labels, if they have any.

    The arrays are checked, copied where the caller could still write to them, and cannot be changed
    afterwards.
    """

    __slots__ = ("_label_set", "_labels", "_scores")

    _labels: npt.NDArray[np.int32]
    _scores: npt.NDArray[np.float32]
    _label_set: Names | None

    def __init__(self, labels: npt.ArrayLike, scores: npt.ArrayLike, label_set: Names | None = None):
        ids, values = _as_lists(labels, scores)
        _check(ids, values, label_set)
        pads = ids < 0
        if pads.any() and not np.all(np.isneginf(values[pads])):
            values = np.where(pads, np.float32(-np.inf), values)
        self._set(_own(ids, labels), _own(values, scores), label_set)

    def _set(
        self, labels: npt.NDArray[np.int32], scores: npt.NDArray[np.float32], names: Names | None
    ) -> None:
        self._labels = _frozen(labels)
        self._scores = _frozen(scores)
        self._label_set = names

    @classmethod
    def _of(
        cls, labels: npt.NDArray[np.int32], scores: npt.NDArray[np.float32], names: Names | None
    ) -> Ranking:
        """Of arrays that are known to be right, such as a part of a ranking."""
        made = cls.__new__(cls)
        made._set(labels, scores, names)
        return made

    @classmethod
    def from_unsorted(
        cls, labels: npt.ArrayLike, scores: npt.ArrayLike, label_set: Names | None = None
    ) -> Ranking:
        """Of lists in any order, pads (-1) anywhere: each row is sorted by falling score, then by rising
        label id."""
        ids, values = _as_lists(labels, scores)
        values = np.where(ids < 0, np.float32(-np.inf), values)
        if np.isnan(values).any():
            row = int(np.flatnonzero(np.isnan(values).any(axis=1))[0])
            raise DataError(f"row {row} of the ranking has a score that is not a number.")
        by_label = np.argsort(np.where(ids < 0, np.iinfo(np.int32).max, ids), axis=1, kind="stable")
        ids, values = np.take_along_axis(ids, by_label, 1), np.take_along_axis(values, by_label, 1)
        by_score = np.argsort(-values, axis=1, kind="stable")
        ids, values = np.take_along_axis(ids, by_score, 1), np.take_along_axis(values, by_score, 1)
        return cls(ids, values, label_set)

    @classmethod
    def from_csr(
        cls, scores: CSR, k: int, label_set: Names | None = None, *, threads: int | None = None
    ) -> Ranking:
        """The k best stored entries of each row of a sparse n×L score matrix; stored zeros count as
        scores."""
        from .arrays import as_csr

        if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
            raise ParameterError(
                f"The 'k' parameter of from_csr must be a whole number >= 1. Got {k!r} instead."
            )
        matrix = as_csr(scores, "scores")
        if label_set is not None and matrix.shape[1] > len(label_set):
            raise DataError(
                f"scores has {matrix.shape[1]} columns, but there are only {len(label_set)} labels."
            )
        labels = np.empty((matrix.shape[0], int(k)), np.int32)
        values = np.empty(labels.shape, np.float32)
        _native.metrics.top_k(
            matrix.indptr,
            matrix.indices,
            matrix.data,
            matrix.shape[1],
            labels,
            values,
            resolve_threads(threads),
        )
        return cls._of(labels, values, label_set)

    @classmethod
    def concatenate(cls, rankings: Sequence[Ranking]) -> Ranking:
        """Rankings of consecutive batches as one; narrower ones are padded. All must have the same label
        names."""
        if not rankings:
            raise DataError("There is no ranking to concatenate.")
        names = rankings[0].label_set
        if any(r.label_set is not names and r.label_set != names for r in rankings):
            raise DataError("Rankings with different label names cannot be concatenated.")
        width = max(r.k for r in rankings)
        rows = sum(len(r) for r in rankings)
        labels = np.full((rows, width), -1, np.int32)
        scores = np.full((rows, width), -np.inf, np.float32)
        at = 0
        for r in rankings:
            labels[at : at + len(r), : r.k] = r.labels
            scores[at : at + len(r), : r.k] = r.scores
            at += len(r)
        return cls._of(labels, scores, names)

    @property
    def labels(self) -> npt.NDArray[np.int32]:
        """n×k label ids, best first; -1 pads at the end. Read-only."""
        return self._labels

    @property
    def scores(self) -> npt.NDArray[np.float32]:
        """n×k scores, falling; -inf where there is no label. Read-only."""
        return self._scores

    @property
    def label_set(self) -> Names | None:
        """The names of the labels, or None."""
        return self._label_set

    @property
    def k(self) -> int:
        """The most labels a row can have."""
        return int(self._labels.shape[1])

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """How many labels each row has."""
        return np.asarray(np.count_nonzero(self._labels >= 0, axis=1), np.int64)

    def top(self, k: int) -> Ranking:
        """The first k labels of each row."""
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 0:
            raise ParameterError(f"The 'k' parameter of top must be a whole number >= 0. Got {k!r} instead.")
        return self._of(self._labels[:, :k], self._scores[:, :k], self._label_set)

    def names(self) -> list[list[str]]:
        """The names of the labels of each row, best first; ids as strings where there are no names."""
        lookup = self._lookup()
        return [[lookup[i] for i in row if i >= 0] for row in self._labels.tolist()]

    def to_dicts(self) -> list[dict[str, list[Any]]]:
        """One ``{"labels": [...], "scores": [...]}`` per row, ready for JSON; ids as numbers without
        names."""
        rows: Sequence[Sequence[Any]] = self.names() if self._label_set is not None else self._ids()
        scores = self._scores.tolist()
        return [{"labels": list(row), "scores": scores[i][: len(row)]} for i, row in enumerate(rows)]

    def to_csr(self, n_labels: int | None = None) -> CSR:
        """The scores as a sparse n×n_labels matrix, without pads. By default as wide as the label names, or
        else as the largest label needs."""
        import scipy.sparse as sp

        largest = int(self._labels.max(initial=-1))
        if n_labels is None:
            n_labels = largest + 1 if self._label_set is None else len(self._label_set)
        elif isinstance(n_labels, bool) or not isinstance(n_labels, int | np.integer) or n_labels <= largest:
            raise ParameterError(
                f"The 'n_labels' parameter of to_csr must be a whole number > {largest}, the largest label. "
                f"Got {n_labels!r} instead."
            )
        real = self._labels >= 0
        indptr = np.zeros(len(self) + 1, np.int64)
        np.cumsum(np.count_nonzero(real, axis=1), out=indptr[1:])
        matrix = sp.csr_matrix(
            (self._scores[real], self._labels[real], indptr), shape=(len(self), int(n_labels))
        )
        matrix.sort_indices()
        return matrix

    def to_frame(self) -> Any:
        """A pandas DataFrame with a line per predicted label: row, rank (from 1), label (id), name, score."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtraError("Ranking.to_frame", "frames") from None
        rows, ranks = np.nonzero(self._labels >= 0)
        ids = self._labels[rows, ranks]
        lookup = self._lookup()
        return pd.DataFrame(
            {
                "row": rows,
                "rank": ranks + 1,
                "label": ids,
                "name": [lookup[i] for i in ids.tolist()],
                "score": self._scores[rows, ranks],
            }
        )

    def __len__(self) -> int:
        return int(self._labels.shape[0])

    @overload
    def __getitem__(self, index: int) -> list[Item]: ...

    @overload
    def __getitem__(self, index: slice | npt.NDArray[Any] | list[int] | list[bool]) -> Ranking: ...

    def __getitem__(self, index: Any) -> Any:
        """A row as a list of (name or id, score); or the ranking of the rows in a slice, id array or mask."""
        if isinstance(index, int | np.integer) and not isinstance(index, bool):
            if not -len(self) <= index < len(self):
                raise IndexError(f"row {index} of a ranking with {len(self)} rows")
            return self._row(int(index))
        rows = index if isinstance(index, slice) else np.asarray(index)
        if isinstance(rows, np.ndarray):
            if rows.size == 0:
                rows = rows.astype(np.int64)
            if rows.ndim != 1 or rows.dtype.kind not in "iub":
                raise TypeError("A ranking is indexed by a row number, a slice, row numbers or a mask.")
        return self._of(self._labels[rows], self._scores[rows], self._label_set)

    def __iter__(self) -> Iterator[list[Item]]:
        for index in range(len(self)):
            yield self._row(index)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ranking):
            return NotImplemented
        return (
            np.array_equal(self._labels, other._labels)
            and np.array_equal(self._scores, other._scores)
            and (self._label_set is other._label_set or self._label_set == other._label_set)
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Ranking, (self._labels, self._scores, self._label_set)

    def __repr__(self) -> str:
        lines = [f"Ranking({len(self)} rows, up to {self.k} labels)"]
        for index in range(min(3, len(self))):
            shown = [f"{label} {score:.3g}" for label, score in self._row(index)[:3]]
            more = " ..." if int(np.count_nonzero(self._labels[index] >= 0)) > 3 else ""
            lines.append(f"  {index}: {' | '.join(shown) or '(none)'}{more}")
        if len(self) > 3:
            lines.append("  ...")
        return "\n".join(lines)

    def _row(self, index: int) -> list[Item]:
        names = self._label_set
        pairs = zip(self._labels[index].tolist(), self._scores[index].tolist(), strict=True)
        return [(i if names is None else names[i], score) for i, score in pairs if i >= 0]

    def _ids(self) -> list[list[int]]:
        return [[i for i in row if i >= 0] for row in self._labels.tolist()]

    def _lookup(self) -> Any:
        """Something that gives the name of an id fast."""
        if self._label_set is None:
            return _IdNames()
        return getattr(self._label_set, "names", self._label_set)


class _IdNames:
    """Ids as names."""

    def __getitem__(self, index: int) -> str:
        return str(index)


def _as_lists(
    labels: npt.ArrayLike, scores: npt.ArrayLike
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    ids, values = np.asarray(labels), np.asarray(scores)
    if ids.ndim != 2:
        raise DataError(f"labels must have two dimensions (rows, places). Got {ids.ndim} instead.")
    if ids.dtype.kind not in "iu" and ids.size:
        raise DataError(f"labels must be whole numbers. Got dtype {ids.dtype} instead.")
    if ids.dtype != np.int32 and ids.size and (ids.max() > 2**31 - 1 or ids.min() < -(2**31)):
        raise DataError("labels has ids that do not fit in 32 bits.")
    if values.shape != ids.shape:
        raise DataError(f"scores has shape {values.shape}, expected {ids.shape} as labels.")
    if values.dtype.kind not in "fiu" and values.size:
        raise DataError(f"scores must be numbers. Got dtype {values.dtype} instead.")
    if not ids.size:
        return np.empty(ids.shape, np.int32), np.empty(ids.shape, np.float32)
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(ids, np.int32), np.ascontiguousarray(values, np.float32)


def _check(ids: npt.NDArray[np.int32], values: npt.NDArray[np.float32], label_set: Names | None) -> None:
    n_labels = 2**31 if label_set is None else len(label_set)
    fault, row, column = _native.metrics.check_lists(ids, values, n_labels, 1)
    if fault:
        before = max(column - 1, 0)
        what = _FAULTS[fault].format(
            label=ids[row, column],
            label_before=ids[row, before],
            score=values[row, column],
            before=values[row, before],
            n_labels=n_labels,
        )
        raise DataError(f"row {row} of the ranking has at place {column}: {what}.")


def _own(array: Any, given: Any) -> Any:
    """The array itself if nobody else can write to it, else a copy."""
    return array.copy() if array.flags.writeable and (array is given or array.base is not None) else array


def _frozen(array: Any) -> Any:
    array.flags.writeable = False
    return array
