"""What a long training has finished so far, so that it goes on from there after a kill.

point = Checkpoint(path, {"params": ..., "data": fingerprint_arrays(X.data, X.indices, X.indptr)})
for level in range(n_levels):
    if f"level{level}" in point:
        arrays, meta = point.get(f"level{level}")
    else:
        ...
        point.put(f"level{level}", arrays, meta)
point.clear()                           # after the model is saved
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ModelError, ParameterError
from ..threads import resolve_threads
from . import json_file, npy
from .folder import read_folder, write_folder
from .swap import locate, recover

__all__ = ["Checkpoint", "fingerprint_arrays"]

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,79}")
_PREFIX = "done."
_START = "start"
_STEP = re.escape(_PREFIX) + _NAME.pattern
_OURS = re.compile(rf"{_START}|{_STEP}|\.({_START}|{_STEP})\.(new|old)-.*")
_LEFT_ASIDE = re.compile(rf"\.({_STEP})\.(?:new|old)-.*")
_CARD = "What a training has finished so far. It is deleted when the training is over.\n"
_PIECE = 16 * 2**20


class Checkpoint:
    """Named steps of a training, each with arrays and a JSON-able ``meta``, in a folder of their own.

    A step is written all at once: after a kill it is there, complete and checksummed, or it is not, and then
    what it would have replaced still is. One process writes to a checkpoint at a time.

    Args:
        path: The folder; made if it is not there. One that is not a checkpoint is never touched.
        fingerprint: What the steps depend on: parameters and the hash of the data. It is kept in the folder.
        on_mismatch: When the folder was made for another fingerprint: "error" raises a ModelError that names
            the entries that differ, "restart" throws its steps away.
    """

    def __init__(
        self, path: str | os.PathLike[str], fingerprint: Mapping[str, Any], *, on_mismatch: str = "error"
    ):
        if on_mismatch not in ("error", "restart"):
            raise ParameterError(
                "The 'on_mismatch' parameter of Checkpoint must be one of 'error', 'restart'. "
                f"Got {on_mismatch!r} instead."
            )
        self.path = Path(os.path.realpath(path))
        self.fingerprint: dict[str, Any] = json_file.plain(fingerprint, "fingerprint")
        self._open(on_mismatch)

    @staticmethod
    def differences(path: str | os.PathLike[str], fingerprint: Mapping[str, Any]) -> list[str]:
        """What differs between the fingerprint of a checkpoint on the disk and this one, in words; empty when
        training can go on, or when there is no checkpoint."""
        start = Path(os.path.realpath(path)) / _START
        if not os.path.lexists(locate(start)):
            return []
        stored = _flat(read_folder(start).params)
        wanted = _flat(json_file.plain(fingerprint, "fingerprint"))
        return [
            f"{key} was {stored.get(key, 'not set')!s:.60}, is {wanted.get(key, 'not set')!s:.60}"
            for key in sorted(set(stored) | set(wanted))
            if key not in stored or key not in wanted or stored[key] != wanted[key]
        ]

    def put(self, name: str, arrays: Mapping[str, npy.Array], meta: Mapping[str, Any] | None = None) -> None:
        """Keeps a step, in place of one of the same name."""
        write_folder(
            self._step(name),
            kind="checkpoint",
            params=self.fingerprint,
            facts={} if meta is None else meta,
            arrays=arrays,
            card=f"A finished step of a training, `{name}`. It is deleted when the training is over.\n",
        )

    def get(self, name: str) -> tuple[dict[str, npy.Array], dict[str, Any]]:
        """(arrays, meta) of a step, the arrays mapped; a ModelError if there is none or it was damaged."""
        if name not in self:
            raise ModelError(
                f"{self.path}: there is no step '{name}'. There are: {', '.join(self.names()) or 'none'}."
            )
        folder = read_folder(self._step(name))
        if folder.kind != "checkpoint" or folder.params != self.fingerprint:
            raise ModelError(f"{folder.path}: belongs to another training.")
        return folder.arrays, folder.facts

    def names(self) -> list[str]:
        """The steps that are there, by name."""
        entries = [entry for entry in _entries(self.path) if entry.startswith(_PREFIX)]
        return sorted(entry[len(_PREFIX) :] for entry in entries)

    def remove(self, name: str) -> None:
        """Forgets a step, if it is there."""
        if name in self:
            shutil.rmtree(self._step(name))

    def clear(self) -> None:
        """Deletes the folder with all steps: the training is over, and this object with it."""
        for entry in _entries(self.path):
            if _OURS.fullmatch(entry) and entry != _START:
                shutil.rmtree(self.path / entry)
        if (
            self.path / _START
        ).is_dir():  # last, so that a kill before leaves a checkpoint that can be cleared
            shutil.rmtree(self.path / _START)
        if self.path.is_dir() and not _entries(self.path):
            self.path.rmdir()

    @staticmethod
    def check(path: str | os.PathLike[str]) -> None:
        """A ModelError if something is there that is no checkpoint."""
        foreign = [entry for entry in _entries(Path(path)) if not _OURS.fullmatch(entry)]
        if foreign:
            raise ModelError(f"{path}: holds '{foreign[0]}', so it is not a checkpoint, and is not touched.")

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._step(name).is_dir()

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __len__(self) -> int:
        return len(self.names())

    def __repr__(self) -> str:
        return f"Checkpoint({str(self.path)!r}, {len(self)} steps)"

    def _open(self, on_mismatch: str) -> None:
        self.check(self.path)
        entries = _entries(self.path)
        recover(self.path / _START)
        for entry in entries:
            if left := _LEFT_ASIDE.fullmatch(entry):
                recover(self.path / left.group(1))
        try:
            differences = self.differences(self.path, self.fingerprint)
        except ModelError:
            if on_mismatch == "error":
                raise
            differences = ["it is damaged"]
        if differences and on_mismatch == "error":
            raise ModelError(
                f"{self.path}: is the checkpoint of another training: {'; '.join(differences[:5])}. "
                "Delete it to start anew, or repeat the training it belongs to."
            )
        if differences or (len(self) and not (self.path / _START).is_dir()):
            self.clear()
        if not (self.path / _START).is_dir():
            write_folder(
                self.path / _START,
                kind="checkpoint",
                params=self.fingerprint,
                facts={},
                arrays={},
                card=_CARD,
            )

    def _step(self, name: str) -> Path:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ParameterError(
                f"A step's name must be 1 to 80 letters, digits, '_' or '-'. Got {name!r} instead."
            )
        return self.path / (_PREFIX + name)


def _entries(path: Path) -> list[str]:
    """The names in a folder; none if there is no folder."""
    try:
        return sorted(os.listdir(path))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error}.") from error


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            flat.update(_flat(value, f"{prefix}{key}."))
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def fingerprint_arrays(*arrays: Any, threads: int | None = None) -> str:
    """A hash of all bytes, dtypes and shapes of arrays, the same whatever the number of threads.

    >>> fingerprint_arrays(np.arange(3)) == fingerprint_arrays(np.arange(3))
    True
    """
    total = hashlib.sha256()
    pieces: list[memoryview] = []
    for array in map(np.asarray, arrays):
        if array.dtype.hasobject:
            raise ParameterError("fingerprint_arrays takes arrays of numbers, not of Python objects.")
        total.update(f"{array.dtype.str}{array.shape};".encode())
        flat: Any = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        raw = memoryview(flat)
        pieces += [raw[at : at + _PIECE] for at in range(0, len(raw), _PIECE)]
    with ThreadPoolExecutor(max(1, min(resolve_threads(threads), len(pieces)))) as pool:
        for digest in pool.map(_hash, pieces):
            total.update(digest)
    return total.hexdigest()


def _hash(piece: memoryview) -> bytes:
    return hashlib.sha256(piece).digest()
