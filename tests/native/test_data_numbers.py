"""Decimal text to float32 and back, against exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longtail import _native

read_number, write_number = _native.data.read_number, _native.data.write_number
LARGEST = Fraction(float(np.finfo(np.float32).max))


def exact(text: str) -> float | None:
    """The nearest float32 (ties to even) by fractions; None when it is too large."""
    value = Fraction(text)
    size = abs(value)
    if size == 0:
        return 0.0
    exponent = -149
    while size / Fraction(2) ** exponent >= 2**24:
        exponent += 1
    steps = round(size / Fraction(2) ** exponent)  # rounds half to even
    nearest = steps * Fraction(2) ** exponent
    if nearest > LARGEST:
        return None
    return float(nearest if value > 0 else -nearest)


def bits(value: float) -> int:
    return int(np.float32(value).view(np.uint32))


decimals = st.builds(
    lambda sign, whole, fraction, exponent: f"{sign}{whole}.{fraction}{exponent}",
    st.sampled_from(["", "-", "+"]),
    st.from_regex(r"[0-9]{1,25}", fullmatch=True),
    st.from_regex(r"[0-9]{0,25}", fullmatch=True),
    st.one_of(st.just(""), st.integers(-70, 45).map(lambda e: f"e{e}")),
)


@given(decimals)
def test_reading_is_exact(text: str) -> None:
    got, wanted = read_number(text), exact(text)
    assert got == wanted


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_writing_reads_back(value: float) -> None:
    text = write_number(value)
    assert bits(read_number(text)) == bits(value)
    assert len(text) <= 16
    shortest = np.format_float_scientific(np.float32(value), unique=True, trim="-")
    digits = sum(c.isdigit() for c in text.split("e")[0].lstrip("-0.").rstrip("0"))
    assert digits <= max(1, sum(c.isdigit() for c in shortest.split("e")[0].replace(".", "").rstrip("0")))


def test_many_random_decimals_equal_numpy() -> None:
    rng = np.random.default_rng(0)
    for digits in (1, 3, 6, 8, 9, 12, 17):
        for value in rng.standard_normal(2000) * 10.0 ** rng.integers(-12, 12, 2000):
            text = f"{value:.{digits}g}"
            assert read_number(text) == float(np.float32(text))


@pytest.mark.parametrize("odd", [1, 3, 16777215])
def test_half_way_between_two_floats(odd: int) -> None:
    """Where a double would round the wrong way: just below, at and just above the middle of two floats."""
    for exponent in (-149, -140, -60, -24, 0, 30, 100):
        middle = Fraction(2 * odd + 1, 2) * Fraction(2) ** exponent
        if middle.denominator == 1:
            text = str(middle.numerator) + "."
        else:
            places = middle.denominator.bit_length() - 1  # a power of two: that many decimals are exact
            digits = str(middle.numerator * 5**places).rjust(places + 1, "0")
            text = digits[:-places] + "." + digits[-places:]
        for tail in ("", "0" * 10, "0" * 60 + "1", "0" * 200 + "1"):
            assert read_number(text + tail) == exact(text + tail), (odd, exponent, tail)
        below = text[:-1] + "4" + "9" * 150 if text[-1] == "5" else None
        if below:
            assert read_number(below) == exact(below)


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "-",
        "+",
        "e5",
        "1e",
        "1e+",
        "0x10",
        "1.2.3",
        "nan",
        "inf",
        "-Infinity",
        "1e39",
        "3.4028236e38",
        "1_000",
        "1,5",
        " 1",
    ],
)
def test_what_is_no_float32(text: str) -> None:
    assert read_number(text) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0.0),
        ("-0", 0.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("+2", 2.0),
        ("1e-46", 0.0),
        ("1e-99999999999", 0.0),
        ("0e99999999999", 0.0),
    ],
)
def test_edges(text: str, value: float) -> None:
    assert read_number(text) == value


def test_limits() -> None:
    assert read_number("3.4028234663852886e38") == float(np.finfo(np.float32).max)
    assert read_number("3.40282356e38") == float(np.finfo(np.float32).max)
    assert read_number("1.4e-45") == float(np.float32(1.4e-45))
    assert write_number(0.1) == "0.1"
    assert write_number(1e30) == "1e30"
    assert write_number(-123456.0) == "-123456"
    with pytest.raises(ValueError, match="finite"):
        write_number(float("nan"))
