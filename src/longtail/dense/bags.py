"""Groups as training takes them: their samples, what is known of their labels, a slice held out, batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..arrays import CSR

__all__ = ["Bags", "chosen_loss"]

Ids = npt.NDArray[np.int64]
_MOST = 0.5


@dataclass(frozen=True)
class Bags:
    """Groups that have samples.

    Attributes:
        members: groups × samples.
        labels: groups × labels, how often a group has a label.
        weight: a number per group.
    """

    members: CSR
    labels: CSR
    weight: npt.NDArray[np.float32]

    @classmethod
    def of_groups(cls, samples: CSR, labels: CSR, sample_weight: Any) -> Bags:
        """Of samples × groups and groups × labels; a group weighs what its samples do in the mean. Groups without
        samples teach nothing and are left out."""
        members = sp.csr_matrix(samples.T)
        members.sort_indices()
        filled = np.flatnonzero(np.diff(members.indptr))
        members = members[filled]
        weight = np.ones(len(filled), dtype=np.float32)
        if sample_weight is not None:
            starts = members.indptr[:-1]
            totals = np.add.reduceat(sample_weight[members.indices].astype(np.float64), starts)
            weight = (totals / np.diff(members.indptr)).astype(np.float32)
        return cls(members, sp.csr_matrix(labels)[filled], weight)

    @classmethod
    def of_samples(cls, labels: CSR, sample_weight: Any) -> Bags:
        """Groups of one: samples with labels of their own."""
        weight = np.ones(labels.shape[0], np.float32) if sample_weight is None else sample_weight
        return cls(sp.identity(labels.shape[0], dtype=np.float32, format="csr"), labels, weight)

    def __len__(self) -> int:
        return int(self.members.shape[0])

    def some(self, groups: Ids) -> Bags:
        """Some of the groups, in the order given."""
        return replace(
            self, members=self.members[groups], labels=self.labels[groups], weight=self.weight[groups]
        )

    def with_labels(self) -> Bags:
        """Those of the groups that have a label."""
        return self.some(np.flatnonzero(np.diff(self.labels.indptr)))

    def split(self, fraction: float, seed: int) -> tuple[Bags, Bags]:
        """(groups to train on, groups held out): so large a part, rounded down, is held out."""
        order = np.random.default_rng((seed, 1)).permutation(len(self))
        n_held = min(int(fraction * len(self)), len(self) - 1)
        return self.some(np.sort(order[n_held:])), self.some(np.sort(order[:n_held]))

    def batches(self, size: int, order: Ids | None = None) -> Iterator[Bags]:
        """So many groups at a time."""
        order = np.arange(len(self)) if order is None else order
        for begin in range(0, len(order), size):
            yield self.some(order[begin : begin + size])

    @property
    def sizes(self) -> Ids:
        return np.asarray(np.diff(self.members.indptr), dtype=np.int64)

    @property
    def rows(self) -> npt.NDArray[np.int32]:
        """The samples of all groups, one group after the other; a sample of several groups stands several times."""
        found: npt.NDArray[np.int32] = self.members.indices
        return found

    def targets(self, loss: str) -> npt.NDArray[np.float32]:
        """groups × labels: 1 where a group has a label ("binary"), or the share of each label in its labels."""
        counts = np.asarray(self.labels.toarray(), dtype=np.float32)
        if loss == "binary":
            return (counts > 0).astype(np.float32)
        shares: npt.NDArray[np.float32] = counts / counts.sum(axis=1, keepdims=True)
        return shares


def chosen_loss(loss: str, bags: Bags) -> str:
    """What "auto" means for these groups: presence says little where most labels are in most groups, and then counts,
    if there are any, are what can be learnt from."""
    if loss != "auto":
        return loss
    counts = bags.labels
    if counts.nnz == 0 or counts.data.max() <= 1:
        return "binary"
    used = np.bincount(counts.indices, minlength=counts.shape[1])
    used = used[used > 0]
    return "share" if np.mean(used > _MOST * len(bags)) > _MOST else "binary"
