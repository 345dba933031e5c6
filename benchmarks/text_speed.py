"""TextVectorizer beside scikit-learn's TfidfVectorizer: the same matrices, sooner.

    python benchmarks/text_speed.py DATA... [--rows N] [--repeats R]

DATA are text files, one text per line. Every measurement runs in a process of its own; times are the best
of R. "CPU" is processor time, which other work on the machine disturbs least; "wall" is elapsed time. Ratios
are scikit-learn's time over longtail's: of CPU time for one thread, of wall time for more. Memory is the peak
of the process while fit_transform runs, less what it held before (the texts).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SETTINGS: dict[str, dict[str, Any]] = {
    "words": {},
    "words (1, 2)": {"ngram_range": (1, 2)},
    "char_wb (2, 4)": {"analyzer": "char_wb", "ngram_range": (2, 4)},
}


def read_texts(path: Path, rows: int | None) -> list[str]:
    with path.open(encoding="utf-8") as file:
        texts = [line.rstrip("\n") for line in file]
    return texts[:rows]


def peak_bytes() -> int:
    """The most memory this process has held (Linux)."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024
    return 0


def reset_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def timed(call: Callable[[list[str]], Any], texts: list[str]) -> tuple[Any, float, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    result = call(texts)
    return result, time.process_time() - cpu, time.perf_counter() - wall


def fingerprint(X: Any) -> str:
    """Of the structure of a matrix, its columns in order."""
    X.sort_indices()
    digest = hashlib.sha256()
    for part in (X.indptr, X.indices):
        digest.update(part.astype("i8").tobytes())
    return digest.hexdigest()


def measure(
    library: str, path: Path, rows: int | None, name: str, threads: int, repeats: int
) -> dict[str, Any]:
    import numpy as np
    import scipy.sparse  # noqa: F401 (neither side should pay for the import)

    texts = read_texts(path, rows)

    def make() -> Any:
        if library == "sklearn":
            from sklearn.feature_extraction.text import TfidfVectorizer

            return TfidfVectorizer(dtype=np.float32, **SETTINGS[name])
        from longtail.text import TextVectorizer

        return TextVectorizer(threads=threads, **SETTINGS[name])

    make().fit_transform(texts[:100])
    fits, transforms = [], []
    reset_peak()
    before = peak_bytes()
    peak = 0
    for _ in range(repeats):
        vectorizer = make()
        X, *fit_times = timed(vectorizer.fit_transform, texts)
        peak = peak or peak_bytes() - before
        vectorizer.transform(texts[:1])
        _, *transform_times = timed(vectorizer.transform, texts)
        fits.append(fit_times)
        transforms.append(transform_times)
    best = [min(times) for times in (*zip(*fits, strict=True), *zip(*transforms, strict=True))]
    return {
        "times": best,
        "peak": peak,
        "matrix": fingerprint(X),
        "sum": float(X.data.sum(dtype="f8")),
        "nnz": int(X.nnz),
        "shape": list(X.shape),
    }


def in_a_process(*arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, __file__, "--one", *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(done.stderr)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def compare(path: Path, rows: int | None, repeats: int, thread_counts: list[int]) -> None:
    size = sum(len(text.encode()) for text in read_texts(path, rows))
    print(f"\n{path.parent.name}/{path.name}, {size / 1e6:.1f} MB")
    print("| setting | | fit_transform s: CPU, wall | transform s: CPU, wall | peak MB | ratios |")
    print("|---|---|---|---|---|---|")
    for name in SETTINGS:
        arguments = [str(path), str(rows or 0), name]
        peer = in_a_process("sklearn", *arguments, "1", str(repeats))
        shape = "{} × {}".format(*peer["shape"])
        print_row(f"{name}: {shape}, {peer['nnz'] / 1e6:.1f} M entries", "scikit-learn", peer, "1")
        for threads in thread_counts:
            ours = in_a_process("longtail", *arguments, str(threads), str(repeats))
            # Values may differ in the last bit, as norms are summed in another order; tests compare each.
            if ours["matrix"] != peer["matrix"] or not math.isclose(ours["sum"], peer["sum"], rel_tol=1e-6):
                sys.exit(f"the matrices differ: {ours} {peer}")
            first = 0 if threads == 1 else 1
            ratios = [peer["times"][i] / ours["times"][i] for i in (first, first + 2)]
            label = f"longtail, {threads} thread{'s'[: threads > 1]}"
            print_row("", label, ours, "**{:.1f}×**, **{:.1f}×**".format(*ratios))


def print_row(name: str, label: str, result: dict[str, Any], ratio: str) -> None:
    a, b, c, d = result["times"]
    peak = f"{result['peak'] / 1e6:.0f}"
    print(
        f"| {name} | {label} | {a:.2f}, {b:.2f} | {c:.2f}, {d:.2f} | {peak} | {ratio} |",
        flush=True,
    )


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        library, path, rows, name, threads, repeats = sys.argv[2:]
        print(json.dumps(measure(library, Path(path), int(rows) or None, name, int(threads), int(repeats))))
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--rows", type=int, help="only so many texts of each file")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    cores = os.cpu_count() or 1
    for path in arguments.data:
        compare(path, arguments.rows, arguments.repeats, [1, *([cores] if cores > 1 else [])])


if __name__ == "__main__":
    main()
