"""Small problems that every model can learn, and what compares models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from longtail import store

WORDS = ["red", "green", "blue", "round", "square", "fast", "slow", "old", "new", "warm", "cold", "dark"]


def matrix_problem(seed: int = 0, n: int = 120, d: int = 40, m: int = 24) -> tuple[Any, Any, Any]:
    """Features, labels that depend on them, and other rows to ask for. The last label is on no row."""
    rng = np.random.default_rng(seed)
    topics = rng.standard_normal((m, d)) * (rng.random((m, d)) < 0.2)
    label = rng.integers(0, m - 1, (n, 2))
    rows = topics[label].sum(axis=1) * (rng.random((n, d)) < 0.7)
    x = sp.csr_matrix(rows, dtype=np.float32)
    y = sp.csr_matrix((np.ones(2 * n, np.float32), (np.repeat(np.arange(n), 2), label.ravel())), shape=(n, m))
    y.data[:] = 1
    return x, y, sp.csr_matrix(topics[rng.integers(0, m, 70)] * (rng.random((70, d)) < 0.6), dtype=np.float32)


def text_problem() -> tuple[list[str], list[list[str]]]:
    """Texts whose words are their labels, among noise."""
    rng = np.random.default_rng(1)
    texts, labels = [], []
    for _ in range(80):
        own = rng.choice(len(WORDS), 2, replace=False)
        texts.append(" ".join([WORDS[i] for i in own] + [f"noise{j}" for j in rng.integers(0, 9, 3)]))
        labels.append([WORDS[i].upper() for i in own])
    return texts, labels


def same(a: Any, b: Any) -> None:
    """Two rankings, bit for bit."""
    assert a.labels.tobytes() == b.labels.tobytes()
    assert a.scores.tobytes() == b.scores.tobytes()


def same_model(a: Any, b: Any, tmp_path: Path) -> None:
    """Two models, array for array."""
    for name, model in (("a", a), ("b", b)):
        model.save(tmp_path / name)
    left, right = (store.read_folder(tmp_path / name) for name in ("a", "b"))
    assert left.arrays.keys() == right.arrays.keys()
    for name, array in left.arrays.items():
        assert np.array_equal(array, right.arrays[name]), name
    assert left.facts == right.facts


class Stop:
    """A reporter that notes phases and raises at the given call of update or begin."""

    def __init__(self, error: type[BaseException] | None = None, at_phase: int = 0, on_update: bool = False):
        self.error, self.at_phase, self.on_update = error, at_phase, on_update
        self.begun: list[tuple[str, int | None, str]] = []
        self.ended: list[bool] = []
        self.updates: list[tuple[int, int]] = []
        self.messages: list[str] = []

    def begin(self, name: str, total: int | None, unit: str) -> int:
        self.begun.append((name, total, unit))
        if self.error is not None and not self.on_update and len(self.begun) > self.at_phase:
            raise self.error
        return len(self.begun) - 1

    def update(self, handle: int, done: int) -> None:
        self.updates.append((handle, done))
        if self.error is not None and self.on_update:
            raise self.error

    def end(self, handle: int, ok: bool) -> None:
        self.ended.append(ok)

    def message(self, text: str) -> None:
        self.messages.append(text)
