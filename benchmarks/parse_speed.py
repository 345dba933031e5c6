"""How fast each text format is read: megabytes a second, from a file that the system holds in memory.

    python benchmarks/parse_speed.py [--megabytes 100] [--threads 1 2]

`parser` is the native parser alone on one thread, a second of CPU time counted as a second, so that it
says what a core does. The other columns are `longtail.data.load`, from opening the file to a checked data
set, on as many threads; their seconds are the clock's, and the last column is load on one thread by CPU
time. Times are the best of three.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import longtail.data as data
from longtail import _native
from longtail.labels import LabelSet

native = _native.data
MOST = 2**31 - 1


def random_rows(rng: np.random.Generator, n: int, width: int, per_row: int, values: bool) -> Any:
    """Rows with columns drawn by a power law, values as tf-idf would give."""
    columns = np.minimum((width * rng.random((n, per_row)) ** 3).astype(np.int32), width - 1)
    entries = rng.random(columns.size).astype(np.float32) if values else np.ones(columns.size, np.float32)
    matrix = sp.csr_matrix((entries, (np.repeat(np.arange(n), per_row), columns.ravel())), shape=(n, width))
    matrix.sum_duplicates()
    if values:
        matrix.data = np.round(matrix.data, 6)
    else:
        matrix.data[:] = 1
    return matrix


def make_files(folder: Path, megabytes: int) -> dict[str, Path]:
    """One file of each format, of about the size asked for."""
    rng = np.random.default_rng(0)
    n = megabytes * 900
    features = data.Dataset(X=random_rows(rng, n, 100_000, 80, True), Y=random_rows(rng, n, 30_000, 5, False))
    words = np.array(["".join(rng.choice(list("etaoinshrdlu"), rng.integers(2, 10))) for _ in range(5000)])
    picks = np.minimum((5000 * rng.random((megabytes * 2500, 60)) ** 3).astype(int), 4999)
    texts = [" ".join(words[row]) for row in picks]
    texts = [text.replace("eta", "été") if i % 4 == 0 else text for i, text in enumerate(texts)]
    names = LabelSet([f"label {i}" for i in range(30_000)])
    documents = data.Dataset(texts=texts, Y=random_rows(rng, len(texts), 30_000, 3, False), labels=names)
    files = {}
    for name, dataset, options in (
        ("xmc", features, {}),
        ("svmlight", features, {}),
        ("pair", features, {}),
        ("jsonl features", features, {}),
        ("jsonl", documents, {}),
        ("csv", documents, {}),
        ("tsv", documents, {}),
        ("text", data.Dataset(texts=texts), {}),
    ):
        files[name] = folder / name
        data.save(dataset, folder / name, format=name.split()[0], **options)
    return files


def best(call: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    times = []
    for _ in range(3):
        began = clock()
        call()
        times.append(clock() - began)
    return min(times)


def parser_alone(name: str, path: Path) -> Callable[[], Any]:
    """A call of the native parser on the file's content after its header."""
    kind = name.split()[0]
    content = (path / "X.txt" if kind == "pair" else path).read_bytes()
    if kind in ("xmc", "pair", "csv", "tsv"):
        content = content.split(b"\n", 1)[1]
    block = np.frombuffer(content, dtype=np.uint8)
    if kind in ("xmc", "svmlight", "pair"):
        return lambda: native.parse_sparse(
            block, kind != "pair", kind == "svmlight", False, MOST, MOST, "", 1
        )
    if kind == "jsonl":
        arguments = (["text"], "labels", "features", MOST, MOST, 1)
        return lambda: native.parse_json(block, native.LabelTable(), *arguments)
    if kind == "text":
        return lambda: native.parse_texts(block, 1)
    delimiter = "," if kind == "csv" else "\t"
    return lambda: native.parse_table(
        block, native.LabelTable(), delimiter, '"', [0], 1, 2, ";", False, MOST, 1
    )


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--megabytes", type=int, default=100)
    arguments.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = make_files(Path(folder), options.megabytes)
        heads = [f"load, {n} thread{'s' if n > 1 else ''}" for n in options.threads]
        heads.append("load, a core")
        print(f"{'MB/s':16}{'file, MB':>10}{'parser':>10}" + "".join(f"{head:>18}" for head in heads))
        for name, path in files.items():
            parts = path.iterdir() if path.is_dir() else [path]
            size = sum(part.stat().st_size for part in parts) / 1e6
            one = path / "X.txt" if name == "pair" else path
            speeds = [one.stat().st_size / 1e6 / best(parser_alone(name, path), time.process_time)]
            kind = name.split()[0]
            speeds += [
                size / best(partial(data.load, path, format=kind, threads=threads))
                for threads in options.threads
            ]
            speeds.append(size / best(partial(data.load, path, format=kind, threads=1), time.process_time))
            print(
                f"{name:16}{size:10.0f}{speeds[0]:10.0f}" + "".join(f"{speed:18.0f}" for speed in speeds[1:])
            )


if __name__ == "__main__":
    main()
