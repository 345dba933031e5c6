"""The weights of one of longtail's trees as a model of PECOS, and whether both rank the same with them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .systems.base import TOP

__all__ = ["compare", "export"]

ROUNDING = 1e-5  # relative; scores this close count as equal


def export(source: Path, target: Path) -> dict[str, Any]:
    """Writes a folder that PECOS loads. The tree's leaves must all be of one depth, as those of k-means are."""
    import longtail as lt

    model = lt.load(source)
    if not isinstance(model, lt.LinearTree) or len(model.trees_) != 1:
        raise SystemExit(f"{source} is not a LinearTree of one tree")
    forest = model.forest_
    levels = forest.trees[0]
    feature_of = np.empty(forest.n_internal, np.int64)
    used = np.flatnonzero(forest.rank >= 0)
    feature_of[forest.rank[used]] = used
    shutil.rmtree(target, ignore_errors=True)
    (target / "ranker").mkdir(parents=True)
    _write(target, "pecos.xmc.xlinear.model###XLinearModel", {"model": "XLinearModel"})
    sizes = {"nr_features": model.n_features_in_, "nr_codes": 1, "nr_labels": model.n_labels_}
    chain = {"model": "HierarchicalMLModel", "depth": len(levels)}
    _write(target / "ranker", "pecos.xmc.base###HierarchicalMLModel", chain | sizes)
    for depth, level in enumerate(levels):
        weights, codes = _matrices(model._predictor, depth, level, feature_of, model.n_features_in_)
        folder = target / "ranker" / f"{depth}.model"
        folder.mkdir()
        sp.save_npz(folder / "W.npz", weights, compressed=False)
        sp.save_npz(folder / "C.npz", codes, compressed=False)
        asked = {"only_topk": TOP, "post_processor": "l3-hinge"}
        meta = {"__meta__": {"class_fullname": "pecos.xmc.base###MLModel.PredParams"}}
        facts = {"model": "MLModel", "bias": 1.0, "pred_kwargs": asked, "pred_params": meta | asked}
        sizes = {"nr_labels": codes.shape[0], "nr_codes": codes.shape[1]}
        _write(folder, "pecos.xmc.base###MLModel", facts | sizes | {"nr_features": model.n_features_in_})
    return {}


def _write(folder: Path, kind: str, facts: dict[str, Any]) -> None:
    (folder / "param.json").write_text(json.dumps({"__meta__": {"class_fullname": kind}} | facts))


def _matrices(predictor: Any, depth: int, level: Any, feature_of: Any, n_features: int) -> Any:
    """A level's weights, features and below them the bias × children, and which child is whose."""
    begin, child = np.asarray(level["child_ptr"]), np.asarray(level["child"])
    if not ((child < 0).all() or (child >= 0).all()):
        raise SystemExit("labels at several depths have no place in PECOS's form")
    column = np.where(child < 0, ~child, child)
    parent = np.repeat(np.arange(len(begin) - 1), np.diff(begin))
    rows: list[Any] = [None] * len(child)
    values: list[Any] = [None] * len(child)
    for place, chunk in enumerate(parent):
        inner, weight, bias = predictor.child_weights(0, depth, int(chunk), int(place - begin[chunk]))
        feature = feature_of[inner]
        order = np.argsort(feature)
        rows[column[place]] = np.append(feature[order], n_features)
        values[column[place]] = np.append(weight[order], np.float32(bias))
    pointers = np.concatenate([[0], np.cumsum([len(part) for part in rows])])
    content = np.concatenate(values).astype(np.float32), np.concatenate(rows).astype(np.int32), pointers
    weights = sp.csc_matrix(content, shape=(n_features + 1, len(child)))
    ones = np.ones(len(child), np.float32)
    return weights, sp.csc_matrix((ones, (column, parent)), shape=(len(child), len(begin) - 1))


def compare(ours: Path, theirs: Path) -> dict[str, Any]:
    """How many rows have the same ten labels in the same order; how many differ only where scores tie up to rounding
    (they are summed in another order there); how many differ otherwise."""
    one, two = np.load(ours), np.load(theirs)
    same = (one["labels"] == two["labels"]).all(axis=1)
    # A tie may be with the label in the eleventh place: then the sets of labels differ, but no score does.
    scale = np.maximum(np.abs(one["scores"]), np.abs(two["scores"]))
    apart = np.abs(one["scores"] - two["scores"])
    close = (apart <= ROUNDING * scale + 1e-12).all(axis=1)
    return {
        "rows": len(same),
        "identical": int(same.sum()),
        "ties": int((~same & close).sum()),
        "different": int((~same & ~close).sum()),
        "largest_difference": float(apart[same].max(initial=0)),
    }
