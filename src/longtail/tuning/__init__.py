"""What models are worth and what they cost, measured on rows held out, and the choice among several."""

from __future__ import annotations

from .measuring import Cost, measure_cost, measure_precision
from .tree_sweep import TreePoint, TreeSweep, tune_tree

__all__ = ["Cost", "TreePoint", "TreeSweep", "measure_cost", "measure_precision", "tune_tree"]
