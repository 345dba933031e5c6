"""How often labels occur, and how likely a true one is to be observed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import DataError, ParameterError
from ..params import Int, Real, check
from ._csr import label_matrix

__all__ = ["frequencies", "propensities"]


def frequencies(Y: Any, weights: Any = None) -> npt.NDArray[Any]:
    """How many rows carry each label: int64, one per column of Y.

    With ``weights``, one number >= 0 per row that says how often the row is asked, the sums of these instead
    (float64).

    >>> import scipy.sparse as sp
    >>> frequencies(sp.csr_matrix([[1, 0, 1], [1, 0, 0]])).tolist()
    [2, 0, 1]
    >>> frequencies(sp.csr_matrix([[1, 0, 1], [1, 0, 0]]), weights=[0.5, 3]).tolist()
    [3.5, 0.0, 0.5]
    """
    csr = label_matrix(Y)
    if weights is None:
        return np.bincount(csr.indices, minlength=csr.shape[1]).astype(np.int64, copy=False)
    of_entries = np.repeat(row_weights(weights, csr.shape[0]), np.diff(csr.indptr))
    return np.bincount(csr.indices, weights=of_entries, minlength=csr.shape[1])


def row_weights(weights: Any, n_rows: int) -> npt.NDArray[np.float64]:
    """One finite number >= 0 per row, after a check; ones for None."""
    if weights is None:
        return np.ones(n_rows)
    try:
        p = np.ascontiguousarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"weights must be numbers. Got {type(weights).__name__} instead.") from None
    if p.shape != (n_rows,):
        raise DataError(f"weights must be one number per row of Y ({n_rows}). Got shape {p.shape} instead.")
    if not np.all(np.isfinite(p)) or np.any(p < 0):
        raise DataError("weights must be finite and >= 0.")
    return p


def propensities(frequencies: Any, n_rows: int, a: float = 0.55, b: float = 1.5) -> npt.NDArray[np.float64]:
    """The chance that a true label was observed, by its frequency n_l among N = ``n_rows`` rows:

        p_l = 1 / (1 + C · exp(-a · log(n_l + b))),    C = (log N - 1) · (b + 1)^a

    The usual a, b: 0.55, 1.5; 0.5, 0.4 for Wikipedia-like and 0.6, 2.6 for Amazon-like data. For N below e,
    where C would be negative, all propensities are 1.

    >>> propensities([0, 10, 1000], n_rows=100_000).round(3).tolist()
    [0.067, 0.18, 0.72]
    """
    check("propensities", {"n_rows": Int(0), "a": Real(0), "b": Real(0, open_low=True)}, locals())
    try:
        counts = np.asarray(frequencies, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"frequencies must be numbers. Got {type(frequencies).__name__} instead.") from None
    if counts.ndim != 1 or not np.all(np.isfinite(counts)) or np.any(counts < 0):
        raise DataError("frequencies must be a vector of finite numbers >= 0.")
    with np.errstate(over="ignore", invalid="ignore"):
        c = max(0.0, np.log(max(n_rows, 1)) - 1.0) * np.float64(b + 1.0) ** a
        chances = np.asarray(1.0 / (1.0 + c * np.exp(-a * np.log(counts + b))))
    if not np.all(chances > 1e-300):
        raise ParameterError(
            f"The 'a' and 'b' parameters of propensities must give chances above 0. Got a={a!r}, b={b!r} instead."
        )
    return chances
