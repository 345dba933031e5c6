from __future__ import annotations

import importlib.util
import json
import math
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from longtail import metrics
from longtail.errors import DataError, ParameterError
from longtail.metrics import Counts, Quantiles, evaluate
from longtail.ranking import Ranking


def _beside(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


plain = _beside("plain", Path(__file__).with_name("plain.py"))


def matrix(rows: list[list[int]], n_labels: int) -> Any:
    y = sp.lil_matrix((len(rows), n_labels), dtype=np.float32)
    for i, row in enumerate(rows):
        y[i, row] = 1
    return y.tocsr()


def padded(rows: list[list[int]], width: int) -> np.ndarray:
    return np.array([row + [-1] * (width - len(row)) for row in rows], np.int32).reshape(len(rows), width)


def inverse_propensities(frequencies: list[int], n: int, a: float, b: float) -> list[float]:
    c = max(0.0, math.log(n) - 1) * (b + 1) ** a
    return [1 + c * math.exp(-a * math.log(f + b)) for f in frequencies]


@st.composite
def problems(draw: st.DrawFn) -> dict[str, Any]:
    n_labels = draw(st.integers(1, 12))
    n = draw(st.integers(1, 8))
    width = draw(st.integers(1, n_labels))
    some = st.lists(st.integers(0, n_labels - 1), unique=True, max_size=n_labels)
    return {
        "n_labels": n_labels,
        "width": width,
        "ranking": [draw(some)[:width] for _ in range(n)],
        "truth": [draw(some) for _ in range(n)],
        "exclude": draw(st.none() | st.just([draw(some) for _ in range(n)])),
        "frequencies": draw(st.lists(st.integers(0, 50), min_size=n_labels, max_size=n_labels)),
        "ks": tuple(sorted(draw(st.sets(st.integers(1, width), min_size=1)))),
        "empty": draw(st.sampled_from(["zero", "skip"])),
    }


@settings(max_examples=300, deadline=None)
@given(problems())
def test_agrees_with_plain_definitions(p: dict[str, Any]) -> None:
    exclude = None if p["exclude"] is None else matrix(p["exclude"], p["n_labels"])
    weight = inverse_propensities(p["frequencies"], 60, 0.6, 2.6)
    options = {"k": p["ks"], "metrics": "all", "exclude": exclude, "empty": p["empty"], "a": 0.6, "b": 2.6}
    _, true = plain.cut(p["ranking"], p["truth"], p["exclude"])
    call = lambda threads: evaluate(  # noqa: E731
        padded(p["ranking"], p["width"]),
        matrix(p["truth"], p["n_labels"]),
        train=(np.array(p["frequencies"]), 60),
        threads=threads,
        **options,
    )
    if p["empty"] == "skip" and not any(true):
        with pytest.raises(DataError, match="No row has a true label"):
            call(1)
        return
    report = call(1)
    expected = plain.everything(p["ranking"], p["truth"], p["ks"], weight, p["exclude"], p["empty"])
    assert set(report) == set(expected)
    for name, value in expected.items():
        assert report[name] == pytest.approx(value, abs=1e-12), name
    assert call(2) == report


def hand() -> tuple[np.ndarray, Any]:
    """Three rows, five labels; the last row has no true label."""
    return np.array([[0, 1, 2], [3, -1, -1], [4, 0, 1]]), matrix([[0, 2], [1, 3, 4, 0], []], 5)


def test_by_hand() -> None:
    r, y = hand()
    report = evaluate(r, y, k=(1, 3), metrics="all")
    assert report["P@1"] == pytest.approx(2 / 3)
    assert report["P@3"] == pytest.approx(
        (2 / 3 + 1 / 3 + 0) / 3
    )  # divided by k, though a list has one label only
    assert report["R@3"] == pytest.approx((1 + 1 / 4 + 0) / 3)
    ideal3 = 1 + 1 / math.log2(3) + 1 / 2
    assert report["nDCG@3"] == pytest.approx(((1 + 1 / 2) / (1 + 1 / math.log2(3)) + 1 / ideal3) / 3)
    assert report["hit@3"] == pytest.approx(2 / 3)
    assert report["MRR@3"] == pytest.approx(2 / 3)
    assert report["MAP@3"] == pytest.approx(((1 + 2 / 3) / 2 + 1 / 3) / 3)
    assert report["coverage@1"] == pytest.approx(2 / 5)
    assert report["coverage@3"] == pytest.approx(3 / 5)
    # Labels 0 (true in rows 0, 1; predicted in 0, 2), 1 (true in 1; predicted in 0, 2), 2, 3 right, 4 wrong.
    assert report["macroP@3"] == pytest.approx((1 / 2 + 0 + 1 + 1 + 0) / 5)
    assert report["macroR@3"] == pytest.approx((1 / 2 + 0 + 1 + 1 + 0) / 5)
    assert report["balanced_error@3"] == pytest.approx(1 - 2.5 / 5)
    assert report.n_rows == 3
    assert report.n_empty == 1


def test_propensity_scored_is_a_ratio_of_sums() -> None:
    y = matrix([[0, 1], [1]], 3)
    train = (np.array([100, 1, 1]), 1000)
    w = inverse_propensities([100, 1, 1], 1000, 0.55, 1.5)
    report = evaluate(np.array([[2], [1]]), matrix([[0], [1]], 3), k=1, train=train)
    assert report["PSP@1"] == pytest.approx(w[1] / (w[0] + w[1]))  # and not (0 + 1) / 2
    perfect = evaluate(np.array([[1, 0], [1, -1]]), y, k=(1, 2), train=train)
    assert all(perfect[f"{m}@{k}"] == pytest.approx(1) for m in ("PSP", "PSnDCG", "PSR") for k in (1, 2))


def test_train_matrix_and_pair_agree() -> None:
    r, y = hand()
    train = sp.random(200, 5, 0.3, "csr", random_state=0, dtype=np.float32)
    pair = (np.asarray((train != 0).sum(axis=0)).ravel(), 200)
    assert evaluate(r, y, k=3, train=train) == evaluate(r, y, k=3, train=pair)


def test_rows_without_truth() -> None:
    r, y = hand()
    kept, left = evaluate(r, y, k=1, metrics="all"), evaluate(r, y, k=1, metrics="all", empty="skip")
    assert left.n_rows == 2
    assert left["P@1"] == pytest.approx(kept["P@1"] * 3 / 2)
    assert left["macroP@1"] == pytest.approx(evaluate(r[:2], y[:2], k=1, metrics="all")["macroP@1"])
    nothing = sp.csr_matrix((3, 5), dtype=np.float32)
    assert set(evaluate(r, nothing, k=1, metrics=["P", "R", "nDCG", "MAP", "coverage"]).metrics.values()) == {
        0.0
    }
    with pytest.raises(DataError, match="No row has a true label"):
        evaluate(r, nothing, k=1, empty="skip")


def test_exclude_moves_later_labels_up() -> None:
    y = matrix([[0, 1, 2]], 4)
    own = matrix([[0]], 4)
    report = evaluate(np.array([[0, 3, 1, 2]]), y, k=(1, 3), metrics=["P", "R"], exclude=own)
    assert report["P@1"] == 0  # label 3 moved up
    assert report["P@3"] == pytest.approx(2 / 3)
    assert report["R@3"] == pytest.approx(1)  # label 0 is not asked for
    scores = sp.csr_matrix(np.array([[9, 5, 4, 7]], np.float32))
    assert evaluate(scores, y, k=(1, 3), metrics=["P", "R"], exclude=own).metrics == report.metrics


def test_ways_to_give_lists_and_truth() -> None:
    y = matrix([[0, 2], [1]], 3)
    labels = np.array([[2, 1], [1, 0]])
    scores = sp.csr_matrix(np.array([[0, 0.5, 0.9], [0.2, 0.6, 0]], np.float32))
    expected = evaluate(labels, y, k=(1, 2))
    assert evaluate(scores, y, k=(1, 2)) == expected
    assert evaluate(Ranking(labels, [[0.9, 0.5], [0.6, 0.2]]), y, k=(1, 2)) == expected
    assert evaluate(labels.astype(np.int64), y.toarray(), k=[2, 1, 1]) == expected
    assert evaluate(labels, [[0, 2], [1]], k=(1, 2)) == expected
    assert evaluate(sp.coo_matrix(scores), sp.csr_array(y), k=(1, 2)) == expected
    stored = np.array([1, 0, 1, 1], np.float32)  # a zero that is stored is no label
    with_zero = sp.csr_matrix((stored, np.array([0, 1, 2, 1]), np.array([0, 3, 4])), shape=(2, 3))
    assert evaluate(labels, with_zero, k=(1, 2)) == expected


def test_names_that_the_model_does_not_know_count_in_recall() -> None:
    class Names(list[str]):
        pass

    r = Ranking([[1, 0]], [[2.0, 1.0]], Names(["a", "b"]))
    assert evaluate(r, [["b", "unheard of"]], k=1, metrics=["R"])["R@1"] == 0.5
    with pytest.raises(DataError, match="row 0"):
        evaluate(Ranking([[1, 0]], [[2.0, 1.0]]), [["b"]], k=1)


def test_ties_in_scores_go_to_the_lower_id() -> None:
    scores = sp.csr_matrix(np.array([[0.5, 0.5, 0.5]], np.float32))
    assert evaluate(scores, matrix([[0]], 3), k=1, metrics=["P"])["P@1"] == 1
    assert evaluate(scores, matrix([[1]], 3), k=1, metrics=["P"])["P@1"] == 0


def test_single_functions_are_the_report() -> None:
    r, y = hand()
    train = (np.array([5, 4, 3, 2, 1]), 100)
    report = evaluate(r, y, k=3, metrics="all", train=train)
    weighted = {"PSP": metrics.psp, "PSnDCG": metrics.psndcg, "PSR": metrics.psr}
    others = {
        "P": metrics.precision,
        "R": metrics.recall,
        "nDCG": metrics.ndcg,
        "hit": metrics.hit,
        "MRR": metrics.mrr,
        "MAP": metrics.mean_average_precision,
        "coverage": metrics.coverage,
        "macroP": metrics.macro_precision,
        "macroR": metrics.macro_recall,
        "macroF1": metrics.macro_f1,
        "balanced_error": metrics.balanced_error,
    }
    assert set(weighted) | set(others) == set(metrics.MEASURES)
    for name, function in weighted.items():
        assert function(r, y, train, k=3) == report[f"{name}@3"]
    for name, function in others.items():
        assert function(r, y, k=3) == report[f"{name}@3"]
        assert function(r, y, k=1, empty="skip", threads=1) >= 0


def test_slices_by_counts_and_quantiles() -> None:
    frequencies = np.array([200, 100, 99, 20, 19, 1])
    slices = metrics.slices.label_slices(Counts(20, 100), frequencies, 6)
    assert {name: np.flatnonzero(mask).tolist() for name, mask in slices.items()} == {
        "tail": [4, 5],
        "torso": [2, 3],
        "head": [0, 1],
    }
    thirds = metrics.slices.label_slices("quantiles", frequencies, 6)
    assert [np.flatnonzero(mask).tolist() for mask in thirds.values()] == [[4, 5], [2, 3], [0, 1]]
    tied = metrics.slices.label_slices(Quantiles(0.5), np.array([1, 1, 1, 7]), 4)
    assert {name: np.flatnonzero(mask).tolist() for name, mask in tied.items()} == {
        "tail": [0, 1, 2],
        "head": [3],
    }
    four = metrics.slices.label_slices(Counts(1, 2, 3), np.array([0, 1, 2, 3]), 4)
    assert list(four) == ["slice 1", "slice 2", "slice 3", "slice 4"]


@settings(max_examples=60, deadline=None)
@given(problems())
def test_slices_are_the_measures_with_less_truth(p: dict[str, Any]) -> None:
    half = list(range(0, p["n_labels"], 2))
    y = matrix(p["truth"], p["n_labels"])
    if not any(p["truth"]):
        return
    lists = padded(p["ranking"], p["width"])
    report = evaluate(lists, y, k=p["ks"], metrics="all", slices={"even": half, "none": []})
    assert report.slices["none"].to_dict() == {"n_labels": 0, "n_rows": 0, "n_true": 0, "metrics": {}}
    part = report.slices["even"]
    less = [[label for label in row if label in half] for row in p["truth"]]
    assert part.n_labels == len(half)
    assert part.n_true == sum(map(len, less))
    assert part.n_rows == sum(map(bool, less))
    if not part.n_rows:
        assert part.metrics == {}
        return
    expected = plain.everything(p["ranking"], less, p["ks"], empty="skip")
    over_all_rows = plain.everything(p["ranking"], less, p["ks"])
    for name, value in part.metrics.items():
        by_label = name.startswith(("macro", "coverage", "balanced"))
        assert value == pytest.approx((over_all_rows if by_label else expected)[name], abs=1e-12), name


def test_bootstrap_intervals() -> None:
    rng = np.random.default_rng(1)
    n = 2000
    y = sp.csr_matrix((np.ones(n, np.float32), rng.integers(0, 3, n), np.arange(n + 1)), shape=(n, 3))
    lists = np.tile(np.array([0, 1, 2], np.int32), (n, 1))
    train = (np.array([10, 20, 30]), 100)
    report = evaluate(
        lists, y, k=(1, 2), train=train, bootstrap=2000, metrics=["P", "PSP", "coverage"], seed=3
    )
    low, high = report.intervals["P@1"]
    p = report["P@1"]
    assert low < p < high
    assert high - low == pytest.approx(2 * 1.96 * math.sqrt(p * (1 - p) / n), rel=0.1)
    assert report.intervals["PSP@2"][0] < report["PSP@2"] < report.intervals["PSP@2"][1]
    assert "coverage@1" not in report.intervals
    again = evaluate(
        lists, y, k=(1, 2), train=train, bootstrap=2000, metrics=["P", "PSP", "coverage"], seed=3, threads=1
    )
    assert again == report
    other = evaluate(lists, y, k=(1, 2), metrics=["P"], bootstrap=2000, seed=4)
    assert other.intervals["P@1"] != report.intervals["P@1"]
    narrow = evaluate(lists, y, k=1, metrics=["P"], bootstrap=2000, seed=3, confidence=0.5)
    assert narrow.intervals["P@1"][1] - narrow.intervals["P@1"][0] < (high - low) / 2
    sliced = evaluate(lists, y, k=1, train=train, bootstrap=50, slices=Counts(15))
    assert set(sliced.slices["tail"].intervals) >= {"P@1", "R@1"}


def test_report_shows_itself(tmp_path: Path) -> None:
    r, y = hand()
    report = evaluate(r, y, k=(1, 3), train=(np.array([5, 4, 3, 2, 1]), 100), bootstrap=20, slices=Counts(3))
    text = str(report)
    assert (
        text.splitlines()[0] == "percent over 3 rows (1 without a true label, counted as 0), 95 % intervals"
    )
    assert f"{100 * report['P@1']:.2f} [" in text
    assert "head: 3 labels" in text
    stored = json.loads(report.to_json(tmp_path / "report.json"))
    assert stored == report.to_dict() == json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert stored["metrics"]["P@1"] == report["P@1"]
    assert stored["propensity"] == {"a": 0.55, "b": 1.5}
    with pytest.raises(KeyError, match="the report has P@1"):
        report["P@7"]
    from rich.console import Console

    console = Console(width=200, file=(tmp_path / "out.txt").open("w", encoding="utf-8"))
    console.print(report)
    console.file.close()
    assert "nDCG" in (tmp_path / "out.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"k": 0}, ParameterError, "'k'"),
        ({"k": ()}, ParameterError, "'k'"),
        ({"k": [1, 2.5]}, ParameterError, "'k'"),
        ({"k": True}, ParameterError, "'k'"),
        ({"k": 4}, ParameterError, "the ranking has 3 per row"),
        ({"metrics": ["Q"]}, ParameterError, "There is no measure 'Q'"),
        ({"metrics": "P"}, ParameterError, "list of names"),
        ({"metrics": []}, ParameterError, "at least one"),
        ({"metrics": ["PSP"]}, ParameterError, "needs 'train'"),
        ({"slices": "quantiles"}, ParameterError, "need 'train'"),
        ({"slices": "thirds"}, ParameterError, "'slices'"),
        ({"slices": {"x": [9]}}, DataError, "slice 'x'"),
        ({"bootstrap": 0}, ParameterError, "'bootstrap'"),
        ({"seed": -1}, ParameterError, "'seed'"),
        ({"empty": "drop"}, ParameterError, "'empty'"),
        ({"confidence": 1.0}, ParameterError, "'confidence'"),
        ({"a": math.nan}, ParameterError, "'a'"),
        ({"b": 0}, ParameterError, "'b'"),
        ({"threads": 0}, ParameterError, "'threads'"),
        ({"train": np.ones(5)}, DataError, "train"),
        ({"train": (np.ones(6), 10)}, DataError, "expected 5"),
        ({"train": (np.full(5, 11), 10)}, DataError, r"\[0, 10\]"),
        ({"train": (np.ones(5), 0)}, DataError, "at least one row"),
        ({"exclude": np.zeros((3, 5))}, DataError, "exclude"),
        ({"exclude": sp.csr_matrix((2, 5))}, DataError, "exclude has shape"),
        ({"r": np.array([[0, 1, 5]] * 3)}, DataError, "but Y_true has 5 labels"),
        ({"r": np.array([[0, 1, 0]] * 3)}, DataError, "already"),
        ({"r": np.array([[0, -1, 1]] * 3)}, DataError, "pad"),
        ({"r": np.array([[0, -2, 1]] * 3)}, DataError, "expected -1"),
        ({"r": np.array([[0, 1, 2**40]] * 3)}, DataError, "32 bits"),
        ({"r": np.zeros((3, 3))}, DataError, "float64"),
        ({"r": [[0, 1, 2]] * 3}, DataError, "list"),
        ({"r": np.array([[0, 1, 2]] * 2)}, DataError, "2 rows, Y_true has 3"),
        ({"Y_true": 3}, DataError, "Y_true"),
        ({"Y_true": [[0], "ab", []]}, DataError, "row 1"),
        ({"Y_true": [[0], [-1], []]}, DataError, "row 1"),
        ({"Y_true": np.ones(3)}, DataError, "two dimensions"),
        ({"Y_true": np.zeros((0, 5)), "r": np.zeros((0, 3), np.int32)}, DataError, "no rows"),
        ({"Y_true": np.array([[math.nan, 0, 0, 0, 0]] * 3)}, DataError, "not finite"),
    ],
)
def test_errors(change: dict[str, Any], error: type[Exception], words: str) -> None:
    r, y = hand()
    with pytest.raises(error, match=words):
        evaluate(**({"r": r, "Y_true": y, "k": 3} | change))


def test_short_lists_are_fine_when_there_are_few_labels() -> None:
    report = evaluate(np.array([[0, 1]]), matrix([[1]], 2), k=5, metrics=["P", "R"])
    assert report["P@5"] == pytest.approx(1 / 5)
    assert report["R@5"] == 1


@pytest.mark.parametrize("cuts", [(), (2, 1), (1, 1), (math.inf,), ("a",)])
def test_cuts_are_checked(cuts: Any) -> None:
    with pytest.raises(ParameterError):
        Counts(*cuts)
    with pytest.raises(ParameterError):
        Quantiles(*cuts)


def test_eurlex_repository_style_definitions() -> None:
    """The repository's matrix formulation on real truth: the two ways must agree to rounding."""
    folder = Path(__file__).parents[3] / "shared" / "data" / "eurlex-4k"
    if not folder.is_dir():
        pytest.skip("needs the shared data sets")
    train, test = sp.load_npz(folder / "trn_Y.npz").tocsr(), sp.load_npz(folder / "tst_Y.npz").tocsr()
    rng = np.random.default_rng(0)
    noise = sp.random(*test.shape, 0.005, "csr", random_state=1, dtype=np.float32)
    scores = (test.multiply(rng.random(test.shape[1]).astype(np.float32)) + noise).tocsr().astype(np.float32)
    ranking = Ranking.from_csr(scores, 5)
    report = evaluate(ranking, test, train=train)
    frequencies = np.asarray((train != 0).sum(axis=0)).ravel()
    c = (np.log(train.shape[0]) - 1) * 2.5**0.55
    weights = 1 + c * (frequencies + 1.5) ** -0.55
    dense = (test != 0).toarray()
    ids = np.where(ranking.labels < 0, test.shape[1], ranking.labels)
    flags = np.take_along_axis(np.pad(dense, ((0, 0), (0, 1))), ids, 1) * 1.0
    got = flags * np.append(weights, 0)[ids]
    best = -np.sort(-(dense * weights), axis=1)[:, :5]
    n_true = dense.sum(axis=1)
    discount = 1 / np.log2(np.arange(5) + 2)
    ideal = np.concatenate([[np.inf], np.cumsum(discount)])
    for k in (1, 3, 5):
        norm = 1 / ideal[np.minimum(n_true, k)]
        assert report[f"P@{k}"] == pytest.approx(flags[:, :k].sum(axis=1).mean() / k)
        assert report[f"PSP@{k}"] == pytest.approx(got[:, :k].sum() / best[:, :k].sum())
        gain = lambda x: (x[:, :k] * discount[:k]).sum(axis=1)  # noqa: E731, B023
        assert report[f"nDCG@{k}"] == pytest.approx((gain(flags) * norm).mean())
        assert report[f"PSnDCG@{k}"] == pytest.approx((gain(got) * norm).mean() / (gain(best) * norm).mean())
        share = 1 / np.maximum(n_true, 1)
        assert report[f"R@{k}"] == pytest.approx((flags[:, :k].sum(axis=1) * share).mean())
        assert report[f"PSR@{k}"] == pytest.approx(
            (got[:, :k].sum(axis=1) * share).mean() / (best[:, :k].sum(axis=1) * share).mean()
        )


@pytest.mark.slow
def test_a_million_rows_in_seconds() -> None:
    path = Path(__file__).parents[2] / "benchmarks" / "metrics_speed.py"
    if not path.is_file():
        pytest.skip("needs the benchmarks, which an sdist leaves out")
    lists, truth = _beside("metrics_speed", path).example(1_000_000, 100_000, 10, 5.0)
    train = (np.asarray(truth.sum(axis=0)).ravel(), 1_000_000)
    start = time.process_time()
    report = evaluate(lists, truth, k=tuple(range(1, 11)), train=train, metrics="all")
    assert time.process_time() - start < 20  # about 1 here; generous, as other machines are slower and busy
    assert 0 < report["P@1"] < 1
