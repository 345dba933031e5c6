"""Precision, time and size of the linear models on data folders (as in docs/how-to/formats.md: trn_…, tst_…).

    python benchmarks/precision.py ../shared/data/eurlex-4k --models tree,three,matched,flat --seeds 3

Feature sets are L2-normalised, texts go through TextVectorizer(sublinear_tf=True). Every line is one training from
scratch on all cores; with several seeds their mean and, in brackets, their standard deviation.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import longtail as lt

MODELS = {
    "tree": ("LinearTree()", lambda seed: lt.LinearTree(seed=seed)),
    "three": ("LinearTree(trees=3)", lambda seed: lt.LinearTree(trees=3, seed=seed)),
    "matched": (
        'LinearTree(negatives="matched")',
        lambda seed: lt.LinearTree(negatives="matched", seed=seed),
    ),
    "parabel": ("LinearTree.parabel()", lambda seed: lt.LinearTree.parabel(seed=seed)),
    "f32": ('LinearTree(weights="f32")', lambda seed: lt.LinearTree(weights="f32", seed=seed)),
    "int8": ('LinearTree(weights="int8")', lambda seed: lt.LinearTree(weights="int8", seed=seed)),
    "flat": ("OneVsRest()", lambda seed: lt.OneVsRest(seed=seed)),
}


def unit_rows(x: Any) -> Any:
    """The rows of a sparse matrix at length 1."""
    norms = np.sqrt(np.asarray(x.multiply(x).sum(axis=1)).ravel())
    return sp.diags(1 / np.maximum(norms, 1e-30)).dot(x).tocsr().astype(np.float32)


def features(folder: Path, logarithm: bool = False) -> tuple[Any, Any, Any, Any]:
    """Training and test features and labels; of feature sets the logarithm of 1 + the values, if wanted."""
    train, test = lt.data.load(folder, split="trn"), lt.data.load(folder, split="tst")
    if train.texts is None:
        if logarithm:
            train.X.data, test.X.data = np.log1p(train.X.data), np.log1p(test.X.data)
        return unit_rows(train.X), train.Y, unit_rows(test.X), test.Y
    vectorizer = lt.TextVectorizer(sublinear_tf=True)
    return vectorizer.fit_transform(train.texts), train.Y, vectorizer.transform(test.texts), test.Y


def main() -> None:
    """Trains, ranks, measures, prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--models", default="tree,three,flat", help=f"of {', '.join(MODELS)}")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--log", action="store_true", help="log(1 + value) of feature sets")
    args = parser.parse_args()
    for folder in args.folders:
        x, y, x_test, y_test = features(folder, args.log)
        print(f"{folder.name}: {x.shape[0]:,} rows, {x.shape[1]:,} features, {y.shape[1]:,} labels")
        for name in args.models.split(","):
            words, make = MODELS[name]
            measured = []
            for seed in range(args.seeds):
                began = time.perf_counter()
                model = make(seed).fit(x, y)
                trained = time.perf_counter() - began
                began = time.perf_counter()
                ranking = model.predict(x_test, k=5)
                ranked = (time.perf_counter() - began) / x_test.shape[0] * 1e6
                report = lt.metrics.evaluate(ranking, y_test)
                precision = [100 * report[f"P@{k}"] for k in (1, 3, 5)]
                measured.append([*precision, trained, ranked, model.describe()["bytes"] / 1e6])
            mean, spread = np.mean(measured, axis=0), np.std(measured, axis=0)
            p = " / ".join(f"{m:.2f} ({s:.2f})" for m, s in zip(mean[:3], spread[:3], strict=True))
            print(
                f"  {words:32s} P@1/3/5 {p}   train {mean[3]:6.2f} s   rank {mean[4]:6.1f} µs/row   "
                f"{mean[5]:6.1f} MB",
                flush=True,
            )


if __name__ == "__main__":
    main()
