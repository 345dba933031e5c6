"""Labels sliced by how often they occur in training: from the tail to the head."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import DataError, ParameterError

__all__ = ["Counts", "Quantiles", "label_slices"]

Mask = npt.NDArray[np.bool_]


class _Cuts(ABC):
    """Rising cuts between slices; n cuts make n + 1 slices."""

    def __init__(self, *cuts: float):
        name = type(self).__name__
        if not cuts or not all(isinstance(c, int | float | np.number) and np.isfinite(c) for c in cuts):
            raise ParameterError(f"{name} takes one or more finite numbers. Got {cuts!r} instead.")
        if any(a >= b for a, b in pairwise(cuts)):
            raise ParameterError(f"The cuts of {name} must rise. Got {cuts!r} instead.")
        self.cuts = tuple(float(c) for c in cuts)

    @abstractmethod
    def counts(self, frequencies: npt.NDArray[np.float64]) -> list[float]:
        """The training counts at which slices begin."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{c:g}' for c in self.cuts)})"


class Counts(_Cuts):
    """Slices by training count: ``Counts(20, 100)`` is a tail below 20, a torso of 20 to 99, a head from
    100."""

    def __init__(self, *cuts: float):
        super().__init__(*cuts)
        if self.cuts[0] <= 0:
            raise ParameterError(f"The cuts of Counts must be above 0. Got {cuts!r} instead.")

    def counts(self, frequencies: npt.NDArray[np.float64]) -> list[float]:
        return list(self.cuts)


class Quantiles(_Cuts):
    """Slices by quantiles of the training count over all labels: ``Quantiles(0.5, 0.9)`` has the less
    frequent half as its tail and the most frequent tenth as its head. Labels with the same count are never
    separated: a quantile that falls among them puts them all into the lower slice."""

    def __init__(self, *cuts: float):
        super().__init__(*cuts)
        if self.cuts[0] <= 0 or self.cuts[-1] >= 1:
            raise ParameterError(f"The cuts of Quantiles must be between 0 and 1. Got {cuts!r} instead.")

    def counts(self, frequencies: npt.NDArray[np.float64]) -> list[float]:
        if not len(frequencies):
            return [1.0] * len(self.cuts)
        # The slice begins above the count of the last label below the cut.
        found = np.quantile(frequencies, self.cuts, method="inverted_cdf")
        return [float(np.nextafter(count, np.inf)) for count in found]


def label_slices(slices: Any, frequencies: npt.NDArray[np.float64] | None, n_labels: int) -> dict[str, Mask]:
    """The labels of each slice, by its name.

    Args:
        slices: "quantiles" for thirds, Counts, Quantiles, or a mapping of names to label ids or masks.
        frequencies: The training count of each label, where it is known.
        n_labels: How many labels there are.
    """
    if isinstance(slices, Mapping):
        return {str(name): _mask(str(name), labels, n_labels) for name, labels in slices.items()}
    if isinstance(slices, str) and slices == "quantiles":
        slices = Quantiles(1 / 3, 2 / 3)
    if not isinstance(slices, _Cuts):
        raise ParameterError(
            "The 'slices' parameter must be None, 'quantiles', Counts(...), Quantiles(...) or a mapping of "
            f"names to labels. Got {slices!r} instead."
        )
    if frequencies is None:
        raise ParameterError("Slices by training frequency need 'train'.")
    starts = slices.counts(frequencies)
    place = np.searchsorted(np.asarray(starts), frequencies, side="right")
    return {name: place == i for i, name in enumerate(_names(len(starts) + 1))}


def _names(n: int) -> list[str]:
    known = {2: ["tail", "head"], 3: ["tail", "torso", "head"]}
    return known.get(n, [f"slice {i}" for i in range(1, n + 1)])


def _mask(name: str, labels: Any, n_labels: int) -> Mask:
    array = np.asarray(labels)
    if array.dtype == np.bool_ and array.shape == (n_labels,):
        return array
    if array.size == 0 and array.ndim == 1:
        return np.zeros(n_labels, np.bool_)
    if array.ndim != 1 or array.dtype.kind not in "iu" or array.min() < 0 or array.max() >= n_labels:
        raise DataError(
            f"The slice '{name}' must be label ids in [0, {n_labels}) or a mask of {n_labels} labels."
        )
    mask = np.zeros(n_labels, np.bool_)
    mask[array] = True
    return mask
