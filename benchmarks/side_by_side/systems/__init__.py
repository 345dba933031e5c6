"""The systems that are compared, by name. Each module is loaded in its own environment only."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["ENVIRONMENT", "SYSTEMS", "TEXT_SYSTEMS", "make"]

# name → the environment it lives in (environments.py). "pecos-same" is PECOS with the weights that longtail learnt.
ENVIRONMENT = {
    "longtail": "longtail",
    "pecos": "pecos",
    "pecos-same": "pecos",
    "omikuji": "others",
    "napkinxc": "others",
}
SYSTEMS = tuple(ENVIRONMENT)
TEXT_SYSTEMS = ("longtail", "pecos")  # those that are measured from raw text too


def make(name: str) -> Any:
    """The system of a name, an instance of ``base.System``."""
    return import_module(f".{name.split('-')[0]}_system", __name__).make()
