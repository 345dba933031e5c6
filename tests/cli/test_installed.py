"""What a fresh installation must do: the wheels' own test."""

import subprocess
import sys

import longtail as lt

TEXTS = ["a red fox", "a lazy dog", "red dog", "the fox runs", "a dog sleeps"]
LABELS = [["fox"], ["dog"], ["dog"], ["fox"], ["dog"]]


def test_learns_saves_and_loads(tmp_path):
    model = lt.LinearTree().fit(TEXTS, LABELS)
    assert model.predict(["lazy"], k=1).names() == [["dog"]]
    model.save(tmp_path / "model")
    assert lt.load(tmp_path / "model").predict(TEXTS) == model.predict(TEXTS)


def test_the_command_runs():
    result = subprocess.run(
        [sys.executable, "-m", "longtail", "--version"], capture_output=True, text=True, check=True
    )
    assert result.stdout.startswith("longtail ")
