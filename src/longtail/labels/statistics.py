"""How often labels occur, and how likely a true one is to be observed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import DataError, ParameterError
from ..params import Int, Real, check
from ._csr import label_matrix

__all__ = ["frequencies", "propensities"]


def frequencies(Y: Any) -> npt.NDArray[np.int64]:
    """How many rows carry each label: int64, one per column of Y.

    >>> import scipy.sparse as sp
    >>> frequencies(sp.csr_matrix([[1, 0, 1], [1, 0, 0]])).tolist()
    [2, 0, 1]
    """
    csr = label_matrix(Y)
    return np.bincount(csr.indices, minlength=csr.shape[1]).astype(np.int64, copy=False)


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
