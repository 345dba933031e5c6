"""What a system must be able to do, and the settings that all share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

__all__ = [
    "ARITY",
    "BEAM",
    "MAX_ITER",
    "MAX_LEAF",
    "THRESHOLD",
    "TOL",
    "TOP",
    "C",
    "System",
    "lists_of_pairs",
]

ARITY, MAX_LEAF = 16, 100
C, TOL, MAX_ITER, THRESHOLD = 1.0, 0.1, 100, 0.1
BEAM, TOP = 10, 10


class System(ABC):
    """One peer. ``prepare`` holds what its users do before the clock starts: they have the data in its form."""

    settings: ClassVar[dict[str, Any]]  # what is set, as the tables show it
    seed = 0  # of training; every repeat has its own, as precision depends on it too

    @abstractmethod
    def version(self) -> str: ...

    def prepare(self, folder: Path, x: Any, y: Any, threads: int) -> Any:
        """The training data as ``train`` takes them."""
        return x, y

    @abstractmethod
    def train(self, data: Any, threads: int, folder: Path) -> dict[str, float]:
        """Trains; keeps the model; gives seconds by phase, as far as they can be told apart. ``folder`` is for systems
        that write while they train."""

    def train_text(self, texts: list[str], y: Any, threads: int) -> dict[str, float]:
        """From raw texts to a trained model that ``text`` asks; seconds by phase."""
        raise NotImplementedError(f"{type(self).__name__} is not measured on texts")

    def text(self, text: str) -> Any:
        """Ranks one raw text: timed."""
        raise NotImplementedError(f"{type(self).__name__} is not measured on texts")

    def text_row(self, text: str) -> Any:
        """The features of a raw text, as ``single`` takes them; not timed."""
        raise NotImplementedError(f"{type(self).__name__} is not measured on texts")

    @abstractmethod
    def save(self, folder: Path) -> None: ...

    @abstractmethod
    def load(self, folder: Path) -> None: ...

    def rows(self, x: Any) -> Any:
        """Test rows in the form ``batch`` takes; not timed."""
        return x

    def row(self, x: Any, at: int) -> Any:
        """One row in the form ``single`` takes; not timed."""
        return x[at]

    @abstractmethod
    def batch(self, rows: Any, threads: int) -> Any:
        """Ranks all rows: timed."""

    @abstractmethod
    def single(self, row: Any) -> Any:
        """Ranks one row: timed."""

    @abstractmethod
    def lists(self, answer: Any, n_rows: int) -> tuple[Any, Any]:
        """What ``batch`` gave as labels (rows, TOP), -1 where a list is shorter, and scores; not timed."""


def lists_of_pairs(answer: Any) -> tuple[Any, Any]:
    """Labels and scores of lists of (label, score)."""
    labels, scores = np.full((len(answer), TOP), -1, np.int32), np.zeros((len(answer), TOP), np.float32)
    for row, found in enumerate(answer):
        labels[row, : len(found)] = [label for label, _ in found]
        scores[row, : len(found)] = [score for _, score in found]
    return labels, scores
