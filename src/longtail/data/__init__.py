"""Examples in and out: data sets, and readers and writers of many formats.

>>> import longtail as lt
>>> data = lt.data.load("reuters.jsonl.gz")            # doctest: +SKIP
>>> train, test = data.split(0.1, seed=0)              # doctest: +SKIP
>>> lt.data.save(train, "train.svm")                   # doctest: +SKIP
"""

from .dataset import Dataset
from .detect import FORMATS
from .groups import Groups
from .io import convert, load, save
from .repairs import LossWarning, RepairWarning

__all__ = ["FORMATS", "Dataset", "Groups", "LossWarning", "RepairWarning", "convert", "load", "save"]
