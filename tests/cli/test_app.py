"""The command itself: help, version, usage errors, start-up time."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from longtail.cli.app import app

REPOSITORY = Path(__file__).parents[2]
VERBS = ["train", "predict", "evaluate", "inspect", "convert", "tree", "plot", "demo"]


def run(*args):
    return CliRunner().invoke(app, [str(arg) for arg in args], prog_name="longtail")


def test_help_lists_the_verbs():
    result = run("--help")
    assert result.exit_code == 0
    for verb in VERBS:
        assert f"\n  {verb} " in result.stdout
    assert "..." not in result.stdout.split("Commands:")[1]  # every verb's line fits


def test_version():
    from importlib.metadata import version

    assert run("--version").stdout == f"longtail {version('longtail')}\n"


@pytest.mark.parametrize(
    "args", [[], ["trian"], ["train"], ["train", "x"], ["demo", "--seed", "x"], ["tree", "--no"]]
)
def test_usage_errors(args):
    result = run(*args)
    assert result.exit_code == 2


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_is_in_the_reference(verb):
    page = REPOSITORY / "docs" / "reference" / "cli.md"
    if not page.exists():
        pytest.skip("the documentation is not here")
    shared, section = (
        page.read_text(encoding="utf-8"),
        page.read_text(encoding="utf-8").split(f"\n## {verb}\n")[1],
    )
    section = section.split("\n## ")[0]
    general = shared.split("\n## For all verbs\n")[1].split("\n## ")[0]
    for line in run(verb, "--help").stdout.split("Options:")[1].splitlines():
        for word in line.replace(",", " ").split():
            if word.startswith("--") and word != "--help" and line.lstrip().startswith("-"):
                assert f"`{word}" in section + general, f"{word} of {verb} is not documented"


def test_help_is_quick_and_imports_little():
    code = (
        "import sys; from longtail.cli.app import app\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'rich.progress', 'longtail._native'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    took = []
    for _ in range(3):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-m", "longtail", "--help"], check=True, stdout=subprocess.DEVNULL)
        took.append(time.perf_counter() - began)
    assert min(took) < 1.0  # about 0.15 s; loose, for slow machines


def test_completion_script():
    result = subprocess.run(
        [sys.executable, "-m", "longtail"],
        env={**os.environ, "_LONGTAIL_COMPLETE": "source_bash"},
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert "_LONGTAIL_COMPLETE" in result.stdout


def test_completion_offers_verbs():
    result = subprocess.run(
        [sys.executable, "-m", "longtail"],
        env={
            **os.environ,
            "_LONGTAIL_COMPLETE": "complete_bash",
            "COMP_WORDS": "longtail ev",
            "COMP_CWORD": "1",
        },
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert result.stdout.split() == ["evaluate"]
