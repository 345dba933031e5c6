"""Arrays as ``.npy`` files that are mapped, never parsed.

The header of a file follows from its dtype and shape, which model.json also states: a file must begin with
exactly these bytes and be exactly as long as they say. ``numpy.load`` reads the files as well.
"""

from __future__ import annotations

import hashlib
import math
import mmap
import os
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ModelError
from .directory import Directory

__all__ = ["Array", "check_name", "map_array", "parse_spec", "prepare", "write_array"]

Array = npt.NDArray[Any]

_DTYPES = ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
# Names that Windows keeps for devices, whatever their extension.
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)
_MAX_DIMENSIONS = 8
_CHUNK = 8 * 2**20


def check_name(name: object) -> str:
    """The name of an array, or a ModelError."""
    if (
        not isinstance(name, str)
        or not _NAME.fullmatch(name)
        or _RESERVED.fullmatch(name)
        or name.endswith(".")
    ):
        raise ModelError(f"The array name {name!r} must be 1 to 100 letters, digits, '_', '.' or '-'.")
    return name


def header(dtype: str, shape: tuple[int, ...]) -> bytes:
    """The first bytes of the file, up to the data, which begin at a multiple of 64."""
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape!r}, }}".encode("ascii")
    padding = -(10 + len(text) + 1) % 64
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text) + padding + 1) + text + b" " * padding + b"\n"


def prepare(name: str, array: Any) -> Array:
    """The array as it is stored: little-endian, in C order; a ModelError for what cannot be stored."""
    check_name(name)
    if not isinstance(array, np.ndarray):
        raise ModelError(f"The array '{name}' must be a NumPy array. Got {type(array).__name__} instead.")
    if array.dtype.hasobject or array.dtype.kind not in "biuf":
        raise ModelError(
            f"The array '{name}' has dtype {array.dtype}; only numbers and truth values are stored."
        )
    little = array.dtype.newbyteorder("<")
    if little.str not in _DTYPES:
        raise ModelError(f"The array '{name}' has dtype {array.dtype}, which cannot be stored.")
    if array.ndim > _MAX_DIMENSIONS:
        raise ModelError(
            f"The array '{name}' has {array.ndim} dimensions, at most {_MAX_DIMENSIONS} are supported."
        )
    return np.asarray(array, dtype=little, order="C").view(np.ndarray)


def write_array(path: Path, array: Array) -> dict[str, Any]:
    """Writes a prepared array to a new file, synced to the disk; gives what model.json says of it."""
    digest = hashlib.sha256()
    first = header(array.dtype.str, array.shape)
    raw: Any = array.reshape(-1).view(np.uint8)
    with open(path, "xb", buffering=0) as file:
        for piece in (first, *(raw[at : at + _CHUNK] for at in range(0, raw.size, _CHUNK))):
            _write_all(file, piece)
            digest.update(piece)
        os.fsync(file.fileno())
    return {
        "dtype": array.dtype.str,
        "shape": list(array.shape),
        "bytes": len(first) + raw.size,
        "sha256": digest.hexdigest(),
    }


def _write_all(file: Any, data: Any) -> None:
    view = memoryview(data)
    while len(view):
        view = view[file.write(view) :]


def parse_spec(name: str, spec: Any) -> tuple[str, tuple[int, ...], int, str]:
    """(dtype, shape, bytes, sha256) as model.json states them of an array; a ModelError for what is wrong."""
    if not isinstance(spec, dict) or set(spec) != {"dtype", "shape", "bytes", "sha256"}:
        raise ModelError(f"the entry of the array '{name}' must have dtype, shape, bytes and sha256.")
    dtype, shape, size, sha256 = spec["dtype"], spec["shape"], spec["bytes"], spec["sha256"]
    if not isinstance(dtype, str) or dtype not in _DTYPES:
        raise ModelError(f"the array '{name}' has the dtype {dtype!r}, expected one of {', '.join(_DTYPES)}.")
    if (
        not isinstance(shape, list)
        or len(shape) > _MAX_DIMENSIONS
        or not all(type(n) is int and 0 <= n < 2**62 for n in shape)
    ):
        raise ModelError(
            f"the array '{name}' has a shape that is not a list of up to {_MAX_DIMENSIONS} sizes."
        )
    if type(size) is not int or not isinstance(sha256, str) or not re.fullmatch("[0-9a-f]{64}", sha256):
        raise ModelError(f"the array '{name}' must state its bytes and the 64 digits of its sha256.")
    expected = len(header(dtype, tuple(shape))) + math.prod(shape) * np.dtype(dtype).itemsize
    if size != expected:
        raise ModelError(f"the array '{name}' has {size} bytes, but its dtype and shape need {expected}.")
    return dtype, tuple(shape), size, sha256


def map_array(folder: Directory, name: str, spec: Any, verify: bool) -> Array:
    """The array, read-only and mapped from its file. The file is checked against the spec, with ``verify``
    also its bytes against the checksum."""
    dtype, shape, size, sha256 = parse_spec(name, spec)
    file_name = f"{name}.npy"
    fd = folder.open(file_name)
    try:
        actual = os.fstat(fd).st_size
        if actual != size:
            raise ModelError(f"{folder.path}: {file_name} has {actual} bytes, expected {size}.")
        mapped = mmap.mmap(fd, size, access=mmap.ACCESS_READ)
    except OSError as error:
        raise ModelError(f"{folder.path}: {file_name} cannot be mapped: {error}.") from error
    finally:
        os.close(fd)
    first = header(dtype, shape)
    if mapped[: len(first)] != first:
        raise ModelError(
            f"{folder.path}: {file_name} does not begin as an array of {dtype} and shape {shape} does."
        )
    if verify and hashlib.sha256(mapped).hexdigest() != sha256:
        raise ModelError(
            f"{folder.path}: {file_name} was changed: its checksum is not the one in model.json."
        )
    count = math.prod(shape)
    if count == 0:
        array: Array = np.empty(shape, np.dtype(dtype))
        array.flags.writeable = False
        return array
    array = np.frombuffer(mapped, np.dtype(dtype), count, offset=len(first)).reshape(shape)
    if dtype == "|b1" and array.view(np.uint8).max() > 1:
        raise ModelError(f"{folder.path}: {file_name} has truth values other than 0 and 1.")
    return array
