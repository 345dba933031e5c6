"""Random and tampered input for groups: labels of samples or a LongtailError, never anything else."""

from __future__ import annotations

import io
import json
import warnings

import numpy as np
import scipy.sparse as sp

import longtail as lt
from longtail.errors import LongtailError

ODD_VALUES = [-(2**31), -2, -1, 0, 1, 2, 2**30, 2**31 - 1]
ODD_JSON = [
    None,
    True,
    -1,
    0,
    3,
    1.5,
    1e400,
    "",
    "a",
    [],
    {},
    [[]],
    {"text": "x"},
    {"features": {"1": 2}},
    ["a", 1],
    2**70,
]


def tampered(matrix, r):
    """With an array of the matrix changed in one place."""
    which = str(r.choice(["indices", "indptr", "data"]))
    array = getattr(matrix, which)
    if len(array):
        array[r.integers(len(array))] = r.choice(ODD_VALUES)
    return matrix


def fuzz_assign(r):
    n, d, m, n_labels = (int(v) for v in r.integers(0, [30, 9, 12, 8]))
    x = r.choice([0, 0, 0, 1, -1, 0.5, 1e-44, 1e-20, 3e38, -3e38], size=(n, d)).astype(np.float32)
    if r.random() < 0.1 and x.size:
        x.reshape(-1)[r.integers(x.size)] = r.choice([np.nan, np.inf])
    y1 = sp.csr_matrix((r.random((n, m)) < 0.2).astype(np.float32))
    y2 = sp.csr_matrix(r.integers(0, 4, (m, n_labels)) * (r.random((m, n_labels)) < 0.4), dtype=np.float32)
    parts = [x if r.random() < 0.4 else sp.csr_matrix(x), y1, y2]
    for i in range(3):
        if r.random() < 0.1 and sp.issparse(parts[i]):
            parts[i] = tampered(parts[i], r)
    steps = None if r.random() < 0.5 else int(r.integers(0, 30))
    eagle = lt.Eagle(steps, float(r.choice([0.1, 1e-9, 1e6])), threads=int(r.integers(1, 4)))
    y = eagle.assign(*parts)
    assert y.shape == (n, n_labels)
    assert (y.data == 1).all()
    e = eagle.label_embeddings_
    assert e.shape == (n_labels, d)
    assert np.isfinite(e.data if sp.issparse(e) else e).all()
    assert (y > lt.groups.everyone(y1, y2)).nnz == 0


def fuzz_lines(r):
    """Nested JSON lines, whole or cut, with odd values."""
    lines = []
    for _ in range(int(r.integers(1, 4))):
        group = {"labels": ["a", "b", "b"], "samples": [{"text": "one"}, "two"]}
        for key in ("labels", "samples", "other"):
            if r.random() < 0.3:
                group[key] = ODD_JSON[r.integers(len(ODD_JSON))]
        if r.random() < 0.3 and isinstance(group["samples"], list):
            group["samples"] = [*group["samples"], ODD_JSON[r.integers(len(ODD_JSON))]]
        lines.append(json.dumps(group))
    text = ("\n".join(lines) + "\n").encode()
    if r.random() < 0.4:
        at = int(r.integers(len(text)))
        text = text[:at] + bytes([r.integers(256)]) + text[at + int(r.integers(0, 3)) :]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lt.data.RepairWarning)
        data = lt.data.load(io.BytesIO(text), format="jsonl", block_bytes=int(r.choice([16, 1 << 20])))
    assert data.groups is None or data.groups.n_samples == data.n_rows


TARGETS = [fuzz_assign, fuzz_lines]


def run(n: int, seed: int) -> dict[str, int]:
    """n inputs; how many were accepted and how many refused."""
    counts = {"accepted": 0, "refused": 0}
    for i in range(n):
        r = np.random.default_rng([seed, i])
        try:
            TARGETS[i % len(TARGETS)](r)
            counts["accepted"] += 1
        except LongtailError:
            counts["refused"] += 1
    return counts


if __name__ == "__main__":
    import sys

    print(
        run(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    )
