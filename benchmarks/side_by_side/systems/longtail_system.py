"""longtail through its public API."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, ClassVar

import longtail as lt
from longtail.progress import use

from .base import ARITY, BEAM, MAX_ITER, MAX_LEAF, THRESHOLD, TOL, TOP, C, System

TEXT_PHASES = dict.fromkeys(("read texts", "order terms", "count terms"), "make features")


class _Phases:
    """A reporter that adds up seconds by name of phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._open: dict[int, tuple[str, float]] = {}

    def begin(self, name: str, total: int | None, unit: str) -> int:
        handle = len(self.seconds) + len(self._open) + 1
        kind = "solve" if name.startswith("train ") else TEXT_PHASES.get(name, name)
        self._open[handle] = (kind, time.perf_counter())
        return handle

    def update(self, handle: int, done: int) -> None: ...

    def end(self, handle: int, ok: bool) -> None:
        name, began = self._open.pop(handle)
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - began

    def message(self, text: str) -> None: ...


class Longtail(System):
    settings: ClassVar = {
        "model": "LinearTree",
        "arity": ARITY,
        "max_leaf": MAX_LEAF,
        "C": C,
        "tol": TOL,
        "max_iter": MAX_ITER,
        "threshold": THRESHOLD,
        "beam": BEAM,
    }

    def version(self) -> str:
        return f"{lt.__version__} ({lt._native.active_isa()})"

    def train(self, data: Any, threads: int, folder: Path) -> dict[str, float]:
        return self._fit(*data, threads)

    def train_text(self, texts: list[str], y: Any, threads: int) -> dict[str, float]:
        return self._fit(texts, y, threads, vectorizer=lt.TextVectorizer(sublinear_tf=True))

    def _fit(self, x: Any, y: Any, threads: int, **more: Any) -> dict[str, float]:
        self._model = lt.LinearTree(
            arity=ARITY,
            max_leaf=MAX_LEAF,
            C=C,
            tol=TOL,
            max_iter=MAX_ITER,
            threshold=THRESHOLD,
            beam=BEAM,
            seed=self.seed,
            threads=threads,
            **more,
        )
        with use(_Phases()) as phases:
            self._model.fit(x, y)
        return phases.seconds

    def save(self, folder: Path) -> None:
        self._model.save(folder)

    def load(self, folder: Path) -> None:
        self._model = lt.load(folder)

    def batch(self, rows: Any, threads: int) -> Any:
        return self._model.predict(rows, k=TOP, threads=threads)

    def single(self, row: Any) -> Any:
        return self._model.predict(row, k=TOP)

    def text(self, text: str) -> Any:
        return self._model.predict(text, k=TOP)

    def text_row(self, text: str) -> Any:
        return self._model.vectorizer_.transform([text])

    def lists(self, answer: Any, n_rows: int) -> tuple[Any, Any]:
        return answer.labels, answer.scores


make = Longtail
