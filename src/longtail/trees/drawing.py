"""A label tree in figures and as a drawing of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import DataError
from ..params import Int, check

if TYPE_CHECKING:
    from .tree import LabelTree

__all__ = ["describe_tree", "draw_tree"]

_EXAMPLES = 3  # labels named per node
_NAME_WIDTH = 28


def describe_tree(tree: LabelTree, frequencies: Any = None) -> dict[str, Any]:
    """See ``LabelTree.describe``."""
    inner = tree.n_children[~tree.is_leaf]
    arities, counts = np.unique(inner, return_counts=True)
    facts: dict[str, Any] = {
        "n_labels": tree.n_labels,
        "n_nodes": tree.n_nodes,
        "n_leaves": tree.n_leaves,
        "height": tree.height,
        "nodes_per_level": np.bincount(tree.node_depth).tolist(),
        "arities": {int(k): int(c) for k, c in zip(arities, counts, strict=True)},
        "leaf_size": _summary((tree.label_end - tree.label_begin)[tree.is_leaf]),
        "depth": _summary(tree.depth),
    }
    if frequencies is not None:
        f = _checked_frequencies(tree, frequencies)
        total = float(f.sum())
        facts["expected_depth"] = float(f @ tree.depth) / total if total > 0 else facts["depth"]["mean"]
    return facts


def _summary(values: npt.NDArray[np.int32]) -> dict[str, float]:
    return {
        "min": int(values.min()),
        "median": float(np.median(values)),
        "mean": float(values.mean()),
        "max": int(values.max()),
    }


def draw_tree(
    tree: LabelTree, label_set: Any = None, max_depth: int = 3, max_children: int = 6, frequencies: Any = None
) -> str:
    """See ``LabelTree.draw``."""
    check("draw", {"max_depth": Int(0), "max_children": Int(1)}, locals())
    f = None if frequencies is None else _checked_frequencies(tree, frequencies)
    names = None if label_set is None else getattr(label_set, "names", label_set)
    if names is not None and len(names) != tree.n_labels:
        raise DataError(f"label_set has {len(names)} names, the tree has {tree.n_labels} labels.")
    lines = [_line(tree, 0, names, f)]
    # Children are pushed from right to left, so that they are drawn from left to right. A string is drawn as
    # it is.
    open_: list[tuple[int | str, str, bool]] = []

    def push_children(node: int, indent: str) -> None:
        children = tree.children(node)
        shown = children[:max_children]
        rows: list[int | str] = list(shown)
        if len(children) > len(shown):
            rest = children[len(shown) :]
            labels = int(tree.label_end[rest[-1]] - tree.label_begin[rest[0]])
            rows.append(
                f"… {_count(len(rest), 'more child', 'more children')} with {_count(labels, 'label')}"
            )
        open_.extend((row, indent, i == len(rows) - 1) for i, row in reversed(list(enumerate(rows))))

    if max_depth > 0:
        push_children(0, "")
    while open_:
        row, indent, last = open_.pop()
        text = row if isinstance(row, str) else _line(tree, row, names, f)
        lines.append(f"{indent}{'└─ ' if last else '├─ '}{text}")
        if not isinstance(row, str) and tree.node_depth[row] < max_depth:
            push_children(row, indent + ("   " if last else "│  "))
    return "\n".join(lines)


def _line(tree: LabelTree, node: int, names: Any, frequencies: npt.NDArray[np.float64] | None) -> str:
    labels = tree.labels_under(node)
    kind = "leaf" if tree.is_leaf[node] else _count(int(tree.n_children[node]), "child", "children")
    if frequencies is None:
        examples = labels[:_EXAMPLES]
    else:
        examples = labels[np.lexsort((labels, -frequencies[labels]))[:_EXAMPLES]]
    shown = ", ".join(_name(int(label), names) for label in examples)
    more = ", …" if len(labels) > len(examples) else ""
    return f"{node}: {kind}, {_count(len(labels), 'label')} ({shown}{more})"


def _name(label: int, names: Any) -> str:
    text = str(label) if names is None else " ".join(str(names[label]).split())
    return text if len(text) <= _NAME_WIDTH else text[: _NAME_WIDTH - 1] + "…"


def _count(n: int, one: str, many: str | None = None) -> str:
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def _checked_frequencies(tree: LabelTree, frequencies: Any) -> npt.NDArray[np.float64]:
    try:
        f = np.asarray(frequencies, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"frequencies must be numbers. Got {type(frequencies).__name__} instead.") from None
    if f.shape != (tree.n_labels,) or not np.all(np.isfinite(f)) or np.any(f < 0):
        raise DataError(f"frequencies must be {tree.n_labels} finite numbers >= 0, one per label.")
    return f
