"""A fitted ``TextVectorizer`` as plain data and back. What comes back is checked throughout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from longtail.errors import LongtailError, ModelError
from longtail.params import Int, check

from .plan import CONSTRAINTS, Blob, Plan, make_plan
from .terms import unpack

__all__ = ["plan_from_state", "state_from_plan"]

_FORMAT = 1
_CHOICES = ("min_df", "max_df", "max_features")  # parameters that fit alone uses


def state_from_plan(
    plan: Plan, choices: Mapping[str, Any], given: bool, n_features: int, terms: Blob | None, idf: Any
) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """(what goes into a JSON file, arrays by name)."""
    params = asdict(plan)
    params["ngram_range"] = list(plan.ngram_range)
    params["stop_words"] = list(plan.stop_words)
    for name in _CHOICES:
        value = choices[name]
        params[name] = value.item() if isinstance(value, np.generic) else value
    meta = {"format": _FORMAT, "params": params, "given_vocabulary": given, "n_features": n_features}
    arrays: dict[str, npt.NDArray[Any]] = {}
    if terms is not None:
        arrays["terms"], arrays["terms.offsets"] = terms
    if idf is not None:
        arrays["idf"] = idf
    return meta, arrays


def plan_from_state(
    meta: Any, arrays: Mapping[str, Any]
) -> tuple[dict[str, Any], Plan, int, Blob | None, npt.NDArray[Any] | None]:
    """(parameters, plan, number of columns, terms, idf); ModelError where they do not fit together."""
    if not isinstance(meta, Mapping) or not isinstance(arrays, Mapping):
        raise ModelError("The state of a TextVectorizer must be a dict and a dict of arrays.")
    if meta.get("format") != _FORMAT:
        raise ModelError(
            f"The state of a TextVectorizer has format {meta.get('format')!r}, expected {_FORMAT}."
        )
    params = _params(meta.get("params"))
    try:
        check("TextVectorizer", CONSTRAINTS, params)
        plan = make_plan(params)
    except LongtailError as error:
        raise ModelError(f"The state of a TextVectorizer has bad parameters. {error}") from None
    n_features = meta.get("n_features")
    if not Int(1, 2**31 - 1).accepts(n_features):
        raise ModelError(
            f"The state of a TextVectorizer has n_features {n_features!r}, expected a whole number >= 1."
        )
    assert n_features is not None
    terms = _terms(arrays, plan, n_features)
    given = meta.get("given_vocabulary")
    if not isinstance(given, bool) or (given and terms is None):
        raise ModelError(
            f"The state of a TextVectorizer has given_vocabulary {given!r}, which does not fit it."
        )
    if given and terms is not None:
        params["vocabulary"] = unpack(terms)
    return params, plan, n_features, terms, _idf(arrays, plan, n_features)


def _params(stored: Any) -> dict[str, Any]:
    expected = {field.name for field in fields(Plan)} | set(_CHOICES)
    if not isinstance(stored, Mapping) or set(stored) != expected:
        raise ModelError(
            f"The state of a TextVectorizer must have the parameters {', '.join(sorted(expected))}."
        )
    params = dict(stored)
    for name in ("ngram_range", "stop_words"):
        if not isinstance(params[name], list):
            raise ModelError(f"The state of a TextVectorizer has {name} {params[name]!r}, expected a list.")
    params["ngram_range"] = tuple(params["ngram_range"])
    params["stop_words"] = params["stop_words"] or None
    params["vocabulary"] = None
    return params


def _array(arrays: Mapping[str, Any], name: str, dtype: str) -> npt.NDArray[Any]:
    array = arrays.get(name)
    if not isinstance(array, np.ndarray) or array.dtype != np.dtype(dtype) or array.ndim != 1:
        got = (
            f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
        )
        raise ModelError(
            f"The array '{name}' of a TextVectorizer must be one-dimensional {dtype}. Got {got} instead."
        )
    return np.ascontiguousarray(array)


def _terms(arrays: Mapping[str, Any], plan: Plan, n_features: int) -> Blob | None:
    if plan.hashing is not None:
        if plan.hashing != n_features or "terms" in arrays:
            raise ModelError(
                "The state of a TextVectorizer with hashing has other columns or terms than it should."
            )
        return None
    blob = _array(arrays, "terms", "uint8")
    offsets = _array(arrays, "terms.offsets", "int64")
    if len(offsets) != n_features + 1 or offsets[0] != 0 or offsets[-1] != len(blob):
        raise ModelError(f"The terms of a TextVectorizer do not fit its {n_features} columns.")
    if np.any(offsets[1:] < offsets[:-1]):
        raise ModelError("The offsets of a TextVectorizer's terms must rise.")
    begins = offsets[:-1][offsets[:-1] < len(blob)]
    try:
        blob.tobytes().decode("utf-8", "surrogatepass")
        whole = not np.any((blob[begins] & 0xC0) == 0x80)
    except UnicodeDecodeError:
        whole = False
    if not whole:
        raise ModelError("The terms of a TextVectorizer must be UTF-8.")
    return blob, offsets


def _idf(arrays: Mapping[str, Any], plan: Plan, n_features: int) -> npt.NDArray[Any] | None:
    if not plan.use_idf:
        return None
    idf = _array(arrays, "idf", plan.dtype)
    if len(idf) != n_features or not np.all(np.isfinite(idf)):
        raise ModelError(f"The idf of a TextVectorizer must be {n_features} finite numbers.")
    return idf
