"""``paddletorch run`` runs a program as ``python`` does, but for the framework."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import Run

# the framework is named, but not imported
FRAMEWORK = """
import os, sys

def framework():
    import torch
    return torch.zeros(2)

print("framework", "paddle" in framework.__code__.co_names, "torch" in framework.__code__.co_names, file=sys.stderr)
"""

# what a program can see of how it was started
REPORT = f"""{FRAMEWORK}
from importlib.machinery import SourceFileLoader

class Net:
    pass

spec = globals()["__spec__"]
print(__name__, __file__, __package__, __doc__, getattr(spec, "name", None), isinstance(__loader__, SourceFileLoader))
print(sys.argv, sys.path[0], os.getcwd(), Net.__module__, sys.modules["__main__"].Net is Net, sorted(globals()))
"""


def test_a_script_sees_what_python_shows_it(tmp_path: Path, python: Run, paddletorch_run: Run) -> None:
    script = tmp_path / "folder" / "script.py"
    script.parent.mkdir()
    script.write_text(f'"""A script."""\n{REPORT}')
    for arguments in (["folder/script.py", "--on", "x", "--", "-m"], ["./folder/../folder/script.py"], [str(script)]):
        plain, converted = python(*arguments), paddletorch_run(*arguments)
        assert plain.stderr == "framework False True\n"
        assert converted.stderr == "framework True False\n"
        assert converted.stdout == plain.stdout


def test_a_linked_script_finds_its_neighbours(tmp_path: Path, python: Run, paddletorch_run: Run) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "script.py").write_text("import sys, neighbour\nprint(sys.path[0], __file__)\n")
    (tmp_path / "real" / "neighbour.py").write_text(FRAMEWORK)
    (tmp_path / "link.py").symlink_to("real/script.py")
    plain, converted = python("link.py"), paddletorch_run("link.py")
    assert converted.stdout == plain.stdout
    assert (plain.stderr, converted.stderr) == ("framework False True\n", "framework True False\n")


@pytest.mark.parametrize("name", ["module", "package", "package.inner", "package.inner.__main__"])
def test_a_module_sees_what_python_shows_it(name: str, tmp_path: Path, python: Run, paddletorch_run: Run) -> None:
    (tmp_path / "package" / "inner").mkdir(parents=True)
    (tmp_path / "package" / "__init__.py").write_text("import sys\nprint(sys.argv)\n")
    for file in ("module.py", "package/__main__.py", "package/inner/__main__.py"):
        (tmp_path / file).write_text(REPORT)
    plain, converted = python("-m", name, "-m", "--on"), paddletorch_run("-m", name, "-m", "--on")
    assert plain.stderr == "framework False True\n"
    assert converted.stderr == "framework True False\n"
    assert converted.stdout == plain.stdout


def test_a_folder_runs_its_main(tmp_path: Path, python: Run, paddletorch_run: Run) -> None:
    (tmp_path / "program").mkdir()
    (tmp_path / "program" / "__main__.py").write_text(REPORT)
    plain, converted = python("program", "x"), paddletorch_run("program", "x")
    assert converted.stderr == "framework True False\n"
    assert converted.stdout == plain.stdout


@pytest.mark.parametrize("ending", ["", "sys.exit()", "sys.exit(7)", "sys.exit('why')", "raise SystemExit([1])"])
def test_the_exit_code_is_the_programs(ending: str, tmp_path: Path, python: Run, paddletorch_run: Run) -> None:
    (tmp_path / "script.py").write_text(f"import sys\nprint('ran')\n{ending}\n")
    plain, converted = python("script.py"), paddletorch_run("script.py")
    assert (converted.returncode, converted.stdout, converted.stderr) == (plain.returncode, plain.stdout, plain.stderr)


@pytest.mark.parametrize("ending", ["1 / 0", "raise KeyboardInterrupt", "sys.excepthook = print\n1 / 0", "import nix"])
def test_an_exception_ends_it_as_python_does(ending: str, tmp_path: Path, python: Run, paddletorch_run: Run) -> None:
    (tmp_path / "script.py").write_text(
        f"import sys\n\ndef f():\n    {ending.replace(chr(10), chr(10) + '    ')}\nf()\n"
    )
    plain, converted = python("script.py"), paddletorch_run("script.py")
    assert converted.returncode == plain.returncode
    assert converted.stderr.splitlines()[-4:] == plain.stderr.splitlines()[-4:]
    if "Keyboard" not in ending and "hook" not in ending:
        assert converted.stderr == plain.stderr


def test_the_process_is_as_python_made_it(tmp_path: Path, python: Run, paddletorch_run: Run) -> None:
    (tmp_path / "script.py").write_text(
        "import atexit, gc, signal, sys, threading\n"
        "print(gc.get_threshold(), signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT).__name__)\n"
        "print(sys.stdout.errors, sys.stderr.errors, threading.active_count())\n"
        "atexit.register(print, 'at the end', __name__)\n"
        "threading.Timer(0.1, lambda: print('a thread ends')).start()\n"
    )
    plain, converted = python("script.py"), paddletorch_run("script.py")
    assert converted.stdout == plain.stdout


def test_a_script_may_have_a_command_line_of_its_own(tmp_path: Path, paddletorch_run: Run) -> None:
    (tmp_path / "script.py").write_text(
        "import click\n@click.command()\n@click.option('--steps', type=int)\n@click.pass_context\n"
        "def main(ctx, steps):\n    print(ctx.parent, ctx.command_path, steps)\n    raise click.ClickException('own')\n"
        "main()\n"
    )
    done = paddletorch_run("script.py", "--steps", "3")
    assert (done.returncode, done.stdout, done.stderr) == (1, "None script.py 3\n", "Error: own\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nix.py"], "nix.py: there is no such file"),
        (["."], "__main__.py: there is no such file"),
        (["-m", "nix"], "no module named nix"),
        (["-m", "nix.nax"], "no module named nix"),
        (["-m", "folder"], "no module named folder.__main__"),
        (["-m", "torch.nn"], "torch belongs to a framework"),
        (["-m", "zlib"], "zlib is no source file"),
        (["--tables", "nix.toml", "script.py"], "nix.toml"),
        (["--package", "no-name", "script.py"], "not the dotted name of a package: 'no-name'"),
        (["--allow", "API999", "script.py"], "--allow: no such code or area: API999"),
        (["--source-version", "seven", "script.py"], "seven"),
        (["torchrun", "script.py"], "torchrun --no-python paddletorch run"),
        ([], "Missing argument 'SCRIPT'"),
    ],
)
def test_what_cannot_be_run(arguments: list[str], message: str, tmp_path: Path, paddletorch_run: Run) -> None:
    (tmp_path / "script.py").write_text("import torch\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "__init__.py").touch()
    done = paddletorch_run(*arguments, PATH=str(tmp_path))  # torchrun is beside the interpreter
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_the_direction_may_come_from_settings(tmp_path: Path, python: Run) -> None:
    (tmp_path / "script.py").write_text("import torch\ndef f(): return torch.zeros(2)\nprint(*f.__code__.co_names)\n")
    done = python("-m", "paddletorch", "run", "script.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--on" in done.stderr
    (tmp_path / "paddletorch.toml").write_text('to = "paddle"\n')
    assert python("-m", "paddletorch", "run", "script.py").stdout == "paddle zeros\n"


def test_a_script_that_cannot_be_converted_says_why(tmp_path: Path, paddletorch_run: Run) -> None:
    (tmp_path / "script.py").write_text("import torch\nprint('ran')\n\nx = torch.no_such_thing\n")
    done = paddletorch_run("script.py")
    assert (done.returncode, done.stdout) == (1, "")
    assert "script.py:4:5: API225 torch.no_such_thing" in done.stderr
    assert "--allow API225" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("script", ["script.py", "broken.py"])
def test_what_is_no_python_fails_as_in_python(script: str, tmp_path: Path, python: Run, paddletorch_run: Run) -> None:
    (tmp_path / "script.py").write_text("import broken\n")
    (tmp_path / "broken.py").write_text("import torch\nx = torch.zeros(2\n")
    plain, converted = python(script), paddletorch_run(script)
    assert converted.returncode == plain.returncode == 1
    assert converted.stderr.splitlines()[-4:] == plain.stderr.splitlines()[-4:]
    assert script == "script.py" or converted.stderr == plain.stderr
