"""``paddletorch try`` imports the modules of a converted tree without the source framework."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from .conftest import Run, Tree

pytestmark = pytest.mark.usefixtures("forked_children")

NET = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)

    def forward(self, x):
        return torch.relu(self.linear(x))
"""
LEFT = """import torch

SIZE = 3
GRAPH = torch.no_such_thing(SIZE)
"""


def modules(run: Run, *arguments: str, code: int = 1, **environment: str) -> dict[str, Any]:
    """What became of each module, by its name."""
    made = run("try", "--format", "json", *arguments, **environment)
    assert made.returncode == code, made.stderr + made.stdout
    report = json.loads(made.stdout)
    assert report["summary"]["exit_code"] == code
    assert report["summary"]["modules"] == len(report["modules"])
    return {one["module"]: one for one in report["modules"]}


@pytest.mark.parametrize("target", ["paddle", "torch"])
def test_a_copy_that_imports(target: str, tree: Tree, paddletorch: Run) -> None:
    net = (
        NET if target == "paddle" else NET.replace("torch", "paddle").replace("Module", "Layer").replace("relu", "abs")
    )
    tree({"src/pkg/__init__.py": "from .net import Net\n", "src/pkg/net.py": net, "src/train.py": "import pkg\n"})
    made = paddletorch("convert", "--to", target, "--output", "out", "--try", "src")
    source = {"paddle": "torch", "torch": "paddle"}[target]
    assert made.returncode == 0, made.stdout
    assert made.stdout.decode().endswith(f"3 modules: 3 import without {source}\n")
    assert set(modules(paddletorch, "--to", target, "out", code=0)) == {"pkg", "pkg.net", "train"}
    assert not list(Path("out").rglob("__pycache__"))


def test_what_was_left_is_named_with_its_line_on_both_sides(tree: Tree, paddletorch: Run) -> None:
    tree(
        {
            "src/pkg/__init__.py": "",
            "src/pkg/left.py": f"import os\n{LEFT}",
            "src/pkg/user.py": "from pkg import left\n",
        }
    )
    made = paddletorch("convert", "--to", "paddle", "--output", "out", "--try", "-q", "src")
    text = made.stdout.decode().partition("\n\n")[2]
    assert made.returncode == 1
    assert text.splitlines() == [
        "out/pkg/left.py:2: ModuleNotFoundError: No module named 'torch'",
        "    import torch",
        "    from src/pkg/left.py:2: import torch",
        "    it still imports torch for what was left",
        "    src/pkg/left.py:5:9: API225 torch.no_such_thing is in no table: it stays as it is",
        "    stops pkg.left, pkg.user",
        "3 modules: 1 imports without torch",
        "2 do not, because of one place",
    ]


def test_the_source_may_be_named_later(tree: Tree, paddletorch: Run) -> None:
    tree({"src/left.py": LEFT})
    paddletorch("convert", "--to", "paddle", "--output", "out", "src")
    edited = "# a line of one's own\n\n" + Path("out/left.py").read_text()
    Path("out/left.py").write_text(edited)
    with_source = modules(paddletorch, "--to", "paddle", "--source", "src", "out")["left"]
    assert with_source["place"] == {"path": "out/left.py", "line": 3, "text": "import torch"}
    assert with_source["source"] == {"path": "src/left.py", "line": 1, "text": "import torch"}
    assert [(one["path"], one["line"], one["code"]) for one in with_source["diagnostics"]] == [
        ("src/left.py", 4, "API225")
    ]
    alone = modules(paddletorch, "--to", "paddle", "out")["left"]
    assert alone["source"] is None
    assert [(one["path"], one["line"], one["code"]) for one in alone["diagnostics"]] == [("out/left.py", 6, "API225")]


def test_a_tree_that_is_not_converted(tree: Tree, paddletorch: Run) -> None:
    tree({"net.py": NET})
    assert modules(paddletorch, "--to", "paddle")["net"]["note"] == (
        "the file is not converted: paddletorch convert --to paddle changes 4 uses in it"
    )


def test_a_package_that_needs_the_source(tree: Tree, tmp_path: Path, paddletorch: Run) -> None:
    tree({"user.py": "import helper.inner\n"})
    (tmp_path / "lib" / "helper").mkdir(parents=True)
    (tmp_path / "lib" / "helper" / "__init__.py").write_text("")
    (tmp_path / "lib" / "helper" / "inner.py").write_text("import torch\n")
    link = tmp_path / "work" / ".venv"  # no folder that is looked at
    link.symlink_to(tmp_path / "lib")
    tree({"user.py": f"import sys\nsys.path.append({str(tmp_path / 'lib')!r})\nimport helper.inner\n"})
    found = modules(paddletorch, "--to", "paddle")["user"]
    assert found["place"]["line"] == 3
    assert found["note"] == "helper is not part of this tree and needs torch: use a package for paddle instead"


def test_what_is_released_with_the_source_is_not_blamed_on_other_findings(tree: Tree, paddletorch: Run) -> None:
    sound = "from torchaudio.transforms import Spectrogram\n\n\ndef turned(k):\n    return k.transpose(-1, -2)\n"
    tree({"src/sound.py": f"import torch\n{sound}\nx = torch.zeros(2)\n"})
    paddletorch("convert", "--to", "paddle", "--output", "out", "src")
    found = modules(paddletorch, "--to", "paddle", "--source", "src", "out")["sound"]
    assert found["place"]["text"] == "from torchaudio.transforms import Spectrogram"
    assert found["note"].startswith("it still imports torchaudio for what was left")
    assert [diagnostic["code"] for diagnostic in found["diagnostics"]] == ["API244"]


def test_a_package_that_is_not_installed(tree: Tree, paddletorch: Run) -> None:
    tree(
        {
            "a.py": "import no_such_package.inner\n",
            "b.py": "\nfrom no_such_package import x\n",
            "c.py": "import a.b\n",
            "d.py": "import pytorch_warmup\n",
        }
    )
    found = modules(paddletorch, "--to", "paddle")
    assert [found[name]["missing"] for name in "abc"] == ["no_such_package", "no_such_package", "no_such_package"]
    text = paddletorch("try", "--to", "paddle").stdout.decode()
    assert "no_such_package is not installed here: install it, and try again" in text
    assert "stops a, b, c" in text
    assert "pytorch_warmup is built on torch: what uses it has to go first" in text


def test_the_source_framework_looks_as_if_it_were_not_installed(tree: Tree, process: Run) -> None:
    tree(
        {
            "asks.py": "import importlib.metadata, importlib.util\n"
            "assert importlib.util.find_spec('torch') is None\n"
            "assert importlib.util.find_spec('paddle') is not None\n"
            "assert 'torch' not in [one.metadata['Name'] for one in importlib.metadata.distributions()]\n",
            "tries.py": "try:\n    import torch\nexcept ImportError:\n    torch = None\n",
        }
    )
    assert {one["outcome"] for one in modules(process, "--to", "paddle", code=0).values()} == {"imports"}


def test_modules_of_a_package_that_fails_are_looked_at_all_the_same(tree: Tree, paddletorch: Run) -> None:
    tree(
        {
            "pkg/__init__.py": "from pkg.first import ONE\n",
            "pkg/first.py": "ONE = 1 / 0\n",
            "pkg/needs.py": "from pkg import ONE\n",
            "pkg/second.py": "TWO = [][2]\n",
            "pkg/sound.py": "THREE = 3\n",
            "user.py": "import pkg\n",
        }
    )
    found = modules(paddletorch, "--to", "paddle")
    assert {name: (one["outcome"], one["error"]) for name, one in found.items()} == {
        "pkg": ("fails", "ZeroDivisionError"),
        "pkg.first": ("fails", "ZeroDivisionError"),
        "pkg.needs": ("package", ""),
        "pkg.second": ("fails", "IndexError"),
        "pkg.sound": ("package", ""),
        "user": ("fails", "ZeroDivisionError"),
    }
    assert {found[name]["place"]["path"] for name in ("pkg", "pkg.first", "user")} == {"pkg/first.py"}
    assert found["pkg.sound"]["package"] == "pkg"


def test_a_failure_that_an_earlier_module_is_to_blame_for_does_not_count(tree: Tree, paddletorch: Run) -> None:
    tree(
        {
            "a.py": "import os\nos.environ['A_WAS_HERE'] = '1'\n",
            "b.py": "import os\nassert 'A_WAS_HERE' not in os.environ\n",
        }
    )
    modules(paddletorch, "--to", "paddle", code=0)


def test_modules_that_end_their_process_hang_or_want_the_network(tree: Tree, paddletorch: Run) -> None:
    tree(
        {
            "crashes.py": "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n",
            "ends.py": "import os\nos._exit(0)\n",
            "exits.py": "import sys\nsys.exit()\n",
            "exits_with.py": "import sys\nsys.exit('usage: …')\n",
            "hangs.py": "import time\ntime.sleep(60)\n",
            "loads.py": "import urllib.request\nurllib.request.urlopen('http://example.org', timeout=5)\n",
            "printing.py": "print('{\"path\": 3}')\n",
            "reads.py": "input()\n",
            "talks.py": "import socket\na, b = socket.socketpair()\na.send(b'x')\n",
            "wrong.py": "x = (\n",
        }
    )
    found = modules(paddletorch, "--to", "paddle", "--seconds", "4")
    outcomes = {name: (one["outcome"], one["error"]) for name, one in found.items()}
    assert outcomes == {
        "crashes": ("ends", ""),
        "ends": ("ends", ""),
        "exits": ("imports", ""),
        "exits_with": ("fails", "SystemExit"),
        "hangs": ("timeout", ""),
        "loads": ("fails", "URLError"),
        "printing": ("imports", ""),
        "reads": ("fails", "EOFError"),
        "talks": ("imports", ""),
        "wrong": ("fails", "SyntaxError"),
    }
    assert found["crashes"]["message"] == "the process was ended by SIGSEGV"
    assert "no network here: example.org" in found["loads"]["message"]
    assert found["wrong"]["place"]["line"] == 1


def test_modules_that_harm_the_process_that_imports_them(tree: Tree, paddletorch: Run) -> None:
    tree(
        {
            "a_clears.py": "import sys\nsys.meta_path.clear()\n",
            "b_closes.py": "import os\nos.closerange(3, 64)\n",
            "c_forks.py": "import os, time\nif not os.fork():\n    time.sleep(60)\n",
            "d_signals.py": "import os, signal\nos.kill(0, signal.SIGTERM)\n",
            "e_threads.py": "import threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()\n",
            "f_whole.py": "import wave\n",
        }
    )
    found = modules(paddletorch, "--to", "paddle", "--seconds", "20")
    outcomes = [one["outcome"] for one in found.values()]
    assert outcomes == ["imports", "ends", "imports", "ends", "imports", "imports"]


def test_scripts_are_imported_by_their_place(tree: Tree, paddletorch: Run) -> None:
    tree(
        {
            "a/tools.py": "NAME = 'a'\n",
            "a/train.py": "import tools\nassert tools.NAME == 'a'\n",
            "b/tools.py": "NAME = 'b'\n",
            "b/train-all.py": "import tools\nassert tools.NAME == 'b'\n",
            "b/random.py": "OWN = True\n",
            "pkg/__init__.py": "",
            "pkg/__main__.py": "1 / 0\n",
            "setup.py": "1 / 0\n",
        }
    )
    found = modules(paddletorch, "--to", "paddle", code=0)
    assert set(found) == {"tools", "train", "train-all", "random", "pkg"}


def test_a_folder_that_others_import_from_is_a_package(tree: Tree, paddletorch: Run) -> None:
    tree(
        {
            "out/top/models/__init__.py": "from ..tools import TOOL\n",
            "out/top/tools.py": "TOOL = 1\n",
            "out/scripts/train.py": "import other\nfrom top.models import TOOL\nfrom top import tools\n",
            "out/scripts/other.py": "",
        }
    )
    assert set(modules(paddletorch, "--to", "paddle", "out", code=0)) == {"top.models", "top.tools", "train", "other"}


def test_a_folder_with_the_name_of_the_package_in_it_is_none(tree: Tree, paddletorch: Run) -> None:
    tree({"pkg/pkg/__init__.py": "from pkg.pkg import ONE\n", "pkg/pkg/pkg.py": "ONE = 1\n"})
    assert set(modules(paddletorch, "--to", "paddle", code=0)) == {"pkg", "pkg.pkg"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["out"], "say where the code goes"),
        (["--to", "paddle", "nowhere"], "nowhere: "),
        (["--to", "paddle", "empty"], "no module was found in empty: there is nothing to import"),
        (["--to", "paddle", "--source", "empty", "out", "empty"], "give one path"),
        (["--to", "paddle", "--source", "out/a.py", "out"], "must be two files or two folders"),
        (["--to", "paddle", "--seconds", "0", "out"], "0.0 is not in the range"),
    ],
)
def test_what_cannot_be_tried(arguments: list[str], message: str, tree: Tree, paddletorch: Run) -> None:
    tree({"out/a.py": "A = 1\n", "empty/readme.txt": ""})
    made = paddletorch("try", *arguments)
    assert made.returncode == 2
    assert message in made.stderr.decode()


def test_without_the_target_framework(tree: Tree, tmp_path: Path, process: Run) -> None:
    tree({"a.py": "A = 1\n"})
    (tmp_path / "paddle.py").write_text("raise ImportError('no paddle here')\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    made = process("try", "--to", "paddle", "a.py", PYTHONPATH=path)
    assert made.returncode == 2
    assert "paddle, which is not usable here (ImportError: no paddle here)" in made.stderr.decode()


def test_try_needs_a_copy(tree: Tree, paddletorch: Run) -> None:
    tree({"a.py": NET})
    made = paddletorch("convert", "--to", "paddle", "--try", "a.py")
    assert made.returncode == 2
    assert "it needs --output DIR" in made.stderr.decode()


def test_a_report_for_programs_keeps_stdout(tree: Tree, paddletorch: Run) -> None:
    tree({"src/left.py": LEFT})
    made = paddletorch("convert", "--to", "paddle", "--output", "out", "--try", "--format", "json", "src")
    assert json.loads(made.stdout)["summary"]["files"]["converted"] == 0
    assert "stops left" in made.stderr.decode()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_what_ends_it_leaves_no_process(tree: Tree, folder: Path, number: signal.Signals) -> None:
    tree({"hangs.py": "import os, pathlib, time\npathlib.Path('pid').write_text(str(os.getpid()))\ntime.sleep(120)\n"})
    command = [sys.executable, "-m", "paddletorch", "try", "--to", "paddle", "hangs.py"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        end = time.monotonic() + 120
        while not (folder / "pid").exists() or not (folder / "pid").read_text():
            assert time.monotonic() < end
            time.sleep(0.1)
        process.send_signal(number)
        _, message = process.communicate(timeout=60)
    if number is signal.SIGKILL:
        assert process.returncode == -number
    else:
        assert process.returncode == 128 + number
        assert b"interrupted" in message
    pid = int((folder / "pid").read_text())
    for _ in range(100):
        if not _is_there(pid):
            break
        time.sleep(0.1)
    assert not _is_there(pid)


def _is_there(pid: int) -> bool:
    """Whether a process runs; one that has ended may wait for an init that collects it."""
    with suppress(OSError):
        if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_what_fails_in_a_written_function_is_named_where_it_is_called(tree: Tree, paddletorch: Run) -> None:
    tree(
        {
            "src/use.py": "import torch.nn.functional as F\nfrom zoo import make\n\n"
            "def parts(batch):\n    return F.softmax(make()), batch.pieces.split(2)\n\n\nparts(None)\n",
            "src/zoo.py": "def make():\n    return None\n",
        }
    )
    for _ in range(2):  # the second time the result comes from the cache
        made = paddletorch("convert", "--to", "paddle", "--output", "out", "--try", "src")
        assert "    from src/use.py:5: return F.softmax(make())" in made.stdout.decode()
        shutil.rmtree("out")
    paddletorch("convert", "--to", "paddle", "--output", "out", "src")
    one = modules(paddletorch, "--to", "paddle", "--source", "src", "out")["use"]
    assert one["error"] == "AttributeError"
    assert "input.ndim" in one["place"]["text"], "it fails in the function that was written"
    assert one["source"]["line"] == 5
    assert [found["code"] for found in one["diagnostics"]] == ["API212"]


def test_findings_that_recorded_runs_settled_are_not_named(tree: Tree, paddletorch: Run) -> None:
    text = "import torch\nfrom zoo import make\n\n\n"
    text += "def size(values):\n    return torch.linalg.norm(values, 1)\n\n\nsize(make())\n"
    answer = {"ask": "rank", "at": [6, 29, 6, 35], "seen": {"1": 1}}
    files = {"use.py": {"digest": sha256(text.encode()).hexdigest(), "answers": [answer]}}
    evidence = json.dumps({"version": 1, "framework": "torch", "files": files})
    zoo = "def make():\n    return None\n"
    tree({"src/use.py": text, "src/zoo.py": zoo, "src/.paddletorch/evidence.json": evidence})
    paddletorch("convert", "--to", "paddle", "--output", "out", "src")
    one = modules(paddletorch, "--to", "paddle", "--source", "src", "out")["use"]
    assert one["source"]["line"] == 6
    assert one["diagnostics"] == []
