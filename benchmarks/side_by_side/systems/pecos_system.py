"""PECOS's XR-Linear, predicting with hash chunks, its fastest format."""

from __future__ import annotations

import time
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pecos.xmc import Indexer, LabelEmbeddingFactory
from pecos.xmc.xlinear.model import XLinearModel

from .base import ARITY, BEAM, MAX_ITER, MAX_LEAF, THRESHOLD, TOL, TOP, C, System


class Pecos(System):
    settings: ClassVar = {
        "model": "XLinearModel",
        "nr_splits": ARITY,
        "max_leaf_size": MAX_LEAF,
        "Cp": C,
        "Cn": C,
        "eps": TOL,
        "max_iter": MAX_ITER,
        "threshold": THRESHOLD,
        "beam_size": BEAM,
        "weight_matrix_type": "HASH_CHUNKED",
    }

    def version(self) -> str:
        return version("libpecos")

    def prepare(self, folder: Path, x: Any, y: Any, threads: int) -> Any:
        return x, y.tocsc()

    def train(self, data: Any, threads: int, folder: Path) -> dict[str, float]:
        x, y = data
        began = time.perf_counter()
        embeddings = LabelEmbeddingFactory.create(y, x, method="pifa", threads=threads)
        embedded = time.perf_counter()
        sizes = {"nr_splits": ARITY, "max_leaf_size": MAX_LEAF, "seed": self.seed}
        chain = Indexer.gen(embeddings, indexer_type="hierarchicalkmeans", threads=threads, **sizes)
        del embeddings
        clustered = time.perf_counter()
        solver = {"Cp": C, "Cn": C, "eps": TOL, "max_iter": MAX_ITER, "threshold": THRESHOLD}
        self._model = XLinearModel.train(
            x, y, C=chain, nr_splits=ARITY, threads=threads, beam_size=BEAM, only_topk=TOP, **solver
        )
        return {
            "embed labels": embedded - began,
            "cluster labels": clustered - embedded,
            "solve": time.perf_counter() - clustered,
        }

    def train_text(self, texts: list[str], y: Any, threads: int) -> dict[str, float]:
        from sklearn.feature_extraction.text import TfidfVectorizer

        began = time.perf_counter()
        self._vectorizer = TfidfVectorizer(sublinear_tf=True, dtype=np.float32)
        x = self._vectorizer.fit_transform(texts)
        vectorized = time.perf_counter() - began
        return {"make features": vectorized, **self.train((x, y.tocsc()), threads, Path())}

    def text(self, text: str) -> Any:
        return self.single(self._vectorizer.transform([text]))

    def text_row(self, text: str) -> Any:
        return self._vectorizer.transform([text])

    def save(self, folder: Path) -> None:
        self._model.save(str(folder))

    def load(self, folder: Path) -> None:
        self._model = XLinearModel.load(str(folder), is_predict_only=True, weight_matrix_type="HASH_CHUNKED")

    def batch(self, rows: Any, threads: int) -> Any:
        return self._model.predict(rows, beam_size=BEAM, only_topk=TOP, threads=threads)

    def single(self, row: Any) -> Any:
        return self._model.predict(row, beam_size=BEAM, only_topk=TOP, threads=1)

    def lists(self, answer: Any, n_rows: int) -> tuple[Any, Any]:
        labels, scores = np.full((n_rows, TOP), -1, np.int32), np.zeros((n_rows, TOP), np.float32)
        for row in range(n_rows):
            begin, end = answer.indptr[row], answer.indptr[row + 1]
            best = np.argsort(-answer.data[begin:end], kind="stable")[:TOP]
            labels[row, : len(best)] = answer.indices[begin:end][best]
            scores[row, : len(best)] = answer.data[begin:end][best]
        return labels, scores


make = Pecos
