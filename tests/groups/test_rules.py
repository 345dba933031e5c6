"""Grouping rules of experiments."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import longtail as lt
from longtail.groups import cluster_groups, everyone, merge_labels, random_groups


def test_random_groups() -> None:
    groups = random_groups(103, 10, seed=4)
    assert groups.shape == (103, 11)
    assert np.diff(groups.indptr).tolist() == [1] * 103
    assert sorted(np.bincount(groups.indices)) == [3] + [10] * 10
    assert (groups != random_groups(103, 10, seed=4)).nnz == 0
    assert (groups != random_groups(103, 10, seed=5)).nnz > 0
    assert len(set(groups.indices[:10].tolist())) > 1
    for wrong in ((0, 1, 0), (5, 0, 0), (5, 1, -1)):
        with pytest.raises(lt.ParameterError):
            random_groups(*wrong)


def blobs(n: int = 256) -> np.ndarray:
    r = np.random.default_rng(0)
    return np.eye(16)[np.arange(n) % 16] + 0.05 * r.standard_normal((n, 16))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_cluster_groups(form: type) -> None:
    x = form(blobs())
    groups = cluster_groups(x, 4)
    assert groups.shape == (256, 16)
    assert np.bincount(groups.indices).tolist() == [16] * 16
    blob = np.arange(256) % 16
    kinds = [len(set(blob[groups.indices == j].tolist())) for j in range(16)]
    assert np.mean(kinds) < 3  # 16 drawn at random have 10.3
    assert cluster_groups(x, 0).shape == (256, 1)
    with pytest.raises(lt.DataError, match="too few"):
        cluster_groups(x, 9)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_noise_makes_groups_random(form: type) -> None:
    x, blob = form(blobs()), np.arange(256) % 16

    def mixed(noise: float) -> float:
        groups = cluster_groups(x, 4, noise=noise, seed=1)
        return float(np.mean([len(set(blob[groups.indices == j].tolist())) for j in range(16)]))

    kinds = [mixed(noise) for noise in (0.0, 1.0, 100.0)]
    assert kinds[0] < 3
    assert kinds[0] < kinds[1] < kinds[2]
    assert kinds[2] > 8


def test_merged_labels() -> None:
    y = sp.csr_matrix([[1, 0, 0], [5, 1, 0], [0, 1, 0], [0, 0, 1]])
    assert merge_labels([0, 0, 1, 1], y).toarray().tolist() == [[2, 1, 0], [0, 1, 1]]
    assert merge_labels([0, 0, 1, 1], y, "set").toarray().tolist() == [[1, 1, 0], [0, 1, 1]]
    with pytest.raises(lt.ParameterError, match="'how' parameter of merge_labels"):
        merge_labels([0, 0, 1, 1], y, "sum")


def test_everyone() -> None:
    y1 = sp.csr_matrix([[1, 0], [1, 1], [0, 0]])
    y = everyone(y1, sp.csr_matrix([[2, 0], [1, 3]]))
    assert y.toarray().tolist() == [[1, 0], [1, 1], [0, 0]]
