"""Deep-MIML against co-attention: networks trained on groups, measured on single samples.

Digits: scikit-learn's, 1,200 to train on and the others to test, less the mean of the former; 1,000 groups drawn from
the 1,200, so that samples are in many groups; labels merged as lists. Sentences: texts of at least two sentences are
groups of sentences, with the ten most frequent labels of the set but for those of over a tenth of the rows; tested on
the first sentences of other texts that have one of these labels; 6,000 texts at most, a fifth of them for the test.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import longtail as lt

from .common import Points

TRAIN, GROUPS = 1200, 1000
SIZES = (50, 4)
N_LABELS, TEXTS = 10, 6000
# The mask's strength and what its label embeddings come from.
WAYS: dict[str, tuple[float, Any]] = {
    "Deep-MIML": (0.0, None),
    "co-attention": (1.0, None),
    "co-attention, EAGLE-0": (1.0, lt.Eagle(T=0)),
    "co-attention, EAGLE": (1.0, lt.Eagle(T=20)),
}


@dataclass(frozen=True)
class Part:
    """Samples, the groups and their labels; samples to test on and which labels are right (one or more)."""

    x: Any
    groups: Any
    known: Any
    x_test: Any
    y_test: Any


def digits(size: int, seed: int) -> Part:
    """Groups of so many digits."""
    from sklearn.datasets import load_digits

    data, label = load_digits(return_X_y=True)
    random = np.random.default_rng(seed)
    order = random.permutation(len(data))
    x = (data - data[order[:TRAIN]].mean(axis=0)).astype(np.float32)
    y = sp.csr_matrix(np.eye(10, dtype=np.float32)[label])
    members = np.stack([random.choice(TRAIN, size, replace=False) for _ in range(GROUPS)])
    entries = np.ones(members.size, np.float32), (members.ravel(), np.repeat(np.arange(GROUPS), size))
    groups = sp.csr_matrix(entries, shape=(TRAIN, GROUPS))
    train, test = order[:TRAIN], order[TRAIN:]
    return Part(x[train], groups, lt.groups.merge_labels(groups, y[train]), x[test], y[test])


def sentences(folder: Path, seed: int) -> Part:
    """Sentences in the groups that their texts are."""
    data = lt.data.load(folder, split="trn")
    frequency = np.bincount(data.Y.indices, minlength=data.Y.shape[1])
    frequency[frequency > data.n_rows / 10] = 0
    labels = np.argsort(-frequency, kind="stable")[:N_LABELS]
    y = data.Y[:, labels]
    pieces = [[s for s in re.split(r"(?<=[.!?])\s+", text) if len(s.split()) > 2] for text in data.texts]
    rows = [i for i in np.flatnonzero(np.diff(y.indptr)) if len(pieces[i]) >= 2]
    order = np.random.default_rng(seed).permutation(rows)[:TEXTS]
    test, train = np.split(order, [len(order) // 5])
    texts = [sentence for i in train for sentence in pieces[i]]
    group = np.repeat(np.arange(len(train)), [len(pieces[i]) for i in train])
    vectorizer = lt.TextVectorizer(min_df=3)
    x = vectorizer.fit_transform(texts)
    x_test = vectorizer.transform([pieces[i][0] for i in test])
    return Part(x, group, y[train], x_test, y[test])


def measure(part: Part, way: str, seed: int, epochs: int) -> dict[str, Any]:
    """Trains and ranks the single samples of the test."""
    tau, eagle = WAYS[way]
    model = lt.DeepMIML(tau=tau, epochs=epochs, validation=0.0, seed=seed)
    model.fit(part.x, groups=part.groups, group_labels=part.known, eagle=eagle)
    best = model.predict(part.x_test, k=1).labels[:, 0]
    right = np.asarray(part.y_test[np.arange(len(best)), best]).ravel() > 0
    return {"accuracy": round(100 * float(right.mean()), 2), "loss": model.loss_}


def run(seeds: int, data: Path | None, ways: list[str]) -> None:
    """All points: digits without data, else sentences of a text set."""
    points = Points("networks")
    for seed in range(seeds):
        for size in SIZES if data is None else (0,):
            for way in ways:
                problem, epochs = ("digits", 100) if data is None else (data.name, 20)
                point = {"network": problem, "size": size, "way": way, "seed": seed}
                if points.get(point) is None:
                    part = digits(size, seed) if data is None else sentences(data, seed)
                    points.put(point, measure(part, way, seed, epochs))
