"""The same result every time: seeds, threads, instruction sets, folders, labels of groups."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from contract_base import Base
from problems import matrix_problem, same, same_model, text_problem

import longtail as lt
from longtail import store


class Repeats(Base):
    """The same result every time: seeds, threads, instruction sets, folders, labels of groups."""

    # ---- the same, always

    def test_deterministic_and_the_same_for_any_threads(self, tmp_path: Path) -> None:
        x, y, queries = matrix_problem()
        for params in self.variants:
            one = self.make(threads=1, seed=5, **params).fit(x, y)
            two = self.make(threads=2, seed=5, **params).fit(x, y)
            same_model(one, two, tmp_path)
            same_model(one, self.make(threads=3, seed=5, **params).fit(x, y), tmp_path)
        many = sp.vstack([queries] * 3).tocsr()
        same(one.predict(many, threads=1), one.predict(many, threads=3))

    def test_instruction_sets_give_the_same_model(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        x, y, queries = matrix_problem()
        monkeypatch.setenv("LONGTAIL_ISA", "portable")
        portable = self.make().fit(x, y)
        expected = portable.predict(sp.vstack([queries] * 2).tocsr())
        for isa in ("avx2", "avx512"):
            monkeypatch.setenv("LONGTAIL_ISA", isa)
            other = self.make().fit(x, y)
            same_model(portable, other, tmp_path)
            same(other.predict(sp.vstack([queries] * 2).tocsr()), expected)

    def test_predict_from_many_threads_at_once(self) -> None:
        queries = matrix_problem()[2]
        model = self.fitted()
        expected = model.predict(queries, k=4)
        wrong: list[Any] = []

        def ask(t: int) -> None:
            try:
                for i in range(60):
                    if i % 3 == 0:
                        same(model.predict(queries, k=4), expected)
                    else:
                        row, k = (7 * t + i) % 70, 1 + i % 4
                        one = model.predict(queries[[row]], k=k)
                        assert one.labels[0].tolist() == expected.labels[row, :k].tolist()
            except BaseException as error:
                wrong.append(error)

        team = [threading.Thread(target=ask, args=(t,)) for t in range(4)]
        for thread in team:
            thread.start()
        for thread in team:
            thread.join()
        assert wrong == []

    def test_sample_weight(self, tmp_path: Path) -> None:
        x, y, _ = matrix_problem()
        weight = np.ones(120)
        weight[::3] = 0
        kept = np.flatnonzero(weight)
        # Left out, but the labels stay those of Y.
        same_model(self.make().fit(x, y, sample_weight=weight), self.make().fit(x[kept], y[kept]), tmp_path)
        same_model(self.make().fit(x, y, sample_weight=np.ones(120)), self.make().fit(x, y), tmp_path)
        name, one, two, _ = self.number
        weighted = self.make(**{name: one}).fit(x, y, sample_weight=np.full(120, 2.0))
        same_model(weighted, self.make(**{name: two}).fit(x, y), tmp_path)
        same_model(
            self.make().fit(x, y, sample_weight=[2] * 120),
            self.make().fit(x, y, sample_weight=np.full(120, 2, dtype=np.int8)),
            tmp_path,
        )

    def test_refit_forgets(self, tmp_path: Path) -> None:
        x, y, _ = matrix_problem()
        texts, labels = text_problem()
        model = self.make().fit(texts, labels)
        model.fit(x, y)
        assert model.labels_ is None
        assert model.vectorizer_ is None
        same_model(model, self.make().fit(x, y), tmp_path)

    # ---- folders

    def test_save_and_load(self, tmp_path: Path) -> None:
        x, y, queries = matrix_problem()
        for i, params in enumerate(self.storage):
            model = self.make(**params).fit(x, y)
            path = tmp_path / f"m{i}"
            model.save(path)
            loaded = lt.load(path)
            assert type(loaded) is type(model)
            assert loaded.get_params() == model.get_params()
            assert loaded.describe() == model.describe()
            for options in ({}, {"k": 24, "search": "exact"}, {"k": 3, "only": [1, 2, 3]}):
                same(loaded.predict(queries, **options), model.predict(queries, **options))
            assert loaded.explain(queries[[0]], 3) == model.explain(queries[[0]], 3)
            same(lt.load(path, verify=False).predict(queries), model.predict(queries))
            loaded.save(tmp_path / "again")
            again = lt.load(tmp_path / "again")
            same(again.predict(queries), model.predict(queries))
            loaded.save(path)  # over the files that it is mapped from
            same(loaded.predict(queries), model.predict(queries))
            same(lt.load(path).predict(queries), model.predict(queries))

    def test_save_and_load_texts_and_names(self, tmp_path: Path) -> None:
        texts, labels = text_problem()
        model = self.make(vectorizer=lt.TextVectorizer(ngram_range=(1, 2))).fit(texts, labels)
        model.save(tmp_path / "m", evaluation={"P@1": 0.5})
        loaded = lt.load(tmp_path / "m")
        same(loaded.predict(texts), model.predict(texts))
        assert loaded.predict(texts).names() == model.predict(texts).names()
        assert loaded.evaluation_ == {"P@1": 0.5}
        assert loaded.labels_ == model.labels_
        assert loaded.get_params(deep=False)["vectorizer"].get_params() == model.vectorizer.get_params()
        assert loaded.explain(texts[0], "RED") == model.explain(texts[0], "RED")

    def test_load_in_a_new_process(self, tmp_path: Path) -> None:
        texts, labels = text_problem()
        model = self.make().fit(texts, labels)
        model.save(tmp_path / "m")
        code = (
            "import sys, json, longtail as lt\n"
            "r = lt.load(sys.argv[1]).predict(json.load(sys.stdin), k=3)\n"
            "print(json.dumps([r.names(), r.scores.tobytes().hex()]))\n"
        )
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code, str(tmp_path / "m")],
            input=json.dumps(texts),
            capture_output=True,
            text=True,
            check=True,
        )
        expected = model.predict(texts, k=3)
        assert json.loads(done.stdout) == [expected.names(), expected.scores.tobytes().hex()]

    def test_damaged_folders_are_refused(self, tmp_path: Path) -> None:
        model = self.fitted()
        path = tmp_path / "m"
        model.save(path)
        good = store.read_folder(path)

        def rewritten(**changes: Any) -> Path:
            parts = {
                "kind": good.kind,
                "params": good.params,
                "facts": good.facts,
                "arrays": dict(good.arrays),
                **changes,
            }
            store.write_folder(tmp_path / "bad", **parts)
            return tmp_path / "bad"

        changes: list[dict[str, Any]] = [
            {"kind": "Checkpoint"},
            {"kind": "Model"},
            {"facts": {}},
            {"arrays": {}},
        ]
        changes += [{"arrays": {n: a for n, a in good.arrays.items() if n != name}} for name in good.arrays]
        changes += [{"facts": {n: v for n, v in good.facts.items() if n != name}} for name in good.facts]
        changes += [
            {"facts": {**good.facts, name: value}}
            for name in good.facts
            for value in (None, -1, 2**40, "x", [], 1.5)
        ]
        changes += [
            {"params": {**good.params, name: {"no": "such"}}} for name in good.params if name != "tree"
        ]
        changes += [{"params": {**good.params, "unknown": 1}}]
        for change in changes:
            with pytest.raises(lt.ModelError) as caught:
                lt.load(rewritten(**change))
            assert str(tmp_path / "bad") in str(caught.value), change
        for file in sorted(path.glob("*.npy")):
            data = file.read_bytes()
            file.write_bytes(data[:-1])
            with pytest.raises(lt.ModelError):
                lt.load(path)
            if len(data) > 128:  # behind the header
                file.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
                with pytest.raises(lt.ModelError, match=file.stem):
                    lt.load(path)
            file.write_bytes(data)
        lt.load(path)

    def test_no_folder(self, tmp_path: Path) -> None:
        with pytest.raises(lt.ModelError, match="nothing"):
            lt.load(tmp_path / "nothing")
        (tmp_path / "file").write_text("x")
        with pytest.raises(lt.ModelError):
            lt.load(tmp_path / "file")
        with pytest.raises(lt.ModelError):
            self.fitted().save(tmp_path / "file")

    # ---- labels of groups

    def test_labels_of_groups(self, tmp_path: Path) -> None:
        """The same as training on what Eagle hands to the samples; also by way of a checkpoint."""
        x, y, queries = matrix_problem()
        groups = lt.groups.random_groups(120, 3, seed=2)
        known = lt.groups.merge_labels(groups, y)
        model = self.make().fit(x, groups=groups, group_labels=known, checkpoint=tmp_path / "point")
        expected = self.make().fit(x, lt.Eagle().assign(x, groups, known))
        same_model(model, expected, tmp_path)
        plain = self.make().fit(x, groups=groups, group_labels=known, eagle=lt.Eagle(T=20))
        same(
            plain.predict(queries),
            self.make().fit(x, lt.Eagle(T=20).assign(x, groups, known)).predict(queries),
        )
        texts, labels = text_problem()
        pairs = [labels[i] + labels[i + 1] for i in range(0, 80, 2)]
        named = self.make().fit(texts, groups=np.arange(80) // 2, group_labels=pairs)
        right = sum(a[0] in b for a, b in zip(named.predict(texts, k=1).names(), labels, strict=True))
        assert right > 0.9 * len(texts)
