"""Vocabularies: those that are given, the choice of terms that are learned, and their weights."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from longtail.errors import DataError, ParameterError

from .plan import Blob, Plan

__all__ = ["choose_terms", "given_terms", "inverse_frequencies", "log_counts", "unpack"]


def given_terms(vocabulary: Any, lowercase: bool) -> list[str]:
    """The terms of the ``vocabulary`` parameter in the order of their columns."""
    if isinstance(vocabulary, Mapping):
        terms = list(vocabulary)
        columns = list(vocabulary.values())
        whole = all(isinstance(c, (int, np.integer)) and not isinstance(c, bool) for c in columns)
        if not whole or sorted(columns) != list(range(len(columns))):
            raise ParameterError(
                "The 'vocabulary' parameter of TextVectorizer must give each term a column of its own, 0 to "
                f"{len(columns) - 1} without gaps."
            )
        terms = [term for _, term in sorted(zip(columns, terms, strict=True), key=lambda pair: pair[0])]
    else:
        terms = list(vocabulary)
    for term in terms:
        if not isinstance(term, str):
            raise ParameterError(
                f"The 'vocabulary' parameter of TextVectorizer must hold str. Got {term!r} instead."
            )
    if not isinstance(vocabulary, Mapping):
        if isinstance(vocabulary, (set, frozenset)):
            terms.sort()
        if len(set(terms)) != len(terms):
            ordered = sorted(terms)
            twice = next(a for a, b in pairwise(ordered) if a == b)
            raise ParameterError(f"The 'vocabulary' parameter of TextVectorizer has {twice!r} twice.")
    if not terms:
        raise ParameterError("The 'vocabulary' parameter of TextVectorizer must not be empty.")
    if lowercase and any(term != term.lower() for term in terms):
        warnings.warn(
            "The vocabulary of TextVectorizer has upper case, which no text matches as lowercase is True.",
            UserWarning,
            stacklevel=4,
        )
    return terms


def choose_terms(
    learner: Any, min_df: Any, max_df: Any, max_features: int | None, dtype: np.dtype[Any]
) -> npt.NDArray[np.int64]:
    """Keeps the terms that frequency bounds and ``max_features`` leave; gives their document frequencies."""
    n = learner.n_rows
    if n == 0:
        raise DataError("There are no texts, so there are no terms to learn.")
    low = float(min_df * n) if isinstance(min_df, (float, np.floating)) else float(min_df)
    high = float(max_df * n) if isinstance(max_df, (float, np.floating)) else float(max_df)
    if high < low:
        raise ParameterError(
            f"max_df={max_df!r} is fewer texts than min_df={min_df!r}: {high:g} and {low:g} of {n} texts."
        )
    kept = learner.prune(low, high)
    if learner.n_seen == 0:
        raise DataError("The texts hold no terms: they are empty, or all their words are stop words.")
    if kept == 0:
        raise DataError(
            f"No term is left between min_df={min_df!r} and max_df={max_df!r} of {learner.n_seen} seen "
            f"in {n} texts."
        )
    rows = np.empty(kept, dtype=np.int64)
    total = np.zeros(kept, dtype=np.int64)
    learner.frequencies(rows, total)
    if max_features is None or kept <= max_features:
        return rows
    # The same call on the same numbers as scikit-learn's, so that ties fall as they do there.
    best = (-total.astype(dtype)).argsort()[:max_features]
    keep = np.zeros(kept, dtype=np.uint8)
    keep[best] = 1
    learner.keep(keep)
    chosen: npt.NDArray[np.int64] = rows[keep.astype(bool)]
    return chosen


def inverse_frequencies(frequencies: npt.NDArray[np.int64], n_rows: int, plan: Plan) -> npt.NDArray[Any]:
    """log(texts / texts with the term) + 1, smoothed as if one more text held every term."""
    if not plan.smooth_idf and frequencies.size and frequencies.min() == 0:
        column = int(np.flatnonzero(frequencies == 0)[0])
        raise DataError(
            f"The term of column {column} stands in no text, so smooth_idf=False gives it no finite weight. "
            "Set smooth_idf=True."
        )
    # Each step in the dtype of the result, as scikit-learn: the values are the same bits.
    rows = frequencies.astype(plan.dtype)
    rows += float(plan.smooth_idf)
    idf = np.full_like(rows, n_rows + int(plan.smooth_idf))
    idf /= rows
    np.log(idf, out=idf)
    idf += 1.0
    return idf


def log_counts(up_to: int, dtype: str) -> npt.NDArray[Any]:
    """1 + log(count) for 0 … up_to (0 for 0, which does not occur)."""
    values = np.arange(up_to + 1).astype(dtype)
    np.log(values[1:], out=values[1:])
    values[1:] += 1.0
    return values


def unpack(blob: Blob) -> list[str]:
    """The strings of ``plan.pack``."""
    data, offsets = blob[0].tobytes(), blob[1].tolist()
    if data.isascii():
        text = data.decode("ascii")
        return [text[a:b] for a, b in pairwise(offsets)]
    return [data[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(offsets)]
