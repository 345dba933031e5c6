"""Parameters are declared once, checked in one place, and produce one kind of error.

A class lists its constraints; ``check`` compares them with the values and raises, for example:

    The 'C' parameter of LinearTree must be a number > 0. Got -1 instead.
"""

from __future__ import annotations

import inspect
import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from .errors import ParameterError

__all__ = [
    "Check",
    "Choice",
    "Either",
    "Flag",
    "Instance",
    "Int",
    "Nullable",
    "Parametrized",
    "Real",
    "check",
]


class Check(Protocol):
    """What a parameter must be: a test and the words for it."""

    def accepts(self, value: Any) -> bool: ...

    def __str__(self) -> str: ...


@dataclass(frozen=True)
class Int:
    """A whole number in [low, high]."""

    low: int | None = None
    high: int | None = None

    def accepts(self, value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, numbers.Integral):
            return False
        number = int(value)
        return (self.low is None or number >= self.low) and (self.high is None or number <= self.high)

    def __str__(self) -> str:
        return "a whole number" + _range(self.low, self.high, True, True)


@dataclass(frozen=True)
class Real:
    """A finite number in [low, high]; open ends with ``open_low`` and ``open_high``."""

    low: float | None = None
    high: float | None = None
    open_low: bool = False
    open_high: bool = False

    def accepts(self, value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, numbers.Real) or not math.isfinite(value):
            return False
        number = float(value)
        if self.low is not None and (number < self.low or (self.open_low and number == self.low)):
            return False
        return self.high is None or not (number > self.high or (self.open_high and number == self.high))

    def __str__(self) -> str:
        return "a number" + _range(self.low, self.high, not self.open_low, not self.open_high)


@dataclass(frozen=True)
class Flag:
    """True or False."""

    def accepts(self, value: Any) -> bool:
        return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")

    def __str__(self) -> str:
        return "True or False"


class Choice:
    """One of a few strings."""

    def __init__(self, *names: str):
        self.names = names

    def accepts(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.names

    def __str__(self) -> str:
        return "one of " + ", ".join(repr(name) for name in self.names)


class Instance:
    """An object of one of the given classes, named in words."""

    def __init__(self, words: str, *classes: type):
        self.words = words
        self.classes = classes

    def accepts(self, value: Any) -> bool:
        return isinstance(value, self.classes)

    def __str__(self) -> str:
        return self.words


class Either:
    """What one of several checks accepts."""

    def __init__(self, *checks: Check):
        self.checks = checks

    def accepts(self, value: Any) -> bool:
        return any(c.accepts(value) for c in self.checks)

    def __str__(self) -> str:
        return " or ".join(map(str, self.checks))


class Nullable:
    """None or what the other checks accept."""

    def __init__(self, *checks: Check):
        self.checks = checks

    def accepts(self, value: Any) -> bool:
        return value is None or any(c.accepts(value) for c in self.checks)

    def __str__(self) -> str:
        return " or ".join(["None", *map(str, self.checks)])


def _range(low: float | None, high: float | None, closed_low: bool, closed_high: bool) -> str:
    if low is not None and high is not None:
        return f" in {'[' if closed_low else '('}{low}, {high}{']' if closed_high else ')'}"
    if low is not None:
        return f" {'>=' if closed_low else '>'} {low}"
    if high is not None:
        return f" {'<=' if closed_high else '<'} {high}"
    return ""


def check(owner: str, constraints: Mapping[str, Check], values: Mapping[str, Any]) -> None:
    """Raises ParameterError at the first value that its constraint does not accept."""
    for name, constraint in constraints.items():
        if name in values and not constraint.accepts(values[name]):
            got = repr(values[name])
            got = got if len(got) <= 80 else got[:77] + "..."
            raise ParameterError(
                f"The '{name}' parameter of {owner} must be {constraint}. Got {got} instead."
            )


class Parametrized:
    """scikit-learn's conventions for parameters, without importing scikit-learn (which takes most of a second).

    The constructor of a subclass only stores its keyword arguments under their own names; ``fit`` calls
    ``_check_params``. ``get_params``, ``set_params`` and ``sklearn.base.clone`` then work.
    """

    _constraints: ClassVar[Mapping[str, Check]] = {}

    @classmethod
    def _param_names(cls) -> list[str]:
        names = inspect.signature(cls.__init__).parameters
        return [name for name in names if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; with ``deep`` those of nested estimators too, as ``outer__inner``."""
        params: dict[str, Any] = {}
        for name in self._param_names():
            value = getattr(self, name)
            params[name] = value
            if deep and isinstance(value, Parametrized):
                params.update({f"{name}__{key}": v for key, v in value.get_params().items()})
        return params

    def set_params(self, **params: Any) -> Any:
        """Sets parameters by name and gives the object back."""
        known = self._param_names()
        for key, value in params.items():
            name, _, inner = key.partition("__")
            if name not in known:
                raise ParameterError(
                    f"{type(self).__name__} has no parameter '{name}'. It has: {', '.join(sorted(known))}."
                )
            if inner:
                nested = getattr(self, name)
                if not isinstance(nested, Parametrized):
                    raise ParameterError(
                        f"The '{name}' parameter of {type(self).__name__} has no parameters of its own."
                    )
                nested.set_params(**{inner: value})
            else:
                setattr(self, name, value)
        return self

    def _check_params(self) -> None:
        check(type(self).__name__, self._constraints, self.get_params(deep=False))

    def __repr__(self) -> str:
        defaults = {n: p.default for n, p in inspect.signature(type(self).__init__).parameters.items()}
        changed = []
        for name, value in self.get_params(deep=False).items():
            default = defaults[name]
            if value is not default and not (type(value) is type(default) and repr(value) == repr(default)):
                changed.append(f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(changed)})"
