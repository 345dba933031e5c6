"""Rankings as text."""

import csv
import io
import json

import numpy as np
import pytest

from longtail.cli.rankings import FORMATS, writer_for
from longtail.errors import ParameterError
from longtail.labels import LabelSet
from longtail.ranking import Ranking

NAMES = LabelSet(["plain", "with\ttab", 'quote", comma', "unused"])
RANKING = Ranking([[0, 2, -1], [-1, -1, -1], [1, -1, -1]], [[0.75, 0.5, 0], [0, 0, 0], [1, 0, 0]], NAMES)


def written(name, ranking=RANKING, first=10):
    out = io.StringIO()
    writer = writer_for(name)
    writer.start(out)
    writer.rows(out, ranking, first)
    return out.getvalue()


def test_names():
    assert written("names") == 'plain:0.75\tquote", comma:0.5\n\nwith tab:1\n'


def test_ids():
    assert written("ids") == "0:0.75 2:0.5\n\n1:1\n"


def test_json():
    rows = [json.loads(line) for line in written("json").splitlines()]
    assert rows == [
        {"row": 10, "labels": ["plain", 'quote", comma'], "ids": [0, 2], "scores": [0.75, 0.5]},
        {"row": 11, "labels": [], "ids": [], "scores": []},
        {"row": 12, "labels": ["with\ttab"], "ids": [1], "scores": [1.0]},
    ]


@pytest.mark.parametrize(("name", "dialect"), [("csv", "excel"), ("tsv", "excel-tab")])
def test_tables(name, dialect):
    rows = list(csv.reader(io.StringIO(written(name), newline=""), dialect=dialect))
    assert rows == [
        ["row", "rank", "id", "label", "score"],
        ["10", "1", "0", "plain", "0.75"],
        ["10", "2", "2", 'quote", comma', "0.5"],
        ["12", "1", "1", "with\ttab", "1"],
    ]


def test_without_names_ids_stand_in():
    ranking = Ranking(np.array([[3, 1]]), np.array([[2.0, 1.0]]))
    assert written("names", ranking) == "3:2\t1:1\n"


def test_unknown_format_lists_all():
    with pytest.raises(ParameterError, match=r"one of names, ids, json, csv, tsv\. Got 'xml' instead"):
        writer_for("xml")
    assert list(FORMATS) == ["names", "ids", "json", "csv", "tsv"]
