"""HierarchicalSoftmax beside the official fastText: the same parameters, the same texts, the same precision, sooner.

    python benchmarks/softmax_speed.py FOLDER... --fasttext PYTHON [--epochs E] [--threads T...]

A FOLDER has trn.txt and tst.txt with a text a line (or trn_X.npz and tst_X.npz, whose columns become words), and label
matrices trn_Y.npz and tst_Y.npz. PYTHON is the interpreter of an environment that has the package fasttext. Both sides
read the same shuffled examples, cut at white space; every measurement is a process of its own. The time of an epoch is
that of E epochs less that of one, divided by E - 1, for both sides. Ratios are longtail's over fastText's: below 1 is
faster. "all" is everything from the texts to the trained model.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PARAMS: dict[str, Any] = {"dim": 128, "lr": 0.5, "word_ngrams": 2, "min_count": 2, "buckets": 2_000_000}

PEER = """
import sys, time, json, fasttext
fasttext.FastText.eprint = lambda *a: None
train, test, epochs, threads, p = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), json.loads(sys.argv[5])
begin, cpu = time.perf_counter(), time.process_time()
model = fasttext.train_supervised(input=train, epoch=epochs, thread=threads, loss="hs", verbose=0, dim=p["dim"],
    lr=p["lr"], wordNgrams=p["word_ngrams"], minCount=p["min_count"], bucket=p["buckets"])
seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
found = []
for line in open(test, encoding="utf-8"):
    best = model.f.predict(line, 1, 0.0, "strict")
    found.append(int(best[0][1][9:]) if best else -1)
print(json.dumps({"seconds": seconds, "cpu": cpu, "found": found}))
"""


def read_texts(folder: Path, part: str) -> list[str]:
    if (folder / f"{part}.txt").exists():
        with (folder / f"{part}.txt").open(encoding="utf-8") as file:
            return [" ".join(line.split()) for line in file]
    import scipy.sparse as sp

    x = sp.load_npz(folder / f"{part}_X.npz").tocsr()
    rows = zip(x.indptr[:-1], x.indptr[1:], strict=True)
    return [" ".join(f"f{j}" for j in x.indices[a:b]) for a, b in rows]


def write_examples(folder: Path, home: Path) -> None:
    """train.ft and test.txt as fastText reads them, examples in random order."""
    import scipy.sparse as sp

    y = sp.load_npz(folder / "trn_Y.npz").tocsr()
    texts = read_texts(folder, "trn")
    order = list(range(len(texts)))
    random.Random(0).shuffle(order)
    with (home / "train.ft").open("w", encoding="utf-8") as file:
        for i in order:
            names = [f"__label__{j}" for j in y.indices[y.indptr[i] : y.indptr[i + 1]]]
            file.write(" ".join([*names, texts[i]]) + "\n")
    (home / "test.txt").write_text("\n".join(read_texts(folder, "tst")) + "\n", encoding="utf-8")
    (home / "n_labels").write_text(str(y.shape[1]))


def ours(home: Path, epochs: int, threads: int) -> dict[str, Any]:
    import longtail as lt

    texts, labels = [], []
    with (home / "train.ft").open(encoding="utf-8") as file:
        for line in file:
            words = line.split()
            n = next((i for i, w in enumerate(words) if not w.startswith("__label__")), len(words))
            labels.append([int(w[9:]) for w in words[:n]])
            texts.append(" ".join(words[n:]))
    y, _ = lt.labels.encode(labels)
    tests = (home / "test.txt").read_text(encoding="utf-8").split("\n")[:-1]
    begin, cpu = time.perf_counter(), time.process_time()
    model = lt.HierarchicalSoftmax(**PARAMS, split="spaces", lowercase=False, epochs=epochs, threads=threads)
    model.fit(texts, y)
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    return {"seconds": seconds, "cpu": cpu, "found": model.predict(tests, k=1).labels[:, 0].tolist()}


def measure(side: str, home: Path, epochs: int, threads: int, python: str) -> dict[str, Any]:
    numbers = [str(epochs), str(threads)]
    if side == "fastText":
        files = [str(home / "train.ft"), str(home / "test.txt")]
        command = [python, "-c", PEER, *files, *numbers, json.dumps(PARAMS)]
    else:
        command = [sys.executable, __file__, "--one", str(home), *numbers]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    result: dict[str, Any] = json.loads(done.stdout.strip().split("\n")[-1])
    return result


def precision(found: list[int], folder: Path) -> float:
    import scipy.sparse as sp

    y = sp.load_npz(folder / "tst_Y.npz").tocsr()
    own = zip(y.indptr[:-1], y.indptr[1:], found, strict=True)
    return 100 * sum(label in y.indices[a:b] for a, b, label in own) / len(found)


def compare(folder: Path, epochs: int, thread_counts: list[int], python: str) -> None:
    with tempfile.TemporaryDirectory() as path:
        home = Path(path)
        write_examples(folder, home)
        for threads in thread_counts:
            per_epoch, whole = {}, {}
            for side in ("fastText", "longtail"):
                one = measure(side, home, 1, threads, python)["cpu"]
                result = measure(side, home, epochs, threads, python)
                per_epoch[side], whole[side] = (result["cpu"] - one) / (epochs - 1), result["seconds"]
                ratios = ""
                if side == "longtail":
                    ratio = [times["longtail"] / times["fastText"] for times in (per_epoch, whole)]
                    ratios = "**{:.2f}**, **{:.2f}**".format(*ratio)
                print(
                    f"| {folder.name} | {threads} | {side} | {per_epoch[side]:.2f} | {whole[side]:.2f} | "
                    f"{precision(result['found'], folder):.2f} | {ratios} |",
                    flush=True,
                )


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(ours(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))))
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--fasttext", required=True, metavar="PYTHON")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    arguments = parser.parse_args()
    print("| set | threads | | CPU s an epoch | s in all | P@1 | ratios: epoch, all |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for folder in arguments.folders:
        compare(folder, max(arguments.epochs, 2), arguments.threads, arguments.fasttext)


if __name__ == "__main__":
    main()
