"""Load the packaged data, train, evaluate: each step timed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..data import Dataset

__all__ = ["DEFINITIONS", "Outcome", "load", "path", "train_and_evaluate"]

FILES = {"train": "train.jsonl.gz", "test": "test.jsonl.gz"}
PLACES = (1, 3, 5)

# Typed by hand, not from WordNet: what a person would write.
DEFINITIONS = (
    "a large wild cat with a mane that hunts in groups on the African plains",
    "a person who repairs shoes",
)


@dataclass
class Outcome:
    """What a run of the demo gives."""

    model: Any
    train: Dataset
    test: Dataset
    ranking: Any
    report: Any
    seconds: dict[str, float] = field(default_factory=dict)


def path(split: str) -> Path:
    """The packaged file of a split: ``train`` or ``test``."""
    return Path(__file__).with_name(FILES[split])


def load() -> tuple[Dataset, Dataset]:
    """The training and the test split, with the same labels in the same order."""
    from .. import data

    train = data.load(path("train"))
    test = data.load(path("test"), labels=train.labels)
    return train, test


def train_and_evaluate(threads: int | None = None, seed: int = 0) -> Outcome:
    """The main job: from texts to measured rankings."""
    from .. import metrics
    from ..linear import LinearTree
    from ..text import TextVectorizer

    seconds: dict[str, float] = {}
    with _timed(seconds, "load"):
        train, test = load()
    vectorizer = TextVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)
    model = LinearTree(trees=3, vectorizer=vectorizer, threads=threads, seed=seed)
    with _timed(seconds, "train"):
        model.fit(train.texts, train.Y, labels=train.labels)
    with _timed(seconds, "predict"):
        ranking = model.predict(test.texts, k=max(PLACES))
    with _timed(seconds, "evaluate"):
        report = metrics.evaluate(ranking, test.Y, k=PLACES, train=train.Y)
    return Outcome(model, train, test, ranking, report, seconds)


@contextmanager
def _timed(seconds: dict[str, float], step: str) -> Iterator[None]:
    began = time.perf_counter()
    yield
    seconds[step] = time.perf_counter() - began
