"""Epochs of gradient steps over batches of groups, by PyTorch, with early stopping and checkpoints between epochs.

PyTorch works on one thread meanwhile: its sums depend on how work is divided among threads, and the model must not.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Features, is_sparse
from ..errors import MissingExtraError, ParameterError
from ..progress import phase
from ..text.batches import moved
from .bags import Bags
from .layers import Layers, Shape
from .pooling import attention, likeness

__all__ = ["Settings", "Trained", "require_torch", "train"]

_STEP = "epochs"
_BETAS, _EPSILON = (0.9, 0.999), 1e-8
# A checkpoint is written when that takes little of the time that it would save, and at the end.
_LEAST_SECONDS, _SHARE, _BYTES_PER_SECOND = 0.005, 0.1, 300e6
_FIRST, _SECOND, _BEST = "first.", "second.", "best."

Numbers = dict[str, npt.NDArray[np.float32]]


@dataclass(frozen=True)
class Settings:
    """What training needs to know."""

    shape: Shape
    loss: str
    tau: float
    epochs: int
    batch_size: int
    rate: float
    decay: float
    validation: float
    patience: int
    seed: int


@dataclass
class Trained:
    """How far a training is: weights, the two moments of their gradients, the best weights so far on the groups held
    out, and losses by epoch."""

    numbers: Numbers
    first: Numbers
    second: Numbers
    best: Numbers
    steps: int = 0
    losses: list[float] = field(default_factory=list)
    held_out: list[float] = field(default_factory=list)

    @classmethod
    def begin(cls, settings: Settings) -> Trained:
        numbers = Layers.begin(settings.shape, settings.seed)
        first, second = ({name: np.zeros_like(a) for name, a in numbers.items()} for _ in range(2))
        return cls(numbers, first, second, {name: a.copy() for name, a in numbers.items()})

    @property
    def best_epoch(self) -> int:
        """Of the weights that are kept, from 1."""
        return int(np.argmin(self.held_out)) + 1 if self.held_out else len(self.losses)

    @property
    def kept(self) -> Numbers:
        return self.best if self.held_out else self.numbers

    def is_over(self, settings: Settings) -> bool:
        waited = len(self.losses) - self.best_epoch
        return len(self.losses) >= settings.epochs or (bool(self.held_out) and waited >= settings.patience)

    def save(self, point: Any) -> None:
        parts = (("", self.numbers), (_FIRST, self.first), (_SECOND, self.second), (_BEST, self.best))
        arrays = {prefix + name: a for prefix, numbers in parts for name, a in numbers.items()}
        facts = {"steps": self.steps, "losses": self.losses, "held_out": self.held_out}
        point.put(_STEP, arrays, facts)

    @classmethod
    def resume(cls, point: Any, settings: Settings) -> Trained:
        arrays, facts = point.get(_STEP)
        names = settings.shape.arrays

        def part(prefix: str) -> Numbers:
            return {name: np.array(arrays[prefix + name]) for name in names}

        losses, held_out = list(facts["losses"]), list(facts["held_out"])
        return cls(part(""), part(_FIRST), part(_SECOND), part(_BEST), facts["steps"], losses, held_out)


def require_torch() -> Any:
    """The module; a MissingExtraError says how to get it."""
    try:
        import torch
    except ImportError:
        raise MissingExtraError("Training DeepMIML", "dense") from None
    return torch


def train(x: Features, bags: Bags, directions: Any, settings: Settings, point: Any) -> Trained:
    """Trains on groups; goes on from a checkpoint if there is one.

    Args:
        x: features of samples, CSR or dense.
        bags: the groups; part of them is held out.
        directions: features × labels: where labels lie, for the mask; None for no mask.
        settings: see there.
        point: a Checkpoint or None.
    """
    torch = require_torch()
    trained = Trained.begin(settings)
    if point is not None and _STEP in point:
        trained = Trained.resume(point, settings)
    if trained.is_over(settings):
        return trained
    own, held_out = bags.split(settings.validation, settings.seed)
    network = _Network(torch, x, directions, settings, trained)
    size = 4 * sum(a.nbytes for a in trained.numbers.values())
    cost, since = max(_LEAST_SECONDS, size / _BYTES_PER_SECOND), time.monotonic()
    ahead = settings.epochs - len(trained.losses)
    with _one_thread(torch), phase("train", total=ahead * len(own), unit="groups") as update:
        for epoch in range(ahead):
            network.run_epoch(own, moved(update, epoch * len(own)))
            if len(held_out):
                trained.held_out.append(network.loss_of(held_out))
                if trained.best_epoch == len(trained.held_out):
                    trained.best = {name: a.copy() for name, a in trained.numbers.items()}
            over = trained.is_over(settings)
            began = time.monotonic()
            if point is not None and (over or cost <= _SHARE * (began - since)):
                trained.save(point)
                since = time.monotonic()
                cost = since - began
            if over:
                break
    return trained


@contextmanager
def _one_thread(torch: Any) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class _Network:
    """The computation: tensors that share the memory of ``trained``."""

    def __init__(self, torch: Any, x: Features, directions: Any, settings: Settings, trained: Trained):
        self.torch, self.x, self.directions = torch, x, directions
        self.settings, self.trained = settings, trained
        self.weights = {name: torch.from_numpy(a) for name, a in trained.numbers.items()}
        self.moments = {
            name: (torch.from_numpy(trained.first[name]), torch.from_numpy(trained.second[name]))
            for name in trained.numbers
        }
        self.entry = "hidden" if settings.shape.hidden else "output"  # the weights that meet the features

    def run_epoch(self, bags: Bags, report: Callable[[int], None]) -> None:
        """One pass over the groups, in an order that follows from the seed and the epoch."""
        settings, trained = self.settings, self.trained
        random = np.random.default_rng((settings.seed, 2, len(trained.losses)))
        total, done = 0.0, 0
        for batch in bags.batches(settings.batch_size, random.permutation(len(bags))):
            total += len(batch) * self._step(batch)
            done += len(batch)
            report(done)
        loss = total / len(bags)
        if not math.isfinite(loss):
            raise ParameterError(
                f"The 'lr' parameter of DeepMIML is too large for these data: in epoch {len(trained.losses) + 1} the "
                f"loss was no longer finite. Got {settings.rate!r}; try a tenth of it."
            )
        trained.losses.append(loss)

    def loss_of(self, bags: Bags) -> float:
        """The mean loss of groups, by their weights."""
        total = weight = 0.0
        with self.torch.no_grad():
            for batch in bags.batches(self.settings.batch_size):
                part = float(batch.weight.sum(dtype=np.float64))
                total += part * float(self._loss(batch, self._entered(batch)[1]))
                weight += part
        return total / weight

    def _step(self, batch: Bags) -> float:
        x, entered = self._entered(batch)
        entered.requires_grad_()
        others = {name: w for name, w in self.weights.items() if name != self.entry}
        for weights in others.values():
            weights.requires_grad_().grad = None
        loss = self._loss(batch, entered)
        loss.backward()
        gradients = {name: weights.grad for name, weights in others.items()}
        gradients[self.entry] = self._times(x.T, entered.grad)
        self._move(gradients, float(batch.weight.mean(dtype=np.float64)))
        return float(loss.detach())

    def _entered(self, batch: Bags) -> tuple[Features, Any]:
        """(features of the samples, their product with the first weights). It is taken outside of PyTorch's graph,
        and so is its gradient: both are a product with a sparse matrix if X is one."""
        x = self.x[batch.rows]
        return x, self._times(x, self.weights[self.entry].detach())

    def _times(self, x: Features, tensor: Any) -> Any:
        if is_sparse(x):
            return self.torch.from_numpy(np.ascontiguousarray(x @ tensor.numpy()))
        return self.torch.from_numpy(x) @ tensor

    def _loss(self, batch: Bags, entered: Any) -> Any:
        torch, settings = self.torch, self.settings
        values = entered + self.weights[self.entry + ".bias"]
        if settings.shape.hidden:
            values = torch.relu(values) @ self.weights["output"] + self.weights["output.bias"]
        values = values.view(-1, settings.shape.concepts, settings.shape.labels).amax(dim=1)
        values = self._pooled(values, batch)  # groups × labels
        targets = torch.from_numpy(batch.targets(settings.loss))
        if settings.loss == "share":
            losses = -(targets * torch.log_softmax(values, dim=1)).sum(dim=1)
        else:
            losses = torch.nn.functional.binary_cross_entropy_with_logits(
                values, targets, reduction="none"
            ).sum(dim=1)
        weight = torch.from_numpy(np.ascontiguousarray(batch.weight))
        return (losses * weight).sum() / weight.sum()

    def _pooled(self, values: Any, batch: Bags) -> Any:
        sizes = batch.sizes
        if len(sizes) == len(values):  # groups of one: the mask is 1 and the maximum is the sample
            return values
        if self.directions is not None:
            x = self.x[batch.rows]
            if is_sparse(x):
                alike = likeness(x, self.directions)
            else:
                alike = self._times(x, self.torch.from_numpy(self.directions)).numpy()
            values = values * self.torch.from_numpy(attention(alike, sizes, self.settings.tau))
        group = self.torch.from_numpy(np.repeat(np.arange(len(sizes)), sizes))
        out = self.torch.zeros(len(sizes), values.shape[1])
        return out.scatter_reduce(
            0, group[:, None].expand(-1, values.shape[1]), values, "amax", include_self=False
        )

    def _move(self, gradients: dict[str, Any], weight: float) -> None:
        """A step of AdamW. It is as much longer as the groups weigh: Adam itself does not feel the size of a loss."""
        trained, rate = self.trained, self.settings.rate * weight
        trained.steps += 1
        shrink_first, shrink_second = (1 - beta**trained.steps for beta in _BETAS)
        with self.torch.no_grad():
            for name, gradient in gradients.items():
                first, second = self.moments[name]
                first.lerp_(gradient, 1 - _BETAS[0])
                second.mul_(_BETAS[1]).addcmul_(gradient, gradient, value=1 - _BETAS[1])
                size = (second / shrink_second).sqrt_().add_(_EPSILON)
                self.weights[name].mul_(1 - rate * self.settings.decay)
                self.weights[name].addcdiv_(first, size, value=-rate / shrink_first)
