"""File names, sources and tables that hold commands for a terminal or for the runner of a CI job."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import BROKEN, FINDING, PLAIN, Run, Tree
from .test_terminal import Terminal

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")

TO = ("convert", "--to", "paddle")
NAMES = [
    "::error::a.py",
    "  ::error file=x::b.py",
    "c\n::error::c.py",
    "d\r::error::d.py",
    "e\x1b]0;title\x07\x1b[31m.py",
    "f\x9b31m.py",
    "g\u202eyp.py",
    "h\u2028::error::h.py",
    "##[error]i.py",
    "j##[command]j.py",
    "\u00a0::error::k.py",
    b"l\xff\x1b[0m.py",
]
TABLE = r"""
[[diagnostic]]
code = "EVL201"
name = "evil"
title = "evil\n::error::title\u001b[2J"
message = "::error::message\r\n::error::\u009b2J##[error]\u202e"
hint = "::error::hint\n::stop-commands::x"

[[row]]
id = "evil\n::error::row"
code = "EVL201"
title = "evil\n::error::row\u001b[2J"
report = "EVL201"

[[row.torch]]
names = ["torch.evil"]
signature = "(x)"
"""
OURS = re.compile(r"::(error|warning|notice) file=[^:]*(::|,[^:]*::)")


def assert_harmless(printed: bytes, *, commands: bool = False) -> None:
    """No line of it is obeyed, but, with ``commands``, the ones that are meant."""
    text = printed.decode()
    for line in text.split("\n"):
        assert line.isprintable(), line
        if not (commands and OURS.match(line)):
            assert not line.lstrip().startswith("::"), line
            assert "##[" not in line, line


@pytest.fixture
def hostile(tree: Tree, folder: Path) -> None:
    """Files of every kind of result with each of the names, and a table with such texts."""
    for name in NAMES:
        for prefix, content in (("", FINDING), ("broken/", BROKEN), ("evil/", "import torch\n\ntorch.evil(1)\n")):
            path = folder / prefix / os.fsdecode(name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(content)
        (folder / "links").mkdir(exist_ok=True)
        (folder / "links" / os.fsdecode(name)).symlink_to("/nowhere")
        (folder / "out").mkdir(exist_ok=True)
        (folder / "out" / os.fsdecode(name)).symlink_to(folder.parent)
    tree({"../evil.toml": TABLE})


@pytest.mark.usefixtures("hostile")
@pytest.mark.parametrize("form", ["text", "github", "json", "sarif", "html"])
@pytest.mark.parametrize("options", [(), ("--coverage", "--no-cache"), ("-q",), ("--write",)])
def test_no_report_holds_a_command(paddletorch: Run, form: str, options: tuple[str, ...]) -> None:
    result = paddletorch(*TO, "--tables", "../evil.toml", "--format", form, *options)
    assert result.returncode == 2
    assert b"EVL201" in result.stdout
    assert_harmless(result.stdout, commands=form == "github")
    assert_harmless(result.stderr)
    if form in ("json", "sarif"):
        assert "##[error]" in json.dumps(json.loads(result.stdout))  # the texts are what they were


@pytest.mark.usefixtures("hostile")
def test_names_of_findings_that_are_put_off(paddletorch: Run) -> None:
    paddletorch(*TO, "--baseline", "b.json", "--write-baseline")
    for path in Path().glob("*.py"):
        path.write_text(PLAIN)
    result = paddletorch(*TO, "--baseline", "b.json")
    assert b"are gone" in result.stdout
    assert_harmless(result.stdout)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("option", ["--tables", "--baseline", "--report", "--output", "--target-version", "--select"])
def test_errors_of_the_command_line(paddletorch: Run, tree: Tree, name: str | bytes, option: str) -> None:
    tree({"a.py": PLAIN})
    result = paddletorch(*TO, f"{option}={os.fsdecode(name)}")
    assert_harmless(result.stderr)
    tree({os.fsdecode(name): "[[row]]\nx = 1\n"})
    assert_harmless(paddletorch(*TO, f"{option}={os.fsdecode(name)}").stderr)


@pytest.mark.usefixtures("hostile")
@pytest.mark.parametrize(
    "command",
    [("list",), ("show", "EVL201"), ("show", "torch.evil"), ("show", "\x1b[2J"), ("list", "--format", "json")],
)
def test_what_the_tables_hold(paddletorch: Run, command: tuple[str, ...]) -> None:
    result = paddletorch("rules", *command, "--tables", "../evil.toml")
    assert_harmless(result.stdout)
    assert_harmless(result.stderr)


@pytest.mark.parametrize("name", NAMES)
def test_settings_that_are_shown(paddletorch: Run, tree: Tree, name: str | bytes) -> None:
    folder = os.fsdecode(name)
    tree({f"{folder}/paddletorch.toml": f"to = 'paddle'\nexclude = [{json.dumps(folder)}]\n".encode(errors="replace")})
    for form in ("text", "json"):
        result = paddletorch("config", folder, "--format", form)
        assert_harmless(result.stdout)
        assert_harmless(result.stderr)
    tree({f"{folder}/paddletorch.toml": b'"a\\n::error::\\u001b" = 1\n'})
    assert_harmless(paddletorch("config", folder).stderr)


COMMANDS = f'"""\n::error::one\n::stop-commands::guess\n  ::error::two\n##[error]\x1b[2J\u202e\n"""\n{PLAIN}'


@pytest.mark.parametrize("apply", [["git", "apply", "-p0"], ["patch", "-p0"]])
def test_a_diff_in_the_log_of_a_job(paddletorch: Run, tree: Tree, folder: Path, apply: list[str]) -> None:
    if shutil.which(apply[0]) is None:
        pytest.skip(f"{apply[0]} is not installed")
    tree({"a.py": COMMANDS, "b.py": PLAIN})
    plain = paddletorch(*TO, "--diff").stdout
    assert plain.startswith(b"--- a.py")  # a patch as ever, elsewhere
    diff = paddletorch(*TO, "--diff", GITHUB_ACTIONS="true").stdout
    first, *between, last = diff.decode().split("\n")[:-1]
    token = first.removeprefix("::stop-commands::")
    assert re.fullmatch("[0-9a-f]{32}", token)
    assert last == f"::{token}::"
    assert not [line for line in between if token in line]
    assert "\n".join([*between, ""]).encode() == plain
    done = subprocess.run(apply, cwd=folder, input=diff, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "paddle.amp" in (folder / "a.py").read_text() and "paddle.amp" in (folder / "b.py").read_text()


def test_a_diff_without_commands_has_no_more_lines_in_a_job(paddletorch: Run, tree: Tree) -> None:
    tree({"a.py": PLAIN})
    assert paddletorch(*TO, "--diff", GITHUB_ACTIONS="true").stdout == paddletorch(*TO, "--diff").stdout


@pytest.mark.parametrize("name", [name for name in NAMES if isinstance(name, bytes) or not name.isprintable()])
def test_a_diff_quotes_names(paddletorch: Run, folder: Path, name: str | bytes) -> None:
    (folder / os.fsdecode(name)).write_text(PLAIN)
    diff = paddletorch(*TO, "--diff").stdout
    assert_harmless(diff)
    done = subprocess.run(["git", "apply", "-p0"], cwd=folder, input=diff, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "paddle.amp" in (folder / os.fsdecode(name)).read_text()


def test_a_terminal_gets_no_escapes_of_the_source(tree: Tree, folder: Path) -> None:
    tree({"a.py": f"x = '\x1b]0;title\x07'  # \x9b2J \u202e\ttab\n{PLAIN}"})
    _, shown = Terminal(folder, *TO, "--diff", NO_COLOR="1").finish()
    text = shown.decode().replace("\r\n", "\n")
    assert r"\x1b]0;title\x07" in text
    assert "\ttab" in text
    assert all(line.isprintable() for part in text.split("\t") for line in part.split("\n"))


def test_a_file_that_is_called_as_an_option_needs_to_be_told_apart(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"--write": PLAIN, "-q": "", "a.py": PLAIN})
    for names in (("--write", "a.py"), ("a.py", "-q")):
        result = paddletorch(*TO, *names)
        assert result.returncode == 2
        assert b"put -- before the names of files" in result.stderr
    assert paddletorch(*TO, "--", "--write", "a.py").returncode == 1
    assert {(folder / name).read_text() for name in ("--write", "a.py")} == {PLAIN}
    assert paddletorch(*TO, "--write", "--", "a.py").returncode == 0
