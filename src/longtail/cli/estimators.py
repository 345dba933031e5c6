"""Models by the names that the command line knows, with parameters from settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import ParameterError
from .settings import Settings

__all__ = ["NAMES", "build", "check"]

NAMES = ("LinearTree", "OneVsRest", "parabel", "xr-linear", "HierarchicalSoftmax", "DeepMIML")
NOT_ON_THE_COMMAND_LINE = ("vectorizer", "tree")  # objects, which TOML cannot write


def check(name: str | None, settings: Settings) -> None:
    """Raises ParameterError for the first thing that is wrong with the settings, before any data are read."""
    estimator = _make(name, settings)
    estimator._check_params()
    text = _text_params(settings)
    if text:
        _vectorizer(text)._check_params()


def build(name: str | None, settings: Settings, texts: bool, data: Path) -> Any:
    """The estimator, with a vectorizer if the data are texts."""
    estimator = _make(name, settings)
    text = _text_params(settings)
    if texts:
        estimator.vectorizer = _vectorizer(text) if text else None  # None: the model's own default
    elif text:
        raise ParameterError(f"[text] sets {', '.join(sorted(text))}, but {data} has features, not texts.")
    return estimator


def _make(name: str | None, settings: Settings) -> Any:
    values = dict(settings.values["model"])
    chosen = name or values.pop("class", None) or NAMES[0]
    factory, cls = _factory(str(chosen), settings)
    known = [key for key in cls._param_names() if key not in NOT_ON_THE_COMMAND_LINE]
    values = settings.take("model", [*known, "class"])
    values.pop("class", None)
    return factory(**values)


def _factory(name: str, settings: Settings) -> tuple[Callable[..., Any], type[Any]]:
    from .. import dense, linear, softmax

    factories: dict[str, tuple[Callable[..., Any], type[Any]]] = {
        "lineartree": (linear.LinearTree, linear.LinearTree),
        "onevsrest": (linear.OneVsRest, linear.OneVsRest),
        "parabel": (linear.LinearTree.parabel, linear.LinearTree),
        "deepmiml": (dense.DeepMIML, dense.DeepMIML),
        "hierarchicalsoftmax": (softmax.HierarchicalSoftmax, softmax.HierarchicalSoftmax),
        "xrlinear": (linear.LinearTree.xr_linear, linear.LinearTree),
    }
    key = name.lower().replace("-", "").replace("_", "")
    if key not in factories:
        origin = settings.origins.get(("model", "class"), "--class")
        raise ParameterError(f"{origin}: unknown class '{name}'. Known classes: {', '.join(NAMES)}.")
    return factories[key]


def _text_params(settings: Settings) -> dict[str, Any]:
    from ..text import TextVectorizer

    values = settings.take("text", TextVectorizer._param_names())
    if isinstance(values.get("ngram_range"), list):
        values["ngram_range"] = tuple(values["ngram_range"])  # TOML has no tuples
    return values


def _vectorizer(values: dict[str, Any]) -> Any:
    from ..text import TextVectorizer

    return TextVectorizer(**values)
