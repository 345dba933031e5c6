"""Each room's kernels are a submodule; their signatures are documented at their bindings in native/<room>/bind.cpp."""

from typing import Any

data: Any
text: Any
labels: Any
trees: Any
linear: Any
groups: Any
softmax: Any
metrics: Any

def active_isa() -> str: ...
def machine_isa() -> str: ...
def csr_flaws(indptr: Any, indices: Any, data: Any, n_cols: int) -> int: ...
