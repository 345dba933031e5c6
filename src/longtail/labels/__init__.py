"""What is known of labels: their names, how often they occur, and where they lie among the features."""

from __future__ import annotations

from .heads import head_frequencies
from .names import LabelSet, encode
from .pifa import pifa
from .statistics import frequencies, propensities

__all__ = ["LabelSet", "encode", "frequencies", "head_frequencies", "pifa", "propensities"]
