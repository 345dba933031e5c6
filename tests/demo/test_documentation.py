"""The commands and programs of the documentation run as they are printed."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from longtail import demo

REPOSITORY = Path(__file__).parents[2]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


def blocks(page, language):
    path = REPOSITORY / page
    if not path.exists():
        pytest.skip(f"{page} is not here")
    return [code for name, code in FENCE.findall(path.read_text(encoding="utf-8")) if name == language]


def environment():
    """`longtail` and `python` are those of the tests."""
    return {
        **os.environ,
        "PYTHONUTF8": "1",
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    }


def run_python(code, folder):
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=folder,
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def run_bash(code, folder):
    script = "set -euo pipefail\n" + code
    return subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment(), capture_output=True, text=True, timeout=300
    )


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_the_tour(tmp_path):
    shown = run_python("\n".join(blocks("docs/tour.md", "python")), tmp_path)
    for text in blocks("docs/tour.md", "text"):
        assert text in shown
    result = run_bash("\n".join(blocks("docs/tour.md", "bash")), tmp_path)
    assert result.returncode == 0, result.stderr
    assert "holds a LinearTree" in result.stdout
    assert "musical instrument" in result.stdout


def test_the_readme(tmp_path):
    for split in ("train", "test"):
        shutil.copy(demo.path(split), tmp_path)
    run_python("\n".join(blocks("README.md", "python")), tmp_path)
    commands = re.findall(r"^\$ (longtail .*|echo .*)$", "\n".join(blocks("README.md", "console")), re.M)
    assert len(commands) >= 4
    result = run_bash("\n".join(commands), tmp_path)
    assert result.returncode == 0, result.stderr


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_the_command_line_how_to(tmp_path):
    result = run_bash("\n".join(blocks("docs/how-to/command-line.md", "bash")), tmp_path)
    assert result.returncode == 0, result.stderr
    assert "insect" in result.stdout


def test_how_to_add_a_model(tmp_path):
    code = blocks("docs/how-to/add-a-model.md", "python")[0]
    proof = """
import longtail.model
texts, names = ["a", "b", "c"], [["x", "y"], ["y"], ["z"]]
import longtail as lt
vectorizer = lt.TextVectorizer(analyzer="char")
model = MostCommon(vectorizer=vectorizer).fit(texts, names)
assert model.predict(texts, k=2).names() == [["y", "x"]] * 3
assert model.predict("a", k=9).names() == [["y", "x", "z"]]
model.save("m")
import sys, types
sys.modules["most_common"] = types.SimpleNamespace(MostCommon=MostCommon)
longtail.model._KINDS["MostCommon"] = "most_common"
assert lt.load("m").predict(texts) == model.predict(texts)
try:
    MostCommon(most=0).fit(texts, names)
except lt.ParameterError as error:
    assert "'most' parameter of MostCommon" in str(error)
else:
    raise AssertionError
"""
    run_python(code + proof, tmp_path)
