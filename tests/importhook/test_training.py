"""The programs with a scaler of ``fixtures/training`` run unmodified on the other framework, as converted ones do."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from paddletorch import convert
from paddletorch.model import Framework

if TYPE_CHECKING:
    from .conftest import Run

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


@pytest.mark.parametrize(("to", "written"), EACH, ids=lambda value: getattr(value, "name", value))
def test_curves_are_those_of_the_converted_file(to: Framework, written: Path, tmp_path: Path, python: Run) -> None:
    script = tmp_path / "script.py"
    shutil.copy(written, script)
    (tmp_path / "converted.py").write_bytes(convert(script.read_bytes(), to=to, shim="auto").output)
    plain = python("converted.py", *ARGUMENTS, "plain.json")
    hooked = python("-m", "paddletorch", "run", "--on", to, "script.py", *ARGUMENTS, "hooked.json")
    for done in (plain, hooked):
        assert done.returncode == 0, done.stderr
        assert done.stdout == plain.stdout
    assert script.read_bytes() == written.read_bytes()
    curves = read(tmp_path / "plain.json")
    assert all(len(values) == 8 for name, values in curves.items() if name != "test")
    assert read(tmp_path / "hooked.json") == curves


def read(path: Path) -> dict[str, Any]:
    # a loss that was made infinite may be nan, which equals nothing
    made: dict[str, Any] = json.loads(path.read_text(), parse_constant=str)
    return made
