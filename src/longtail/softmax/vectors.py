"""Vectors: how they are stored, and those that come from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import DataError, ModelError

__all__ = ["LANES", "Vectors", "is_finite", "padded", "read_vectors"]

LANES = 16
_ROWS_AT_ONCE = 1 << 16
_HALF_EXPONENT = np.uint16(0x7C00)  # all ones: no finite number
_DTYPES = {"f32": np.float32, "f16": np.uint16, "int8": np.int8}


@dataclass(frozen=True)
class Vectors:
    """Rows of vectors, padded with zeros to a multiple of 16 places.

    Attributes:
        data: [rows, places]: float32; the bits of half precision as uint16; or int8.
        scale: of int8 rows, by what their whole numbers are multiplied; else None.
        kind: "f32", "f16" or "int8".
    """

    data: npt.NDArray[Any]
    scale: npt.NDArray[np.float32] | None
    kind: str

    @classmethod
    def stored(cls, rows: npt.NDArray[np.float32], kind: str) -> Vectors:
        """float32 rows, stored as asked."""
        if kind == "f32":
            return cls(rows, None, kind)
        out = np.empty(rows.shape, dtype=_DTYPES[kind])
        scale = np.ones(len(rows), dtype=np.float32) if kind == "int8" else None
        for begin in range(0, len(rows), _ROWS_AT_ONCE):
            part = slice(begin, begin + _ROWS_AT_ONCE)
            if scale is None:
                # What is too large becomes the largest half, so that vectors stay finite.
                out[part] = np.clip(rows[part], -65504, 65504).astype(np.float16).view(np.uint16)
                continue
            largest = np.abs(rows[part]).max(axis=1) / np.float32(127)
            # What is too small to be divided by becomes zero.
            scale[part] = np.where(largest >= np.finfo(np.float32).tiny, largest, np.float32(1))
            out[part] = np.rint(rows[part] / scale[part, None])
        return cls(out, scale, kind)

    def rows(self, at: Any = slice(None)) -> npt.NDArray[np.float32]:
        """Rows as float32."""
        if self.kind == "f32":
            return np.asarray(self.data[at])
        if self.kind == "f16":
            return np.ascontiguousarray(self.data[at]).view(np.float16).astype(np.float32)
        assert self.scale is not None
        values: npt.NDArray[np.float32] = self.data[at].astype(np.float32) * self.scale[at, None]
        return values

    @property
    def nbytes(self) -> int:
        return int(self.data.nbytes) + (0 if self.scale is None else int(self.scale.nbytes))

    def to_arrays(self, name: str) -> dict[str, npt.NDArray[Any]]:
        """What a model folder keeps."""
        arrays = {name: self.data}
        if self.scale is not None:
            arrays[f"{name}.scale"] = self.scale
        return arrays

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, npt.NDArray[Any]],
        name: str,
        kind: Any,
        n_rows: int,
        dim: int,
        *,
        verify: bool = True,
    ) -> Vectors:
        """The inverse; ModelError if the arrays do not fit. With ``verify`` all numbers are looked at."""
        if kind not in _DTYPES:
            raise ModelError(f"the kind of the {name} vectors is not known.")
        data = arrays[name]
        if data.dtype != _DTYPES[kind] or data.shape != (n_rows, padded(dim)):
            raise ModelError(f"the {name} vectors do not fit the model.")
        scale = arrays[f"{name}.scale"] if kind == "int8" else None
        if scale is not None and (scale.dtype != np.float32 or scale.shape != (n_rows,)):
            raise ModelError(f"the scales of the {name} vectors do not fit them.")
        vectors = cls(data, scale, kind)
        if verify and not vectors._is_finite():
            raise ModelError(f"the {name} vectors have values that are no finite numbers.")
        return vectors

    def _is_finite(self) -> bool:
        if self.scale is not None:
            # Times the largest whole number, too.
            return bool((np.abs(self.scale) <= np.finfo(np.float32).max / 128).all())
        if self.kind == "f16":
            return not any(((part & _HALF_EXPONENT) == _HALF_EXPONENT).any() for part in _parts(self.data))
        return is_finite(self.data)


def is_finite(rows: npt.NDArray[np.float32]) -> bool:
    """Whether all of the numbers are, a part at a time."""
    return all(np.isfinite(part).all() for part in _parts(rows))


def _parts(rows: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    return (rows[begin : begin + _ROWS_AT_ONCE] for begin in range(0, len(rows), _ROWS_AT_ONCE))


def padded(dim: int) -> int:
    """The places of a stored vector."""
    return -(-dim // LANES) * LANES


def read_vectors(path: Path, wanted: Mapping[str, int], dim: int, out: npt.NDArray[np.float32]) -> int:
    """Reads a ``.vec`` file (a line a word: the word, then its numbers; first a line with their counts, or none) into
    the rows of ``out`` that ``wanted`` gives for words; gives how many were found. Other lines are only skimmed."""
    found = 0
    keys = {word.encode("utf-8", "surrogatepass"): row for word, row in wanted.items()}
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                word, _, rest = line.rstrip(b" \r\n").partition(b" ")
                if number == 1 and rest.isdigit() and word.isdigit():
                    if int(rest) != dim:
                        raise DataError(
                            f"{path}: has vectors of {int(rest)} places, the model has dim={dim}."
                        )
                    continue
                row = keys.get(word)
                if row is None:
                    continue
                try:
                    values = np.array(rest.split(), dtype=np.float32)
                except ValueError:
                    raise DataError(f"{path}: line {number} holds something that is no number.") from None
                if len(values) != dim or not np.isfinite(values).all():
                    raise DataError(
                        f"{path}: line {number} must have {dim} finite numbers. Got {len(values)} instead."
                    )
                out[row, :dim] = values
                found += 1
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}.") from error
    return found
