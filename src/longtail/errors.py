"""Every exception that longtail raises on purpose.

LongtailError
├── DataError        a file or an array is not what it must be (also a ValueError)
├── ParameterError   a parameter has a wrong value or type (also a ValueError)
├── ModelError       a model folder cannot be read or written (also a ValueError)
├── NotFittedError   a model was asked before it was trained (also a ValueError and an AttributeError)
└── MissingExtraError  an optional package is not installed (also an ImportError)
"""

from __future__ import annotations

from os import PathLike

__all__ = [
    "DataError",
    "LongtailError",
    "MissingExtraError",
    "ModelError",
    "NotFittedError",
    "ParameterError",
]


class LongtailError(Exception):
    """The base of all errors that longtail raises on purpose."""


class DataError(LongtailError, ValueError):
    """A file or an array is not what it must be. The message says where, what was found and what was expected."""

    def __init__(self, message: str, *, path: str | PathLike[str] | None = None, line: int | None = None):
        self.path = None if path is None else str(path)
        self.line = line
        where = "" if path is None else f"{self.path}: " if line is None else f"{self.path}, line {line}: "
        super().__init__(where + message)


class ParameterError(LongtailError, ValueError):
    """A parameter has a wrong value or type."""


class ModelError(LongtailError, ValueError):
    """A model folder cannot be read or written."""


class NotFittedError(LongtailError, ValueError, AttributeError):
    """A model was asked for something before it was trained."""


class MissingExtraError(LongtailError, ImportError):
    """An optional package is not installed."""

    def __init__(self, what: str, extra: str):
        super().__init__(
            f"{what} needs an optional package. Install it with: pip install 'longtail[{extra}]'"
        )
