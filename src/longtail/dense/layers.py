"""The weights of a network, and what they say of samples: plain arrays, without PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ..arrays import CSR
from ..errors import ModelError

__all__ = ["Layers", "Shape"]

Array = npt.NDArray[np.float32]
_DTYPES: dict[str, Any] = {"f32": np.float32, "f16": np.float16}
_LARGEST_HALF = 65504


@dataclass(frozen=True)
class Shape:
    """Sizes of a network; ``hidden`` is 0 for one without a hidden layer."""

    features: int
    hidden: int
    concepts: int
    labels: int

    @property
    def arrays(self) -> dict[str, tuple[int, ...]]:
        """The arrays by name, those of the hidden layer first."""
        columns = self.concepts * self.labels
        before = {"hidden": (self.features, self.hidden), "hidden.bias": (self.hidden,)}
        after = {"output": (self.hidden or self.features, columns), "output.bias": (columns,)}
        return {**before, **after} if self.hidden else after

    @property
    def n_numbers(self) -> int:
        return sum(int(np.prod(shape)) for shape in self.arrays.values())


@dataclass(frozen=True)
class Layers:
    """An optional hidden layer with ReLU, and an output of concepts × labels.

    Every sum is taken in the order of its terms, so that what is said of a sample does not depend on the samples it
    is asked with.

    Attributes:
        shape: the sizes.
        stored: the arrays as they are kept, by name: "output" has a column per concept and label, labels within
            concepts.
        numbers: the same as float32.
    """

    shape: Shape
    stored: dict[str, npt.NDArray[Any]]
    numbers: dict[str, Array]

    @classmethod
    def begin(cls, shape: Shape, seed: int) -> dict[str, Array]:
        """Weights to begin with: uniform in ±1 / sqrt(inputs)."""
        random = np.random.default_rng(seed)
        out = {}
        for name, size in shape.arrays.items():
            inputs = shape.features if name.startswith("hidden") else shape.hidden or shape.features
            values = random.random(size, dtype=np.float32)
            out[name] = ((2 * values - 1) / np.float32(np.sqrt(inputs))).astype(np.float32)
        return out

    @classmethod
    def of(cls, shape: Shape, numbers: Mapping[str, Array], kind: str) -> Layers:
        """Weights stored as "f32" or "f16"; what is too large for a half becomes the largest half."""
        if kind == "f16":
            numbers = {name: np.clip(a, -_LARGEST_HALF, _LARGEST_HALF) for name, a in numbers.items()}
        stored = {name: np.ascontiguousarray(a, dtype=_DTYPES[kind]) for name, a in numbers.items()}
        return cls._from_stored(shape, stored)

    @classmethod
    def from_arrays(cls, shape: Shape, arrays: Mapping[str, Any], kind: Any, *, verify: bool) -> Layers:
        """Of the arrays of a model folder; ModelError if they do not fit."""
        if kind not in _DTYPES:
            raise ModelError("how the weights are stored is not known.")
        stored = {}
        for name, size in shape.arrays.items():
            array = arrays[name]
            if array.dtype != _DTYPES[kind] or array.shape != size:
                raise ModelError(f"the weights '{name}' do not fit the model.")
            if verify and not np.isfinite(array).all():
                raise ModelError(f"the weights '{name}' are not finite.")
            stored[name] = array
        return cls._from_stored(shape, stored)

    @classmethod
    def _from_stored(cls, shape: Shape, stored: dict[str, npt.NDArray[Any]]) -> Layers:
        return cls(shape, stored, {name: np.asarray(a, dtype=np.float32) for name, a in stored.items()})

    @property
    def nbytes(self) -> int:
        return sum(int(a.nbytes) for a in self.stored.values())

    def concepts(self, x: CSR) -> Array:
        """What every concept says of every label: (samples, concepts, labels)."""
        values = self._hidden(x) @ self.numbers["output"] + self.numbers["output.bias"]
        return np.asarray(values, np.float32).reshape(x.shape[0], self.shape.concepts, self.shape.labels)

    def logits(self, x: CSR) -> Array:
        """The largest of the concepts: (samples, labels)."""
        largest: Array = self.concepts(x).max(axis=1)
        return largest

    def contributions(self, row: CSR, label: int) -> tuple[npt.NDArray[np.float64], float]:
        """(gradient × input of every stored feature of a row, logit) of one label.

        The network is linear between the kinks of ReLU and of the maximum, so the contributions and the biases sum up
        to the logit.
        """
        said = self.concepts(row)[0, :, label]
        column = int(said.argmax()) * self.shape.labels + label
        weights = self.numbers["output"][:, column].astype(np.float64)
        if self.shape.hidden:
            active = self._hidden(row).toarray()[0] > 0
            rows = self.numbers["hidden"][row.indices].astype(np.float64)
            gradient = rows @ np.where(active, weights, 0.0)
        else:
            gradient = weights[row.indices]
        return gradient * row.data, float(said.max())

    def _hidden(self, x: CSR) -> CSR:
        if not self.shape.hidden:
            return x
        return sp.csr_matrix(np.maximum(x @ self.numbers["hidden"] + self.numbers["hidden.bias"], 0))
