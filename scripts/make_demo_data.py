"""Makes the data set that ships with longtail: a compact cut of WordNet 3.0.

    python scripts/make_demo_data.py ../shared/data/wordnet-hypernyms src/longtail/demo

A row is the definition of a concept ("lion, king of beasts: large gregarious predatory feline …"); its
labels are all broader concepts ("big cat", "feline", "carnivore", "mammal", …). The source folder holds
trn.txt and tst.txt (one text a line), trn_Y.npz and tst_Y.npz (SciPy CSR) and lbl.txt ("name, synonym, …:
definition"). The output is train.jsonl.gz and test.jsonl.gz, one {"text", "labels"} a line, the same bytes
on every run.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import scipy.sparse as sp

TRAIN_ROWS = 40_000
TEST_ROWS = 8_000
MIN_EXAMPLES = 2  # a label with fewer training rows in the cut is left out
WORDS_OF_GLOSS = 6


def short_names(lines: list[str]) -> list[str]:
    """A short, unique name for each label.

    The first synonym; where labels share it, also the start of the definition: "bank (sloping land,
    especially the slope beside ...)"; and a number if even that is shared.
    """
    first = [line.split(":", 1)[0].split(",")[0].strip() for line in lines]
    shared = Counter(first)
    names = []
    for line, name in zip(lines, first, strict=True):
        if shared[name] > 1:
            name = f"{name} ({start_of_gloss(line)})"
        names.append(name)
    seen: Counter[str] = Counter()
    unique = []
    for name in names:
        seen[name] += 1
        unique.append(name if seen[name] == 1 else f"{name} #{seen[name]}")
    if len(set(unique)) != len(unique):
        raise SystemExit("two labels have the same name")
    return unique


def start_of_gloss(line: str) -> str:
    gloss = line.split(":", 1)[1].split(";")[0]
    words = (re.sub(r"\([^()]*\)", "", gloss).strip() or gloss).split()
    start = " ".join(words[:WORDS_OF_GLOSS]).strip(" ,.()")
    return f"{start} ..." if len(words) > WORDS_OF_GLOSS else start


def read_lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def choose_rows(n: int, wanted: int, seed: int) -> np.ndarray:
    return np.sort(np.random.default_rng(seed).permutation(n)[:wanted])


def write(path: Path, texts: list[str], Y: sp.csr_matrix, names: list[str], kept: np.ndarray) -> int:
    """Writes the rows that have a kept label; gives their number."""
    rows = 0
    with (
        path.open("wb") as raw,
        gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=9, mtime=0) as out,
    ):
        for i, text in enumerate(texts):
            ids = [j for j in Y.indices[Y.indptr[i] : Y.indptr[i + 1]] if kept[j]]
            if ids:
                example = {"text": text, "labels": [names[j] for j in ids]}
                out.write((json.dumps(example, ensure_ascii=False) + "\n").encode())
                rows += 1
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    args = parser.parse_args()

    names = short_names(read_lines(args.source / "lbl.txt"))
    cut = {}
    for split, rows, seed in (("trn", TRAIN_ROWS, 0), ("tst", TEST_ROWS, 1)):
        texts = read_lines(args.source / f"{split}.txt")
        chosen = choose_rows(len(texts), rows, seed)
        cut[split] = [texts[i] for i in chosen], sp.load_npz(args.source / f"{split}_Y.npz").tocsr()[chosen]
    kept = np.asarray((cut["trn"][1] > 0).sum(axis=0)).ravel() >= MIN_EXAMPLES
    for split, file in (("trn", "train.jsonl.gz"), ("tst", "test.jsonl.gz")):
        path = args.target / file
        rows = write(path, *cut[split], names, kept)
        print(f"{path}: {rows:,} rows, {path.stat().st_size:,} bytes")
    print(f"{int(kept.sum()):,} labels")


if __name__ == "__main__":
    main()
