"""``paddletorch record`` runs a program as ``python`` does, and keeps what was seen however it ends."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from paddletorch.model import Ask

if TYPE_CHECKING:
    from .conftest import Run, Seen, Write

# the framework is named, but not imported: what is asked about needs none
NAMED = "if False:\n    import torch\n"

REPORT = f'''"""A script."""
import inspect, os, sys
{NAMED}

class Net:
    """A net."""

    def forward(self, x):
        return <<type:x>>.real


def call(f, **options):
    return <<class:f>>(**<<keys:options>>)


spec = globals()["__spec__"]
print(__name__, __file__, __package__, __doc__, getattr(spec, "name", None), type(__builtins__).__name__)
print(sys.argv, sys.path[0], os.getcwd(), Net.__module__, sys.modules["__main__"].Net is Net, sorted(globals()))
print(inspect.getsource(Net), inspect.signature(Net.forward), Net.forward.__code__.co_varnames, Net.__doc__, dir(Net()))
print([Net().forward(n) for n in (1, 2, 3)], call(dict, b=1, a=2), Net.forward.__code__.co_firstlineno)
'''


@pytest.mark.parametrize("command", ["python tools/train.py a -m", "python -m tools.train a", "tools/train.py b"])
def test_a_program_sees_what_python_shows_it(command: str, python: Run, record: Run, write: Write, seen: Seen) -> None:
    write("tools/train.py", REPORT)
    words = command.split()
    plain, recorded = python(*[w for w in words if w != "python"]), record(*words)
    assert (recorded.returncode, recorded.stdout, recorded.stderr) == (0, plain.stdout, "")
    assert seen("tools/train.py", Ask.TYPE, "x") == {"builtins.int": 3}
    assert seen("tools/train.py", Ask.KEYS, "options") == {"a,b": 1}
    assert seen("tools/train.py", Ask.CLASS, "f") == {"builtins.dict": 1}


ENDINGS = ["", "sys.exit(7)", "sys.exit('why')", "1 / 0", "raise KeyboardInterrupt", "import nix"]
AT_ONCE = ["os._exit(3)", "os.kill(os.getpid(), 9)", "os.execv(sys.executable, [sys.executable, '-c', 'exit(5)'])"]


@pytest.mark.parametrize("ending", [*ENDINGS, *AT_ONCE])
def test_however_it_ends(ending: str, python: Run, record: Run, write: Write, seen: Seen) -> None:
    write("train.py", f"import os, sys\n{NAMED}\ndef f(x):\n    <<type:x>>\n    {ending or 'pass'}\n\nf('text')\n")
    plain, recorded = python("train.py"), record("train.py")
    assert recorded.returncode == plain.returncode
    assert recorded.stdout == plain.stdout
    if "Keyboard" in ending:  # which also says where paddletorch was
        assert recorded.stderr.splitlines()[-4:] == plain.stderr.splitlines()[-4:]
    else:
        assert recorded.stderr == plain.stderr
    assert seen("train.py", Ask.TYPE, "x") == {"builtins.str": 1}


def test_nothing_is_lost_before_another_program_takes_the_process_over(record: Run, write: Write, seen: Seen) -> None:
    ending = "os.execv(sys.executable, [sys.executable, '-c', 'exit(5)'])"
    write("train.py", f"import os, sys\n{NAMED}\nx, y = 1, 'a'\n<<type:x>>\n<<type:y>>\n{ending}\n")
    assert record("train.py").returncode == 5
    assert seen("train.py", Ask.TYPE, "x") == {"builtins.int": 1}
    assert seen("train.py", Ask.TYPE, "y") == {"builtins.str": 1}


def test_a_program_that_never_ends_is_stopped_by_ctrl_c(
    project: Path, environment: dict[str, str], write: Write, seen: Seen
) -> None:
    write(
        "train.py",
        f"import time\n{NAMED}\nfor x in (1, 'a', None):\n    <<type:x>>\nprint(1, flush=True)\ntime.sleep(600)\n",
    )
    words = [sys.executable, "-m", "paddletorch", "record", "train.py"]
    with subprocess.Popen(
        words, cwd=project, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == "1\n"
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
    assert process.returncode in (-signal.SIGINT, 128 + signal.SIGINT)
    assert "KeyboardInterrupt" in said
    assert "paddletorch: 1 of 1 open questions of the imported modules answered" in said
    assert seen("train.py", Ask.TYPE, "x") == {"builtins.NoneType": 1, "builtins.int": 1, "builtins.str": 1}


def test_code_that_is_made_while_it_runs_is_left_alone(record: Run, write: Write, seen: Seen) -> None:
    write(
        "train.py",
        f"{NAMED}\n"
        "made = {}\nexec('def f(x):\\n    return x.real', made)\n"
        "for x in (made['f'](1), eval('2')):\n    <<type:x>>\n    print(x)\n",
    )
    done = record("train.py")
    assert (done.stdout, done.stderr, done.returncode) == ("1\n2\n", "", 0)
    assert seen("train.py", Ask.TYPE, "x") == {"builtins.int": 2}


def test_runs_are_merged_until_the_file_changes(
    project: Path, record: Run, write: Write, seen: Seen, evidence: Any
) -> None:
    text = f"import sys\n{NAMED}\nimport other\nfor x in sys.argv[1:]:\n    <<type:x>>\n"
    write("train.py", text)
    write("other.py", f"{NAMED}\n<<type:len>>(())\n")
    record("train.py", "a", "b")
    record("train.py", "c")
    assert seen("train.py", Ask.TYPE, "x") == {"builtins.str": 3}
    assert seen("other.py", Ask.TYPE, "len") == {"builtins.builtin_function_or_method": 2}
    write("train.py", text.replace("x in", "x  in"))
    (project / "other.py").write_text("")
    record("train.py", "d")
    assert seen("train.py", Ask.TYPE, "x") == {"builtins.str": 1}
    assert list(evidence()["files"]) == ["train.py"]
    assert sorted(path.name for path in (project / ".paddletorch").iterdir()) == [".gitignore", "evidence.json", "lock"]


def test_places_that_stay_the_same_are_counted_so_far(record: Run, write: Write, seen: Seen) -> None:
    write("train.py", f"{NAMED}\nfor x in [*range(1000), 'a', *range(1000), 'b']:\n    <<type:x>>\n")
    record("train.py")
    assert seen("train.py", Ask.TYPE, "x") == {"builtins.int": 100, "builtins.str": 2}


def test_threads_and_forks_and_processes(record: Run, write: Write, seen: Seen) -> None:
    write(
        "train.py",
        f"import os, sys, threading\n{NAMED}\n"
        "def f(x):\n    return <<type:x>>\n\n"
        "f(1)\n"
        "threads = [threading.Thread(target=f, args=(b'',)) for _ in range(4)]\n"
        "[t.start() for t in threads], [t.join() for t in threads]\n"
        "child = os.fork()\nif not child:\n    f('in the child')\n    sys.exit(4)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\nf(1.5)\n",
    )
    done = record("train.py")
    assert (done.stdout, done.stderr, done.returncode) == ("4\n", "", 0)
    found = {"builtins.int": 1, "builtins.bytes": 4, "builtins.str": 1, "builtins.float": 1}
    assert seen("train.py", Ask.TYPE, "x") == found


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("command", ["pkg/train.py", "python -m pkg.train"])
def test_workers_are_recorded(method: str, command: str, record: Run, write: Write, seen: Seen) -> None:
    write("pkg/__init__.py", "")
    write(
        "pkg/train.py",
        f"import multiprocessing, sys\n{NAMED}\n"
        "class Own:\n    pass\n\n"
        "def f(x):\n    return <<type:x>>\n\n"
        "if __name__ == '__main__':\n    f(1)\n"
        f"    with multiprocessing.get_context({method!r}).Pool(1) as pool:\n"
        "        print(pool.map(f, ['a', 'b']))\n        pool.close()\n        pool.join()\n"
        "    f(Own())\n",
    )
    done = record(*command.split())
    assert (done.returncode, done.stdout, done.stderr) == (0, "['a', 'b']\n", "")
    assert seen("pkg/train.py", Ask.TYPE, "x") == {"builtins.int": 1, "builtins.str": 2, "__main__.Own": 1}


def test_options_of_python_are_kept(record: Run, python: Run, write: Write, seen: Seen) -> None:
    write("train.py", f"import sys\n{NAMED}\n<<type:sys>>.flags\nprint(sys.flags, sys.warnoptions, __debug__)\n")
    options = ["-X", "utf8", "-W", "ignore::UserWarning", "-bu"]
    plain, recorded = python(*options, "train.py"), record("python", *options, "train.py")
    assert (recorded.stdout, recorded.stderr) == (plain.stdout, plain.stderr)
    assert seen("train.py", Ask.TYPE, "sys") == {"builtins.module": 1}


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ([], "no command"),
        (["nix.py"], "cannot open nix.py"),
        (["python", "nix.py"], "cannot open nix.py"),
        (["python", "-m", "nix"], "no module named nix"),
        (["python", "-m", "zlib"], "zlib is no source file of the project"),
        (["python"], "python without a file or a module"),
        (["python", "-"], "python without a file or a module"),
        (["python", "-c", "1"], "python -c cannot be recorded"),
        (["nix"], "no such program: nix"),
        (["ls"], "ls is no Python program"),
        (["torchrun", "--nproc-per-node", "2", "train.py"], "torchrun --no-python paddletorch record -- python"),
        (["/nix/bin/python", "train.py"], "no such program: /nix/bin/python"),
        (["neither.py"], "imports neither torch nor paddle"),
    ],
)
def test_what_cannot_be_recorded(command: list[str], message: str, project: Path, record: Run) -> None:
    (project / "neither.py").touch()
    if "neither.py" not in command:
        (project / "torch_is_meant.py").write_text("import torch\n")
    done = record(*command)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_program_beside_the_interpreter_needs_no_path(project: Path, record: Run) -> None:
    (project / "torch_is_meant.py").write_text("import torch\n")
    done = record("torchrun", "train.py", PATH=str(project))
    assert (done.returncode, "torchrun starts processes of its own" in done.stderr) == (2, True), done.stderr


def test_evidence_that_is_not_ours_is_left(project: Path, python: Run, write: Write, seen: Seen) -> None:
    write("train.py", f"{NAMED}\n<<type:len>>\n")
    file = project / ".paddletorch" / "evidence.json"
    file.parent.mkdir()
    other = '{"version": 1, "framework": "paddle", "files": {}}'
    for text, message in (("{}", "no evidence"), ("x", "damaged"), (other, "runs on paddle, not torch")):
        file.write_text(text)
        done = python("-m", "paddletorch", "record", "train.py")
        assert (done.returncode, message in done.stderr, file.read_text()) == (2, True, text)
        assert "--fresh" in done.stderr and "Traceback" not in done.stderr
    assert python("-m", "paddletorch", "record", "--fresh", "train.py").returncode == 0
    assert seen("train.py", Ask.TYPE, "len") == {"builtins.builtin_function_or_method": 1}


def test_both_frameworks_need_a_word(python: Run, write: Write, evidence: Any) -> None:
    write("train.py", "if False:\n    import torch\n    import paddle\n")
    done = python("-m", "paddletorch", "record", "train.py")
    assert done.returncode == 2 and "say where it is to go" in done.stderr
    done = python("-m", "paddletorch", "record", "--to", "torch", "train.py")
    assert done.returncode == 0 and evidence()["framework"] == "paddle"


def test_what_is_no_python_fails_as_in_python(python: Run, record: Run, write: Write, project: Path) -> None:
    write("train.py", "import torch\nx = torch.zeros(2\n")
    plain, recorded = python("train.py"), record("train.py")
    assert (recorded.returncode, recorded.stderr) == (plain.returncode, plain.stderr)


@pytest.mark.parametrize(
    ("link", "leads_to", "recorded"),
    [
        (".paddletorch", "", False),
        (".paddletorch/lock", "new", False),
        (".paddletorch/lock", "file", False),
        (".paddletorch/.gitignore", "new", True),
        (".paddletorch/evidence.json.tmp", "file", True),
        (".paddletorch/evidence.json", "evidence.json", True),
    ],
)
def test_links_that_a_repository_brings_along_say_not_where_is_written(
    link: str, leads_to: str, recorded: bool, project: Path, record: Run, write: Write, seen: Seen
) -> None:
    outside = project.parent / "outside"
    outside.mkdir()
    (outside / "file").write_text("as it was")
    (outside / "evidence.json").write_text('{"version": 1, "framework": "torch", "files": {}}')
    before = {file.name: file.read_bytes() for file in outside.iterdir()}
    (project / link).parent.mkdir(exist_ok=True)
    (project / link).symlink_to(outside / leads_to)
    write("train.py", f"{NAMED}\nx = 1\n<<type:x>>\nprint('ran')\n")
    done = record("train.py")
    assert {file.name: file.read_bytes() for file in outside.iterdir()} == before
    if recorded:
        assert (done.returncode, done.stdout, done.stderr) == (0, "ran\n", "")
        assert seen("train.py", Ask.TYPE, "x") == {"builtins.int": 1}
    else:
        assert (done.returncode, done.stdout) == (2, "")
        assert f"{Path(link).name} is a link, and nothing is written through links" in done.stderr
