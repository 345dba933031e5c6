"""What goes into the documentation, and where; the comparison of lists from the same weights."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.side_by_side.publish import BEGIN, END, insert
from benchmarks.side_by_side.same_weights import compare
from benchmarks.side_by_side.summary import summary


def test_text_goes_between_its_marks_and_replaces_what_was_there():
    page = f"# Title\n\nBefore.\n\n{BEGIN}\nold\n{END}\n\nAfter.\n"
    once = insert(page, "new")
    assert once == f"# Title\n\nBefore.\n\n{BEGIN}\n\nnew\n\n{END}\n\nAfter.\n"
    assert insert(once, "new") == once


def test_a_page_without_marks_gets_them_at_its_end():
    assert insert("# Title\n", "new") == f"# Title\n\n{BEGIN}\n\nnew\n\n{END}\n"


def test_a_page_with_half_of_the_marks_is_refused():
    with pytest.raises(ValueError, match="without"):
        insert(f"# Title\n{BEGIN}\n", "new")


def test_the_front_page_has_a_row_a_set():
    trained = {"seconds": 2.0, "extra_bytes": 3e6, "model_bytes": 4e6, "others": 0.0}
    asked = {"batch_1": 5000.0, "p50": 6.0, "P@1": 70.0, "P@5": 50.0, "others": 0.0}
    found = {
        ("train", "eurlex-4k", "longtail", 0): trained,
        ("train", "eurlex-4k", "pecos", 0): trained | {"seconds": 9.0},
        ("predict", "eurlex-4k", "longtail", 0): asked,
        ("predict", "eurlex-4k", "longtail", 1): asked | {"p50": 8.0},
        ("predict", "eurlex-4k", "pecos", 0): {"failed": 1},
        ("predict", "synthetic-30k", "pecos", 0): asked,
    }
    assert summary(found).splitlines()[2:] == [
        "| eurlex-4k | 2.0 / 9.0 | 3 / 3 | 4 / 4 | 5,000 | 7 | 70.0 | 50.0 |"
    ]


def test_lists_are_the_same_tie_or_differ(tmp_path):
    labels = np.array([[1, 2], [3, 4], [5, 6], [7, 8]], np.int32)
    scores = np.array([[0.9, 0.5], [0.4, 0.4], [0.8, 0.1], [0.5, 0.2]], np.float32)
    np.savez(tmp_path / "a.npz", labels=labels, scores=scores)
    labels[1] = [4, 3]  # the same score: only the order of a tie
    labels[2] = [
        6,
        5,
    ]  # other labels with the scores of the first: a tie in the eleventh place looks like this
    labels[3], scores[3] = [8, 7], [0.5, 0.3]
    scores[0, 0] *= 1 + 1e-6
    np.savez(tmp_path / "b.npz", labels=labels, scores=scores)
    found = compare(tmp_path / "a.npz", tmp_path / "b.npz")
    counts = {name: found[name] for name in ("rows", "identical", "ties", "different")}
    assert counts == {"rows": 4, "identical": 1, "ties": 2, "different": 1}
    assert 0 < found["largest_difference"] < 1e-5
