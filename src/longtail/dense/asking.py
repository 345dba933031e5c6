"""What a network says of samples and of groups, without PyTorch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..arrays import CSR
from ..labels._csr import make_csr
from .layers import Layers
from .pooling import attention, group_maximum, likeness

__all__ = ["Network", "allowed_labels", "stored_scores"]

_NUMBERS_AT_ONCE = 1 << 22

Array = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Network:
    """A trained network.

    Attributes:
        layers: its weights.
        directions: features × labels, CSR or dense: where labels lie, for the mask; None for no mask.
        tau: how hard the mask is.
        loss: "share" or "binary": how scores are made of logits.
    """

    layers: Layers
    directions: Any
    tau: float
    loss: str

    def scores(self, x: CSR, members: CSR | None) -> Iterator[tuple[int, Array]]:
        """(first row, scores of some rows), in [0, 1]: a row for each sample, or for each group (groups × samples).
        The scores of a group without samples are not numbers."""
        if members is None:
            at_once = self._at_once()
            for begin in range(0, x.shape[0], at_once):
                yield begin, self._scores_of(self.layers.logits(x[begin : begin + at_once]))
            return
        for begin, end in self._runs(np.diff(members.indptr)):
            some = members[begin:end]
            sizes = np.asarray(np.diff(some.indptr), np.int64)
            out = np.full((end - begin, self.layers.shape.labels), np.nan, np.float32)
            filled = sizes > 0
            if filled.any():
                out[filled] = self._scores_of(self._pooled(x[some.indices], sizes[filled]))
            yield begin, out

    def score(self, row: CSR, label: int) -> float:
        """The score of one label for one sample."""
        return float(self._scores_of(self.layers.logits(row))[0, label])

    def _pooled(self, x: CSR, sizes: npt.NDArray[np.int64]) -> Array:
        at_once = self._at_once()
        begins = range(0, x.shape[0], at_once)
        values = np.concatenate([self.layers.logits(x[begin : begin + at_once]) for begin in begins])
        if self.directions is not None:
            values *= attention(likeness(x, self.directions), sizes, self.tau)
        return group_maximum(values, sizes)

    def _scores_of(self, logits: Array) -> Array:
        values = logits.astype(np.float64)
        if self.loss == "share":
            values = np.exp(values - values.max(axis=1, keepdims=True))
            return np.asarray(values / values.sum(axis=1, keepdims=True), np.float32)
        with np.errstate(over="ignore"):
            return np.asarray(1 / (1 + np.exp(-values)), np.float32)

    def _at_once(self) -> int:
        """How many samples at a time."""
        widest = max(self.layers.shape.hidden, self.layers.shape.concepts * self.layers.shape.labels)
        return max(1, _NUMBERS_AT_ONCE // widest)

    def _runs(self, sizes: npt.NDArray[Any]) -> Iterator[tuple[int, int]]:
        """Runs of groups with about so many samples at a time; a group is never divided."""
        at_once = max(1, _NUMBERS_AT_ONCE // self.layers.shape.labels)
        begin = 0
        while begin < len(sizes):
            ahead = np.cumsum(np.maximum(sizes[begin:], 1))
            end = begin + max(1, int(np.searchsorted(ahead, at_once, side="right")))
            yield begin, end
            begin = end


def allowed_labels(allowed: npt.NDArray[np.bool_], begin: int, wanted: Any, unwanted: Any) -> Any:
    """Which labels may be returned for each of some rows: those that are asked for and not refused."""
    n_rows, n_labels = allowed.shape
    for (indptr, ids), keep in ((wanted, True), (unwanted, False)):
        if indptr is None:
            continue
        lists = sp.csr_matrix((np.ones(len(ids), np.int8), ids, indptr), shape=(len(indptr) - 1, n_labels))
        named = (lists if lists.shape[0] == 1 else lists[begin : begin + n_rows]).toarray() > 0
        allowed &= named if keep else ~named
    return allowed


def stored_scores(scores: npt.NDArray[np.float32], allowed: npt.NDArray[np.bool_]) -> CSR:
    """The scores that are allowed, zeros among them."""
    rows, columns = np.nonzero(allowed)
    indptr = np.concatenate([[0], np.cumsum(allowed.sum(axis=1))])
    assert len(rows) == indptr[-1]
    return make_csr(indptr, columns.astype(np.int32), scores[allowed], scores.shape[1])
