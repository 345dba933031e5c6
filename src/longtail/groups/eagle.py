"""Labels of groups handed to their samples: EAGLE, and a contrast of groups that does better."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from .. import _native
from ..arrays import CSR, Features, as_features, is_sparse
from ..inputs import as_group_labels, as_groups
from ..labels import pifa
from ..labels._csr import make_csr
from ..params import Check, Int, Nullable, Parametrized, Real
from ..progress import phase
from ..threads import resolve_threads
from .statistics import contrast_statistics, tamed

__all__ = ["Eagle"]


class Eagle(Parametrized):
    """Finds out which sample of a group carries which of the group's labels.

    Every label gets a direction in feature space, and each group that has the label hands it to the sample
    that lies farthest along it: to as many samples as the group has it (counts above 1). There are two ways
    to a direction:

    - **Contrast**, the default (`T` is None): the mean of the samples of the groups that have the label, less
      the mean of all samples. What is common to all samples cancels out, also the label's company in its
      groups; what is left points to the label's own samples. Features are divided by their spread.
    - **EAGLE** (`T` is a number, 20 as published; 0 is EAGLE-0): from the mean of these samples, `T` steps
      turn towards the samples that are nearest in each group. A sample's equals (scores within 1e-9) count too.

    A label that all groups have alike has no contrast and takes 20 steps. Labels with the very same groups
    cannot be told apart by either way. Where all groups have them, or their samples cancel out, they start
    apart: each from the samples that those of lower column have not taken.

    Rows of X count as unit vectors. The result is the same for any number of threads and every instruction
    set; memory grows with the inputs only.

    Args:
        T: steps of EAGLE; None: contrast instead.
        rate: how far a step turns.
        threads: None for all cores.

    Attributes:
        label_embeddings_: labels × features, unit rows; CSR if X is sparse. By EAGLE the directions after `T` steps,
            else the direction of the samples that got the label.

    >>> import numpy as np
    >>> X = np.array([[1, 0], [0, 1], [1, 0.1], [0.1, 1], [0.9, 0], [1, 0]])
    >>> groups = [0, 0, 1, 1, 2, 2]
    >>> Eagle().assign(X, groups, [["a", "b"], ["b", "a"], ["a"]]).toarray().tolist()
    [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [1.0, 0.0]]
    """

    _constraints: ClassVar[dict[str, Check]] = {
        "T": Nullable(Int(0, 1_000_000)),
        "rate": Real(0, 1e6, open_low=True),
        "threads": Nullable(Int(1, 4096)),
    }

    label_embeddings_: Features

    def __init__(self, T: int | None = None, rate: float = 0.1, *, threads: int | None = None):
        self.T = T
        self.rate = rate
        self.threads = threads

    def assign(self, X: Any, groups: Any, group_labels: Any) -> CSR:
        """The labels of every sample: samples × labels, float32 CSR of ones.

        Args:
            X: features of the samples, sparse or dense.
            groups: samples × groups, CSR: which groups each sample is in; or one group number per sample.
            group_labels: groups × labels, CSR: how often each group has a label; or for each group a list of
                label names or ids, in which a label may occur several times.
        """
        Y, self.label_embeddings_ = self._assign(X, groups, group_labels, embeddings=True)
        return Y

    def _assign(self, X: Any, groups: Any, group_labels: Any, *, embeddings: bool) -> tuple[CSR, Features]:
        """The labels; and the embeddings, if they are wanted."""
        self._check_params()
        x = as_features(X)
        y1 = as_groups(groups, x.shape[0], group_labels)
        y2, _ = as_group_labels(group_labels, y1.shape[1])
        by_label, directions = self._run(x, y1, y2, embeddings and self.T is not None)
        Y = by_label.T.tocsr()
        Y.sort_indices()
        if embeddings and self.T is None:
            directions = pifa(x, Y, threads=self.threads)
        return Y, directions

    def _run(self, x: Features, y1: CSR, y2: CSR, directions: bool) -> tuple[CSR, Features]:
        members = y1.T.tocsr()  # groups × samples
        bearers = y2.T.tocsr()  # labels × groups
        counts = bearers.data.astype(np.int32)
        x, scale = tamed(x)
        weights, background = contrast_statistics(x, y1, scale) if self.T is None else (None, None)
        arguments = (
            scale,
            members.indptr,
            members.indices,
            bearers.indptr,
            bearers.indices,
            counts,
            *_families(bearers, counts, np.diff(members.indptr)),
            20 if self.T is None else int(self.T),
            float(self.rate),
            weights,
            background,
            directions,
            resolve_threads(self.threads),
        )
        with phase("assign labels", total=bearers.nnz, unit="labels of groups") as update:
            if is_sparse(x):
                indptr, samples, starts, ids, values = _native.groups.assign_csr(
                    x.indptr, x.indices, x.data, x.shape[1], *arguments, update
                )
                embeddings = make_csr(starts, ids, values, x.shape[1])
            else:
                indptr, samples, embeddings = _native.groups.assign_dense(x, *arguments, update)
        return make_csr(indptr, samples, np.ones(len(samples), np.float32), x.shape[0]), embeddings


def _families(bearers: CSR, counts: npt.NDArray[np.int32], sizes: Any) -> tuple[Any, Any, Any]:
    """Labels whose groups are the same, together: (indptr, labels, whether all groups have them equally often)."""
    families: dict[bytes, list[int]] = {}
    indptr = bearers.indptr.tolist()
    groups = bearers.indices
    for label, (begin, end) in enumerate(pairwise(indptr)):
        key = groups[begin:end].tobytes() + counts[begin:end].tobytes()
        families.setdefault(key, []).append(label)
    every = np.flatnonzero(sizes > 0)
    everywhere = [_has_all(bearers, counts, members[0], sizes, every) for members in families.values()]
    return (
        _pointers(len(members) for members in families.values()),
        np.fromiter(
            (label for members in families.values() for label in members), np.int32, bearers.shape[0]
        ),
        np.array(everywhere, dtype=np.uint8),
    )


def _has_all(bearers: CSR, counts: Any, label: int, sizes: Any, every: Any) -> bool:
    """Whether a label is in every group that has samples, and in each as often."""
    own = slice(bearers.indptr[label], bearers.indptr[label + 1])
    if own.stop - own.start < len(every):
        return False
    filled = sizes[bearers.indices[own]] > 0
    return int(filled.sum()) == len(every) and len(np.unique(counts[own][filled])) <= 1


def _pointers(lengths: Iterable[int]) -> npt.NDArray[np.int64]:
    sizes = np.fromiter(lengths, np.int64)
    out = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=out[1:])
    return out
