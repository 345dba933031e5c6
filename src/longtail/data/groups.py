"""Samples in groups: who is in which, and the labels known of the groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..arrays import CSR
from ..errors import DataError
from ..inputs import as_group_labels, as_groups

__all__ = ["Groups"]


@dataclass(frozen=True, eq=False, repr=False)
class Groups:
    """Which groups every sample is in, and how often each group has a label. Checked when made.

    >>> groups = Groups([0, 0, 1], [["a", "b", "a"], ["b"]])
    >>> groups
    <Groups: 3 samples in 2 groups with 2 labels>
    >>> groups.labels.toarray().tolist()
    [[2.0, 1.0], [0.0, 1.0]]

    `samples` is CSR, samples × groups, and may be given as one group number per sample; `labels` is CSR, groups ×
    labels, with counts, and may be given as a list of labels per group. A sample may be in no group or in several.
    `names` are those of the groups.
    """

    samples: CSR
    labels: CSR
    names: list[str] | None = None

    def __post_init__(self) -> None:
        samples = as_groups(self.samples, group_labels=self.labels)
        if samples.nnz and (samples.data != 1).any():
            samples = samples.copy()
            samples.data[:] = 1
        labels, _ = as_group_labels(self.labels, samples.shape[1])
        object.__setattr__(self, "samples", samples)
        object.__setattr__(self, "labels", labels)
        if self.names is not None and len(self.names) != samples.shape[1]:
            raise DataError(f"There are {samples.shape[1]} groups and {len(self.names)} names of groups.")

    @property
    def n_samples(self) -> int:
        """The number of samples, also of those in no group."""
        return int(self.samples.shape[0])

    @property
    def n_groups(self) -> int:
        """The number of groups, also of those without samples."""
        return int(self.samples.shape[1])

    @property
    def n_labels(self) -> int:
        """The number of labels, also of those that no group has."""
        return int(self.labels.shape[1])

    def take(self, index: npt.NDArray[np.int64]) -> Groups:
        """The samples of these numbers, and the groups that some of them are in, in their old order."""
        samples = self.samples[index]
        left = np.unique(samples.indices)
        names = None if self.names is None else [self.names[i] for i in left.tolist()]
        return replace(self, samples=samples[:, left], labels=self.labels[left], names=names)

    def together(self) -> npt.NDArray[np.int64]:
        """A number per sample, equal for samples that a split must keep together: whoever shares a group, directly
        or by way of others."""
        n, m = self.samples.shape
        graph = sp.csr_matrix(
            (np.ones(self.samples.nnz, np.int8), self.samples.indices + n, self.samples.indptr),
            shape=(n, n + m),
        )
        graph.resize(n + m, n + m)
        from scipy.sparse.csgraph import connected_components

        parts: npt.NDArray[np.int64] = connected_components(graph, directed=False)[1][:n].astype(np.int64)
        return parts

    def describe(self) -> dict[str, Any]:
        """Facts as plain numbers."""
        sizes = np.bincount(self.samples.indices, minlength=self.n_groups)
        in_several = int((np.diff(self.samples.indptr) > 1).sum())
        return {
            "groups": self.n_groups,
            "samples_per_group": round(float(sizes.mean()), 4) if len(sizes) else 0.0,
            "empty_groups": int((sizes == 0).sum()),
            "samples_in_no_group": int((np.diff(self.samples.indptr) == 0).sum()),
            "samples_in_several_groups": in_several,
            "labels_per_group": round(float(self.labels.sum()) / self.n_groups, 4) if self.n_groups else 0.0,
            "repeated_labels_of_groups": int((self.labels.data > 1).sum()),
        }

    def __repr__(self) -> str:
        return (
            f"<Groups: {self.n_samples:,} samples in {self.n_groups:,} groups with {self.n_labels:,} labels>"
        )
