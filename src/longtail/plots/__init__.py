"""Pictures of labels, trees and scores, with Matplotlib: pip install 'longtail[plots]'.

Every function draws on the axes it is given (or on a new figure's) and gives them back:

    ax = lt.plots.label_imbalance(data.Y)
    ax.figure.savefig("imbalance.svg")

``save`` does the latter without a screen.
"""

from __future__ import annotations

from .canvas import save
from .frontier import precision_against_depth, precision_against_time
from .imbalance import label_imbalance, touched_shares
from .scores import reliability
from .shape import tree_shape

__all__ = [
    "label_imbalance",
    "precision_against_depth",
    "precision_against_time",
    "reliability",
    "save",
    "touched_shares",
    "tree_shape",
]
