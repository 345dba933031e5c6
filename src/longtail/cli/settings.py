"""Parameters from a TOML file and from --set, checked against what the classes know.

    [model]
    class = "LinearTree"
    C = 2.0

    [text]
    min_df = 2

``--set model.C=2`` and ``--set C=2`` mean the same; a value is written as in TOML, quotes may be left out.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ..errors import ParameterError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["Settings", "merge", "read_settings"]

TABLES = ("model", "text")


@dataclass
class Settings:
    """Values by table and key, each with where it was written (for errors)."""

    values: dict[str, dict[str, Any]] = field(default_factory=lambda: {table: {} for table in TABLES})
    origins: dict[tuple[str, str], str] = field(default_factory=dict)

    def put(self, table: str, key: str, value: Any, origin: str) -> None:
        self.values[table][key] = value
        self.origins[table, key] = origin

    def take(self, table: str, known: Sequence[str]) -> dict[str, Any]:
        """The values of a table, after a check that every key is known."""
        for key in self.values[table]:
            if key not in known:
                origin = self.origins[table, key]
                near = [name for name in known if name.lower() == key.lower()] or get_close_matches(
                    key, known, n=1
                )
                hint = f" Did you mean '{near[0]}'?" if near else ""
                names = ", ".join(sorted(known))
                raise ParameterError(
                    f"{origin}: unknown key '{key}' in [{table}].{hint} Known keys: {names}."
                )
        return dict(self.values[table])


def read_settings(path: Path | None, assignments: Sequence[str]) -> Settings:
    """Reads the file, if any; the assignments come later and win."""
    settings = Settings()
    if path is not None:
        for table, values in _read_toml(path).items():
            if table not in TABLES:
                expected = ", ".join(f"[{name}]" for name in TABLES)
                what = f"table [{table}]" if isinstance(values, Mapping) else f"key '{table}' outside a table"
                raise ParameterError(f"{path}: unknown {what}. Known tables: {expected}.")
            if not isinstance(values, Mapping):
                raise ParameterError(f"{path}: '{table}' must be a table, written [{table}].")
            for key, value in values.items():
                settings.put(table, key, value, str(path))
    for assignment in assignments:
        table, key, value = _parse_assignment(assignment)
        settings.put(table, key, value, f"--set {assignment}")
    return settings


def merge(values: dict[str, Any], **options: Any) -> dict[str, Any]:
    """The values with those options that were given (are not None)."""
    return values | {key: value for key, value in options.items() if value is not None}


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        values: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        return values
    except tomllib.TOMLDecodeError as error:
        raise ParameterError(f"{path}: not valid TOML: {error}.") from None
    except UnicodeDecodeError:
        raise ParameterError(f"{path}: not UTF-8 text.") from None
    except OSError as error:
        raise ParameterError(f"{path}: {error.strerror}.") from None


def _parse_assignment(text: str) -> tuple[str, str, Any]:
    name, equals, value = text.partition("=")
    table, dot, key = name.strip().rpartition(".")
    if not equals or not key:
        raise ParameterError(f"--set {text}: expected key=value, such as C=2 or text.min_df=2.")
    if not dot:
        table = "model"
    if table not in TABLES:
        raise ParameterError(f"--set {text}: unknown table '{table}'. Known tables: {', '.join(TABLES)}.")
    return table, key, parse_value(value.strip())


def parse_value(text: str) -> Any:
    """A TOML value; words that are none are strings (loss=logistic), and "none" is None."""
    if text.lower() in ("none", "null"):
        return None
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        pass
    if text in ("True", "False"):
        return text == "True"
    if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text):
        return float(text)  # .5 and 1. are no TOML, but what is meant is clear
    return text
