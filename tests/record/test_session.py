"""``paddletorch_shim.record`` from Python: begins and ends, in the same process and in those that it spawns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from paddletorch.model import Ask

if TYPE_CHECKING:
    from .conftest import Run, Seen, Write

MODULE = "if False:\n    import torch\n\ndef f(x):\n    return <<type:x>>\n"


def test_it_ends_with_the_block(project: Path, python: Run, write: Write, seen: Seen) -> None:
    write("net.py", MODULE)
    (project / "main.py").write_text(
        "import sys\nimport paddletorch_shim\n\n"
        "with paddletorch_shim.record(to='paddle') as recording:\n"
        "    import net\n    net.f(1)\n"
        "    print(recording.asked, recording.answered, recording.file)\n"
        "net.f('after')\n"
        "print(sorted(name for name in dir(net) if 'paddle' in name), net.__loader__.path == net.__file__)\n"
        "with paddletorch_shim.record(to='paddle', root='.'):\n"
        "    del sys.modules['net']\n    import net\n    net.f(b'')\n"
        "print([type(finder).__name__ for finder in sys.meta_path if type(finder).__name__ == 'ImportHook'])\n"
        "print(sorted({'torch', 'paddle', 'libcst', 'paddletorch.engine.engine'} & set(sys.modules)))\n"
    )
    done = python("main.py")
    assert done.stderr == ""
    file = project / ".paddletorch" / "evidence.json"
    assert done.stdout.splitlines() == [f"1 1 {file}", "[] True", "[]", "[]"]  # the questions were kept: no engine
    assert seen("net.py", Ask.TYPE, "x") == {"builtins.bytes": 1, "builtins.int": 1}


def test_spawned_workers_are_recorded(project: Path, python: Run, write: Write, seen: Seen) -> None:
    write("net.py", MODULE)
    (project / "main.py").write_text(
        "import multiprocessing\nimport paddletorch_shim\n\n"
        "def call(x):\n    import net\n    return net.f(x)\n\n"
        "if __name__ == '__main__':\n"
        "    with paddletorch_shim.record('paddle'):\n"
        "        with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "            print(pool.map(call, [1, 'a']))\n            pool.close()\n            pool.join()\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "        print(pool.map(call, [b'']))\n"
    )
    done = python("main.py")
    assert done.stdout == "[1, 'a']\n[b'']\n", done.stderr
    assert seen("net.py", Ask.TYPE, "x") == {"builtins.int": 1, "builtins.str": 1}


def test_what_it_is_given_is_checked(project: Path, python: Run, evidence: Any) -> None:
    (project / "main.py").write_text(
        "import paddletorch_shim\n\n"
        "for to in ('jax', None):\n"
        "    try:\n        paddletorch_shim.record(to=to)\n"
        "    except ValueError as error:\n        print(error)\n"
        "(lambda: paddletorch_shim.record('torch').stop())()\n"
        "try:\n    paddletorch_shim.record('paddle')\n"
        "except ValueError as error:\n    print(error)\n"
        "print(paddletorch_shim.record('paddle', fresh=True).asked)\n"
    )
    done = python("main.py")
    lines = done.stdout.splitlines()
    assert lines[0] == "to must be one of 'torch', 'paddle', not 'jax'", done.stderr
    assert "imports neither torch nor paddle" in lines[1]
    assert "it is about runs on paddle, not torch" in lines[2] and "fresh=True" in lines[2]
    assert lines[3] == "0"
    assert evidence()["framework"] == "torch"


def test_a_framework_that_is_not_installed_is_missed(project: Path, python: Run) -> None:
    (project / "main.py").write_text(
        "import importlib.util, paddletorch_shim\n"
        "plain = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *a: None if name == 'torch' else plain(name, *a)\n"
        "try:\n    paddletorch_shim.record('paddle')\n"
        "except ImportError as error:\n    print(error.name, error)\n"
    )
    assert python("main.py").stdout == (
        "torch torch is not installed here, and the program is to run on it: pip install 'paddletorch[torch]'\n"
    )


def test_tables_from_elsewhere_are_left_out_with_a_warning(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from paddletorch_shim.recording.project import options_for

    monkeypatch.chdir(project)
    (project / "pyproject.toml").write_text(
        '[tool.paddletorch]\nto = "paddle"\ntables = ["../outside.toml"]\nmax-file-size = 0\n'
    )
    with pytest.warns(UserWarning, match="tables: left out") as seen:
        options = options_for(project, None)
    assert options.tables == () and len(seen) == 1
