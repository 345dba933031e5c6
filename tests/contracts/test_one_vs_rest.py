"""OneVsRest keeps the contract of models."""

from __future__ import annotations

from typing import Any

from contract import Contract

import longtail as lt


class TestOneVsRest(Contract):
    def make(self, **params: Any) -> Any:
        return lt.OneVsRest(**params)


class TestOneVsRestHinge(Contract):
    def make(self, **params: Any) -> Any:
        return lt.OneVsRest(**{"label_score": "hinge", "hinge_power": 2, **params})
