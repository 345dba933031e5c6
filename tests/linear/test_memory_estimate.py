"""What a training is said to need, beside what it takes."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import longtail as lt
from longtail import progress
from longtail.linear import memory
from longtail.linear.memory import free_memory, human_bytes

CLEAR_REFS = Path("/proc/self/clear_refs")

# Trains in a process of its own, whose peak is the training's.
MEASURE = """
import gc, json, re, sys
from pathlib import Path
import numpy as np, scipy.sparse as sp
import longtail as lt

def resident(which):
    return 1024 * int(re.search(which + r":\\s+(\\d+)", Path("/proc/self/status").read_text()).group(1))

rng = np.random.default_rng(0)
n, d, m, per_row = 60_000, 40_000, 3_000, 40
topics = rng.integers(0, d, (m, 60))
of_row = (rng.random((n, 3)) ** 2 * m).astype(np.int64)
words = topics[of_row[:, rng.integers(0, 3, per_row)], rng.integers(0, 60, (n, per_row))]
x = sp.csr_matrix((rng.random(words.size, np.float32) * SCALE, words.ravel(),
                   np.arange(0, words.size + 1, per_row)), shape=(n, d))
x.sum_duplicates()
y = sp.csr_matrix((np.ones(of_row.size, np.float32), of_row.ravel(), np.arange(0, of_row.size + 1, 3)), shape=(n, m))
y.sum_duplicates()
lt.LinearTree(max_iter=1).fit(x[:100], y[:100])  # what is imported and opened once
model = MODEL
estimate = model.memory_estimate(x, y).peak
gc.collect()
before = resident("VmRSS")
Path("/proc/self/clear_refs").write_text("5")
model.fit(x, y)
print(estimate, resident("VmHWM") - before)
"""


@pytest.mark.skipif(not CLEAR_REFS.exists(), reason="needs Linux's account of peak memory")
@pytest.mark.parametrize(
    ("model", "scale"),
    [
        ("lt.LinearTree(max_iter=5)", "1"),
        ("lt.LinearTree(max_iter=5, negatives='matched')", "100"),
        ("lt.LinearTree(max_iter=2, arity=2, weights='f32', trees=2)", "100"),
    ],
)
def test_the_estimate_is_above_the_peak_and_not_far_above(model: str, scale: str) -> None:
    script = MEASURE.replace("MODEL", model).replace("SCALE", scale)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    estimate, peak = map(int, done.stdout.split())
    assert peak > 30e6
    assert 0.9 * peak < estimate < 4 * peak


def problem() -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    x = sp.random(300, 80, 0.2, format="csr", dtype=np.float32, random_state=1)
    y = sp.csr_matrix((np.ones(300, np.float32), (np.arange(300), rng.integers(0, 40, 300))), shape=(300, 40))
    return x, y


def test_each_choice_costs_what_it_should() -> None:
    x, y = problem()

    def needs(**params: Any) -> Any:
        return lt.LinearTree(**{"max_leaf": 5, "threads": 1, **params}).memory_estimate(x, y)

    usual = needs()
    assert needs(weights="int8").weights < usual.weights < needs(weights="f32").weights
    assert needs(trees=3).weights > usual.weights
    assert needs(negatives="matched").negatives > usual.negatives == 0
    assert (usual.features, needs(normalize=False).features) == (4 * x.nnz, 0)
    assert usual.peak >= usual.labels + usual.features + usual.embeddings
    assert lt.OneVsRest().memory_estimate(x, y).embeddings == 0
    assert lt.LinearTree(tree=lt.trees.complete_tree(40)).memory_estimate(x, y).embeddings == 0
    assert lt.LinearTree().memory_estimate(x, y).embeddings > 0


class Listener:
    """Notes what is said and begun, in order."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def begin(self, name: str, total: int | None, unit: str) -> int:
        self.heard.append(name)
        return 0

    def update(self, handle: int, done: int) -> None: ...

    def end(self, handle: int, ok: bool) -> None: ...

    def message(self, text: str) -> None:
        self.heard.append(text)


def test_it_is_said_before_anything_else_begins() -> None:
    x, y = problem()
    listener = Listener()
    with progress.use(listener):
        lt.LinearTree(max_leaf=5).fit(x, y)
    assert listener.heard[0].startswith("memory: about ")
    assert len(listener.heard) > 2


def test_unknown_free_memory_warns_of_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = problem()
    monkeypatch.setattr(memory, "free_memory", lambda: None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "unknown free" in str(lt.LinearTree(max_leaf=5).fit(x, y).memory_estimate(x, y))


def test_words_and_what_is_free() -> None:
    assert [human_bytes(n) for n in (0, 999, 1536, 2_000_000, 3 * 10**12)] == [
        "0 B",
        "999 B",
        "1.5 kB",
        "2.0 MB",
        "3.0 TB",
    ]
    free = free_memory()
    assert free is None or free > 0
