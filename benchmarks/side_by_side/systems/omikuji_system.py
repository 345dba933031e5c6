"""omikuji with one tree and otherwise its defaults. It answers one row a call, so a batch is a loop."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

import omikuji
from omikuji._libomikuji import ffi, lib

from .base import BEAM, TOP, System, lists_of_pairs


@contextmanager
def _quietly() -> Iterator[None]:
    """Its progress bars and log lines go nowhere."""
    sys.stdout.flush()
    kept = os.dup(1), os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept[0], 1)
        os.dup2(kept[1], 2)
        for handle in (*kept, nowhere):
            os.close(handle)


class Omikuji(System):
    settings: ClassVar = {
        "model": "Model",
        "n_trees": 1,
        "cluster_k": 2,
        "min_branch_size": 100,
        "linear_c": 1.0,
        "linear_eps": 0.1,
        "linear_max_iter": 20,
        "linear_weight_threshold": 0.1,
        "beam_size": BEAM,
    }

    def version(self) -> str:
        return version("omikuji")

    def prepare(self, folder: Path, x: Any, y: Any, threads: int) -> Any:
        # As Model.train_on_data does, in two steps, so that reading the file is not counted as training.
        pool = lib.init_omikuji_thread_pool(threads)
        with _quietly():
            data = lib.load_omikuji_data_set(ffi.new("char[]", str(folder / "train.txt").encode()), pool)
        if data == ffi.NULL:
            raise RuntimeError(f"omikuji could not read {folder / 'train.txt'}")
        return data, pool

    def train(self, data: Any, threads: int, folder: Path) -> dict[str, float]:
        params = omikuji.Model.default_hyper_param()
        params.n_trees = 1
        with _quietly():
            self._model = omikuji.Model(lib.train_omikuji_model(data[0], params, data[1]))
        return {}

    def save(self, folder: Path) -> None:
        with _quietly():
            self._model.save(str(folder))

    def load(self, folder: Path) -> None:
        with _quietly():
            self._model = omikuji.Model.load(str(folder))
        self._model.init_prediction_thread_pool(1)

    def rows(self, x: Any) -> Any:
        return [self.row(x, at) for at in range(x.shape[0])]

    def row(self, x: Any, at: int) -> Any:
        begin, end = x.indptr[at], x.indptr[at + 1]
        return list(zip(x.indices[begin:end].tolist(), x.data[begin:end].tolist(), strict=True))

    def batch(self, rows: Any, threads: int) -> Any:
        if threads == 1:
            return [self.single(row) for row in rows]
        with ThreadPoolExecutor(threads) as team:
            return list(team.map(self.single, rows))

    def single(self, row: Any) -> Any:
        return self._model.predict(row, beam_size=BEAM, top_k=TOP)

    def lists(self, answer: Any, n_rows: int) -> tuple[Any, Any]:
        return lists_of_pairs(answer)


make = Omikuji
