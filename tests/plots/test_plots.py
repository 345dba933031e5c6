"""Pictures show the numbers they are given."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import longtail as lt
from longtail import plots
from longtail.metrics import Reliability
from longtail.trees import complete_tree, fano_tree
from longtail.tuning import TreePoint, TreeSweep

matplotlib = pytest.importorskip("matplotlib")


def problem(n=200, n_labels=40):
    r = np.random.default_rng(0)
    p = np.minimum(0.8, 2 / np.arange(1, n_labels + 1))
    y = (r.random((n, n_labels)) < r.permutation(p)).astype(np.float32)
    y[:10] = 0
    return sp.csr_matrix(y)


def by_hand(y, need):
    """Labels added one by one, from the most frequent on."""
    dense = y.toarray() != 0
    dense = dense[dense.any(axis=1)]
    order = np.lexsort((np.arange(dense.shape[1]), -dense.sum(axis=0)))
    wanted = dense.sum(axis=1) if need is None else np.minimum(dense.sum(axis=1), need)
    return [float((dense[:, order[:n]].sum(axis=1) >= wanted).mean()) for n in range(len(order) + 1)]


@pytest.mark.parametrize("need", [1, 2, 3, None])
def test_touched_shares_equal_counting(need):
    y = problem()
    np.testing.assert_allclose(plots.touched_shares(y, need), by_hand(y, need))


def test_touched_shares_bad_input():
    for need in (0, 1.5, True):
        with pytest.raises(lt.ParameterError, match="need"):
            plots.touched_shares(problem(), need)
    with pytest.raises(lt.DataError, match="no labels"):
        plots.touched_shares(sp.csr_matrix((3, 3)))


@pytest.mark.parametrize("log", [True, False])
def test_imbalance_draws_a_curve_for_each_need(log):
    y = problem()
    ax = plots.label_imbalance(y, (1, None), log=log, title="a set")
    curves = [line for line in ax.get_lines() if len(line.get_xdata()) > 10]
    for line, need in zip(curves, (1, None), strict=True):
        shares = plots.touched_shares(y, need) * 100
        np.testing.assert_allclose(line.get_ydata(), shares[1:] if log else shares)
    assert ax.get_title("left") == "a set"
    assert [text.get_text().split(" (")[0] for text in ax.get_legend().get_texts()] == [
        "1 label",
        "all labels",
    ]


def points():
    return [
        TreePoint(
            t,
            arity,
            {1: 0.5 + t / 10, 3: 0.4},
            {1: 8 - t - arity / 4, 3: 9.0},
            1 / arity - t / 20,
            1,
            9,
            1,
            1,
        )
        for arity in (2, 16)
        for t in (2.0, 0.0, 1.0)
    ]


def test_frontier_draws_every_arity_by_rising_tradeoff():
    for draw, cost in (
        (plots.precision_against_depth, lambda p: p.depth[1]),
        (plots.precision_against_time, lambda p: p.p50),
    ):
        ax = draw(points())
        for line, arity in zip(ax.get_lines(), (2, 16), strict=True):
            curve = sorted((p for p in points() if p.arity == arity), key=lambda p: p.tradeoff)
            assert list(line.get_xdata()) == [cost(p) for p in curve]
            assert list(line.get_ydata()) == pytest.approx([100 * p.precision[1] for p in curve])


def test_frontier_of_a_sweep_marks_what_was_picked():
    sweep = TreeSweep(points(), points()[1], 1, "time", lt.LinearTree())
    ax = plots.precision_against_depth(sweep)
    mark = ax.get_lines()[-1]
    assert mark.get_label() == "picked: λ=0, arity 2"
    assert list(mark.get_xdata()) == [points()[1].depth[1]]


def test_frontier_of_names_and_bad_points():
    ax = plots.precision_against_depth({"a": points()[:3], "b": points()[3:]}, 3)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]
    with pytest.raises(lt.DataError, match="at 1, 3, not at 5"):
        plots.precision_against_time(points(), 5)
    with pytest.raises(lt.DataError, match="no points"):
        plots.precision_against_time([])


def test_shape_weighs_depths_by_frequency():
    f = np.array([8.0, 4, 2, 1, 1])
    ax = plots.tree_shape({"Fano": fano_tree(f), "flat": complete_tree(5, 5, 1)}, f)
    heights = [[bar.get_height() for bar in bars] for bars in ax.containers]
    np.testing.assert_allclose(heights[0], np.array([0, 8, 4, 2, 2]) / 16 * 100)
    np.testing.assert_allclose(heights[1], [0, 100])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["Fano: mean 1.88", "flat: mean 1.00"]
    np.testing.assert_allclose(
        [bar.get_height() for bar in plots.tree_shape(fano_tree(f)).containers[0]], [0, 20, 20, 20, 40]
    )
    with pytest.raises(lt.DataError, match="frequencies"):
        plots.tree_shape(fano_tree(f), [1.0])
    with pytest.raises(lt.DataError, match="no trees"):
        plots.tree_shape({})


def test_reliability_draws_curve_and_diagonal():
    curve = Reliability(np.array([0.2, 0.9]), np.array([0.1, 0.6]), np.array([30, 10]))
    ax = plots.reliability(curve)
    diagonal, line = ax.get_lines()
    assert list(diagonal.get_xdata()) == [0, 1]
    assert list(line.get_ydata()) == [0.1, 0.6]
    assert line.get_label() == "calibration error 0.150"
    empty = Reliability(np.zeros(0), np.zeros(0), np.zeros(0, np.int64))
    with pytest.raises(lt.DataError, match="no scores"):
        plots.reliability(empty)


def test_given_axes_are_used_and_pictures_are_written(tmp_path):
    ax = plots.label_imbalance(problem(), log=False)
    again = plots.tree_shape(complete_tree(9, 2, 1), ax=ax)
    assert again is ax
    for name in ("a.png", "b.svg", "c.PDF"):
        plots.save(ax, tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000
    with pytest.raises(lt.DataError, match=r"ends in \.png, \.svg, \.pdf"):
        plots.save(ax, tmp_path / "a.docx")
    with pytest.raises(lt.DataError, match="No such file"):
        plots.save(ax, tmp_path / "nowhere" / "a.png")


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(lt.MissingExtraError, match=r"longtail\[plots\]"):
        plots.label_imbalance(problem())


def test_the_room_imports_without_matplotlib():
    code = "import sys; sys.modules['matplotlib'] = None; import longtail; longtail.plots.save"
    subprocess.run([sys.executable, "-c", code], check=True)
