"""Two simulations: what assignment gains, by how much samples of a group differ.

g = 10 samples a group, n = 1000 samples, d = 10 features, l = 5 responses or labels. Ratios to what known
correspondences give for the regression, shares of wrong samples of a test for the classification: lower is better.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

import longtail as lt

from .common import Points

G, N, D, L = 10, 1000, 10, 5
TEST = 10_000
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
    """Samples lie about the vectors of their labels; the larger sigma, the more of a group have the same label.
    Estimators are those of the regression, on rows of zeros and ones, with labels merged as sets and as lists."""
    r = np.random.default_rng(seed)
    vectors = r.standard_normal((L, D))
    kinds = []
    for _ in range((N + TEST) // G):
        p = np.ones(L)
        p[r.integers(L)] = np.exp(sigma)
        kinds.append(r.choice(L, G, p=p / p.sum()))
    x = vectors[np.concatenate(kinds)] + 0.1 * r.standard_normal((N + TEST, D))
    label = (x @ vectors.T).argmax(axis=1)
    train, y = x[:N], sp.csr_matrix(np.eye(L)[label[:N]])
    groups = np.arange(N) // G
    estimates = {"known": _least_squares(train, y.toarray())}
    for merge in ("set", "list"):
        known = lt.groups.merge_labels(groups, y, merge)
        counts = known.toarray()
        without = _least_squares(train.reshape(-1, G, D).sum(axis=1), counts)
        residuals = ((np.eye(L)[:, None] - (train @ without)[None]) ** 2).sum(axis=2)  # label × sample
        nearest = residuals.reshape(L, -1, G).argsort(axis=2, kind="stable").argsort(axis=2).reshape(L, N)
        estimates[f"without ({merge})"] = without
        estimates[f"with ({merge})"] = _by_samples(train, (counts[groups] > nearest.T).astype(float))
        for name, eagle in (("EAGLE", lt.Eagle(T=20)), ("contrast", lt.Eagle())):
            given = eagle.assign(train, groups, known).toarray()
            estimates[f"{name} ({merge})"] = _by_samples(train, given)
    wrong = {name: float(((x[N:] @ b).argmax(axis=1) != label[N:]).mean()) for name, b in estimates.items()}
    return {f"error {name}": round(value, 5) for name, value in wrong.items()}


def _by_samples(x: Any, given: Any) -> Any:
    """Least squares over pairs of a sample and one label that it was given."""
    sample, label = np.nonzero(given)
    return _least_squares(x[sample], np.eye(L)[label])


def run(seeds: int) -> None:
    """All points."""
    points = Points("simulations")
    for name, simulate in (("regression", regression), ("classification", classification)):
        for sigma in SIGMAS:
            for seed in range(seeds):
                point = {"simulation": name, "sigma": sigma, "seed": seed}
                if points.get(point) is None:
                    points.put(point, simulate(sigma, seed))
