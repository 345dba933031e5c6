"""What the contract has to know of a model."""

from __future__ import annotations

from typing import Any, ClassVar

from problems import matrix_problem


class Base:
    """What a model's tests are told about it. ``make`` gives a model with small, quick settings."""

    # Variants of parameters that storage has to survive.
    storage: tuple[dict[str, Any], ...] = ({"weights": "f32"}, {"weights": "f16"}, {"weights": "int8"})
    # A parameter with a wrong value, and the words that follow "The '…' parameter of Model must be".
    wrong: tuple[tuple[str, Any, str], ...] = (
        ("C", -1, "a number in (0, 1000000.0]"),
        ("C", float("nan"), "a number in (0, 1000000.0]"),
        ("C", "1", "a number in (0, 1000000.0]"),
        ("loss", "hinge", "one of 'squared_hinge', 'logistic'"),
        ("threads", 0, "None or a whole number in [1, 4096]"),
        ("threads", 1.5, "None or a whole number in [1, 4096]"),
        ("seed", -1, "a whole number in [0, 9223372036854775807]"),
        ("weights", "f8", "one of 'f32', 'f16', 'int8'"),
        ("vectorizer", "tfidf", "None or a TextVectorizer"),
        ("max_iter", True, "a whole number in [1, 1000000]"),
    )
    probability = True  # scores are in [0, 1]
    # A number among the parameters, and three values of it: the default, its double, another.
    number: tuple[str, float, float, float] = ("C", 1.0, 2.0, 3.5)
    # A parameter that predict uses, with a wrong value.
    wrong_later: tuple[str, Any] = ("hinge_power", 0)
    # Sets of parameters that training has to be repeatable with.
    variants: tuple[dict[str, Any], ...] = ({}, {"loss": "logistic"})
    # What makes the training of ``test_killed_and_resumed`` take a while, and that of ``big`` never end.
    slow: ClassVar[dict[str, Any]] = {"tol": 1e-3, "max_iter": 300}
    endless: ClassVar[dict[str, Any]] = {"tol": 1e-9, "max_iter": 1_000_000}

    def make(self, **params: Any) -> Any:
        raise NotImplementedError

    def fitted(self, **params: Any) -> Any:
        x, y, _ = matrix_problem()
        return self.make(**params).fit(x, y)
