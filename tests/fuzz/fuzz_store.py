"""Model folders damaged at random: reading one gives a Folder or a ModelError, nothing else.

python tests/fuzz/fuzz_store.py 10000 [seed]
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from longtail.errors import ModelError
from longtail.store import (
    Checkpoint,
    Folder,
    LazyStrings,
    pack_strings,
    read_folder,
    unpack_strings,
    update_evaluation,
    write_folder,
)

ODD_VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63), 2**64, 10**400, 0.5, -0.0, 1e308),
    *("", "x", "../x", "/", "\0", "\ud800", "é" * 50, "|O", "<f4", ">f4", "|b1"),
    *([], [[]], [0], [-1], [2**40, 2**40], ["a"], {}, {"a": {}}, {"": 0}),
]
ODD_BYTES = [
    *(b"", b"\0", b"\xff", b"[", b"{", b'"', b"NaN", b"1e999", b"-", b",", b"\\ud800"),
    *(b'"a":' * 50, b"[" * 200),
]


def make(path: Path, rng: random.Random) -> None:
    """A small correct folder."""
    blob, offsets = pack_strings(["ä", "bee", "", "\ud800"][: rng.randint(0, 4)])
    arrays = {
        "names.blob": blob,
        "names.offsets": offsets,
        "weights": np.arange(rng.randint(0, 40), dtype=rng.choice(["<f4", "<f8", "<i2", "|u1"])),
        "mask": np.array([True, False, True]),
        "table": np.zeros((rng.randint(0, 3), 4), np.int32),
    }
    evaluation = {"metrics": {"P@1": 0.5}} if rng.random() < 0.5 else None
    facts = {"n": 3, "text": "ü\n|", "list": [1, [2]]}
    write_folder(path, kind="Fuzz", params={"C": 1.0}, facts=facts, arrays=arrays, evaluation=evaluation)


def mutate_bytes(data: bytes, rng: random.Random) -> bytes:
    out = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5])):
        at = rng.randint(0, len(out))
        action = rng.randrange(5)
        if action == 0 and out:
            out[at % len(out)] ^= 1 << rng.randrange(8)
        elif action == 1 and out:
            out[at % len(out)] = rng.randrange(256)
        elif action == 2:
            del out[at:]
        elif action == 3:
            del out[at : at + rng.randint(1, 20)]
        else:
            out[at:at] = rng.choice(ODD_BYTES)
    return bytes(out)


def mutate_json(value: Any, rng: random.Random) -> Any:
    """The value with one place of it changed: replaced, removed, repeated, put deeper."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = rng.choice(list(value))
        action = rng.random()
        if action < 0.1:
            value.pop(key)
        elif action < 0.2:
            value[rng.choice(["../up", "", "x", "a\0", "CON", key.upper()])] = value[key]
        else:
            value[key] = mutate_json(value[key], rng)
        return value
    if isinstance(value, list) and value and rng.random() < 0.6:
        at = rng.randrange(len(value))
        value[at] = mutate_json(value[at], rng)
        return value
    if isinstance(value, int) and rng.random() < 0.5:
        return value + rng.choice([-1, 1, 64, -64])
    if rng.random() < 0.05:
        for _ in range(rng.choice([10, 100])):
            value = [value]
        return value
    return rng.choice(ODD_VALUES)


def seal(meta: Any) -> None:
    """Fitting checksums, so that what lies behind them is reached."""
    if isinstance(meta, dict):
        meta.pop("sha256", None)
        try:
            text = json.dumps(meta, sort_keys=True, separators=(",", ":"), allow_nan=False)
        except (ValueError, RecursionError):
            return
        meta["sha256"] = hashlib.sha256(text.encode("ascii")).hexdigest()


def load(folder: Path) -> Any:
    """model.json, for the next change. An earlier change may have made it a pipe: not waited for."""
    file = folder / "model.json"
    if not file.is_file():
        raise ValueError("model.json is no longer a file")
    return json.loads(file.read_bytes())


def refit(folder: Path, meta: Any) -> None:
    """The sizes and checksums of the files as they are now."""
    if not isinstance(meta, dict) or not isinstance(meta.get("arrays"), dict):
        return
    for name, spec in meta["arrays"].items():
        file = folder / f"{name}.npy"
        if isinstance(spec, dict) and "\0" not in name and file.is_file():
            data = file.read_bytes()
            spec["sha256"] = hashlib.sha256(data).hexdigest()


def change_json(folder: Path, rng: random.Random) -> None:
    meta = load(folder)
    for _ in range(rng.choice([1, 1, 3])):
        meta = mutate_json(meta, rng)
    if rng.random() < 0.9:
        seal(meta)
    (folder / "model.json").write_text(json.dumps(meta))


def change_file(folder: Path, rng: random.Random) -> None:
    file = rng.choice(sorted(p for p in folder.iterdir() if p.is_file()))
    file.write_bytes(mutate_bytes(file.read_bytes(), rng))
    if rng.random() < 0.7 and file.suffix == ".npy":
        meta = load(folder)
        refit(folder, meta)
        seal(meta)
        (folder / "model.json").write_text(json.dumps(meta))


def change_data(folder: Path, rng: random.Random) -> None:
    """The numbers of an array, with fitting checksums: readable, but with wrong contents."""
    file = rng.choice(
        [p for p in sorted(folder.glob("*.npy")) if p.stat().st_size > 128] or [folder / "mask.npy"]
    )
    data = bytearray(file.read_bytes())
    data[rng.randrange(128, len(data))] = rng.randrange(256)
    file.write_bytes(data)
    meta = load(folder)
    refit(folder, meta)
    seal(meta)
    (folder / "model.json").write_text(json.dumps(meta))


def change_tree(folder: Path, rng: random.Random) -> None:
    """Files deleted, swapped, replaced by links, folders and pipes."""
    files = sorted(p for p in folder.iterdir() if p.is_file())
    a, b = rng.sample(files, 2)
    action = rng.randrange(5)
    if action == 0:
        a.unlink()
    elif action == 1:
        first, second = a.read_bytes(), b.read_bytes()
        a.write_bytes(second)
        b.write_bytes(first)
    elif action == 2:
        a.unlink()
        a.symlink_to(b.name)
    elif action == 3:
        a.unlink()
        a.mkdir()
    elif hasattr(os, "mkfifo"):
        a.unlink()
        os.mkfifo(a)


CHANGES: list[Callable[[Path, random.Random], None]] = [
    change_json,
    change_json,
    change_file,
    change_data,
    change_tree,
]


@contextmanager
def refusal() -> Iterator[None]:
    """A ModelError is fine, as long as it says something."""
    try:
        yield
    except ModelError as error:
        if not str(error):
            raise AssertionError("a ModelError without words") from error


def look_at(folder: Folder) -> None:
    """Uses everything, as a model would."""
    assert isinstance(folder.params, dict)
    assert isinstance(folder.facts, dict)
    assert isinstance(folder.card, str)
    json.dumps(folder.params, allow_nan=False)
    for array in folder.arrays.values():
        assert not array.dtype.hasobject
        assert not array.flags.writeable
        array.sum()
    if {"names.blob", "names.offsets"} <= set(folder.arrays):
        pair = folder.arrays["names.blob"], folder.arrays["names.offsets"]
        with refusal():
            assert list(LazyStrings(*pair)) == unpack_strings(*pair)


def run_one(base: Path, rng: random.Random) -> bool:
    """One damaged folder; whether it could still be read."""
    path = base / "model"
    if path.exists():
        shutil.rmtree(path)
    make(path, rng)
    # A second change may meet what the first one left.
    with suppress(ValueError, OSError, RecursionError):
        for _ in range(rng.choice([1, 1, 1, 2])):
            rng.choice(CHANGES)(path, rng)
    seen = []
    for verify in (True, False):
        with refusal():
            look_at(read_folder(path, verify=verify, threads=1))
            seen.append(verify)
    with refusal():
        update_evaluation(path, {"P@1": 0.5})
    with refusal():
        make(path, rng)
    with refusal():
        Checkpoint(path, {})
    return bool(seen)


def run_numbered(base: Path, i: int, seed: int) -> bool:
    try:
        return run_one(base, random.Random(f"{seed}/{i}"))
    except Exception as error:
        raise AssertionError(f"folder {i} of seed {seed}: {error!r}") from error


def run(n: int, seed: int = 0) -> dict[str, int]:
    """n damaged folders. Gives how many could be read; raises at the first surprise, with its number."""
    counts = {"read": 0, "refused": 0}
    shared_memory = Path("/dev/shm")
    where = shared_memory if os.access(shared_memory, os.W_OK) else None  # no waiting for a disk
    with tempfile.TemporaryDirectory(prefix="fuzz-store-", dir=where) as base:
        for i in range(n):
            counts["read" if run_numbered(Path(base), i, seed) else "refused"] += 1
    return counts


if __name__ == "__main__":
    print(run(int(sys.argv[1]) if len(sys.argv) > 1 else 1000, int(sys.argv[2]) if len(sys.argv) > 2 else 0))
