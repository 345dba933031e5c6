"""Many strings as two arrays: their UTF-8 bytes one after the other, and where each begins.

>>> blob, offsets = pack_strings(["cat", "dog"])
>>> offsets.tolist()
[0, 3, 6]
>>> unpack_strings(blob, offsets)
['cat', 'dog']
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from ..errors import DataError, ModelError

__all__ = ["LazyStrings", "pack_strings", "unpack_strings"]

Blob = npt.NDArray[np.uint8]
Offsets = npt.NDArray[np.int64]


def pack_strings(strings: Sequence[str]) -> tuple[Blob, Offsets]:
    """(blob, offsets) of the strings. Any Python string can be packed, even one with lone surrogates."""
    if isinstance(strings, LazyStrings):
        return strings.blob, strings.offsets
    try:
        encoded = [s.encode("utf-8", "surrogatepass") for s in strings]
    except AttributeError:
        at = next(i for i, s in enumerate(strings) if not isinstance(s, str))
        raise DataError(f"String {at} is a {type(strings[at]).__name__}, expected a str.") from None
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=offsets[1:])
    return np.frombuffer(b"".join(encoded), np.uint8), offsets


def unpack_strings(blob: Any, offsets: Any, name: str = "strings") -> list[str]:
    """The strings of two arrays, or a ModelError, which calls them ``name``, if they are not what was
    packed."""
    data, text = _checked(blob, offsets, name)
    bounds = offsets.tolist()
    if len(text) == len(data):  # ASCII: bytes and characters are at the same places
        return [text[a:b] for a, b in pairwise(bounds)]
    return [data[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(bounds)]


class LazyStrings(Sequence[str]):
    """Packed strings as a read-only sequence that makes each string when it is asked for.

    Everything is checked on construction (a pass over the bytes, no string objects), so that a model with a
    million label names loads in milliseconds.
    """

    __slots__ = ("_blob", "_offsets")

    def __init__(self, blob: Any, offsets: Any, name: str = "strings"):
        _checked(blob, offsets, name)
        self._blob: Blob = blob
        self._offsets: Offsets = offsets

    @property
    def blob(self) -> Blob:
        """The bytes of all strings."""
        return self._blob

    @property
    def offsets(self) -> Offsets:
        """Where each string begins, and where the last ends."""
        return self._offsets

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self._at(i) for i in range(*index.indices(len(self)))]
        at = int(index)
        if not -len(self) <= at < len(self):
            raise IndexError(f"string {index} of {len(self)}")
        return self._at(at % len(self))

    def __iter__(self) -> Iterator[str]:
        return iter(unpack_strings(self._blob, self._offsets))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, LazyStrings):
            return np.array_equal(self._offsets, other._offsets) and np.array_equal(self._blob, other._blob)
        if isinstance(other, list | tuple):
            return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[:3])) + (", ..." if len(self) > 3 else "")
        return f"LazyStrings({len(self)}: {shown})"

    def _at(self, index: int) -> str:
        begin, end = self._offsets[index], self._offsets[index + 1]
        return self._blob[begin:end].tobytes().decode("utf-8", "surrogatepass")


def _checked(blob: Any, offsets: Any, name: str) -> tuple[bytes, str]:
    """The bytes and their text. Every string is valid UTF-8 because all of it is, and none begins inside a
    character."""
    if not isinstance(blob, np.ndarray) or blob.dtype != np.uint8 or blob.ndim != 1:
        raise ModelError(f"{name}: the bytes must be a uint8 array with one dimension.")
    if (
        not isinstance(offsets, np.ndarray)
        or offsets.dtype != np.int64
        or offsets.ndim != 1
        or len(offsets) == 0
    ):
        raise ModelError(
            f"{name}: the offsets must be an int64 array with one dimension and at least one entry."
        )
    if offsets[0] != 0 or offsets[-1] != len(blob) or np.any(offsets[1:] < offsets[:-1]):
        raise ModelError(f"{name}: the offsets must rise from 0 to the {len(blob)} bytes there are.")
    data = blob.tobytes()
    try:
        text = data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise ModelError(f"{name}: not valid UTF-8 at byte {error.start}.") from None
    if len(text) != len(data):
        starts = offsets[:-1][offsets[:-1] < len(blob)]
        inside = (blob[starts] & 0xC0) == 0x80
        if inside.any():
            raise ModelError(f"{name}: an offset of {int(starts[inside][0])} is inside a character.")
    return data, text
