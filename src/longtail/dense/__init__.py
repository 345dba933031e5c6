"""Networks over groups of samples. Training needs PyTorch (the extra ``dense``); asking and loading do not.

>>> import longtail as lt
>>> model = lt.DeepMIML().fit(X, groups=groups, group_labels=known)    # doctest: +SKIP
>>> model.predict(X, k=1), model.predict(X, k=5, groups=groups)        # doctest: +SKIP
"""

from .deep_miml import DeepMIML

__all__ = ["DeepMIML"]
