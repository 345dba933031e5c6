"""Label embeddings as the mask needs them, and in model folders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arrays import Features, as_csr, as_features, is_sparse
from ..errors import ModelError
from ..labels._csr import make_csr
from ..model import Arrays

__all__ = ["as_directions", "from_arrays", "kind_of", "to_arrays"]

_NAME = "directions"
_PARTS = ("indptr", "indices", "data")


def as_directions(embeddings: Features) -> Any:
    """labels × features as features × labels, ready to be multiplied from the left; None stays None."""
    if embeddings is None:
        return None
    return embeddings.T.tocsr() if is_sparse(embeddings) else np.ascontiguousarray(embeddings.T)


def kind_of(embeddings: Features) -> str:
    """How they are kept: "none", "sparse" or "dense"."""
    return "none" if embeddings is None else "sparse" if is_sparse(embeddings) else "dense"


def to_arrays(embeddings: Features) -> Arrays:
    """What a model folder keeps."""
    kind = kind_of(embeddings)
    if kind == "sparse":
        return {f"{_NAME}.{part}": getattr(embeddings, part) for part in _PARTS}
    return {_NAME: embeddings} if kind == "dense" else {}


def from_arrays(arrays: Mapping[str, Any], kind: Any, shape: tuple[int, int]) -> Features:
    """The inverse; ModelError or DataError if the arrays do not fit."""
    if kind == "none":
        return None
    if kind == "dense":
        dense = arrays[_NAME]
        if dense.dtype != np.float32 or dense.shape != shape:
            raise ModelError("the label embeddings do not fit the model.")
        return as_features(dense, "label embeddings")
    if kind != "sparse":
        raise ModelError("how the label embeddings are stored is not known.")
    indptr, indices, data = (arrays[f"{_NAME}.{part}"] for part in _PARTS)
    if indptr.shape != (shape[0] + 1,):
        raise ModelError("the label embeddings do not fit the model.")
    return as_csr(make_csr(indptr, indices, data, shape[1]), "label embeddings", n_cols=shape[1])
