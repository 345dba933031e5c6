"""Linear classifiers on the edges of a label tree, or one for each label, and the search for the best labels."""

from __future__ import annotations

from ..explanation import Explanation
from .label_tree import LinearTree
from .memory import MemoryEstimate
from .one_vs_rest import OneVsRest

__all__ = ["Explanation", "LinearTree", "MemoryEstimate", "OneVsRest"]
