from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from longtail.errors import DataError, ParameterError
from longtail.metrics import compare, evaluate


def coins(n: int, p: float, seed: int) -> np.ndarray:
    """Lists of one label: label 0, which is true, in a share p of the rows, else label 1."""
    return (np.random.default_rng(seed).random((n, 1)) >= p).astype(np.int32)


def truth(n: int) -> sp.csr_matrix:
    return sp.csr_matrix((np.ones(n, np.float32), np.zeros(n, np.int32), np.arange(n + 1)), shape=(n, 2))


def test_a_clear_difference() -> None:
    n = 1000
    a, b = coins(n, 0.8, 1), coins(n, 0.6, 2)
    result = compare(a, b, truth(n), "P@1", seed=1)
    assert result.difference == pytest.approx(result.a - result.b)
    assert result.a == evaluate(a, truth(n), k=1)["P@1"]
    assert result.low < result.difference < result.high
    assert result.low > 0
    assert result.p_value < 0.001
    # The interval of a difference of paired rows, by the normal approximation.
    d = (a == 0).astype(float) - (b == 0)
    assert result.high - result.low == pytest.approx(2 * 1.96 * d.std() / np.sqrt(n), rel=0.1)


def test_no_difference() -> None:
    a = coins(500, 0.7, 1)
    same = compare(a, a, truth(500))
    assert (same.difference, same.low, same.high, same.p_value) == (0, 0, 0, 1)
    p_values = [
        compare(coins(300, 0.7, s), coins(300, 0.7, 100 + s), truth(300), bootstrap=500).p_value
        for s in range(40)
    ]
    assert np.mean(np.array(p_values) < 0.05) < 0.2
    assert np.median(p_values) > 0.2


def test_turned_round_and_threads() -> None:
    a, b, y = coins(400, 0.8, 1), coins(400, 0.75, 2), truth(400)
    one = compare(a, b, y, bootstrap=999, seed=5, threads=1)
    assert compare(a, b, y, bootstrap=999, seed=5, threads=2) == one
    other = compare(b, a, y, bootstrap=999, seed=5)
    assert (other.low, other.high) == pytest.approx((-one.high, -one.low))
    assert other.p_value == one.p_value


def test_propensity_scored_measures_compare_as_ratios() -> None:
    a, b, y = coins(400, 0.8, 1), coins(400, 0.6, 2), truth(400)
    train = (np.array([10, 3]), 50)
    result = compare(a, b, y, "psp@1", train=train)
    assert result.metric == "PSP@1"
    assert result.a == pytest.approx(evaluate(a, y, k=1, train=train)["PSP@1"])
    assert result.low < result.difference < result.high


def test_shows_itself() -> None:
    a, b, y = coins(400, 0.8, 1), coins(400, 0.6, 2), truth(400)
    result = compare(a, b, y, bootstrap=100)
    assert str(result).startswith(f"P@1: {100 * result.a:.2f} - {100 * result.b:.2f} = +")
    assert result.to_dict()["p_value"] == result.p_value


def test_errors() -> None:
    a, y = coins(4, 0.8, 1), truth(4)
    for metric in ("P", "P@", "P@0", "P@x", "Q@1", "@1", 3, "P@99999999"):
        with pytest.raises(ParameterError):
            compare(a, a, y, metric)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="not a mean over rows"):
        compare(a, a, y, "coverage@1")
    with pytest.raises(ParameterError, match="needs 'train'"):
        compare(a, a, y, "PSP@1")
    with pytest.raises(DataError, match="3 rows"):
        compare(a, a[:3], y)
    with pytest.raises(DataError, match="No row has a true label"):
        compare(a, a, sp.csr_matrix((4, 2), dtype=np.float32), empty="skip")
