"""One measure at one k, as a number between 0 and 1. ``evaluate`` gives several in the same time."""

from __future__ import annotations

from typing import Any

from .evaluation import evaluate

__all__ = [
    "balanced_error",
    "coverage",
    "hit",
    "macro_f1",
    "macro_precision",
    "macro_recall",
    "mean_average_precision",
    "mrr",
    "ndcg",
    "precision",
    "psndcg",
    "psp",
    "psr",
    "recall",
]


def precision(r: Any, Y_true: Any, k: int = 1, **options: Any) -> float:
    """P@k: the share of true labels among the first k, also where a list is shorter than k.

    Options are those of ``evaluate``: exclude, empty, threads.
    """
    return _one("P", r, Y_true, k, options)


def recall(r: Any, Y_true: Any, k: int = 1, **options: Any) -> float:
    """R@k: the share of a row's true labels that are among the first k, averaged over rows."""
    return _one("R", r, Y_true, k, options)


def ndcg(r: Any, Y_true: Any, k: int = 1, **options: Any) -> float:
    """nDCG@k: hits discounted by log2(rank + 1), divided by the best for min(k, number of true labels)."""
    return _one("nDCG", r, Y_true, k, options)


def psp(r: Any, Y_true: Any, train: Any, k: int = 1, **options: Any) -> float:
    """PSP@k: precision with hits weighted by inverse propensity, divided by the best achievable.

    Options are those of ``evaluate``: a, b, exclude, empty, threads.
    """
    return _one("PSP", r, Y_true, k, {"train": train, **options})


def psndcg(r: Any, Y_true: Any, train: Any, k: int = 1, **options: Any) -> float:
    """PSnDCG@k: nDCG with hits weighted by inverse propensity, divided by the best achievable."""
    return _one("PSnDCG", r, Y_true, k, {"train": train, **options})


def psr(r: Any, Y_true: Any, train: Any, k: int = 1, **options: Any) -> float:
    """PSR@k: recall with hits weighted by inverse propensity, divided by the best achievable."""
    return _one("PSR", r, Y_true, k, {"train": train, **options})


def hit(r: Any, Y_true: Any, k: int = 1, **options: Any) -> float:
    """hit@k: the share of rows with a true label among the first k."""
    return _one("hit", r, Y_true, k, options)


def mrr(r: Any, Y_true: Any, k: int = 10, **options: Any) -> float:
    """MRR@k: the mean of 1 / rank of the first true label, 0 where none is among the first k."""
    return _one("MRR", r, Y_true, k, options)


def mean_average_precision(r: Any, Y_true: Any, k: int = 10, **options: Any) -> float:
    """MAP@k: precision at the rank of each hit among the first k, summed and divided by min(k, number of true
    labels), averaged over rows."""
    return _one("MAP", r, Y_true, k, options)


def coverage(r: Any, Y_true: Any, k: int = 1, **options: Any) -> float:
    """coverage@k: of the labels that are true in some row, the share that is predicted rightly at least
    once."""
    return _one("coverage", r, Y_true, k, options)


def macro_precision(r: Any, Y_true: Any, k: int = 1, **options: Any) -> float:
    """macroP@k: the precision of each label's predictions among the first k, averaged over the labels that
    are true in some row; 0 for a label never predicted."""
    return _one("macroP", r, Y_true, k, options)


def macro_recall(r: Any, Y_true: Any, k: int = 1, **options: Any) -> float:
    """macroR@k: the share of each label's rows that have it among the first k, averaged over the labels that
    are true in some row."""
    return _one("macroR", r, Y_true, k, options)


def macro_f1(r: Any, Y_true: Any, k: int = 1, **options: Any) -> float:
    """macroF1@k: twice the hits of each label divided by its predictions and its true rows, averaged
    likewise."""
    return _one("macroF1", r, Y_true, k, options)


def balanced_error(r: Any, Y_true: Any, k: int = 1, **options: Any) -> float:
    """balanced_error@k: one minus macroR@k: the error when every label counts the same."""
    return _one("balanced_error", r, Y_true, k, options)


def _one(name: str, r: Any, Y_true: Any, k: int, options: dict[str, Any]) -> float:
    return evaluate(r, Y_true, k=(k,), metrics=[name], **options)[f"{name}@{k}"]
