"""Takes the score of one label for one row apart, decision by decision."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..arrays import CSR
from ..explanation import Step
from .decisions import Decisions
from .vectors import Vectors

__all__ = ["explain_path"]


def explain_path(
    row: CSR, label: int, decisions: Decisions, inputs: Vectors, outputs: Vectors, top: int, name: Any
) -> tuple[list[Step], float]:
    """(a step for every decision on the way to the label, the probability of the label).

    A margin is that of the logistic between two children. Of a softmax between more it is that of the child less the
    mean over all children, which is a sum over features too; the probability is that of the softmax.
    """
    features = row.indices
    total = float(np.abs(row.data).sum(dtype=np.float64))
    shares = row.data.astype(np.float64) / (total or 1.0)
    vectors = inputs.rows(features).astype(np.float64) * shares[:, None]  # (features, places)
    steps, log_p = [], 0.0
    for depth, (decision, chosen) in enumerate(decisions.path(label)):
        first, last = decisions.first_vector[decision : decision + 2]
        margins = vectors @ outputs.rows(slice(first, last)).astype(np.float64).T  # (features, vectors)
        if margins.shape[1] == 0:
            parts, probability = np.zeros(len(features)), 1.0
        elif margins.shape[1] == 1:
            parts = margins[:, 0] if chosen == 1 else -margins[:, 0]
            probability = 1.0 / (1.0 + math.exp(-max(min(parts.sum(), 700.0), -700.0)))
        else:
            parts = margins[:, chosen] - margins.mean(axis=1)
            sums = margins.sum(axis=0)
            powers = np.exp(sums - sums.max())
            probability = float(powers[chosen] / powers.sum())
        log_p += math.log(max(probability, 1e-300))
        order = np.argsort(-np.abs(parts), kind="stable")
        steps.append(
            Step(
                depth=depth,
                n_labels=int(decisions.n_under[decisions.child_ptr[decision] + chosen]),
                margin=float(parts.sum()),
                probability=probability,
                bias=0.0,
                contributions=[
                    (name(int(features[i])), float(parts[i])) for i in order[:top] if parts[i] != 0
                ],
            )
        )
    return steps, math.exp(log_p)
