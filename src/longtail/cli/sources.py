"""What the verbs read: data sets, their splits, models; and labels of data matched with labels of models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import DataError, ModelError, ParameterError

if TYPE_CHECKING:
    from ..data import Dataset
    from ..labels import LabelSet

SPLITS = {"train": ("trn", "train"), "test": ("tst", "test")}

__all__ = [
    "align",
    "describe_data",
    "inputs_for",
    "load_data",
    "load_model",
    "parse_ks",
    "read_label_file",
    "read_options",
    "takes_texts",
    "with_labels",
]


def load_data(path: Path, read: Sequence[str] | None, *, split: str, model: Any = None) -> Dataset:
    """A data set, as wide as the model's features if it has any.

    Of a folder with several splits it is the "train" or the "test" split, unless ``read`` says which.
    """
    from .. import data

    if (path / "model.json").is_file():
        raise DataError("is a model, not data.", path=path)
    options = read_options(read)
    if "split" not in options:
        chosen = _split_of(path, split)
        if chosen is not None:
            options["split"] = chosen
    if model is not None and not takes_texts(model):
        options.setdefault("n_features", model.n_features_in_)
    return data.load(path, **options)


def read_options(assignments: Sequence[str] | None, option: str = "--read") -> dict[str, Any]:
    """``--read KEY=VALUE …`` as keyword arguments."""
    from .settings import parse_value

    options = {}
    for text in assignments or ():
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise ParameterError(f"{option} {text}: expected key=value, such as text_field=title.")
        options[key.strip()] = parse_value(value.strip())
    return options


def _split_of(path: Path, wanted: str) -> str | None:
    """The name under which a folder has the wanted split; None where the choice is the reader's."""
    if not path.is_dir():
        return None
    names = sorted(file.name for file in path.iterdir())
    for split in SPLITS[wanted]:
        if any(name.startswith((f"{split}_", f"{split}.")) for name in names):
            return split
    if wanted == "test" and any(name.startswith(("trn", "train")) for name in names):
        raise DataError(
            "the folder has no test split (tst or test); --read split=trn takes the training split.",
            path=path,
        )
    return None


def load_model(path: Path) -> Any:
    """A trained model."""
    import longtail

    from ..store import is_model_folder

    if path.is_dir() and not is_model_folder(path) and not (path / "model.json").exists():
        raise ModelError(f"{path}: is no model: it has no model.json. longtail train writes models.")
    return longtail.load(path)


def with_labels(dataset: Dataset, path: Path) -> Any:
    """The label matrix, or an error that says there is none."""
    if dataset.Y is None or dataset.Y.nnz == 0:
        raise DataError("has no labels.", path=path)
    return dataset.Y


def inputs_for(model: Any, dataset: Dataset, path: Path) -> Any:
    """What the model takes of a data set: texts or features."""
    if takes_texts(model):
        if dataset.texts is None:
            raise DataError("has features, but the model was trained on texts.", path=path)
        return dataset.texts
    if dataset.X is None:
        raise DataError("has texts, but the model was trained on features.", path=path)
    return dataset.X


def describe_data(dataset: Dataset) -> dict[str, Any]:
    """Facts about a data set, for --json."""
    return dict(dataset.describe())


def takes_texts(model: Any) -> bool:
    return getattr(model, "vectorizer_", None) is not None


def align(Y: Any, names: LabelSet | None, model_names: LabelSet | None, n_labels: int) -> tuple[Any, int]:
    """The columns of Y in the model's order, and how many the model does not know.

    Those come after the model's own, so that they still count as missed.
    """
    import numpy as np

    if names is None or model_names is None or names == model_names:
        target = np.arange(Y.shape[1])
        unknown = max(0, Y.shape[1] - n_labels)
    else:
        known = model_names.index
        target = np.array([known.get(name, -1) for name in names], dtype=np.int64)
        unknown = int((target < 0).sum())
        target[target < 0] = n_labels + np.arange(unknown)
    coo = Y.tocoo()
    aligned = type(Y)((coo.data, (coo.row, target[coo.col])), shape=(Y.shape[0], n_labels + unknown))
    return aligned, unknown


def read_label_file(path: Path, names: LabelSet | None, n_labels: int) -> Any:
    """The ids of labels listed in a file: a name or an id a line."""
    import numpy as np

    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise DataError("not UTF-8 text.", path=path) from None
    except OSError as error:
        raise DataError(f"{error.strerror}.", path=path) from None
    ids = [
        _label_id(line.strip(), names, n_labels, path, i) for i, line in enumerate(lines, 1) if line.strip()
    ]
    if not ids:
        raise DataError("lists no labels.", path=path)
    return np.unique(np.array(ids, dtype=np.int32))


def _label_id(text: str, names: LabelSet | None, n_labels: int, path: Path, line: int) -> int:
    if names is not None and text in names.index:
        return names.index[text]
    if text.isascii() and text.isdigit() and int(text) < n_labels:
        return int(text)
    near = [] if names is None else [name for name in names if name.startswith(text)][:3]
    hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    raise DataError(f"{text!r} is none of the model's {n_labels:,} labels.{hint}", path=path, line=line)


def parse_ks(text: str) -> Sequence[int]:
    """``1,3,5`` as numbers."""
    try:
        ks = sorted({int(part) for part in text.split(",")})
    except ValueError:
        ks = []
    if not ks or ks[0] < 1:
        raise ParameterError(
            f"--k must be whole numbers > 0 with commas between, such as 1,3,5. Got {text!r} instead."
        )
    return ks
