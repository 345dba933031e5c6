"""Facts about a trained model's labels and trees, for ``inspect``."""

from __future__ import annotations

from typing import Any

__all__ = ["label_facts", "tree_facts"]

BIGGEST = 5  # nodes named a level
LEVELS = 3
LABELS_NAMED = 3
NAME_WIDTH = 30


def label_facts(model: Any) -> dict[str, Any]:
    """How many labels there are, and how often they occurred in training."""
    import numpy as np

    counts = np.asarray(model.label_frequencies_)
    order = np.argsort(-counts, kind="stable")
    uses = max(1, int(counts.sum()))
    return {
        "labels": int(model.n_labels_),
        "named": model.labels_ is not None,
        "labels_per_row": round(float(counts.sum()) / max(1, model.n_rows_), 2),
        "never_seen": int(np.count_nonzero(counts == 0)),
        "seen_once": int(np.count_nonzero(counts == 1)),
        "median_rows": float(np.median(counts)),
        "most_rows": int(counts[order[0]]),
        "share_of_the_top_1_percent": round(float(counts[order[: -(-len(order) // 100)]].sum()) / uses, 4),
        "most_frequent": ", ".join(_names(model, order[:LABELS_NAMED])),
    }


def tree_facts(model: Any) -> list[dict[str, Any]]:
    """Of each tree its shape, and at each of the upper levels the nodes whose labels are used most."""
    import numpy as np

    counts = np.asarray(model.label_frequencies_, np.float64)
    facts = []
    for tree in getattr(model, "trees_", None) or []:
        before = np.concatenate([[0], np.cumsum(counts[tree.order])])
        uses = before[tree.label_end] - before[tree.label_begin]
        biggest = []
        for depth in range(1, min(tree.height, LEVELS) + 1):
            level = np.array(tree.level(depth))
            first = level[np.argsort(-uses[level], kind="stable")[:BIGGEST]]
            biggest += [_node_facts(tree, node, int(uses[node]), counts, model) for node in first.tolist()]
        facts.append({"shape": tree.describe(counts), "biggest_nodes": biggest})
    return facts


def _node_facts(tree: Any, node: int, uses: int, counts: Any, model: Any) -> dict[str, Any]:
    import numpy as np

    labels = tree.labels_under(node)
    frequent = labels[np.lexsort((labels, -counts[labels]))[:LABELS_NAMED]]
    return {
        "node": node,
        "depth": int(tree.node_depth[node]),
        "children": int(tree.n_children[node]),
        "labels": len(labels),
        "uses": uses,
        "such_as": _names(model, frequent),
    }


def _names(model: Any, labels: Any) -> list[str]:
    names = [str(i) if model.labels_ is None else model.labels_[i] for i in labels.tolist()]
    return [name if len(name) <= NAME_WIDTH else name[: NAME_WIDTH - 1].rstrip() + "…" for name in names]
