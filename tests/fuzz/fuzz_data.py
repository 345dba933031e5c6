"""Mutated files of every format: each must give a Dataset or a DataError, never anything else.

Some are files on a disk, whose format is told by name or content, or folders of several files; these are converted to
other formats too, and what was written must be read again, the same.

python tests/fuzz/fuzz_data.py 100000 1
"""

from __future__ import annotations

import gzip
import io
import os
import random
import struct
import sys
import tempfile
import time
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import longtail.data as data
from longtail.errors import DataError, MissingExtraError

MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # no waiting for a disk
XMC = b"4 7 5\n0,3 0:0.5 2:1.25 6:3\n1 1:1e-3\n 3:0.25 4:-7\n4,2,2 5:1 5:2 1:9\n"
PAIR_X = b"3 6\n0:1.5 5:2\n\n3:0.25\n"
PAIR_Y = b"3 4\n0:1 3:1\n2:0.5\n\n"
SVMLIGHT = b"0,2 1:0.5 7:1.25 # a comment\n 3:1\r\n1 qid:3 2:1e2 9:.5\n\n3 4:0.125\n"
JSONL = (
    b'{"text": "caf\xc3\xa9 \\u00e9 \\ud83d\\ude00", "labels": ["a", "b"], "id": {"x": [1, {"y": null}]}}\n'
    b'{"labels": ["b"], "text": "plain", "score": -1.5e3}\n{"text": "", "labels": []}\n'
)
JSONL_FEATURES = b'{"features": {"3": 0.5, "1": 2}, "labels": [3, 0]}\n{"features": {}, "labels": 1}\n'
CSV = b'text,labels,note\n"a ""quoted"", text\nof two lines",red;green,1\nplain,,2\nlast,red,"3"\n'
TSV = b"text\tlabel_ids\nfirst text\t3;1\nsecond\t0\n"
TEXT = b"one line\r\n\xe4\xb8\xad\xe6\x96\x87 two\n\nlast"

TOKENS = [
    b"nan", b"-inf", b"1e999", b"-1", b"99999999999999999999", b"2147483647", b"4294967296", b"1e18",
    b"1e-400", b"0x1p3", b"16777217", b"1" * 60, b"0." + b"0" * 50 + b"1", b":", b",", b";", b" ", b"\t",
    b"\n", b"\r\n", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"#", b"qid:1",
    b"\x1f\x8b\x08\x00", b"\x28\xb5\x2f\xfd", b'"', b'""', b"{", b"}", b"[", b"]", b"\\", b"\\u", b"\\ud800",
    b"null", b"[" * 3000, b'{"a":' * 1200, b"1000000000000000000 3 3\n",
]  # fmt: skip


def mutate(original: bytes, rng: random.Random) -> bytes:
    """A few random changes; now and then none."""
    out = bytearray(original)
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3, 6))):
        at = rng.randrange(len(out) + 1)
        kind = rng.randrange(7)
        if kind == 0 and at < len(out):
            out[at] = rng.randrange(256)
        elif kind == 1:
            out[at:at] = rng.choice(TOKENS)
        elif kind == 2:
            del out[at : at + rng.randrange(1, 12)]
        elif kind == 3:
            out[at:at] = out[at : at + rng.randrange(1, 40)]
        elif kind == 4 and rng.random() < 0.3:
            del out[at:]
        elif kind == 5 and at < len(out):
            out[at] ^= 1 << rng.randrange(8)
        else:
            out[at : at + rng.randrange(1, 5)] = rng.choice(TOKENS)
    return bytes(out)


def npz_bytes(matrix: Any, rng: random.Random) -> bytes:
    """A sparse matrix as npz, with members changed before they are packed, so that checksums are right."""
    buffer = io.BytesIO()
    sp.save_npz(buffer, matrix.asformat(rng.choice(("csr", "csr", "csc", "coo"))), compressed=False)
    out = io.BytesIO()
    with zipfile.ZipFile(buffer) as archive, zipfile.ZipFile(out, "w") as changed:
        for name in archive.namelist():
            member = archive.read(name)
            if rng.random() < 0.3:
                member = mutate(member, rng)
            elif rng.random() < 0.3 and len(member) > 140:  # values of the array only
                number = struct.pack("<i", rng.choice((-1, 0, 1, 5, 2**31 - 1, -(2**31))))
                at = rng.randrange(128, len(member) - 4)
                member = member[:at] + number + member[at + 4 :]
            if rng.random() < 0.98:
                changed.writestr(name, member)
    return mutate(out.getvalue(), rng) if rng.random() < 0.3 else out.getvalue()


def _parquet_seed() -> bytes | None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        return None
    table = pa.table(
        {
            "text": ["a", "b c"],
            "labels": [["x", "y"], ["y"]],
            "feature_ids": [[0, 3], []],
            "feature_values": [[1.0, 2.0], []],
        }
    )
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()


def _zstd(content: bytes) -> bytes | None:
    try:
        from compression import zstd  # Python 3.14

        return zstd.compress(content)
    except ImportError:
        pass
    try:
        import zstandard
    except ImportError:
        return None
    return zstandard.ZstdCompressor().compress(content)


def _common_options(rng: random.Random) -> dict[str, Any]:
    options: dict[str, Any] = {
        "threads": rng.choice((1, 1, 1, 2)),
        "block_bytes": rng.choice((16, 64, 4096)),
        "max_line": 1 << 16,
    }
    if rng.random() < 0.1:
        options["n_features"] = rng.choice((0, 3, 10, 2**31 - 1))
    if rng.random() < 0.1:
        options["n_labels"] = rng.choice((0, 3, 10, 2**31 - 1))
    elif rng.random() < 0.1:
        options.update(labels=["a", "b", "red", "green"], unknown_labels=rng.choice(("error", "drop")))
    if rng.random() < 0.05:
        options.update(
            errors=rng.choice(("replace", "ignore")), encoding=rng.choice(("utf-8", "latin-1", "utf-16"))
        )
    return options


def make_case(rng: random.Random, parquet: bytes | None) -> tuple[bytes | None, Callable[[], data.Dataset]]:
    """The bytes of a case (for reports) and the call that reads it."""
    options = _common_options(rng)
    which = rng.randrange(12)
    if which == 0:
        x, y = mutate(PAIR_X, rng), mutate(PAIR_Y, rng)
        return x + b"|" + y, lambda: data.load(io.BytesIO(x), "pair", label_file=io.BytesIO(y), **options)
    if which == 1:
        matrix = sp.csr_matrix(np.array([[0, 1.5, 0], [2, 0, 0], [0, 0, 3]], dtype=np.float32))
        content = npz_bytes(matrix, rng)
        return content, lambda: data.load(io.BytesIO(content), "npz", **options)
    if which == 2 and parquet is not None and rng.random() < 0.2:
        content = mutate(parquet, rng)
        return content, lambda: data.load(io.BytesIO(content), "parquet", **options)
    format, seed = rng.choice(
        (
            ("xmc", XMC), ("xmc", XMC), ("svmlight", SVMLIGHT), ("svmlight", SVMLIGHT), ("jsonl", JSONL),
            ("jsonl", JSONL), ("jsonl", JSONL_FEATURES), ("csv", CSV), ("csv", CSV), ("tsv", TSV),
            ("text", TEXT),
        )
    )  # fmt: skip
    if format == "svmlight":
        options["zero_based"] = rng.choice((True, False, "auto"))
    content = mutate(seed, rng)
    if rng.random() < 0.1:
        content = gzip.compress(content, 1)
        content = mutate(content, rng) if rng.random() < 0.7 else content
    elif rng.random() < 0.05:
        packed = _zstd(content)
        content = content if packed is None else mutate(packed, rng)
    return content, lambda: data.load(io.BytesIO(content), format, **options)


NAMES = {
    "a.xmc": XMC, "a.txt": XMC, "b.txt": SVMLIGHT, "c.txt": TEXT, "a.svm": SVMLIGHT, "a.jsonl": JSONL,
    "b.json": JSONL_FEATURES, "a.csv": CSV, "a.tsv": TSV, "noname": JSONL, "a.dat": SVMLIGHT,
}  # fmt: skip
TARGETS = ["o.xmc", "o.svm", "o.npz", "o.jsonl", "o.csv", "o.tsv.gz", "o.parquet", "folder", "o.jsonl.zst"]


def make_path(rng: random.Random, parquet: bytes | None, base: Path) -> Path:
    """A mutated file with a name, or a folder of files, some of them mutated."""
    matrix = sp.csr_matrix(np.array([[0, 1.5, 0], [2, 0, 0], [0, 0, 3]], dtype=np.float32))
    kind = rng.randrange(5)
    if kind <= 1:
        name = rng.choice(sorted(NAMES))
        content = mutate(NAMES[name], rng)
        if rng.random() < 0.1:
            name, content = name + ".gz", gzip.compress(content, 1)
        (base / name).write_bytes(content)
        return base / name
    if kind == 2 and parquet is not None:
        (base / "a.parquet").write_bytes(mutate(parquet, rng) if rng.random() < 0.5 else parquet)
        return base / "a.parquet"
    if kind == 3:
        files = {"X.txt": PAIR_X, "Y.txt": PAIR_Y}
    else:
        texts, names = b"one\ntwo\nthree\n", b"a\nb\nc\n"
        files = {"trn.txt": texts, "tst.txt": texts, "lbl.txt": names, "lbl_id.txt": names}
        for name in ("trn_Y.npz", "trn_X.npz", "tst_Y.npz"):
            if rng.random() < 0.7:
                (base / name).write_bytes(npz_bytes(matrix, rng))
    for name, content in files.items():
        if rng.random() < 0.9:
            (base / name).write_bytes(mutate(content, rng) if rng.random() < 0.4 else content)
    return base


def on_disk(rng: random.Random, parquet: bytes | None) -> tuple[bytes | None, Callable[[], data.Dataset]]:
    """A path that is loaded and converted; what was written is read again."""
    folder = tempfile.TemporaryDirectory(prefix="fuzz-data-", dir=MEMORY)
    base = Path(folder.name)
    (base / "in").mkdir()
    path = make_path(rng, parquet, base / "in")
    options = {**_common_options(rng), "threads": 1}
    if rng.random() < 0.2:
        options["split"] = rng.choice(["trn", "tst", "val", "", "../in/trn"])
    target = base / rng.choice(TARGETS)

    def read() -> data.Dataset:
        with folder:
            result = data.load(path, **options)
            try:
                facts = data.convert(path, target, **options)
            except DataError:  # the other format cannot hold it
                assert not target.is_file(), "half a file"
                return result
            again = data.load(target, n_labels=facts.n_labels or None)
            assert again.n_rows == facts.n_rows == result.n_rows, (again, result)
            if (
                again.X is not None and result.X is not None and target.name != "o.svm"
            ):  # where 0 or 1 is guessed
                assert again.X.nnz == sp.csr_matrix(result.X).nnz
            if again.Y is not None and result.Y is not None:
                assert again.Y.nnz == result.Y.nnz
            if again.texts is not None and result.texts is not None:
                assert again.texts == result.texts
            return result

    return path.read_bytes() if path.is_file() else b"folder", read


def run(n: int, seed: int = 0) -> dict[str, int]:
    """Reads `n` mutated inputs and counts those read and refused; anything else is an AssertionError."""
    rng = random.Random(seed)
    parquet = _parquet_seed()
    outcomes = {"read": 0, "refused": 0}
    for case in range(n):
        content, read = (on_disk if rng.random() < 0.3 else make_case)(rng, parquet)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                result = read()
            except (DataError, MissingExtraError) as error:
                if not str(error):
                    raise AssertionError("an error without words") from error
                outcomes["refused"] += 1
                continue
            except BaseException as error:
                raise AssertionError(
                    f"case {case} of seed {seed}: {type(error).__name__}: {error}\n{content!r}"
                ) from error
        assert isinstance(result, data.Dataset)
        _check(result)
        outcomes["read"] += 1
    return outcomes


def _check(result: data.Dataset) -> None:
    for matrix in (result.X, result.Y):
        if matrix is None or not sp.issparse(matrix):
            continue
        assert matrix.shape[0] == result.n_rows
        assert matrix.indptr[-1] == len(matrix.indices) == len(matrix.data)
        if matrix.nnz:
            assert 0 <= matrix.indices.min() <= matrix.indices.max() < matrix.shape[1]
            assert np.isfinite(matrix.data).all()
    if result.texts is not None:
        assert len(result.texts) == result.n_rows


if __name__ == "__main__":
    count, first_seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    began = time.perf_counter()
    print(run(count, first_seed), f"{count / (time.perf_counter() - began):,.0f} cases a second")
