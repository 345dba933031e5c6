"""Models on the disk: a folder of ``model.json`` and ``.npy`` arrays, mapped, checksummed, written all at
once.

>>> import tempfile, numpy as np
>>> path = tempfile.mkdtemp() + "/model"
>>> write_folder(path, kind="Example", params={"C": 1.0}, facts={}, arrays={"w": np.ones(3, np.float32)})
>>> read_folder(path).arrays["w"].tolist()
[1.0, 1.0, 1.0]
"""

from __future__ import annotations

from .card import model_card
from .checkpoint import Checkpoint, fingerprint_arrays
from .folder import FORMAT_VERSION, Folder, is_model_folder, read_folder, update_evaluation, write_folder
from .strings import LazyStrings, pack_strings, unpack_strings

__all__ = [
    "FORMAT_VERSION",
    "Checkpoint",
    "Folder",
    "LazyStrings",
    "fingerprint_arrays",
    "is_model_folder",
    "model_card",
    "pack_strings",
    "read_folder",
    "unpack_strings",
    "update_evaluation",
    "write_folder",
]
