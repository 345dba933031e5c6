"""Progress, stops in the middle, checkpoints."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from contract_base import Base
from problems import Stop, matrix_problem, same, same_model

import longtail as lt
from longtail import progress


class Stops(Base):
    """Progress, stops in the middle, checkpoints."""

    def test_progress_is_reported(self) -> None:
        x, y, _ = matrix_problem()
        with progress.use(heard := Stop()):
            self.make().fit(x, y)
        assert heard.begun
        assert heard.ended == [True] * len(heard.begun)
        assert all(isinstance(total, int) and total >= 0 for _, total, _ in heard.begun)
        assert any(text.startswith("memory: about ") for text in heard.messages)
        for handle, done in heard.updates:
            assert 0 <= done <= heard.begun[handle][1]

    def test_silence_by_default(self, capfd: pytest.CaptureFixture[str]) -> None:
        x, y, queries = matrix_problem()
        self.make().fit(x, y).predict(queries)
        assert capfd.readouterr() == ("", "")

    def test_a_stop_leaves_the_model_as_it_was(self, tmp_path: Path) -> None:
        x, y, queries = matrix_problem()
        with progress.use(heard := Stop()):
            old = self.make().fit(x, y)
        expected = old.predict(queries)
        other_x, other_y, _ = matrix_problem(9, n=200, d=50, m=30)
        for at in range(len(heard.begun)):
            for error in (KeyboardInterrupt, RuntimeError):
                fresh = self.make()
                with progress.use(Stop(error, at_phase=at)), pytest.raises(error):
                    fresh.fit(x, y)
                with pytest.raises(lt.NotFittedError):
                    fresh.predict(queries)
                with progress.use(Stop(error, at_phase=at)), pytest.raises(error):
                    old.fit(other_x, other_y)
                same(old.predict(queries), expected)
                old.save(tmp_path / "m")
                same(lt.load(tmp_path / "m").predict(queries), expected)

    def big(self) -> tuple[Any, Any, Any]:
        """A model and data that take seconds, so that there is a middle to stop in."""
        x, y, _ = matrix_problem(3, n=4000, d=800, m=64)
        return self.make(**self.endless, threads=2), x, y

    @pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
    def test_a_stop_in_the_middle_is_quick(self, error: type[BaseException]) -> None:
        model, x, y = self.big()
        begin = time.monotonic()
        with progress.use(Stop(error, on_update=True)), pytest.raises(error):
            model.fit(x, y)
        assert time.monotonic() - begin < 5
        with pytest.raises(lt.NotFittedError):
            model.predict(x)

    def test_resume_gives_the_same_model(self, tmp_path: Path) -> None:
        x, y, queries = matrix_problem()
        with progress.use(heard := Stop()):
            expected = self.make().fit(x, y)
        for at in range(len(heard.begun) + 1):
            model = self.make()
            point = tmp_path / f"point{at}"
            if at < len(heard.begun):
                with progress.use(Stop(KeyboardInterrupt, at_phase=at)), pytest.raises(KeyboardInterrupt):
                    model.fit(x, y, checkpoint=point)
            with progress.use(second := Stop()):
                model.fit(x, y, checkpoint=point)
            same_model(model, expected, tmp_path)
            same(model.predict(queries), expected.predict(queries))
            with progress.use(third := Stop()):
                model.fit(x, y, checkpoint=point)
            same_model(model, expected, tmp_path)
            assert len(third.begun) <= len(second.begun)
            assert not any("train" in name for name, _, _ in third.begun)

    def test_a_checkpoint_of_something_else_is_refused(self, tmp_path: Path) -> None:
        x, y, _ = matrix_problem()
        point = tmp_path / "point"
        self.make().fit(x, y, checkpoint=point)
        other_x, other_y, _ = matrix_problem(8)
        weight = np.ones(120)
        weight[3] = 2
        number, default = self.number[0], self.make().get_params()[self.number[0]]
        for model, a, b, options, words in (
            (self.make(), other_x, other_y, {}, "data was"),
            (self.make(), x, other_y, {}, "data was"),
            (self.make(), x, y, {"sample_weight": weight}, "data was"),
            (self.make(**{number: 7.0}), x, y, {}, f"params.{number} was {default}, is 7.0"),
            (self.make(seed=7), x, y, {}, "params.seed was 0, is 7"),
        ):
            with pytest.raises(lt.ModelError, match="checkpoint of another training: .*" + words):
                model.fit(a, b, checkpoint=point, **options)
        self.make(threads=1).fit(x, y, checkpoint=point)  # threads make no difference
        (tmp_path / "foreign").mkdir()
        (tmp_path / "foreign" / "thesis.txt").write_text("x")
        with pytest.raises(lt.ModelError, match=r"thesis\.txt"):
            self.make().fit(x, y, checkpoint=tmp_path / "foreign")

    def test_killed_and_resumed(self, tmp_path: Path) -> None:
        """SIGKILL at several moments of a training in another process; the rest is done here."""
        x, y, _ = matrix_problem(4, n=1500, d=300, m=64)
        sp.save_npz(tmp_path / "x.npz", x)
        sp.save_npz(tmp_path / "y.npz", y)
        params = self.slow
        expected = self.make(**params).fit(x, y)
        code = (
            "import sys, scipy.sparse as sp, longtail as lt\n"
            "x, y = sp.load_npz(sys.argv[1] + '/x.npz'), sp.load_npz(sys.argv[1] + '/y.npz')\n"
            "model = getattr(lt, sys.argv[2])(**eval(sys.argv[3]))\n"
            "print('go', flush=True)\n"
            "model.fit(x, y, checkpoint=sys.argv[4])\n"
            "print('done', flush=True)\n"
        )
        point = tmp_path / "point"
        own = self.make(**params).get_params(deep=False)
        for wait in (0.0, 0.03, 0.1):
            with subprocess.Popen(
                [sys.executable, "-c", code, str(tmp_path), type(expected).__name__, repr(own), str(point)],
                stdout=subprocess.PIPE,
                text=True,
            ) as child:
                assert child.stdout is not None
                assert child.stdout.readline() == "go\n"
                time.sleep(wait)
                child.kill()
        model = self.make(**params).fit(x, y, checkpoint=point)
        same_model(model, expected, tmp_path)
        left = [name for name in os.listdir(point) if name.startswith(".")]
        assert left == []
