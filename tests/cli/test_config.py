"""[tool.paddletorch]: found upwards from the first path, checked, and overruled by the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from paddletorch.config import KEYS, Config, ConfigError, load_config

from .conftest import PLAIN, Result, Run, Tree


def options(result: Result) -> dict[str, object]:
    found: dict[str, object] = json.loads(result.stdout)["options"]
    return found


def test_every_key(tree: Tree, folder: Path) -> None:
    tree(
        {
            "pyproject.toml": '[tool.paddletorch]\nto = "torch"\n'
            'source-version = "3.3"\ntarget-version = ">=2.4"\n'
            'select = ["AMP"]\nignore = ["AMP101"]\nexclude = ["x"]\ntables = ["my.toml", "/abs.toml"]\n'
            'shim = "never"\nunsafe = true\nannotate = false\n'
        }
    )
    config = load_config(folder / "not" / "there.py")
    assert config == Config(
        folder=folder,
        to="torch",
        source_version="3.3",
        target_version=">=2.4",
        select=("AMP",),
        ignore=("AMP101",),
        exclude=("x",),
        tables=(str(folder / "my.toml"), "/abs.toml"),
        shim="never",
        unsafe=True,
        annotate=False,
    )
    assert len(KEYS) == len(Config.__dataclass_fields__) - 1


def test_nearest_one_with_the_section_wins(tree: Tree, folder: Path) -> None:
    tree(
        {
            "pyproject.toml": '[tool.paddletorch]\nto = "paddle"\n',
            "a/pyproject.toml": '[tool.other]\nto = "x"\n',
            "b/pyproject.toml": '[tool.paddletorch]\nto = "torch"\n',
        }
    )
    assert load_config(folder / "a" / "x.py").to == "paddle"
    assert load_config(folder / "b").to == "torch"


def test_none(folder: Path) -> None:
    assert load_config(folder) == Config()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("target_version = '3.3'", "did you mean 'target-version'"),
        ("colour = 1", "known keys"),
        ("to = 'tensorflow'", "'torch', 'paddle'"),
        ("target-version = 3.3", 'such as "3.3"'),
        ("unsafe = 'yes'", "true or false"),
        ("select = 'AMP'", "list of strings"),
        ("select = [1]", "list of strings"),
        ("to = ", "not valid TOML"),
        ("to = '\xff'", "UTF-8"),
    ],
)
def test_mistakes_name_file_and_key(paddletorch: Run, tree: Tree, folder: Path, text: str, message: str) -> None:
    tree({"pyproject.toml": f"[tool.paddletorch]\n{text}\n".encode("latin-1"), "a.py": PLAIN})
    with pytest.raises(ConfigError) as error:
        load_config(folder)
    assert str(folder / "pyproject.toml") in str(error.value)
    assert message in str(error.value)
    result = paddletorch("convert", "--to", "paddle", "--write")
    assert result.returncode == 2
    assert (folder / "a.py").read_text() == PLAIN


def test_section_must_be_a_table(tree: Tree, folder: Path) -> None:
    tree({"pyproject.toml": "tool.paddletorch = 1\n"})
    with pytest.raises(ConfigError, match="must be a table"):
        load_config(folder)


def test_command_line_wins(paddletorch: Run, tree: Tree) -> None:
    tree(
        {
            "pkg/pyproject.toml": '[tool.paddletorch]\nto = "torch"\nunsafe = true\nannotate = true\n'
            'select = ["AMP"]\n'
            'target-version = "2.4"\nexclude = ["skip.py"]\n',
            "pkg/a.py": PLAIN,
            "pkg/skip.py": PLAIN,
        }
    )
    configured = options(paddletorch("convert", "pkg", "--format", "json"))
    assert configured["to"] == "torch"
    assert configured["unsafe"] is configured["annotate"] is True
    assert (configured["select"], configured["target_version"]) == (["AMP"], "2.4")
    arguments = "--to paddle --no-unsafe --no-annotate --select amp1,API --target-version 3.3"
    given = paddletorch("convert", "pkg", "--format", "json", *arguments.split())
    assert options(given) | {"to": "paddle", "unsafe": False, "annotate": False} == options(given)
    assert options(given)["select"] == ["AMP1", "API"]
    assert [file["path"] for file in json.loads(given.stdout)["files"]] == ["pkg/a.py"]
    overruled = paddletorch("convert", "pkg", "--format", "json", "--to", "paddle", "--exclude", "a.py")
    assert [file["path"] for file in json.loads(overruled.stdout)["files"]] == ["pkg/skip.py"]
