"""Converted code is kept, and used only where it would come out the same."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import subprocess

    from .conftest import Run

NET = "from helpers import make\n\ndef framework():\n    import torch\n    return torch.zeros(2), make().get_scale()\n"
HELPERS = "import torch\n\ndef make():\n    return torch.cuda.amp.GradScaler()\n"
# says what the module names, whether it was converted anew, and what it took
MAIN = """
import sys
import paddletorch_shim

options = eval(sys.argv[1]) if sys.argv[1:] else {}
with paddletorch_shim.install("paddle", packages=["net"], **options):
    import importlib.util
    spec = importlib.util.find_spec("net")
    module = importlib.util.module_from_spec(spec)
    code = spec.loader.get_code("net")
converter = ("libcst", "paddletorch.engine.engine", "paddletorch.plan", "paddletorch.resolve")
made = [name for name in sys.modules if name.startswith(converter)]
inner = next(c for c in code.co_consts if hasattr(c, "co_names"))
print(code.co_filename, "new" if made else "kept", *inner.co_names)
"""
CONVERTED = ["paddle", "zeros", "make", "state_dict", "get"]


@pytest.fixture(autouse=True)
def _files(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(NET)
    (tmp_path / "helpers.py").write_text(HELPERS)
    (tmp_path / "main.py").write_text(MAIN)


def outcome(done: subprocess.CompletedProcess[str]) -> str:
    """Whether the module was converted ``new`` or had been ``kept``."""
    assert done.returncode == 0, done.stderr
    assert "'paddle'" in repr(done.stdout.split())
    return done.stdout.split()[1]


def entries(folder: Path) -> list[Path]:
    return sorted(folder.rglob("net.*-to-paddle*.pyc"))


def test_a_second_start_needs_no_converter(tmp_path: Path, python: Run) -> None:
    first, second = python("main.py"), python("main.py")
    assert [outcome(first), outcome(second)] == ["new", "kept"]
    assert first.stdout.replace(" new ", " kept ") == second.stdout
    assert set(CONVERTED) <= set(second.stdout.split())
    assert [path.parent for path in entries(tmp_path)] == [tmp_path / "__pycache__"]
    assert entries(tmp_path)[0].stat().st_mode == (tmp_path / "net.py").stat().st_mode


def test_a_second_run_of_a_program_needs_no_converter(tmp_path: Path, paddletorch_run: Run) -> None:
    (tmp_path / "script.py").write_text(
        "import sys, net\n"
        "converter = ('libcst', 'paddletorch.engine.engine', 'paddletorch.plan', 'paddletorch.resolve')\n"
        "print(*sorted(name for name in sys.modules if name.startswith(converter)))\n"
        "print(net.framework.__code__.co_names[0])\n"
    )
    first, second = paddletorch_run("script.py"), paddletorch_run("script.py")
    assert "paddletorch.engine.engine" in first.stdout
    assert second.stdout.splitlines() == ["", "paddle"], second.stderr


def test_a_changed_module_is_converted_again(tmp_path: Path, python: Run) -> None:
    before = (tmp_path / "net.py").stat()
    assert outcome(python("main.py")) == "new"
    (tmp_path / "net.py").write_text(NET.replace("zeros(2)", "ones(22)").replace("ones(22)", "ones(2) "))
    assert (tmp_path / "net.py").stat().st_size == before.st_size
    os.utime(tmp_path / "net.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    done = python("main.py")
    assert outcome(done) == "new"
    assert "ones" in done.stdout
    (tmp_path / "net.py").write_text(NET)
    assert outcome(python("main.py")) == "new"


def test_a_type_that_comes_from_another_file_counts(tmp_path: Path, python: Run) -> None:
    assert outcome(python("main.py")) == "new"
    (tmp_path / "helpers.py").write_text(
        "class Mine:\n    def get_scale(self): return 1\n\ndef make(): return Mine()\n"
    )
    done = python("main.py")
    assert outcome(done) == "new"
    assert "get_scale" in done.stdout
    assert outcome(python("main.py")) == "kept"


def test_a_file_that_comes_to_be_counts(tmp_path: Path, python: Run) -> None:
    (tmp_path / "helpers.py").unlink()
    assert outcome(python("main.py", "{'allow': ['API212']}")) == "new"
    assert outcome(python("main.py", "{'allow': ['API212']}")) == "kept"
    (tmp_path / "helpers.py").write_text(HELPERS)
    done = python("main.py")
    assert outcome(done) == "new"
    assert set(CONVERTED) <= set(done.stdout.split())


@pytest.mark.parametrize("options", ["{'unsafe': True}", "{'target_version': '2.6'}", "{'tables': ['own.toml']}"])
def test_options_count(options: str, tmp_path: Path, python: Run) -> None:
    (tmp_path / "own.toml").write_text("")
    assert outcome(python("main.py")) == "new"
    assert outcome(python("main.py", options)) == "new"
    assert outcome(python("main.py", options)) == "kept"


def test_a_table_of_ones_own_counts(tmp_path: Path, python: Run) -> None:
    (tmp_path / "own.toml").write_text("")
    options = "{'tables': ['own.toml']}"
    assert [outcome(python("main.py", options)) for _ in range(2)] == ["new", "kept"]
    (tmp_path / "own.toml").write_text("# another\n")
    assert outcome(python("main.py", options)) == "new"


def test_what_is_allowed_is_asked_at_each_start(tmp_path: Path, python: Run) -> None:
    (tmp_path / "net.py").write_text("def framework():\n    import torch, paddle\n    return torch.no_such_thing\n")
    blocked = python("main.py")
    assert "ConversionError" in blocked.stderr
    assert outcome(python("main.py", "{'allow': ['API']}")) == "kept"
    assert python("main.py").stderr.splitlines()[-4:] == blocked.stderr.splitlines()[-4:]


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "text"])
def test_a_damaged_entry_is_made_again(damage: str, tmp_path: Path, python: Run) -> None:
    first = python("main.py")
    (entry,) = entries(tmp_path)
    data = entry.read_bytes()
    middle = len(data) // 2
    flipped = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
    entry.write_bytes({"empty": b"", "cut": data[:-9], "flipped": flipped, "text": b"text"}[damage])
    second = python("main.py")
    assert outcome(second) == "new"
    assert second.stdout == first.stdout
    assert [outcome(python("main.py")), python("main.py").stdout] == ["kept", first.stdout.replace(" new ", " kept ")]


def test_where_it_is_kept(tmp_path: Path, python: Run) -> None:
    for _ in range(2):
        found = outcome(python("main.py", PYTHONDONTWRITEBYTECODE="1"))
    assert found == "kept"
    assert [entry.parents[2] for entry in entries(tmp_path)] == [tmp_path / "cache"]
    for _ in range(2):
        found = outcome(
            python("main.py", PYTHONPYCACHEPREFIX=str(tmp_path / "prefix"), PADDLETORCH_CACHE_DIR="/dev/null/no")
        )
    assert found == "kept"
    assert len(entries(tmp_path / "prefix")) == 1
    assert not (tmp_path / "__pycache__").exists()


def test_a_place_that_cannot_be_written_is_passed_over(tmp_path: Path, python: Run) -> None:
    (tmp_path / "__pycache__").write_text("in the way")
    assert [outcome(python("main.py")) for _ in range(2)] == ["new", "kept"]
    assert [entry.parents[2] for entry in entries(tmp_path)] == [tmp_path / "cache"]
    outcomes = [outcome(python("main.py", PADDLETORCH_CACHE_DIR=str(tmp_path / "main.py"))) for _ in range(2)]
    assert outcomes == ["new", "new"]


def test_nothing_is_kept_if_not_wanted(tmp_path: Path, python: Run) -> None:
    assert [outcome(python("main.py", PADDLETORCH_NO_CACHE="1")) for _ in range(2)] == ["new", "new"]
    assert entries(tmp_path) == []


def test_moved_code_names_its_new_place(tmp_path: Path, python: Run) -> None:
    (tmp_path / "old").mkdir()
    for name in ("net.py", "helpers.py", "main.py"):
        shutil.move(tmp_path / name, tmp_path / "old" / name)
    assert str(tmp_path / "old") in python("old/main.py").stdout
    (tmp_path / "old").rename(tmp_path / "new")
    done = python("new/main.py")
    assert done.stdout.startswith(str(tmp_path / "new" / "net.py"))


def test_entries_of_optimised_python_are_its_own(tmp_path: Path, python: Run) -> None:
    (tmp_path / "net.py").write_text(
        "def framework():\n    import torch\n    assert sum([])\n    return torch.zeros(2)\n"
    )
    plain, optimised = python("main.py"), python("-O", "main.py")
    assert "sum" in plain.stdout.split() and "sum" not in optimised.stdout.split()
    assert [outcome(python("main.py")), outcome(python("-O", "main.py"))] == ["kept", "kept"]
    assert len(entries(tmp_path)) == 2
    assert not any(stat.S_ISDIR(entry.stat().st_mode) for entry in entries(tmp_path))
