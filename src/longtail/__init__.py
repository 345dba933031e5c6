"""longtail: rank a short list out of very many labels.

    import longtail as lt

    data = lt.data.load(path)
    model = lt.LinearTree().fit(data.inputs, data.Y, labels=data.labels)
    model.predict(texts, k=5).names()

Names are imported when they are first used, so that ``import longtail`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from . import data, dense, groups, labels, linear, metrics, plots, softmax, store, text, trees, tuning
    from .data import Dataset
    from .dense import DeepMIML
    from .errors import (
        DataError,
        LongtailError,
        MissingExtraError,
        ModelError,
        NotFittedError,
        ParameterError,
    )
    from .groups import Eagle
    from .labels import LabelSet
    from .linear import LinearTree, OneVsRest
    from .model import Model, load
    from .ranking import Ranking
    from .softmax import HierarchicalSoftmax
    from .text import TextVectorizer
    from .trees import LabelTree
    from .tuning import tune_tree

_HOME = {
    "DataError": "errors",
    "Dataset": "data",
    "DeepMIML": "dense",
    "Eagle": "groups",
    "HierarchicalSoftmax": "softmax",
    "LabelSet": "labels",
    "LabelTree": "trees",
    "LinearTree": "linear",
    "LongtailError": "errors",
    "MissingExtraError": "errors",
    "Model": "model",
    "ModelError": "errors",
    "NotFittedError": "errors",
    "OneVsRest": "linear",
    "ParameterError": "errors",
    "Ranking": "ranking",
    "TextVectorizer": "text",
    "load": "model",
    "tune_tree": "tuning",
}
_ROOMS = (
    "data",
    "dense",
    "groups",
    "labels",
    "linear",
    "metrics",
    "plots",
    "softmax",
    "store",
    "text",
    "trees",
    "tuning",
)

__all__ = [
    "DataError",
    "Dataset",
    "DeepMIML",
    "Eagle",
    "HierarchicalSoftmax",
    "LabelSet",
    "LabelTree",
    "LinearTree",
    "LongtailError",
    "MissingExtraError",
    "Model",
    "ModelError",
    "NotFittedError",
    "OneVsRest",
    "ParameterError",
    "Ranking",
    "TextVectorizer",
    "__version__",
    "data",
    "dense",
    "groups",
    "labels",
    "linear",
    "load",
    "metrics",
    "plots",
    "softmax",
    "store",
    "text",
    "trees",
    "tune_tree",
    "tuning",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f".{name}", __name__)
    if name in _HOME:
        value = getattr(import_module(f".{_HOME[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'longtail' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
