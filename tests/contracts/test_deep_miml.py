"""DeepMIML keeps the contract of models; and what takes the place of the test on labels of groups, from which it learns
itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from contract import Contract
from problems import matrix_problem, same, same_model, text_problem

import longtail as lt

pytest.importorskip("torch")


class TestDeepMIML(Contract):
    storage = ({"weights": "f32"}, {"weights": "f16"}, {"tau": 0.0}, {"hidden": None})
    wrong = (
        ("hidden", 0, "None or a whole number in [1, 65536]"),
        ("concepts", 0, "a whole number in [1, 1024]"),
        ("tau", -1, "a number in [0, 1000000.0]"),
        ("loss", "hinge", "one of 'auto', 'binary', 'share'"),
        ("epochs", True, "a whole number in [1, 1000000]"),
        ("batch_size", 0, "a whole number in [1, 1000000]"),
        ("lr", 0, "a number in (0, 1000000.0]"),
        ("lr", float("nan"), "a number in (0, 1000000.0]"),
        ("lr", "1", "a number in (0, 1000000.0]"),
        ("weight_decay", -0.1, "a number in [0, 1000000.0]"),
        ("validation", 1, "a number in [0, 1)"),
        ("patience", 0, "a whole number in [1, 1000000]"),
        ("normalize", "yes", "True or False"),
        ("vectorizer", "tfidf", "None or a TextVectorizer"),
        ("weights", "int8", "one of 'f32', 'f16'"),
        ("seed", -1, "a whole number in [0, 9223372036854775807]"),
        ("threads", 0, "None or a whole number in [1, 4096]"),
        ("threads", 1.5, "None or a whole number in [1, 4096]"),
    )
    number = ("lr", 0.02, 0.04, 0.07)
    wrong_later = ("threads", 0)
    variants = ({}, {"validation": 0.2, "patience": 3}, {"hidden": None, "loss": "share"})
    slow: ClassVar[dict[str, Any]] = {"epochs": 30}
    endless: ClassVar[dict[str, Any]] = {"epochs": 1_000_000}

    def make(self, **params: Any) -> Any:
        own = {"hidden": 32, "concepts": 2, "epochs": 20, "lr": 0.02, "batch_size": 16, "validation": 0.0}
        return lt.DeepMIML(**{**own, **params})

    def test_labels_of_groups(self, tmp_path: Path) -> None:
        """Groups of one are samples; a checkpoint of groups resumes; groups of two teach single samples."""
        x, y, queries = matrix_problem()
        alone = self.make().fit(x, groups=np.arange(120), group_labels=y)
        same_model(alone, self.make().fit(x, y), tmp_path)
        groups = lt.groups.random_groups(120, 3, seed=2)
        known = lt.groups.merge_labels(groups, y)
        expected = self.make().fit(x, groups=groups, group_labels=known)
        for _ in range(2):
            model = self.make().fit(x, groups=groups, group_labels=known, checkpoint=tmp_path / "point")
            same_model(model, expected, tmp_path)
        with pytest.raises(lt.ModelError, match="checkpoint of another training: data was"):
            self.make().fit(x, groups=groups, group_labels=known * 2, checkpoint=tmp_path / "point")
        plain = self.make().fit(x, groups=groups, group_labels=known, eagle=lt.Eagle(T=20))
        assert plain.predict(queries).scores.tobytes() != model.predict(queries).scores.tobytes()
        texts, labels = text_problem()
        pairs = [labels[i] + labels[i + 1] for i in range(0, 80, 2)]
        named = self.make().fit(texts, groups=np.arange(80) // 2, group_labels=pairs)
        right = sum(a[0] in b for a, b in zip(named.predict(texts, k=1).names(), labels, strict=True))
        assert right > 0.9 * len(texts)

    def test_save_and_load_groups(self, tmp_path: Path) -> None:
        x, y, queries = matrix_problem()
        groups = sp.csr_matrix(np.random.default_rng(0).random((70, 20)) < 0.1)
        model = self.make().fit(x, y)
        model.save(tmp_path / "m")
        same(lt.load(tmp_path / "m").predict(queries, groups=groups), model.predict(queries, groups=groups))
