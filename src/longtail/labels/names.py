"""Label names and ids, and label lists as a matrix."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from ..arrays import CSR
from ..errors import DataError, ModelError
from ._csr import make_csr

__all__ = ["LabelSet", "encode"]


class LabelSet:
    """The names of labels, in the order of their ids. Immutable; names are unique.

    >>> labels = LabelSet(["cat", "dog", "fox"])
    >>> labels[1], labels.index["fox"], labels.ids(["fox", "cat"]).tolist()
    ('dog', 2, [2, 0])
    """

    __slots__ = ("_index", "_names")

    def __init__(self, names: Iterable[str]):
        if isinstance(names, str):
            raise DataError("Label names must be a list of strings. Got one string instead.")
        self._names = list(names)
        for i, name in enumerate(self._names):
            if not isinstance(name, str):
                raise DataError(
                    f"Label names must be strings. Got {type(name).__name__} for label {i} instead."
                )
        self._index: dict[str, int] | None = None
        if len(self.index) != len(self._names):
            twice = next(name for i, name in enumerate(self._names) if self.index[name] != i)
            raise DataError(f"Label names must be unique. {twice!r} occurs more than once.")

    @property
    def names(self) -> list[str]:
        """The names by id. Not to be changed."""
        return self._names

    @property
    def index(self) -> dict[str, int]:
        """The ids by name. Not to be changed."""
        if self._index is None:
            self._index = {name: i for i, name in enumerate(self._names)}
        return self._index

    def ids(self, names: Iterable[str]) -> npt.NDArray[np.int32]:
        """The ids of the given names; an unknown name is a DataError."""
        if isinstance(names, str):
            raise DataError("ids() takes a list of names. Got one string instead.")
        index = self.index
        try:
            return np.array([index[name] for name in names], dtype=np.int32)
        except KeyError as error:
            raise DataError(f"Unknown label {error.args[0]!r}; {len(self)} labels are known.") from None
        except TypeError:
            raise DataError("ids() takes a list of strings.") from None

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self.index

    @overload
    def __getitem__(self, i: int | np.integer[Any]) -> str: ...

    @overload
    def __getitem__(self, i: slice) -> list[str]: ...

    def __getitem__(self, i: int | np.integer[Any] | slice) -> str | list[str]:
        return self._names[i]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LabelSet):
            return NotImplemented
        return self is other or self._names == other._names

    def __hash__(self) -> int:
        return hash((len(self._names), *self._names[:4]))

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self._names[:4]))
        return f"LabelSet({len(self)} labels: {shown}{', …' if len(self) > 4 else ''})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (LabelSet, (self._names,))

    def to_state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """What a model folder keeps: all names as UTF-8 in one array, and where each begins."""
        encoded = [name.encode("utf-8", "surrogatepass") for name in self._names]
        offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(name) for name in encoded], out=offsets[1:])
        return {"n_labels": len(self)}, {
            "names": np.frombuffer(b"".join(encoded), np.uint8),
            "offsets": offsets,
        }

    @classmethod
    def from_state(cls, meta: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> LabelSet:
        """The inverse of ``to_state``; anything that does not fit is a ModelError."""
        try:
            blob, offsets = np.asarray(arrays["names"]), np.asarray(arrays["offsets"])
            n = meta["n_labels"]
        except (KeyError, TypeError) as error:
            raise ModelError(f"The label names lack {error}.") from None
        if blob.dtype != np.uint8 or blob.ndim != 1 or offsets.dtype != np.int64 or offsets.ndim != 1:
            raise ModelError("Label names must be stored as uint8 text and int64 offsets.")
        if type(n) is not int or len(offsets) != n + 1 or offsets[0] != 0 or offsets[-1] != len(blob):
            raise ModelError("The offsets of the label names do not fit their text.")
        if np.any(offsets[1:] < offsets[:-1]):
            raise ModelError("The offsets of the label names must rise.")
        text, bounds = blob.tobytes(), offsets.tolist()
        try:
            return cls(text[begin:end].decode("utf-8", "surrogatepass") for begin, end in pairwise(bounds))
        except (UnicodeDecodeError, DataError) as error:
            raise ModelError(f"The stored label names are not valid: {error}") from None


def encode(
    lists: Sequence[Iterable[str] | Iterable[int]], labels: LabelSet | None = None
) -> tuple[CSR, LabelSet]:
    """Label lists, by name or by id, as a 0/1 matrix (float32 CSR) and the labels of its columns.

    Without ``labels`` the columns are the names that occur, sorted; ids keep their places and are named "0",
    "1", …. A label twice in a list counts once. A name or id that ``labels`` does not have is a DataError.

    >>> Y, labels = encode([["dog"], [], ["fox", "dog"]])
    >>> Y.toarray().tolist(), labels.names
    ([[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]], ['dog', 'fox'])
    """
    rows = [_row(row, i) for i, row in enumerate(lists)]
    kinds = {_kind(item, i) for i, row in enumerate(rows) for item in row}
    if len(kinds) > 1:
        raise DataError("Label lists must hold names or ids, not both.")
    if kinds == {"id"}:
        id_rows = [[int(item) for item in row] for row in rows]
        largest = max((item for row in id_rows for item in row), default=-1)
        if largest >= 2**31 - 1:
            raise DataError(f"Label ids must be below 2^31 - 1. Got {largest} instead.")
        known = LabelSet(map(str, range(largest + 1))) if labels is None else labels
        for i, row in enumerate(id_rows):
            if row and (min(row) < 0 or max(row) >= len(known)):
                bad = min(row) if min(row) < 0 else max(row)
                raise DataError(f"Row {i} has label {bad}, expected 0 to {len(known) - 1}.")
    else:
        known = LabelSet(sorted({item for row in rows for item in row})) if labels is None else labels
        id_rows = [_ids_of_row(row, i, known.index) for i, row in enumerate(rows)]
    sorted_rows = [sorted(set(row)) for row in id_rows]
    indptr = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum([len(row) for row in sorted_rows], out=indptr[1:])
    indices = np.fromiter(
        (item for row in sorted_rows for item in row), dtype=np.int32, count=int(indptr[-1])
    )
    return make_csr(indptr, indices, np.ones(len(indices), np.float32), len(known)), known


def _row(row: Any, i: int) -> list[Any]:
    if isinstance(row, str | bytes) or not isinstance(row, Iterable):
        raise DataError(f"Row {i} must be a list of labels. Got {type(row).__name__} instead.")
    return list(row)


def _kind(item: Any, i: int) -> str:
    if isinstance(item, str):
        return "name"
    if isinstance(item, int | np.integer) and not isinstance(item, bool):
        return "id"
    raise DataError(f"Row {i} must hold label names or ids. Got {type(item).__name__} instead.")


def _ids_of_row(row: list[Any], i: int, index: dict[str, int]) -> list[int]:
    try:
        return [index[item] for item in row]
    except KeyError as error:
        raise DataError(
            f"Row {i} has the unknown label {error.args[0]!r}; {len(index)} labels are known."
        ) from None
