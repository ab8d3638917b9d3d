"""Settings files: the nearest to each file holds, is checked, and is overruled by the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from paddletorch.inputs.config import KEYS, Config, ConfigError, Search, load_config

from .conftest import FINDING, PLAIN, Result, Run, Tree


def options(result: Result) -> dict[str, object]:
    found: dict[str, object] = json.loads(result.stdout)["options"]
    return found


def test_every_key(tree: Tree, folder: Path) -> None:
    tree(
        {
            "pyproject.toml": '[tool.paddletorch]\nto = "torch"\n'
            'source-version = "3.3"\ntarget-version = ">=2.4"\n'
            'select = ["AMP"]\nignore = ["AMP101"]\nexclude = ["x"]\ntables = ["my.toml", "/abs.toml"]\n'
            'shim = "never"\ninitial-values = "source"\nunsafe = true\nannotate = false\n'
            'per-file-ignores = {"tests/" = ["AMP213"]}\n'
            "max-file-size = 1000\nmax-file-seconds = 2.5\n"
        }
    )
    config = load_config(folder / "not" / "there.py", Search(trust=True))
    assert config == Config(
        file=folder / "pyproject.toml",
        to="torch",
        source_version="3.3",
        target_version=">=2.4",
        select=("AMP",),
        ignore=("AMP101",),
        exclude=("x",),
        tables=(str(folder / "my.toml"), "/abs.toml"),
        shim="never",
        initial_values="source",
        unsafe=True,
        annotate=False,
        per_file_ignores=(("tests/", ("AMP213",)),),
        max_file_size=1000,
        max_file_seconds=2.5,
    )
    assert len(KEYS) == len(Config.__dataclass_fields__) - 2  # the file, and the one left out


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
        ("per-file-ignores = ['a.py']", "must be a table"),
        ("per-file-ignores = {'a.py' = 'AMP213'}", "per-file-ignores.'a.py': must be a list of strings"),
        ("per-file-ignore = {}", "did you mean 'per-file-ignores'"),
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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("select = ['APM']", "[tool.paddletorch] select: no such code or area: APM; did you mean 'A"),
        ("target-version = 'new'", "[tool.paddletorch] target-version: version 'new' of paddle cannot be read"),
        ("exclude = ['[b-a]']", "[tool.paddletorch] exclude: "),
        ("per-file-ignores = {'a.py' = ['AMP999']}", "per-file-ignores.'a.py': no such code or area: AMP999"),
        ("per-file-ignores = {'[b-a].py' = ['AMP']}", "per-file-ignores.'[b-a].py': "),
        ("per-file-ignores = {'!' = ['AMP']}", "per-file-ignores.'!': the pattern matches no file"),
    ],
)
def test_values_that_no_table_knows(paddletorch: Run, tree: Tree, folder: Path, text: str, message: str) -> None:
    tree({"pyproject.toml": f"[tool.paddletorch]\nto = 'paddle'\n{text}\n", "a.py": PLAIN})
    for command in (("convert", "--write"), ("config", "a.py")):
        result = paddletorch(*command)
        assert result.returncode == 2
        assert f"{folder / 'pyproject.toml'}: " in result.stderr.decode()
        assert message in result.stderr.decode()
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


def test_own_file_goes_before_pyproject(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"pyproject.toml": '[tool.paddletorch]\nto = "torch"\n', "paddletorch.toml": 'to = "paddle"\n', "a.py": PLAIN})
    assert load_config(folder) == Config(file=folder / "paddletorch.toml", to="paddle")
    assert f"Not read: {folder / 'pyproject.toml'}" in paddletorch("config").stdout.decode()
    tree({"paddletorch.toml": '[tool.paddletorch]\nto = "paddle"\n'})
    with pytest.raises(ConfigError, match=r"keys stand at the top of paddletorch\.toml"):
        load_config(folder)


def test_each_file_has_the_settings_nearest_to_it(paddletorch: Run, tree: Tree, folder: Path) -> None:
    """A monorepo: directions, excludes and ignored codes differ, and nothing is merged."""
    to_torch = "import paddle\n\nscaler = paddle.amp.GradScaler()\n"
    tree(
        {
            "a/pyproject.toml": '[tool.paddletorch]\nto = "paddle"\nexclude = ["skip.py"]\n',
            "a/x.py": PLAIN,
            "a/skip.py": PLAIN,
            "a/inner/paddletorch.toml": 'to = "paddle"\nignore = ["AMP101"]\nexclude = ["other.py"]\n',
            "a/inner/skip.py": PLAIN,
            "a/inner/other.py": PLAIN,
            "b/pyproject.toml": '[project]\nname = "b"\n[tool.paddletorch]\nto = "torch"\n',
            "b/x.py": to_torch,
        }
    )
    result = paddletorch("convert", "--format", "json")
    report = json.loads(result.stdout)
    assert [(c["path"], c["replacement"]) for c in report["conversions"]] == [
        ("a/x.py", "paddle.amp.GradScaler"),
        ("b/x.py", "torch.amp.GradScaler"),
    ]
    assert report["summary"]["files"]["scanned"] == 3
    assert "different settings" in report["notes"][-1]["message"]
    assert paddletorch("convert", "--write").returncode == 0
    assert "torch.amp.GradScaler" in (folder / "b/x.py").read_text()
    assert (folder / "a/inner/skip.py").read_text() == PLAIN


def test_a_nested_file_without_direction_is_named(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"pyproject.toml": '[tool.paddletorch]\nto = "paddle"\n', "b/paddletorch.toml": "", "b/x.py": PLAIN})
    result = paddletorch("convert")
    assert result.returncode == 2
    assert str(folder / "b" / "paddletorch.toml") in result.stderr.decode()
    assert paddletorch("convert", "--to", "paddle").returncode == 1


def test_broken_nested_settings_stop_the_run_unless_they_are_left_out(
    paddletorch: Run, tree: Tree, folder: Path
) -> None:
    tree({"pyproject.toml": '[tool.paddletorch]\nto = "paddle"\n', "b/pyproject.toml": "=", "a.py": PLAIN})
    assert str(folder / "b" / "pyproject.toml") in paddletorch("convert").stderr.decode()
    assert paddletorch("convert", "a.py", "--exclude", "b").returncode == 1
    tree({"pyproject.toml": '[tool.paddletorch]\nto = "paddle"\nexclude = ["b/"]\n'})
    assert paddletorch("convert").returncode == 1


def test_per_file_ignores(paddletorch: Run, tree: Tree, folder: Path) -> None:
    settings = """[tool.paddletorch]
to = "paddle"
per-file-ignores = {"tests/" = ["amp226"], "/lib/**/gen_*.py" = ["AMP1", "AMP226"], "!lib/" = ["AMP109"]}
"""
    names = ("a.py", "tests/a.py", "lib/x/gen_a.py", "lib/x/a.py", "x/tests/a.py", "x/lib/gen_a.py")
    tree({"pyproject.toml": settings, **dict.fromkeys(names, FINDING)})
    report = json.loads(paddletorch("convert", "--format", "json").stdout)
    assert {d["path"] for d in report["diagnostics"]} == {"a.py", "lib/x/a.py", "x/lib/gen_a.py"}
    assert {c["path"] for c in report["conversions"]} == set(names) - {"lib/x/gen_a.py"}
    assert paddletorch("convert", "--stdin-filename", "tests/new.py", "-q", "-", stdin=FINDING.encode()).returncode == 0
    shown = json.loads(paddletorch("config", "tests/a.py", "--format", "json").stdout)
    assert shown["ignored"] == ["AMP226", "AMP109"]


def test_stdin_takes_the_settings_of_its_name(paddletorch: Run, tree: Tree) -> None:
    tree({"b/paddletorch.toml": 'to = "paddle"\nexclude = ["skip.py"]\n'})
    assert paddletorch("convert", "-", stdin=PLAIN.encode()).returncode == 2
    assert b"paddle" in paddletorch("convert", "-", "--stdin-filename", "b/x.py", stdin=PLAIN.encode()).stdout
    skipped = ("convert", "-", "--stdin-filename", "b/skip.py")
    assert b"paddle" in paddletorch(*skipped, stdin=PLAIN.encode()).stdout
    assert paddletorch(*skipped, "--force-exclude", stdin=PLAIN.encode()).stdout == PLAIN.encode()


@pytest.mark.parametrize("form", ["text", "json"])
def test_config_says_where_values_come_from(paddletorch: Run, tree: Tree, folder: Path, form: str) -> None:
    tree({"pyproject.toml": '[tool.paddletorch]\nto = "torch"\nexclude = ["a.py"]\n', "a.py": "", "b.py": ""})
    result = paddletorch("config", "a.py", "--format", form)
    assert result.returncode == 0
    if form == "text":
        words = [line.split() for line in result.stdout.decode().splitlines()]
        assert ["to", '"torch"', "pyproject.toml:", "tool.paddletorch.to"] in words
        assert ["shim", '"never"', "default"] in words
        assert ["source-version", "not", "set", "default"] in words
        assert b"Left out by exclude" in result.stdout
        assert b"Left out" not in paddletorch("config", "b.py").stdout
        return
    report = json.loads(result.stdout)
    assert list(report["settings"]) == list(KEYS)
    file = str(folder / "pyproject.toml")
    assert report["settings"]["to"] == {"value": "torch", "file": file, "key": "tool.paddletorch.to"}
    assert report["settings"]["unsafe"] == {"value": False, "file": None, "key": None}
    assert (report["file"], report["excluded"], report["ignored"]) == (file, True, [])


def test_config_without_settings(paddletorch: Run, folder: Path) -> None:
    result = paddletorch("config")
    assert result.returncode == 0
    assert b"no settings file" in result.stdout
    assert b"needs --to" in result.stdout
    assert paddletorch("config", "missing").returncode == 2
