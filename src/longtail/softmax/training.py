"""Epochs of stochastic gradient descent, with checkpoints between them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _native
from ..arrays import CSR
from ..errors import ParameterError
from ..memory import free_memory, human_bytes
from ..progress import phase
from ..text.batches import moved
from .decisions import Decisions
from .vectors import is_finite, padded

__all__ = ["SgdSettings", "SoftmaxMemory", "Trained", "start_vectors", "train"]

_STEP = "epochs"
# A checkpoint holds all vectors. It is written between epochs when writing it takes little of the time that it would
# save; small ones also at the end.
_SMALL = 64 * 2**20
_LEAST_SECONDS = 0.005
_SHARE = 0.1
_BYTES_PER_SECOND = 300e6  # assumed before one has been written


@dataclass(frozen=True)
class SgdSettings:
    """What training needs to know."""

    dim: int
    epochs: int
    rate: float
    seed: int
    threads: int


@dataclass
class Trained:
    """Vectors of features [features, places] and of decisions [vectors, places]; the mean loss of each epoch."""

    input: npt.NDArray[np.float32]
    output: npt.NDArray[np.float32]
    losses: list[float]


@dataclass(frozen=True)
class SoftmaxMemory:
    """Bytes, by what they are for. ``peak`` is what a training is expected to hold beyond X and Y themselves."""

    vectors: int
    paths: int
    stored: int
    free: int | None

    @property
    def peak(self) -> int:
        return self.vectors + self.paths + self.stored

    def __str__(self) -> str:
        free = "unknown" if self.free is None else human_bytes(self.free)
        return f"about {human_bytes(self.peak)} beyond the data ({free} free)"

    @classmethod
    def estimate(
        cls, n_rows: int, n_features: int, decisions: Decisions, path_steps: int, dim: int, kind: str
    ) -> Any:
        """From the sizes alone; nothing is trained."""
        rows = n_features + decisions.n_vectors
        vectors = rows * padded(dim) * 4
        stored = {"f32": 0, "f16": vectors // 2, "int8": vectors // 4 + rows * 4}[kind]
        return cls(vectors, path_steps * 4 + len(decisions.child) * 8 + n_rows * 4, stored, free_memory())


def start_vectors(n_features: int, decisions: Decisions, settings: SgdSettings) -> Trained:
    """Small random vectors of features, zeros for decisions."""
    places = padded(settings.dim)
    rows = np.empty((n_features, places), dtype=np.float32)
    _native.softmax.fill_uniform(rows, settings.dim, 1.0 / settings.dim, settings.seed, settings.threads)
    return Trained(rows, np.zeros((decisions.n_vectors, places), dtype=np.float32), [])


def train(
    trained: Trained,
    x: CSR,
    y: CSR,
    weight: npt.NDArray[np.float32] | None,
    decisions: Decisions,
    settings: SgdSettings,
    point: Any,
) -> Trained:
    """Trains in place; goes on from a checkpoint if there is one."""
    if point is not None and _STEP in point:
        arrays, facts = point.get(_STEP)
        trained = Trained(
            arrays["input"].copy(), arrays["output"].copy(), [float(v) for v in facts["losses"]]
        )
    n, total = x.shape[0], settings.epochs
    first = len(trained.losses)
    if first == total:
        return trained
    size = trained.input.nbytes + trained.output.nbytes
    cost, since = max(_LEAST_SECONDS, size / _BYTES_PER_SECOND), time.monotonic()
    with phase("train", total=n * (total - first), unit="examples") as update:
        for epoch in range(first, total):
            before = n * (epoch - first)
            report = moved(update, before)
            loss = _epoch(trained, x, y, weight, decisions, settings, epoch, report)
            trained.losses.append(loss)
            update(before + n)
            began = time.monotonic()
            due = cost <= _SHARE * (began - since) or (epoch + 1 == total and size <= _SMALL)
            if point is None or not due:
                continue
            vectors = {"input": trained.input, "output": trained.output}
            point.put(_STEP, vectors, {"losses": trained.losses})
            since = time.monotonic()
            cost = since - began
    if not (is_finite(trained.input) and is_finite(trained.output)):
        raise _too_fast(settings, total - 1, "the vectors were")
    return trained


def _epoch(
    trained: Trained,
    x: CSR,
    y: CSR,
    weight: npt.NDArray[np.float32] | None,
    decisions: Decisions,
    settings: SgdSettings,
    epoch: int,
    report: Callable[[int], None],
) -> float:
    loss, steps = _native.softmax.train_epoch(
        input=trained.input,
        output=trained.output,
        child_ptr=decisions.child_ptr,
        child=decisions.child,
        n_labels=y.shape[1],
        x_indptr=x.indptr,
        x_indices=x.indices,
        x_data=x.data,
        y_indptr=y.indptr,
        y_indices=y.indices,
        weight=weight,
        rate_begin=settings.rate * (1 - epoch / settings.epochs),
        rate_end=settings.rate * (1 - (epoch + 1) / settings.epochs),
        seed=(settings.seed * 1_000_003 + epoch) % 2**64,
        threads=settings.threads,
        report=report,
    )
    if not math.isfinite(loss):
        raise _too_fast(settings, epoch, "the loss was")
    return float(loss / max(steps, 1))


def _too_fast(settings: SgdSettings, epoch: int, what: str) -> ParameterError:
    return ParameterError(
        f"The 'lr' parameter of HierarchicalSoftmax is too large for these data: in epoch {epoch + 1} {what} no longer "
        f"finite. Got {settings.rate!r}; try a tenth of it."
    )
