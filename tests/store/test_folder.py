from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from longtail.errors import ModelError
from longtail.store import (
    FORMAT_VERSION,
    Folder,
    is_model_folder,
    read_folder,
    update_evaluation,
    write_folder,
)

ARRAYS = {
    "tree0.child": np.arange(12, dtype=np.int32).reshape(3, 4),
    "weights": np.linspace(0, 1, 1000, dtype=np.float32),
    "half-width": np.arange(6, dtype=np.float16).reshape(1, 2, 3),
    "empty": np.zeros((0, 5), np.float64),
    "scalar": np.array(2.5),
    "mask": np.array([True, False]),
    "big_endian": np.arange(3, dtype=">i8"),
    "columns": np.asfortranarray(np.arange(6, dtype=np.uint16).reshape(2, 3)),
}


def write(path: Path, **change: Any) -> Path:
    fields: dict[str, Any] = {
        "kind": "Example",
        "params": {"C": 1.0},
        "facts": {"n_rows": 3},
        "arrays": ARRAYS,
    }
    write_folder(path, **(fields | change))
    return path


def edit(path: Path, change: Any, seal: bool = True) -> None:
    """Changes model.json as a careful forger would, with a fitting checksum."""
    meta = json.loads((path / "model.json").read_text())
    change(meta)
    if seal:
        meta.pop("sha256", None)
        text = json.dumps(meta, sort_keys=True, separators=(",", ":"))
        meta["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    (path / "model.json").write_text(json.dumps(meta))


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = write(
        tmp_path / "model",
        params={
            "C": np.float32(0.5),
            "n": np.int64(3),
            "ok": np.bool_(True),
            "nested": {"list": (1, [2.0, None])},
        },
        evaluation={"metrics": {"P@1": 0.5}},
    )
    for verify in (True, False):
        folder = read_folder(path, verify=verify, threads=2)
        assert folder.kind == "Example"
        assert folder.params == {"C": 0.5, "n": 3, "ok": True, "nested": {"list": [1, [2.0, None]]}}
        assert folder.facts == {"n_rows": 3}
        assert folder.evaluation == {"metrics": {"P@1": 0.5}}
        assert folder.path == path
        assert list(folder.arrays) == list(ARRAYS)
        for name, array in ARRAYS.items():
            got = folder.arrays[name]
            assert np.array_equal(got, array)
            assert got.shape == array.shape
            assert got.dtype == array.dtype.newbyteorder("<")
            assert not got.flags.writeable
            assert np.array_equal(np.load(path / f"{name}.npy", allow_pickle=False), array)
    assert folder.nbytes == sum(f.stat().st_size for f in path.glob("*.npy"))
    assert "8 arrays" in repr(folder)
    assert is_model_folder(path)
    assert not is_model_folder(tmp_path)


def test_arrays_are_mapped_and_outlive_a_replacement(tmp_path: Path) -> None:
    path = write(tmp_path / "model")
    folder = read_folder(path)
    write(
        path, arrays=folder.arrays | {"weights": np.zeros(1000, np.float32)}
    )  # saved over what it was loaded from
    assert np.array_equal(folder.arrays["weights"], ARRAYS["weights"])
    again = read_folder(path)
    assert not again.arrays["weights"].any()
    assert np.array_equal(again.arrays["tree0.child"], ARRAYS["tree0.child"])


def test_files_are_those_of_sha256sum(tmp_path: Path) -> None:
    path = write(tmp_path / "model")
    specs = json.loads((path / "model.json").read_text())["arrays"]
    for name, spec in specs.items():
        data = (path / f"{name}.npy").read_bytes()
        assert spec["sha256"] == hashlib.sha256(data).hexdigest()
        assert spec["bytes"] == len(data)
    assert not any(b"pickle" in f.read_bytes() for f in path.iterdir())


def test_nothing_else_is_left(tmp_path: Path) -> None:
    path = write(tmp_path / "a" / "b" / "model")
    write(path, arrays={"other": np.ones(3)})
    assert sorted(p.name for p in path.iterdir()) == ["README.md", "model.json", "other.npy"]
    assert [p.name for p in path.parent.iterdir()] == ["model"]


def test_symbolic_link_to_a_model_is_followed(tmp_path: Path) -> None:
    write(tmp_path / "v1")
    (tmp_path / "latest").symlink_to("v1")
    assert read_folder(tmp_path / "latest").kind == "Example"
    write(tmp_path / "latest", kind="Second")
    assert (tmp_path / "latest").is_symlink()
    assert read_folder(tmp_path / "v1").kind == "Second"


def test_what_is_not_a_model_is_never_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "thesis.txt").write_text("mine")
    model = write(tmp_path / "model")
    (model / "thesis.txt").write_text("mine")
    array = write(tmp_path / "with array")
    np.save(array / "mine.npy", np.ones(3))
    other = tmp_path / "other"
    other.mkdir()
    (other / "model.json").write_text('{"format": "another tool"}')
    for path in (file, notes, model, array, other):
        before = sorted(p.name for p in path.iterdir()) if path.is_dir() else path.read_text()
        with pytest.raises(ModelError, match="another folder"):
            write(path)
        assert before == (sorted(p.name for p in path.iterdir()) if path.is_dir() else path.read_text())
    with pytest.raises(ModelError):
        write(file / "below")
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / ".DS_Store").write_text("")
    assert read_folder(write(empty)).kind == "Example"
    future = write(tmp_path / "future")
    edit(future, lambda meta: meta.update(format_version=99, new_field=1))
    assert read_folder(write(future)).format_version == FORMAT_VERSION


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kind": ""}, "kind"),
        ({"kind": "a/b"}, "kind"),
        ({"params": {"C": math.nan}}, "params.C is nan"),
        ({"facts": {"a": [1, math.inf]}}, r"facts.a\[1\] is inf"),
        ({"evaluation": {"x": object()}}, "evaluation.x is a object"),
        ({"facts": {1: 2}}, "keys must be strings"),
        ({"facts": {"n": 2**70}}, "64 bits"),
        ({"arrays": {"a": [1, 2]}}, "must be a NumPy array"),
        ({"arrays": {"a": np.array([{}])}}, "dtype object"),
        ({"arrays": {"a": np.array(["x"])}}, "only numbers"),
        ({"arrays": {"a": np.array([1j])}}, "only numbers"),
        ({"arrays": {"a": np.zeros((1,) * 9)}}, "9 dimensions"),
        ({"arrays": {"../a": np.ones(1)}}, "array name"),
        ({"arrays": {"": np.ones(1)}}, "array name"),
        ({"arrays": {".a": np.ones(1)}}, "array name"),
        ({"arrays": {"NUL.x": np.ones(1)}}, "array name"),
        ({"arrays": {"a": np.ones(1), "A": np.ones(1)}}, "more than case"),
    ],
)
def test_what_cannot_be_written(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    path = write(tmp_path / "model")
    with pytest.raises(ModelError, match=words):
        write(path, **change)
    assert read_folder(path).params == {"C": 1.0}
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def test_deep_values(tmp_path: Path) -> None:
    write(tmp_path / "model", facts={"a": deep(60)})
    assert read_folder(tmp_path / "model").facts == {"a": deep(60)}
    with pytest.raises(ModelError, match="nested"):
        write(tmp_path / "model", facts={"a": deep(70)})


def spec(name: str, **change: Any) -> Any:
    return lambda meta: meta["arrays"][name].update(change)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda meta: meta.update(format_version=3), "format version 3, .* Install a newer one"),
        (lambda meta: meta.update(format_version=1), "format version 1, .* Train the model again"),
        (lambda meta: meta.update(format_version=0), "format version"),
        (lambda meta: meta.update(format_version=True), "format version"),
        (lambda meta: meta.update(format_version="1"), "format version"),
        (lambda meta: meta.update(format="zip"), "does not say that it is"),
        (lambda meta: meta.pop("kind"), "no field 'kind'"),
        (lambda meta: meta.update(kind=["x"]), "'kind' of the wrong type"),
        (lambda meta: meta.update(kind="../x"), "kind that is not a name"),
        (lambda meta: meta.update(params=[]), "'params' of the wrong type"),
        (lambda meta: meta.update(evaluation=3), "'evaluation' of the wrong type"),
        (lambda meta: meta.update(surprise=1), "unknown field 'surprise'"),
        (lambda meta: meta["params"].update(x=math.nan), "NaN"),
        (lambda meta: meta["params"].update(x=math.inf), "Infinity"),
        (lambda meta: meta["params"].update(x=10**30), "64 bits"),
        (lambda meta: meta["arrays"].update({"../../etc/passwd": meta["arrays"]["mask"]}), "array name"),
        (lambda meta: meta["arrays"].update({"/etc/passwd": meta["arrays"]["mask"]}), "array name"),
        (lambda meta: meta["arrays"].update({"absent": meta["arrays"]["mask"]}), "absent.npy is missing"),
        (lambda meta: meta["arrays"].update({"mask": 3}), "must have dtype"),
        (spec("mask", extra=1), "must have dtype"),
        (spec("mask", dtype="|O"), "dtype '|O'"),
        (spec("mask", dtype=">f4"), "dtype"),
        (spec("mask", dtype=["<f4"]), "dtype"),
        (spec("mask", shape=[-1]), "shape"),
        (spec("mask", shape=[True, 2]), "shape"),
        (spec("mask", shape=2), "shape"),
        (spec("mask", shape=[2**62, 2**62]), "shape"),
        (spec("mask", shape=[2**40, 2**40]), "dtype and shape need"),
        (spec("mask", shape=[3]), "dtype and shape need"),
        (spec("mask", shape=[1] * 9), "shape"),
        (spec("mask", bytes=1.5), "must state its bytes"),
        (spec("mask", sha256="0"), "must state its bytes"),
        (spec("mask", sha256="0" * 64), "mask.npy was changed"),
        (spec("mask", dtype="|u1"), "does not begin as"),
        (spec("tree0.child", shape=[4, 3]), "does not begin as"),
    ],
)
def test_forged_descriptions(tmp_path: Path, change: Any, words: str) -> None:
    path = write(tmp_path / "model")
    edit(path, change)
    with pytest.raises(ModelError, match=words):
        read_folder(path)


def test_changed_description_without_its_checksum(tmp_path: Path) -> None:
    path = write(tmp_path / "model")
    edit(path, lambda meta: meta["params"].update(C=2.0), seal=False)
    with pytest.raises(ModelError, match=r"model\.json was changed"):
        read_folder(path)
    assert read_folder(path, verify=False).params == {"C": 2.0}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "not valid"),
        (b"\xff\xfe", "not valid"),
        (b"{", "not valid"),
        (b"[]", "does not say"),
        (b"[" * 100_000, "nested"),
        (b'{"a":' * 100_000, "nested"),
        (b'{"x": "' + b"[" * 1000 + b'", "format": 1e999}', "too large"),
        (b'{"format": 1, "format": 2}', "twice"),
        (b'{"format": ' + b"9" * 10_000 + b"}", "64 bits"),
    ],
)
def test_hostile_json(tmp_path: Path, text: bytes, words: str) -> None:
    path = write(tmp_path / "model")
    (path / "model.json").write_bytes(text)
    with pytest.raises(ModelError, match=words):
        read_folder(path)


def test_endless_json(tmp_path: Path) -> None:
    path = write(tmp_path / "model")
    with open(path / "model.json", "r+b") as file:
        file.truncate(2**40)  # a hole: takes no space
    with pytest.raises(ModelError, match="larger than"):
        read_folder(path)


def test_damaged_files(tmp_path: Path) -> None:
    def damage(words: str, what: Any, verify: bool = True) -> None:
        path = write(tmp_path / "model")
        what(path)
        with pytest.raises(ModelError, match=words):
            read_folder(path, verify=verify)
        for left in path.iterdir():
            left.unlink()

    weights = "weights.npy"
    damage("model.json is missing", lambda p: (p / "model.json").unlink())
    damage("weights.npy is missing", lambda p: (p / weights).unlink())
    damage("has 100 bytes", lambda p: os.truncate(p / weights, 100), verify=False)
    damage("has 0 bytes", lambda p: os.truncate(p / weights, 0))
    damage("has 4129 bytes", lambda p: (p / weights).write_bytes((p / weights).read_bytes() + b"x"))

    def flip(p: Path, at: int) -> None:
        data = bytearray((p / weights).read_bytes())
        data[at] ^= 1
        (p / weights).write_bytes(data)

    damage("was changed", lambda p: flip(p, -1))
    damage("does not begin", lambda p: flip(p, 20), verify=False)
    damage(
        "truth values",
        lambda p: (p / "mask.npy").write_bytes((p / "mask.npy").read_bytes()[:-1] + b"\2"),
        False,
    )

    def link(p: Path) -> None:
        (tmp_path / "elsewhere.npy").write_bytes((p / weights).read_bytes())
        (p / weights).unlink()
        (p / weights).symlink_to(tmp_path / "elsewhere.npy")

    damage("symbolic link", link)

    def directory(p: Path) -> None:
        (p / weights).unlink()
        os.mkfifo(p / weights)

    if hasattr(os, "mkfifo"):
        damage("not a regular file", directory)


def test_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path, words in (
        (tmp_path / "absent", "no such folder"),
        (tmp_path / "file", "not a folder"),
        (tmp_path, r"model\.json is missing"),
        ("\0", "not a path"),
    ):
        with pytest.raises(ModelError, match=words):
            read_folder(path)


def test_evaluation_is_put_in(tmp_path: Path) -> None:
    path = write(tmp_path / "model", card="# Mine\n\nKeep this.\n")
    update_evaluation(path, {"metrics": {"P@1": 0.25, "P@3": 0.125}, "n_rows": 7})
    folder = read_folder(path)
    assert folder.evaluation == {"metrics": {"P@1": 0.25, "P@3": 0.125}, "n_rows": 7}
    assert folder.card.startswith("# Mine\n\nKeep this.\n")
    assert "| P | 25.00 | 12.50 |" in folder.card
    update_evaluation(path, {"metrics": {"P@1": 0.5}})
    card = read_folder(path).card
    assert "| P | 50.00 |" in card
    assert "25.00" not in card
    assert card.count("## Evaluation") == 1
    update_evaluation(path, None)
    assert "Not evaluated yet" in read_folder(path).card
    with pytest.raises(ModelError, match="nan"):
        update_evaluation(path, {"x": math.nan})
    (path / "README.md").unlink()
    assert read_folder(path).card == ""
    update_evaluation(path, {"metrics": {"P@1": 0.5}})
    assert sorted(p.name for p in path.iterdir())[:2] == ["README.md", "big_endian.npy"]
    write(path)  # and it is still a folder that may be replaced


def test_card(tmp_path: Path) -> None:
    card = read_folder(
        write(tmp_path / "model", facts={"data": {"name": "a|b\n<c>", "rows": 3}, "rate": 0.1234567})
    )
    for words in (
        "# Example",
        "| C | 1 |",
        r"| data.name | a\|b &lt;c> |",
        "| rate | 0.123457 |",
        "| weights | 4.0 KiB |",
    ):
        assert words in card.card


def test_old_one_is_read_while_it_is_aside(tmp_path: Path) -> None:
    """Between the two renames of a writer that was killed, the folder is there under another name."""
    path = write(tmp_path / "model")
    dead = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True
    )
    from longtail.store import swap

    host = swap._owner().rsplit("-", 1)[0]
    aside = tmp_path / f".model.old-{host}-{int(dead.stdout)}-00000000"
    half = tmp_path / f".model.new-{host}-{int(dead.stdout)}-00000000"
    path.rename(aside)
    half.mkdir()
    (half / "weights.npy").write_bytes(b"half")
    folder = read_folder(path)
    assert isinstance(folder, Folder)
    assert is_model_folder(path)
    write(path, kind="Second")
    assert [p.name for p in tmp_path.iterdir()] == ["model"]
    assert read_folder(path).kind == "Second"
    # What a living process writes is not touched.
    living = tmp_path / f".model.new-{host}-{os.getppid()}-00000000"
    living.mkdir()
    write(path, kind="Third")
    assert living.is_dir()


def test_put_back_when_the_next_writer_fails(tmp_path: Path) -> None:
    path = write(tmp_path / "model")
    dead = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True
    )
    from longtail.store import swap

    path.rename(tmp_path / f".model.old-{swap._owner().rsplit('-', 1)[0]}-{int(dead.stdout)}-00000000")
    with pytest.raises(ModelError):
        write(path, params={"x": math.nan})
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


def test_failure_while_writing_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from longtail.store import npy

    path = write(tmp_path / "model")
    write_array = npy.write_array

    def full(where: Path, array: np.ndarray) -> Any:
        if where.name == "weights.npy":
            raise OSError(28, "No space left on device")
        return write_array(where, array)

    monkeypatch.setattr(npy, "write_array", full)
    with pytest.raises(ModelError, match="No space left"):
        write(path, kind="Second")
    assert read_folder(path).kind == "Example"
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


def test_failed_rename_puts_the_old_one_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from longtail.store import swap

    path = write(tmp_path / "model")
    rename = os.rename

    def refuse(source: Any, target: Any) -> None:
        if ".new-" in str(source):
            raise PermissionError(13, "Permission denied")
        rename(source, target)

    monkeypatch.setattr(swap.os, "rename", refuse)
    with pytest.raises(ModelError, match="Permission denied"):
        write(path, kind="Second")
    monkeypatch.undo()
    assert read_folder(path).kind == "Example"
    assert [p.name for p in tmp_path.iterdir()] == ["model"]
