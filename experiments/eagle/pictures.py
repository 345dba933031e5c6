"""What labels of groups of digits look like: scikit-learn's 8 × 8 digits in groups of 4, a grey map per label."""

from __future__ import annotations

from typing import Any

import numpy as np

import longtail as lt

from .common import RESULTS

ZOOM, GAP = 8, 4


def run() -> None:
    """Writes results/digits.pgm: a row of ten pictures for each way; needs scikit-learn's data."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    mean = digits.data.mean(axis=0)
    x = (digits.data - mean).astype(np.float32)
    y = lt.data.Dataset(Y=np.eye(10)[digits.target]).Y
    groups = lt.groups.random_groups(len(x), 4, seed=0)
    known = lt.groups.merge_labels(groups, y)
    rows = [_pictures(lt.labels.pifa(x, y))]
    for eagle in (lt.Eagle(T=0), lt.Eagle(T=20), lt.Eagle()):
        given = eagle.assign(x, groups, known)
        print(f"{eagle!r}: {given.multiply(y).sum() / y.nnz:.3f} of the labels are where they belong")
        rows.append(_pictures(eagle.label_embeddings_))
    RESULTS.mkdir(exist_ok=True)
    picture = np.concatenate(rows)
    header = f"P5 {picture.shape[1]} {picture.shape[0]} 255\n".encode()
    (RESULTS / "digits.pgm").write_bytes(header + picture.astype(np.uint8).tobytes())
    print(f"rows of {RESULTS / 'digits.pgm'}: known correspondences, EAGLE-0, EAGLE, contrast")


def _pictures(embeddings: Any) -> Any:
    """Ten pictures side by side; grey is zero."""
    tiles = []
    for row in np.asarray(embeddings):
        tile = 127.5 + 127.5 * row.reshape(8, 8) / max(np.abs(row).max(), 1e-9)
        tiles.append(np.pad(np.kron(tile, np.ones((ZOOM, ZOOM))), GAP, constant_values=255))
    return np.concatenate(tiles, axis=1)
