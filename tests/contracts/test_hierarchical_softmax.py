"""HierarchicalSoftmax keeps the contract of models, where training on one thread is asked for; and what it promises
without."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from contract import Contract
from problems import matrix_problem, same_model

import longtail as lt


class TestHierarchicalSoftmax(Contract):
    wrong = (
        ("dim", 0, "a whole number in [1, 65536]"),
        ("epochs", 0, "a whole number in [1, 1000000]"),
        ("epochs", True, "a whole number in [1, 1000000]"),
        ("lr", 0, "a number in (0, 1000000.0]"),
        ("lr", float("nan"), "a number in (0, 1000000.0]"),
        ("lr", "1", "a number in (0, 1000000.0]"),
        ("tree", 3, "None or a LabelTree"),
        ("tradeoff", 2.5, "None or a number in [0, 2]"),
        ("word_ngrams", 0, "a whole number in [1, 100]"),
        ("min_count", 0, "a whole number in [1, 2147483647]"),
        ("buckets", 0, "a whole number in [1, 2147483647]"),
        (
            "subwords",
            (3, 2),
            "None or a pair (shortest, longest) of whole numbers, 1 <= shortest <= longest <= 100",
        ),
        ("split", "lines", "one of 'words', 'spaces'"),
        ("lowercase", "yes", "True or False"),
        ("pretrained", 3, "None or a path"),
        ("vectorizer", "tfidf", "None or a TextVectorizer"),
        ("weights", "f8", "one of 'f32', 'f16', 'int8'"),
        ("deterministic", "yes", "True or False"),
        ("seed", -1, "a whole number in [0, 9223372036854775807]"),
        ("threads", 0, "None or a whole number in [1, 4096]"),
        ("threads", 1.5, "None or a whole number in [1, 4096]"),
    )
    number = ("lr", 0.25, 0.5, 0.75)
    wrong_later = ("threads", 0)
    variants = ({}, {"word_ngrams": 1, "lr": 0.1})
    slow: ClassVar[dict[str, Any]] = {"epochs": 40}
    endless: ClassVar[dict[str, Any]] = {"epochs": 1_000_000}

    def make(self, **params: Any) -> Any:
        return lt.HierarchicalSoftmax(**{"dim": 24, "epochs": 60, "lr": 1.0, "deterministic": True, **params})


class TestWithoutLocks:
    """On several threads the result is not the same bits every time. What holds all the same:"""

    def fitted(self, threads: int, **params: Any) -> Any:
        x, y, _ = matrix_problem(3, n=4000, d=200, m=64)
        return lt.HierarchicalSoftmax(dim=24, epochs=10, threads=threads, **params).fit(x, y), x, y

    def test_one_thread_is_deterministic(self, tmp_path: Path) -> None:
        same_model(self.fitted(1)[0], self.fitted(1)[0], tmp_path)
        same_model(self.fitted(1)[0], self.fitted(3, deterministic=True)[0], tmp_path)

    def test_many_threads_learn_as_well(self) -> None:
        def precision(threads: int) -> float:
            model, x, y = self.fitted(threads)
            return lt.metrics.evaluate(model.predict(x, k=1), y, k=(1,))["P@1"]

        one, four = precision(1), precision(4)
        assert one > 0.8
        assert abs(one - four) < 0.05

    def test_starts_and_trees_do_not_depend_on_threads(self) -> None:
        one, four = self.fitted(1, lr=1e-30)[0], self.fitted(4, lr=1e-30)[0]
        assert one.trees_[0] == four.trees_[0]
        assert np.allclose(one._inputs.data, four._inputs.data, atol=1e-20)
        assert abs(one.training_stats_["losses"][0] - four.training_stats_["losses"][0]) < 1e-9
