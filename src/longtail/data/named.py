"""Labels by name or by id, for formats that may have either."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import Any

from .. import _native
from .chunk import SparseRows
from .options import ReadOptions
from .source import Facts, Reader

__all__ = ["KIND_IDS", "KIND_NAMES", "finish_labels", "label_names_of", "label_table"]

KIND_IDS, KIND_NAMES = 1, 2


def label_table(options: ReadOptions) -> Any:
    """A native table of names: empty, or those of the `labels` option."""
    table = _native.data.LabelTable()
    if options.labels is not None:
        table.fix(list(options.labels.names), options.unknown_labels == "drop")
    return table


def finish_labels(reader: Reader, table: Any, largest_label: int) -> None:
    """Sets the number of labels and their names, once all rows are read."""
    from ..labels import LabelSet

    if reader.options.labels is not None:
        return
    if table.kind == KIND_NAMES:
        reader.labels = LabelSet(table.to_list())
        reader.n_labels = len(reader.labels)
    elif reader.n_labels is None:
        reader.n_labels = largest_label + 1


def label_names_of(y: SparseRows, facts: Facts) -> list[list[str]] | list[list[int]]:
    """The labels of each row: names when there are names, else ids."""
    ids = y.ids.tolist()
    cuts = [0, *accumulate(y.counts.tolist())]
    if facts.labels is None:
        return [ids[a:b] for a, b in pairwise(cuts)]
    names = facts.labels.names
    all_names = [names[i] for i in ids]
    return [all_names[a:b] for a, b in pairwise(cuts)]
