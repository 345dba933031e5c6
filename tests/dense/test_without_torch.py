"""What of DeepMIML needs no PyTorch: pooling, groups, losses, and asking a network."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import longtail as lt
from longtail.dense.asking import Network
from longtail.dense.bags import Bags, chosen_loss
from longtail.dense.layers import Layers, Shape
from longtail.dense.pooling import attention, group_maximum

SIZES = np.array([3, 1, 7, 2, 1])


def plain_mask(alike: Any, tau: float) -> Any:
    """Of one group: g times the softmax of every column."""
    powers = np.exp(tau * (alike - alike.max(axis=0)))
    return len(alike) * powers / powers.sum(axis=0)


def plain_logits(layers: Layers, x: Any) -> Any:
    """Of dense rows, sample by sample, label by label."""
    shape, w = layers.shape, layers.numbers
    out = np.empty((len(x), shape.labels))
    for i, row in enumerate(x.astype(np.float64)):
        if shape.hidden:
            row = np.maximum(row @ w["hidden"] + w["hidden.bias"], 0)
        for label in range(shape.labels):
            columns = [c * shape.labels + label for c in range(shape.concepts)]
            out[i, label] = max(row @ w["output"][:, c] + w["output.bias"][c] for c in columns)
    return out


def network(hidden: int, tau: float, loss: str = "binary", dense: bool = False) -> Network:
    shape = Shape(features=12, hidden=hidden, concepts=3, labels=5)
    layers = Layers.of(shape, Layers.begin(shape, 4), "f32")
    directions = sp.random(12, 5, 0.5, format="csr", dtype=np.float32, random_state=2)
    return Network(layers, None if tau == 0 else directions.toarray() if dense else directions, tau, loss)


@pytest.mark.parametrize("tau", [0.0, 1.0, 30.0, 3000.0])
def test_the_mask_is_a_softmax_in_every_group(tau: float) -> None:
    alike = np.random.default_rng(0).uniform(-1, 1, (SIZES.sum(), 6)).astype(np.float32)
    mask = attention(alike, SIZES, tau)
    at = 0
    for size in SIZES:
        assert np.allclose(mask[at : at + size], plain_mask(alike[at : at + size], tau), atol=1e-3)
        at += size
    if tau == 0:
        assert (mask == 1).all()


def test_the_maximum_of_every_group() -> None:
    values = np.random.default_rng(0).standard_normal((SIZES.sum(), 4)).astype(np.float32)
    expected = [part.max(axis=0) for part in np.split(values, np.cumsum(SIZES)[:-1])]
    assert np.array_equal(group_maximum(values, SIZES), expected)


@pytest.mark.parametrize("hidden", [0, 8])
@pytest.mark.parametrize("loss", ["binary", "share"])
@pytest.mark.parametrize("dense", [False, True])
def test_groups_against_a_plain_loop(hidden: int, loss: str, dense: bool, monkeypatch: Any) -> None:
    asked = network(hidden, 4.0, loss, dense)
    x = sp.random(40, 12, 0.4, format="csr", dtype=np.float32, random_state=0)
    members = sp.csr_matrix(np.random.default_rng(1).random((15, 40)) < 0.12)
    members = sp.vstack([members, sp.csr_matrix((2, 40)), np.ones((1, 40))]).tocsr().astype(np.float32)
    assert (np.diff(members.indptr) == 0).sum() >= 2
    logits = plain_logits(asked.layers, x.toarray())
    alike = x @ asked.directions
    alike = alike if dense else alike.toarray()
    for at_once in (1 << 22, 30):  # in one piece, in small pieces
        monkeypatch.setattr("longtail.dense.asking._NUMBERS_AT_ONCE", at_once)
        parts = list(asked.scores(x, members))
        assert (len(parts) > 1) == (at_once == 30)
        found = np.concatenate([scores for _, scores in parts])
        assert [begin for begin, _ in parts] == np.cumsum([0, *(len(s) for _, s in parts[:-1])]).tolist()
        for group, row in enumerate(found):
            own = members[group].indices
            if len(own) == 0:
                assert np.isnan(row).all()
                continue
            pooled = (plain_mask(alike[own], 4.0) * logits[own]).max(axis=0)
            powers = np.exp(pooled)
            expected = powers / powers.sum() if loss == "share" else 1 / (1 + np.exp(-pooled))
            assert np.allclose(row, expected, atol=1e-5)


def test_a_group_of_one_is_its_sample() -> None:
    asked = network(8, 4.0)
    x = sp.random(20, 12, 0.4, format="csr", dtype=np.float32, random_state=0)
    alone = np.concatenate([scores for _, scores in asked.scores(x, None)])
    grouped = np.concatenate([s for _, s in asked.scores(x, sp.identity(20, format="csr"))])
    assert np.allclose(alone, grouped, atol=1e-6)


@pytest.mark.parametrize("hidden", [0, 8])
def test_contributions_are_gradients(hidden: int) -> None:
    layers = network(hidden, 0.0).layers
    x = sp.random(6, 12, 0.5, format="csr", dtype=np.float32, random_state=3)
    for i in range(6):
        for label in range(5):
            parts, logit = layers.contributions(x[[i]], label)
            row = x[i].toarray()
            for feature, part in zip(x[i].indices, parts, strict=True):
                moved = row.copy()
                moved[0, feature] *= 1 + 1e-4
                slope = (plain_logits(layers, moved) - plain_logits(layers, row))[0, label] / 1e-4
                assert part == pytest.approx(slope, abs=2e-3)
            assert logit == pytest.approx(plain_logits(layers, row)[0, label], abs=1e-5)


def test_halves() -> None:
    shape = Shape(4, 0, 2, 3)
    numbers = {
        "output": np.full((4, 6), 1e9, np.float32),
        "output.bias": np.linspace(0, 1, 6, dtype=np.float32),
    }
    layers = Layers.of(shape, numbers, "f16")
    assert layers.nbytes == 2 * shape.n_numbers == 60
    assert (layers.numbers["output"] == 65504).all()
    assert layers.numbers["output.bias"].dtype == np.float32


def bags(counts: Any, weight: Any = None) -> Bags:
    """Six samples; samples 0 and 1 are in two groups, group 2 has no sample."""
    samples = sp.csr_matrix(
        [[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 1]]
    )
    return Bags.of_groups(samples, sp.csr_matrix(np.asarray(counts, np.float32)), weight)


def test_groups_without_samples_are_left_out_and_weights_are_means() -> None:
    found = bags([[1, 0], [0, 3], [5, 5], [0, 0]], np.array([1, 2, 3, 6, 4, 0.5], np.float32))
    assert len(found) == 3
    assert found.sizes.tolist() == [3, 3, 2]
    assert found.rows.tolist() == [0, 1, 2, 0, 1, 3, 4, 5]
    assert found.weight.tolist() == [2, 3, 2.25]
    assert found.targets("binary").tolist() == [[1, 0], [0, 1], [0, 0]]
    assert found.with_labels().targets("share").tolist() == [[1, 0], [0, 1]]
    parts = list(found.batches(2, np.array([2, 0, 1])))
    assert [part.rows.tolist() for part in parts] == [[4, 5, 0, 1, 2], [0, 1, 3]]


def test_what_is_held_out() -> None:
    whole = Bags.of_samples(sp.identity(50, dtype=np.float32, format="csr"), None)
    own, held = whole.split(0.25, 7)
    assert (len(own), len(held)) == (38, 12)
    assert sorted([*own.rows, *held.rows]) == list(range(50))
    assert (
        held.rows.tolist() == whole.split(0.25, 7)[1].rows.tolist() != whole.split(0.25, 8)[1].rows.tolist()
    )
    assert len(whole.some(np.array([3])).split(0.9, 0)[0]) == 1


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([[2, 1], [1, 3], [0, 0], [1, 1]], "share"),  # counts, and both labels everywhere
        ([[1, 1], [1, 1], [0, 0], [1, 1]], "binary"),  # no counts
        ([[2, 0], [0, 3], [0, 0], [0, 0]], "binary"),  # presence says enough
    ],
)
def test_the_loss_that_is_chosen(counts: Any, expected: str) -> None:
    assert chosen_loss("auto", bags(counts)) == expected
    assert chosen_loss("share", bags(counts)) == "share"


def test_without_torch_training_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(lt.MissingExtraError, match=r"pip install 'longtail\[dense\]'"):
        lt.DeepMIML().fit(np.eye(3), np.eye(3))
