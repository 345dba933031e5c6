"""LONGTAIL_ISA chooses the level: without that, tests at every level would all run at the same one."""

from __future__ import annotations

import platform

import pytest

from longtail import _native
from longtail.errors import ParameterError

LEVELS = ["portable", "avx2", "avx512"]


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_is_forced_as_far_as_the_machine_has_it(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = _native.machine_isa()
    monkeypatch.setenv("LONGTAIL_ISA", level)
    assert _native.active_isa() == min(level, machine, key=LEVELS.index)
    monkeypatch.setenv("LONGTAIL_ISA", "")
    assert _native.active_isa() == machine
    if platform.machine() not in ("x86_64", "AMD64"):
        assert machine == "portable"


@pytest.mark.parametrize("wrong", ["AVX2", "sse", "avx2 ", "0"])
def test_a_wrong_level_is_a_parameter_error(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGTAIL_ISA", wrong)
    with pytest.raises(
        ParameterError, match=rf"LONGTAIL_ISA must be one of portable, avx2, avx512. Got '{wrong}'"
    ):
        _native.active_isa()
