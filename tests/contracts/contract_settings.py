"""Parameters, and what a model refuses before it is trained."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from contract_base import Base
from problems import matrix_problem, same

import longtail as lt


class Settings(Base):
    """Parameters, and what a model refuses before it is trained."""

    # ---- parameters

    def test_clone_and_params(self) -> None:
        from sklearn.base import clone

        model = self.make()
        copy = clone(model)
        assert copy is not model
        assert copy.get_params() == model.get_params()
        name, _, _, other = self.number
        assert model.set_params(**{name: other}) is model
        assert model.get_params()[name] == other
        assert copy.get_params()[name] != other
        assert f"{name}={other}" in repr(model)
        assert repr(type(model)()) == f"{type(model).__name__}()"
        assert eval(repr(model), {type(model).__name__: type(model)}).get_params() == model.get_params()

    def test_clone_of_a_fitted_model_is_not_fitted(self) -> None:
        from sklearn.base import clone

        with pytest.raises(lt.NotFittedError):
            clone(self.fitted()).predict(matrix_problem()[2])

    def test_nested_parameters(self) -> None:
        model = self.make(vectorizer=lt.TextVectorizer(min_df=2))
        assert model.get_params()["vectorizer__min_df"] == 2
        model.set_params(vectorizer__min_df=3)
        assert model.vectorizer.min_df == 3
        assert "vectorizer__min_df" not in model.get_params(deep=False)

    def test_unknown_parameters(self) -> None:
        with pytest.raises(lt.ParameterError, match=r"no parameter 'cc'\. It has: .*seed"):
            self.make().set_params(cc=1)
        with pytest.raises(lt.ParameterError, match="no parameters of its own"):
            self.make().set_params(**{f"{self.number[0]}__x": 1})
        with pytest.raises(TypeError):
            self.make(cc=1)

    def test_wrong_values_are_named(self) -> None:
        x, y, _ = matrix_problem()
        for name, value, words in self.wrong:
            model = self.make(**{name: value})  # the constructor only stores
            with pytest.raises(lt.ParameterError) as caught:
                model.fit(x, y)
            owner = type(model).__name__
            expected = f"The '{name}' parameter of {owner} must be {words}. Got {value!r} instead."
            assert str(caught.value) == expected

    def test_wrong_values_after_training(self) -> None:
        name, value = self.wrong_later
        model = self.fitted().set_params(**{name: value})
        with pytest.raises(lt.ParameterError, match=name):
            model.predict(matrix_problem()[2])

    def test_numpy_numbers_are_numbers(self) -> None:
        x, y, queries = matrix_problem()
        number = self.number[0]
        plain = self.make(**{number: 0.5}, seed=3, threads=1).fit(x, y)
        given = self.make(**{number: np.float32(0.5)}, seed=np.int64(3), threads=np.int32(1)).fit(x, y)
        same(plain.predict(queries, k=np.int64(3)), given.predict(queries, k=3))
        for seed in (0, 2**63 - 1, np.int64(2**63 - 1)):
            self.make(seed=seed).fit(x, y)

    # ---- before training

    def test_unfitted(self, tmp_path: Path) -> None:
        from sklearn.exceptions import NotFittedError
        from sklearn.utils.validation import check_is_fitted

        model = self.make()
        x = matrix_problem()[2]
        for ask in (
            lambda: model.predict(x),
            lambda: model.explain(x[0], 0),
            lambda: model.describe(),
            lambda: model.save(tmp_path / "m"),
            lambda: model.to_weights("f16"),
        ):
            with pytest.raises(lt.NotFittedError, match=f"This {type(model).__name__} is not trained yet"):
                ask()
        assert not (tmp_path / "m").exists()
        with pytest.raises(NotFittedError):
            check_is_fitted(model)
        check_is_fitted(self.fitted())
