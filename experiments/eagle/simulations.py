"""Two simulations: what assignment gains, by how much samples of a group differ.

g = 10 samples a group, n = 1000 samples, d = 10 features, l = 5 responses or labels. Ratios to what known
correspondences give for the regression, shares of wrong samples for the classification: lower is better.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

import longtail as lt

from .common import Points

G, N, D, L = 10, 1000, 10, 5
SIGMAS = (0.0, 0.1, 1.0, 5.0, 10.0)


def regression(sigma: float, seed: int) -> dict[str, float]:
    """Responses of a group come without their samples. First by means of groups, then each response is given to the
    sample whose residual is least, and fitted again."""
    r = np.random.default_rng(seed)
    truth = r.standard_normal((D, L))
    x = np.repeat(r.standard_normal((N // G, D)), G, axis=0) + sigma * r.standard_normal((N, D))
    y = x @ truth + r.standard_normal((N, L))
    groups = x.reshape(-1, G, D), y.reshape(-1, G, L)
    known = _least_squares(x, y)
    without = _least_squares(groups[0].sum(axis=1), groups[1].sum(axis=1))
    residuals = ((groups[1][:, :, None] - (groups[0] @ without)[:, None]) ** 2).sum(
        axis=3
    )  # response × sample
    given = residuals.argmin(axis=2)
    assigned = _least_squares(np.take_along_axis(groups[0], given[:, :, None], axis=1).reshape(N, D), y)
    error = np.linalg.norm(known - truth)
    return {
        name: round(float(np.linalg.norm(b - truth) / error), 4)
        for name, b in (("without", without), ("with", assigned))
    }


def _least_squares(x: Any, y: Any) -> Any:
    return np.linalg.lstsq(x, y, rcond=None)[0]


def classification(sigma: float, seed: int) -> dict[str, float]:
    """Samples lie about the vectors of their labels; the larger sigma, the more of a group have the same label. Every
    estimate is a vector per label, and a sample gets the nearest. First by sums of groups, each as often as it has the
    label; then each label is given to its nearest samples in every group, and summed again."""
    r = np.random.default_rng(seed)
    vectors = r.standard_normal((L, D))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    kinds = []
    for _ in range(2 * N // G):
        p = np.ones(L)
        p[r.integers(L)] = np.exp(sigma)
        kinds.append(r.choice(L, G, p=p / p.sum()))
    x = vectors[np.concatenate(kinds)] + 0.1 * r.standard_normal((2 * N, D))
    label = (x @ vectors.T).argmax(axis=1)
    train, y = x[:N], sp.csr_matrix(np.eye(L)[label[:N]])
    groups = np.arange(N) // G
    counts = lt.groups.merge_labels(groups, y)
    without = counts.toarray()[groups].T @ train
    scores = train @ (without / np.linalg.norm(without, axis=1, keepdims=True)).T
    rank = np.argsort(np.argsort(-scores.reshape(-1, G, L), axis=1), axis=1).reshape(N, L)
    given = sp.csr_matrix(rank < counts.toarray()[groups])
    estimates = {
        "known": lt.labels.pifa(train, y),
        "without": without / np.linalg.norm(without, axis=1, keepdims=True),
        "with": lt.labels.pifa(train, given),
    }
    for name, eagle in (("EAGLE", lt.Eagle(T=20)), ("contrast", lt.Eagle())):
        estimates[name] = lt.labels.pifa(train, eagle.assign(train, groups, counts))
    wrong = {name: float(((x[N:] @ e.T).argmax(axis=1) != label[N:]).mean()) for name, e in estimates.items()}
    return {f"error {name}": round(value, 4) for name, value in wrong.items()}


def run(seeds: int) -> None:
    """All points."""
    points = Points("simulations")
    for name, simulate in (("regression", regression), ("classification", classification)):
        for sigma in SIGMAS:
            for seed in range(seeds):
                point = {"simulation": name, "sigma": sigma, "seed": seed}
                if points.get(point) is None:
                    points.put(point, simulate(sigma, seed))
