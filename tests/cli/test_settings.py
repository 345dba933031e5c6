"""Parameters from TOML and --set."""

import pytest

from longtail.cli.settings import parse_value, read_settings
from longtail.errors import ParameterError


def write(tmp_path, text):
    path = tmp_path / "params.toml"
    path.write_text(text)
    return path


def test_reads_tables(tmp_path):
    path = write(tmp_path, '[model]\nC = 2.0\nloss = "logistic"\n[text]\nngram_range = [1, 2]\n')
    settings = read_settings(path, [])
    assert settings.values == {"model": {"C": 2.0, "loss": "logistic"}, "text": {"ngram_range": [1, 2]}}


def test_assignments_win_and_default_to_the_model(tmp_path):
    path = write(tmp_path, "[model]\nC = 2.0\n")
    settings = read_settings(path, ["C=3", "model.arity=8", "text.min_df=2"])
    assert settings.values == {"model": {"C": 3, "arity": 8}, "text": {"min_df": 2}}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2", 2),
        ("2.5", 2.5),
        (".5", 0.5),
        ("1.", 1.0),
        ("1e-3", 1e-3),
        ("true", True),
        ("False", False),
        ("none", None),
        ("logistic", "logistic"),
        ('"two words"', "two words"),
        ("[1, 2]", [1, 2]),
        ("two words", "two words"),
        ("", ""),
    ],
)
def test_values(text, value):
    got = parse_value(text)
    assert got == value
    assert type(got) is type(value)


def test_unknown_key_names_key_origin_and_what_is_known(tmp_path):
    path = write(tmp_path, "[model]\narrity = 2\n")
    with pytest.raises(ParameterError) as caught:
        read_settings(path, []).take("model", ["arity", "C"])
    message = str(caught.value)
    assert message == (
        f"{path}: unknown key 'arrity' in [model]. Did you mean 'arity'? Known keys: C, arity."
    )


def test_a_key_in_the_wrong_case_is_recognised():
    with pytest.raises(ParameterError, match=r"unknown key 'c' in \[model\]\. Did you mean 'C'\?"):
        read_settings(None, ["c=1"]).take("model", ["C", "arity"])


def test_unknown_key_of_an_assignment_names_the_assignment():
    with pytest.raises(
        ParameterError, match=r"^--set zzz=1: unknown key 'zzz' in \[model\]\. Known keys: C\.$"
    ):
        read_settings(None, ["zzz=1"]).take("model", ["C"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[modell]\nC = 1\n", "unknown table [modell]. Known tables: [model], [text]."),
        ("C = 1\n", "unknown key 'C' outside a table."),
        ("model = 3\n", "'model' must be a table"),
        ("[model\n", "not valid TOML:"),
        ("[model]\nC = \n", "not valid TOML:"),
    ],
)
def test_bad_files(tmp_path, text, words):
    path = write(tmp_path, text)
    with pytest.raises(ParameterError) as caught:
        read_settings(path, [])
    assert str(caught.value).startswith(f"{path}: ")
    assert words in str(caught.value)


def test_file_that_is_not_text(tmp_path):
    path = tmp_path / "params.toml"
    path.write_bytes(b"[model]\nC = '\xff'\n")
    with pytest.raises(ParameterError, match=r"not UTF-8 text\.$"):
        read_settings(path, [])


def test_file_that_is_missing(tmp_path):
    with pytest.raises(ParameterError, match=r"nowhere\.toml: No such file or directory\.$"):
        read_settings(tmp_path / "nowhere.toml", [])


@pytest.mark.parametrize("text", ["C", "=2", "model.=2", "", ".C"])
def test_bad_assignments(text):
    with pytest.raises(ParameterError, match="expected key=value"):
        read_settings(None, [text])


def test_assignment_to_an_unknown_table():
    with pytest.raises(ParameterError, match="unknown table 'tree'"):
        read_settings(None, ["tree.arity=2"])
