"""Labels known only of groups of samples: who of a group carries which of its labels.

>>> import longtail as lt
>>> Y = lt.Eagle().assign(X, groups, group_labels)                     # doctest: +SKIP
>>> model = lt.LinearTree().fit(X, groups=groups, group_labels=Y2)     # doctest: +SKIP
"""

from .eagle import Eagle
from .rules import cluster_groups, everyone, merge_labels, random_groups

__all__ = ["Eagle", "cluster_groups", "everyone", "merge_labels", "random_groups"]
