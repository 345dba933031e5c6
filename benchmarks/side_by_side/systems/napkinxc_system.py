"""napkinXC's probabilistic label tree, with its loss set to the one that the others use.

It finds the exact best labels, as by default: its beam search gives hundreds of labels, whatever ``top_k`` says.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

from napkinxc.models import PLT

from .base import ARITY, MAX_ITER, MAX_LEAF, THRESHOLD, TOL, TOP, C, System, lists_of_pairs


class NapkinXC(System):
    settings: ClassVar = {
        "model": "PLT",
        "arity": ARITY,
        "max_leaves": MAX_LEAF,
        "loss": "l2",
        "liblinear_c": C,
        "liblinear_eps": TOL,
        "liblinear_max_iter": MAX_ITER,
        "weights_threshold": THRESHOLD,
        "tree_search_type": "exact",
    }

    def version(self) -> str:
        return version("napkinxc")

    def _new(self, folder: Path, threads: int) -> PLT:
        settings = {name: value for name, value in self.settings.items() if name != "model"}
        return PLT(str(folder), seed=self.seed, threads=threads, **settings)

    def train(self, data: Any, threads: int, folder: Path) -> dict[str, float]:
        self._new(folder, threads).fit(*data)  # writes the model
        return {}

    def save(self, folder: Path) -> None: ...

    def load(self, folder: Path) -> None:
        self._model = self._new(folder, 1)
        self._model.load()
        self._threads = 1

    def batch(self, rows: Any, threads: int) -> Any:
        self._use(threads)
        return self._model.predict_proba(rows, top_k=TOP)

    def single(self, row: Any) -> Any:
        self._use(1)
        return self._model.predict_proba(row, top_k=TOP)

    def _use(self, threads: int) -> None:
        if threads != self._threads:
            self._model.set_params(threads=threads)
            self._threads = threads

    def lists(self, answer: Any, n_rows: int) -> tuple[Any, Any]:
        return lists_of_pairs(answer)


make = NapkinXC
