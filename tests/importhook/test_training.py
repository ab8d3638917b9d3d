"""The programs with a scaler of ``fixtures/training`` run unmodified on the other framework, as converted ones do."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from paddletorch import convert
from paddletorch.model import Framework

from ..cli.warm import Server

SCRIPTS = Path(__file__).parents[2] / "fixtures" / "training"


def has_scaler(script: Path) -> bool:
    settings = script.with_name(script.name.replace(".in.py", ".toml")).read_text()
    return "scaler = false" not in settings.splitlines()


EACH: list[tuple[Framework, Path]] = [
    (to, path)
    for to in ("paddle", "torch")
    for path in sorted((SCRIPTS / f"to_{to}").glob("*.in.py"))
    if has_scaler(path)  # the others run converted in tests/training; the hook adds nothing of its own for them
]
ARGUMENTS = ("--steps", "8", "--overflow", "3", "--log")


Start = Callable[..., tuple[int, str, str]]

PROGRAM = """
import runpy, sys

name, *sys.argv = {command}
sys.path.insert(0, "")
try:
    if name == "-m":
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    sys.stdout.flush()
"""
"""What ``python FILE`` or ``python -m MODULE`` does."""


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[Framework, Server]]:
    made: dict[Framework, Server] = {}
    yield made
    for server in made.values():
        server.stop()


@pytest.fixture
def start(
    servers: dict[Framework, Server], environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Start:
    """Runs a program in the test's folder in a process that is forked from one with its framework imported.

    Nothing else of that process has run, so that the program has its modules and random numbers to itself.
    """
    monkeypatch.chdir(tmp_path)

    def run(framework: Framework, *command: str) -> tuple[int, str, str]:
        if framework not in servers:
            servers[framework] = Server(framework, environment)
        paths = [tmp_path / name for name in ("stdout", "stderr")]
        text = PROGRAM.replace("{command}", repr([*command]))
        with Path(os.devnull).open() as nothing, paths[0].open("w") as out, paths[1].open("w") as errors:
            child = servers[framework].start([text], environment, [each.fileno() for each in (nothing, out, errors)])
        with child:
            child.settimeout(300)
            child.recv(4)  # its number
            code = int.from_bytes(child.recv(4), "big", signed=True)
        return code, paths[0].read_text(), paths[1].read_text()

    return run


@pytest.mark.parametrize(("to", "written"), EACH, ids=lambda value: getattr(value, "name", value))
def test_curves_are_those_of_the_converted_file(to: Framework, written: Path, tmp_path: Path, start: Start) -> None:
    script = tmp_path / "script.py"
    shutil.copy(written, script)
    (tmp_path / "converted.py").write_bytes(convert(script.read_bytes(), to=to, shim="auto").output)
    plain = start(to, "", "converted.py", *ARGUMENTS, "plain.json")
    hooked = start(to, "-m", "paddletorch", "run", "--on", to, "script.py", *ARGUMENTS, "hooked.json")
    for code, out, errors in (plain, hooked):
        assert code == 0, errors
        assert out == plain[1]
    assert script.read_bytes() == written.read_bytes()
    curves = read(tmp_path / "plain.json")
    assert all(len(values) == 8 for name, values in curves.items() if name != "test")
    assert read(tmp_path / "hooked.json") == curves


def read(path: Path) -> dict[str, Any]:
    # a loss that was made infinite may be nan, which equals nothing
    made: dict[str, Any] = json.loads(path.read_text(), parse_constant=str)
    return made
