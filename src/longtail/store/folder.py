"""A model is a folder: ``model.json``, one ``.npy`` file per array, and ``README.md``.

It is written all at once or not at all, mapped into memory when it is read, and never trusted: whatever is
wrong with a folder, reading it gives a ``ModelError`` that says what.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import ModelError
from ..threads import resolve_threads
from . import json_file, npy
from .card import model_card, with_evaluation
from .directory import Directory
from .swap import locate, recover, replace_file, replacing

__all__ = ["FORMAT_VERSION", "Folder", "is_model_folder", "read_folder", "update_evaluation", "write_folder"]

FORMAT = "longtail-model"
FORMAT_VERSION = 2  # 2: the classifiers of linear models are laid out in another way
MODEL_JSON = "model.json"
README = "README.md"

_KIND = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,99}")
_MAX_ARRAYS = 10_000
_MAX_CARD = 4 * 2**20
_ATTEMPTS = 20
# Files that systems put into folders on their own, and ours of a rewrite that was killed.
_NOISE = re.compile(r"\.DS_Store|Thumbs\.db|desktop\.ini|\.(model\.json|README\.md)\.new-.*")
# Field of model.json: its type.
_FIELDS: dict[str, tuple[type, ...]] = {
    "format": (str,),
    "format_version": (int,),
    "longtail_version": (str,),
    "kind": (str,),
    "params": (dict,),
    "facts": (dict,),
    "evaluation": (dict, type(None)),
    "arrays": (dict,),
    "sha256": (str,),
}


@dataclass(frozen=True, repr=False)
class Folder:
    """What a model folder holds. The arrays are read-only and mapped from their files."""

    path: Path
    kind: str
    params: dict[str, Any]
    facts: dict[str, Any]
    arrays: dict[str, npy.Array]
    evaluation: dict[str, Any] | None
    card: str
    longtail_version: str
    format_version: int = FORMAT_VERSION
    sizes: dict[str, int] = field(default_factory=dict)  # bytes of each array's file

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays on the disk."""
        return sum(self.sizes.values())

    def __repr__(self) -> str:
        return (
            f"Folder({str(self.path)!r}, kind={self.kind!r}, {len(self.arrays)} arrays, {self.nbytes} bytes)"
        )


def write_folder(
    path: str | os.PathLike[str],
    *,
    kind: str,
    params: Mapping[str, Any],
    facts: Mapping[str, Any],
    arrays: Mapping[str, npy.Array],
    card: str = "",
    evaluation: Mapping[str, Any] | None = None,
    threads: int | None = None,
) -> None:
    """Writes a model folder, all at once: a reader, and a crash at any time, finds the old folder or the new
    one.

    A model folder that is there already is replaced. Anything else at that path is left alone, with a
    ModelError.

    Args:
        path: Where the folder will be.
        kind: The class of the model.
        params: Its parameters: what JSON can hold, numbers finite.
        facts: What is known of its data and training, likewise.
        arrays: Arrays of numbers by name; names are letters, digits, '_', '.' and '-'.
        card: The text of README.md; made of the rest if empty.
        evaluation: The last evaluation, likewise.
        threads: How many files are written at a time.
    """
    if not isinstance(kind, str) or not _KIND.fullmatch(kind):
        raise ModelError(
            f"The kind of a model must be a name of letters, digits, '_', '.' and '-'. Got {kind!r}."
        )
    target = _resolve(path)
    recover(target)
    _refuse_foreign(target)
    meta: dict[str, Any] = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "longtail_version": _version(),
        "kind": kind,
        "params": json_file.plain(params, "params"),
        "facts": json_file.plain(facts, "facts"),
        "evaluation": None if evaluation is None else json_file.plain(evaluation, "evaluation"),
    }
    if len({name.lower() for name in arrays}) != len(arrays) or len(arrays) > _MAX_ARRAYS:
        raise ModelError(f"Array names must differ in more than case, and be at most {_MAX_ARRAYS}.")
    prepared = {name: npy.prepare(name, array) for name, array in arrays.items()}
    with replacing(target) as folder:
        meta["arrays"] = _write_arrays(folder, prepared, resolve_threads(threads))
        sizes = {name: spec["bytes"] for name, spec in meta["arrays"].items()}
        text = card or model_card(kind, meta["params"], meta["facts"], meta["evaluation"], sizes=sizes)
        replace_file(folder, README, text.encode("utf-8", "replace"))
        replace_file(folder, MODEL_JSON, _sealed(meta))


def read_folder(path: str | os.PathLike[str], *, verify: bool = True, threads: int | None = None) -> Folder:
    """Reads a model folder; a ModelError says what is wrong with it.

    Args:
        path: The folder.
        verify: Compare the checksums, which reads all of the arrays. Everything else is checked in any case.
        threads: How many files are checked at a time.
    """
    target = _resolve(path)
    team = resolve_threads(threads)
    for attempt in range(_ATTEMPTS):
        with _open(target) as folder:
            try:
                return _read(folder, target, verify, team)
            except ModelError:
                # A writer may have put another folder in its place while this one was read.
                if attempt == _ATTEMPTS - 1 or not folder.replaced():
                    raise
    raise ModelError(f"{target}: other processes keep writing to it.")


def update_evaluation(path: str | os.PathLike[str], evaluation: Mapping[str, Any] | None) -> None:
    """Puts the last evaluation into model.json and README.md of a model folder; each is replaced all at
    once."""
    target = _resolve(path)
    with _open(target) as folder:
        meta = _read_meta(folder, verify=True)
        card = _read_card(folder)
        meta["evaluation"] = None if evaluation is None else json_file.plain(evaluation, "evaluation")
        meta.pop("sha256")
        replace_file(folder.path, MODEL_JSON, _sealed(meta))
        replace_file(
            folder.path, README, with_evaluation(card, meta["evaluation"]).encode("utf-8", "replace")
        )


def is_model_folder(path: str | os.PathLike[str]) -> bool:
    """Whether there is a model folder at the path, without a look at its arrays."""
    try:
        with _open(_resolve(path)) as folder:
            _read_meta(folder, verify=False)
    except ModelError:
        return False
    return True


def _open(path: Path) -> Directory:
    """The folder at the path, or aside. A writer that swaps folders just now makes it seem to be missing for
    a moment, so that is believed at the third look only."""
    for wait in (0.001, 0.01):
        with contextlib.suppress(ModelError):
            return Directory(locate(path))
        if os.path.isfile(path):
            break
        time.sleep(wait)
    return Directory(locate(path))


def _resolve(path: str | os.PathLike[str]) -> Path:
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError, TypeError) as error:
        raise ModelError(f"{path!r} is not a path: {error}.") from None


def _refuse_foreign(path: Path) -> None:
    """Nothing but a model folder, or an empty one, is ever replaced."""
    advice = "It is not overwritten: choose another folder, or move it away."
    unreadable: ModelError | None = None
    for _ in range(_ATTEMPTS):
        if not os.path.lexists(path):
            return
        try:
            with Directory(path) as folder:
                reason = _foreign(folder)
                if not reason:
                    return
                if not folder.replaced():  # else another writer put its folder there meanwhile
                    raise ModelError(f"{reason} {advice}")
        except ModelError as error:
            if advice in str(error):
                raise
            # Another writer may have swapped folders between two looks: believed only if it stays so.
            unreadable = error
            time.sleep(0.001)
    if unreadable is not None:
        raise ModelError(f"{unreadable} {advice}")
    raise ModelError(f"{path}: other processes keep writing to it.")


def _foreign(folder: Directory) -> str:
    """Why a folder is not, or not only, a model folder; empty if it is one, or has no files."""
    names = {name for name in folder.names() if not _NOISE.fullmatch(name)}
    if not names:
        return ""
    if MODEL_JSON not in names:
        return f"{folder.path}: not a model folder."
    try:
        arrays = _read_meta(folder, verify=False, any_version=True)["arrays"]
    except ModelError as error:
        return f"{error} So it may not be a model folder."
    foreign = sorted(names - {MODEL_JSON, README} - {f"{name}.npy" for name in arrays})
    return f"{folder.path}: holds '{foreign[0]}', which is not part of the model." if foreign else ""


def _write_arrays(folder: Path, arrays: Mapping[str, npy.Array], threads: int) -> dict[str, Any]:
    """What model.json says of each array, in the order given."""
    largest_first = sorted(arrays, key=lambda name: -arrays[name].nbytes)
    with ThreadPoolExecutor(max(1, min(threads, len(arrays)))) as pool:
        written = {n: pool.submit(npy.write_array, folder / f"{n}.npy", arrays[n]) for n in largest_first}
        try:
            return {name: written[name].result() for name in arrays}
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _sealed(meta: dict[str, Any]) -> bytes:
    """model.json with the checksum of all its other fields."""
    return json_file.dumps({**meta, "sha256": hashlib.sha256(json_file.canonical(meta)).hexdigest()})


def _read(folder: Directory, path: Path, verify: bool, threads: int) -> Folder:
    meta = _read_meta(folder, verify)
    specs: dict[str, Any] = meta["arrays"]
    try:
        for name, spec in specs.items():
            npy.check_name(name)
            npy.parse_spec(name, spec)
    except ModelError as error:
        raise ModelError(f"{folder.path}: {MODEL_JSON}: {error}") from None
    largest_first = sorted(specs, key=lambda name: -int(specs[name]["bytes"]))
    with ThreadPoolExecutor(max(1, min(threads, len(specs)))) as pool:
        mapped = {n: pool.submit(npy.map_array, folder, n, specs[n], verify) for n in largest_first}
        try:
            arrays = {name: mapped[name].result() for name in specs}
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return Folder(
        path=path,
        kind=meta["kind"],
        params=meta["params"],
        facts=meta["facts"],
        arrays=arrays,
        evaluation=meta["evaluation"],
        card=_read_card(folder),
        longtail_version=meta["longtail_version"],
        format_version=meta["format_version"],
        sizes={name: int(spec["bytes"]) for name, spec in specs.items()},
    )


def _read_meta(folder: Directory, verify: bool, any_version: bool = False) -> dict[str, Any]:
    """model.json with every field of the right type; the entries of the arrays are not looked at yet."""
    where = f"{folder.path}: {MODEL_JSON}"
    meta = json_file.loads(folder.read(MODEL_JSON, json_file.MAX_BYTES), where)
    if not isinstance(meta, dict) or meta.get("format") != FORMAT:
        raise ModelError(f"{where} does not say that it is a {FORMAT}.")
    version = meta.get("format_version")
    if type(version) is not int or version < 1:
        raise ModelError(f"{where} has the format version {version!r}, expected a whole number from 1.")
    if version != FORMAT_VERSION and not any_version:
        advice = "Install a newer one." if version > FORMAT_VERSION else "Train the model again."
        raise ModelError(
            f"{where} has the format version {version}, written by longtail "
            f"{meta.get('longtail_version')!s:.40}; this longtail reads version {FORMAT_VERSION}. {advice}"
        )
    for name, types in _FIELDS.items():
        if name not in meta:
            raise ModelError(f"{where} has no field '{name}'.")
        if not isinstance(meta[name], types) or isinstance(meta[name], bool):
            raise ModelError(f"{where} has a field '{name}' of the wrong type ({type(meta[name]).__name__}).")
    unknown = sorted(set(meta) - set(_FIELDS))
    if unknown and not any_version:
        raise ModelError(f"{where} has an unknown field '{unknown[0]:.40}'.")
    if not _KIND.fullmatch(meta["kind"]):
        raise ModelError(f"{where} has a kind that is not a name: {meta['kind'][:40]!r}.")
    if len(meta["arrays"]) > _MAX_ARRAYS:
        raise ModelError(f"{where} lists {len(meta['arrays'])} arrays, at most {_MAX_ARRAYS} are supported.")
    if verify:
        rest = {key: value for key, value in meta.items() if key != "sha256"}
        if hashlib.sha256(json_file.canonical(rest)).hexdigest() != meta["sha256"]:
            raise ModelError(f"{where} was changed: its checksum is not the one it states.")
    return meta


def _read_card(folder: Directory) -> str:
    try:
        return folder.read(README, _MAX_CARD).decode("utf-8", "replace")
    except ModelError:
        return ""  # a card is for people; a model without one is complete


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("longtail")
    except PackageNotFoundError:
        return "unknown"
