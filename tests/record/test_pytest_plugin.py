"""``pytest --paddletorch-record`` and ``paddletorch record -- pytest`` note what the tests of a project show."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from paddletorch.model import Ask

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from .conftest import Run, Seen, Write

PLUGIN = "paddletorch_shim.recording.pytest_plugin"
TESTS = """import net

def test_net():
    assert net.f(1) == 1

def test_other():
    y = 'a'
    assert net.f(<<class:y>>) == 'b'
"""


@pytest.fixture
def tested(write: Write) -> None:
    """A project with a module, tests of it, one of which fails, and a conftest that uses it."""
    write("net.py", "if False:\n    import torch\n\ndef f(x):\n    return <<type:x>>\n")
    write("tests/test_net.py", TESTS)
    write("tests/conftest.py", "import net\nnet.f(<<type:net>>.f(1.5))\n")


@pytest.mark.usefixtures("tested")
@pytest.mark.parametrize(
    "command",
    [
        ["pytest", "-p", PLUGIN, "--paddletorch-record"],
        ["paddletorch", "record", "--", "python", "-m", "pytest"],
        ["paddletorch", "record", "--to", "paddle", "--", "pytest", "--import-mode=importlib", "--rootdir=."],
    ],
)
def test_tests_are_recorded(command: list[str], python: Run, seen: Seen, evidence: Any, project: Path) -> None:
    done = python("-m", *command, "-p", "no:cacheprovider", "tests", PYTHONPATH=_with(project))
    assert done.returncode == 1, done.stdout + done.stderr
    assert "AssertionError: assert 'a' == 'b'" in done.stdout
    assert "1 failed, 1 passed" in done.stdout
    assert f"paddletorch: 3 of 3 open questions of the imported modules answered: {project}" in done.stdout
    assert seen("net.py", Ask.TYPE, "x") == {"builtins.float": 2, "builtins.int": 1, "builtins.str": 1}
    assert seen("tests/conftest.py", Ask.TYPE, "net") == {"builtins.module": 1}
    assert seen("tests/test_net.py", Ask.CLASS, "y") == {"builtins.object": 1}
    assert list(evidence()["files"]) == ["net.py", "tests/conftest.py", "tests/test_net.py"]


@pytest.mark.usefixtures("tested")
def test_a_quiet_recording_says_nothing_in_the_end(record: Run, seen: Seen, project: Path) -> None:
    done = record("pytest", "-p", "no:cacheprovider", "tests", PYTHONPATH=_with(project))
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "open questions" not in done.stdout + done.stderr
    assert seen("tests/conftest.py", Ask.TYPE, "net") == {"builtins.module": 1}


@pytest.mark.usefixtures("tested")
def test_workers_of_xdist_are_recorded(python: Run, seen: Seen, project: Path) -> None:
    command = ["pytest", "-p", PLUGIN, "--paddletorch-record", "--paddletorch-record-fresh", "-n", "2", "tests"]
    done = python("-m", *command, PYTHONPATH=_with(project))
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    found = seen("net.py", Ask.TYPE, "x")
    assert (found["builtins.int"], found["builtins.str"]) == (1, 1)
    assert found["builtins.float"] >= 4


@pytest.mark.usefixtures("tested")
def test_nothing_is_imported_unless_asked_for(python: Run, project: Path) -> None:
    (project / "tests" / "test_net.py").write_text(
        "import sys\n\ndef test_light():\n"
        "    assert not {'paddletorch', 'torch', 'paddle', 'numpy'} & set(sys.modules)\n"
        "    assert 'paddletorch_shim.recording.session' not in sys.modules\n"
    )
    done = python("-m", "pytest", "-p", PLUGIN, "tests", PYTHONPATH=_with(project))
    assert done.returncode == 0, done.stdout
    assert "paddletorch:" not in done.stdout
    assert not (project / ".paddletorch").exists()


@pytest.mark.usefixtures("tested")
def test_what_is_wrong_is_said(python: Run, project: Path) -> None:
    (project / ".paddletorch").mkdir()
    (project / ".paddletorch" / "evidence.json").write_text("[]")
    done = python("-m", "pytest", "-p", PLUGIN, "--paddletorch-record", "tests")
    assert done.returncode == 4
    assert "--paddletorch-record" in done.stderr and "no evidence of a recorded run" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_plugin_comes_with_the_package() -> None:
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert tomllib.loads(text)["project"]["entry-points"]["pytest11"] == {PLUGIN: PLUGIN}


def _with(project: Path) -> str:
    """The path on which both paddletorch and the project's modules are found."""
    return ":".join([str(project), *filter(None, sys.path)])
