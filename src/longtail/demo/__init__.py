"""A data set that ships with the package, and the job that ``longtail demo`` runs on it.

About 40,000 definitions of concepts from WordNet 3.0, each labelled with its broader concepts (8,661
labels), and 8,000 more to test on. WORDNET-LICENSE.txt in this folder is their licence.

>>> from longtail import demo
>>> train, test = demo.load()
>>> train.n_labels
8661
"""

from __future__ import annotations

from .run import DEFINITIONS, Outcome, load, path, train_and_evaluate

__all__ = ["DEFINITIONS", "Outcome", "load", "path", "train_and_evaluate"]
