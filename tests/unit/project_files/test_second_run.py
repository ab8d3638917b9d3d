"""``--verify`` of project files: results are read and converted again."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
import tomllib
import yaml
from packaging.requirements import Requirement
from paddletorch import Converter
from paddletorch.model import Status
from paddletorch.project_files import convert
from paddletorch.project_files.found import Found, Replaced

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

REQUIREMENTS = "torch>=1.10,<3\nnumpy\n"
PYPROJECT = '[project]\nname = "a"\ndependencies = ["torch>=2", "numpy"]\n'
CONDA = "name: a\ndependencies:\n  - python\n  - pip:\n    - torch==2.1.0\n"
SETUP = "from setuptools import setup\n\nsetup(name='a', install_requires=['torch>=2'])\n"
SHELL = "torchrun --nproc_per_node=2 train.py\n"
FILES = {
    "requirements.txt": (REQUIREMENTS, lambda text: [Requirement(line) for line in text.splitlines()]),
    "pyproject.toml": (PYPROJECT, tomllib.loads),
    "environment.yml": (CONDA, yaml.safe_load),
    "setup.py": (SETUP, lambda text: compile(text, "setup.py", "exec")),
    "run.sh": (SHELL, str.split),
}


def converter(*, verify: bool = True) -> Converter:
    return Converter(to="paddle", project_files=True, verify=verify)


@pytest.mark.parametrize("name", FILES)
def test_what_holds_is_converted_and_can_be_read(name: str) -> None:
    text, read = FILES[name]
    result = converter().convert(text, name).file
    assert result.status is Status.CONVERTED
    read(result.output.decode())
    again = converter().convert(result.output, name).file
    assert again.status is Status.CLEAN and again.output == result.output


def spoiled(text: str) -> Callable[..., list[Found]]:
    """A reader that writes ``text`` for ``numpy``, wherever it stands."""

    def read(given: str, target: object) -> list[Found]:
        at = given.find("numpy")
        if at < 0:
            return []
        return [Found(at, at + 5, "PRJ201", "numpy", edits=(Replaced(at, at + 5, text),), replacement=text)]

    return read


@pytest.mark.parametrize(
    ("kind", "name", "text", "problem"),
    [
        ("requirements", "requirements.txt", "numpy", None),
        ("requirements", "requirements.txt", "numpy-more", "would become"),
        ("requirements", "requirements.txt", "a b", "is no requirement"),
        ("pyproject", "pyproject.toml", 'a; python_version > "3"', "is no TOML"),
    ],
)
def test_what_does_not_hold_is_left(
    monkeypatch: pytest.MonkeyPatch, kind: str, name: str, text: str, problem: str | None
) -> None:
    monkeypatch.setitem(convert.READERS, kind, spoiled(text))  # type: ignore[attr-defined]
    source = FILES[name][0]
    result = converter().convert(source, name).file
    if problem is None:
        assert result.status is Status.CLEAN
        return
    assert result.status is Status.FAILED and result.output.decode() == source
    assert [(found.code, problem in found.message) for found in result.diagnostics] == [("SRC016", True)]
    assert converter(verify=False).convert(source, name).file.status is Status.CONVERTED
