"""JSON as model folders hold it: strict in both directions.

Written: objects with string keys, finite numbers, NumPy scalars as numbers, tuples as lists. Read: at most
``MAX_BYTES`` long and ``MAX_DEPTH`` deep, no NaN or infinity, no key twice. What breaks a rule is a
ModelError.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import ModelError

__all__ = ["MAX_BYTES", "MAX_DEPTH", "canonical", "dumps", "loads", "plain"]

MAX_BYTES = 64 * 2**20
MAX_DEPTH = 64
_MAX_INT = 2**63

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BRACKET = re.compile(rb"[][{}]")


def plain(value: Any, where: str, depth: int = 0) -> Any:
    """The value with Python's own types only; ``where`` is what an error calls it."""
    if depth > MAX_DEPTH:
        raise ModelError(f"{where} is nested more than {MAX_DEPTH} levels deep.")
    if value is None or isinstance(value, bool | str):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        if not -_MAX_INT <= int(value) < 2 * _MAX_INT:
            raise ModelError(f"{where} is a whole number of more than 64 bits.")
        return int(value)
    if isinstance(value, float | np.floating):
        if not math.isfinite(value):
            raise ModelError(f"{where} is {value}; a model folder holds finite numbers only.")
        return float(value)
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise ModelError(f"{where} has the key {key!r}; keys must be strings.")
        return {str(key): plain(item, f"{where}.{key}", depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, f"{where}[{i}]", depth + 1) for i, item in enumerate(value)]
    raise ModelError(f"{where} is a {type(value).__name__}, which JSON cannot hold.")


def dumps(value: Any) -> bytes:
    """Of a plain value, for people to read."""
    text = json.dumps(value, indent=2, allow_nan=False, ensure_ascii=True) + "\n"
    data = text.encode("ascii")
    if len(data) > MAX_BYTES:
        raise ModelError(f"model.json would have {len(data)} bytes, at most {MAX_BYTES} are supported.")
    return data


def canonical(value: Any) -> bytes:
    """The same bytes for equal plain values: what checksums are taken of."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def loads(data: bytes, name: str) -> Any:
    """The value, or a ModelError that calls the file ``name``."""
    if len(data) > MAX_BYTES:
        raise ModelError(f"{name} has {len(data)} bytes, at most {MAX_BYTES} are supported.")
    if _depth(data) > MAX_DEPTH:
        raise ModelError(f"{name} is nested more than {MAX_DEPTH} levels deep.")
    try:
        return json.loads(
            data.decode("utf-8"),
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_short_int,
            object_pairs_hook=_no_duplicates,
        )
    except (ValueError, RecursionError) as error:  # also UnicodeDecodeError and JSONDecodeError
        raise ModelError(f"{name} is not valid: {error}.") from None


def _depth(data: bytes) -> int:
    depth = deepest = 0
    for bracket in _BRACKET.finditer(_STRING.sub(b"", data)):
        depth += 1 if bracket.group() in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _no_constant(text: str) -> Any:
    raise ValueError(f"it holds {text}, which is not a number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"it holds {text[:40]}, which is too large")
    return number


def _short_int(text: str) -> int:
    if len(text) > 20 or not -_MAX_INT <= int(text) < 2 * _MAX_INT:
        raise ValueError(f"it holds the whole number {text[:40]}, which has more than 64 bits")
    return int(text)


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for i, key in enumerate(keys) if key in keys[:i])
        raise ValueError(f"it has the key {twice!r} twice in one object")
    return result
