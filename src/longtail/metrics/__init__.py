"""How good ranked lists are: the measures of the Extreme Classification Repository and more, by label slices,
with intervals, for millions of rows in seconds.

    >>> import numpy as np, scipy.sparse as sp
    >>> Y = sp.csr_matrix(np.array([[1, 0, 1], [0, 1, 0]]))
    >>> report = evaluate(np.array([[0, 1], [2, 1]]), Y, k=(1, 2))
    >>> report["P@1"], report["R@2"]
    (0.5, 0.75)
"""

from __future__ import annotations

from .calibration import Reliability, expected_calibration_error, reliability
from .comparison import Comparison, compare
from .depth import expected_depth
from .evaluation import evaluate
from .measures import DEFAULT, MEASURES
from .report import Report, Slice
from .single import (
    balanced_error,
    coverage,
    hit,
    macro_f1,
    macro_precision,
    macro_recall,
    mean_average_precision,
    mrr,
    ndcg,
    precision,
    psndcg,
    psp,
    psr,
    recall,
)
from .slices import Counts, Quantiles

__all__ = [
    "DEFAULT",
    "MEASURES",
    "Comparison",
    "Counts",
    "Quantiles",
    "Reliability",
    "Report",
    "Slice",
    "balanced_error",
    "compare",
    "coverage",
    "evaluate",
    "expected_calibration_error",
    "expected_depth",
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
    "reliability",
]
