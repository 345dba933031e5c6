"""Hierarchical softmax: embeddings of words and n-grams, averaged, and a series of decisions down a label tree."""

from __future__ import annotations

from .hierarchical import HierarchicalSoftmax

__all__ = ["HierarchicalSoftmax"]
