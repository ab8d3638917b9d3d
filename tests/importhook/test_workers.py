"""Processes that a converted program starts run converted code too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import Run

SCRIPT = '''
import multiprocessing, sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import parts

print("imported as", __name__, __file__, __spec__ is None)

@dataclass
class Point:
    x: int

    def framework(self):
        import torch
        return torch.zeros(self.x)

def names(point, queue=None):
    """What the worker runs, and where it found it."""
    found = sorted({*Point.framework.__code__.co_names, *parts.framework.__code__.co_names})
    found = [type(point) is Point, __name__, sys.modules["__main__"].names is names, *found]
    if queue is not None:
        queue.put(found)
    return point, found

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    queue = context.SimpleQueue()
    process = context.Process(target=names, args=(Point(1), queue))
    process.start()
    print(queue.get())
    process.join()
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        print(*pool.map(names, [Point(2)]))
    with context.Pool(1) as pool:
        print(pool.map(names, [Point(3)]), process.exitcode)
'''


@pytest.fixture(params=["script.py", "-m script", "-m package.script"])
def started(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    """How the program is started; its files lie in the test's folder."""
    arguments: list[str] = request.param.split()
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    for script in ("script.py", "package/script.py"):
        (tmp_path / script).write_text(SCRIPT)
    (tmp_path / "parts.py").write_text("def framework():\n    import torch\n    return torch.ones(2)\n")
    return arguments


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_run_converted_code(method: str, started: list[str], python: Run, paddletorch_run: Run) -> None:
    plain, converted = python(*started, method), paddletorch_run(*started, method)
    assert plain.returncode == converted.returncode == 0, converted.stderr
    assert "'torch'" in plain.stdout and "paddle" not in plain.stdout
    assert converted.stdout.replace("'paddle'", "'torch'") == plain.stdout
    assert "'torch'" not in converted.stdout


def test_spawned_workers_have_the_hooks_of_install(tmp_path: Path, python: Run) -> None:
    (tmp_path / "parts.py").write_text("def framework():\n    import torch\n    return torch.ones(2)\n")
    (tmp_path / "main.py").write_text(
        "import multiprocessing\nimport paddletorch_shim\n\n"
        "def names(n):\n    import parts\n    return parts.framework.__code__.co_names\n\n"
        "if __name__ == '__main__':\n"
        "    with paddletorch_shim.install('paddle', packages=['parts']):\n"
        "        with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "            print(pool.map(names, [1]))\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "        print(pool.map(names, [1]))\n"
    )
    done = python("main.py")
    assert done.stdout.splitlines() == ["[('paddle', 'ones')]", "[('torch', 'ones')]"], done.stderr


def test_an_error_of_a_spawned_main_is_its_own(tmp_path: Path, paddletorch_run: Run) -> None:
    (tmp_path / "script.py").write_text(
        "import multiprocessing, torch\n\nif __name__ == '__mp_main__':\n\n    raise ValueError('in the worker')\n\n"
        "if __name__ == '__main__':\n"
        "    process = multiprocessing.get_context('spawn').Process(target=print)\n"
        "    process.start()\n    process.join()\n    print(process.exitcode)\n"
    )
    done = paddletorch_run("script.py")
    assert done.stdout == "1\n"
    assert f'File "{tmp_path / "script.py"}", line 5' in done.stderr
    assert done.stderr.rstrip().endswith("ValueError: in the worker")
