"""Strings → sparse features: tf-idf over words or characters, or hashed terms.

``TextVectorizer`` has scikit-learn's parameter names and gives scikit-learn's matrices, several times
faster and on all cores.
"""

from __future__ import annotations

from .bags import WordBags
from .vectorizer import TextVectorizer

__all__ = ["TextVectorizer", "WordBags"]
