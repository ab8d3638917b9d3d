"""Kills, full disks, closed streams and what other programs do meanwhile: real processes, nothing lost."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ..full_disk import files_up_to
from .conftest import PLAIN, Run, Tree, names_in

TO = ("convert", "--to", "paddle")
COMMAND = (sys.executable, "-m", "paddletorch", *TO)
DEADLINE = 600.0  # seconds that a test waits for what must happen


def new_of(old: str) -> str:
    """What ``PLAIN``, with whatever follows it, becomes."""
    done = subprocess.run([*COMMAND, "-"], input=old.encode(), capture_output=True, check=True)
    return done.stdout.decode()


def start(
    folder: Path, *arguments: str, before: Callable[[], None] | None = None, script: str | None = None
) -> subprocess.Popen[bytes]:
    """A run in a session of its own, so that all of it can be counted and killed; by a script that makes it wait."""

    def prepare() -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # whoever runs the tests may ignore them
            signal.signal(number, signal.SIG_DFL)
        if before is not None:
            before()

    return subprocess.Popen(
        [*(COMMAND if script is None else (sys.executable, "-c", script)), *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=prepare,
    )


def wait_until(happened: Callable[[], bool]) -> None:
    """Wait for something that must happen."""
    end = time.monotonic() + DEADLINE
    while not happened():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.002)


def is_gone(session: int) -> bool:
    """Whether no process of a session is left."""
    try:
        os.killpg(session, 0)
    except ProcessLookupError:
        return True
    return False


def temporary_in(folder: Path) -> list[Path]:
    """What a run has left that is not the user's."""
    return sorted(folder.rglob(".paddletorch-*"))


def changed_in(folder: Path) -> int:
    """How many files are converted already."""
    return sum("paddle" in file.read_text() for file in folder.glob("f*.py"))


MAIN = "sys.argv[1:] = ['convert', '--to', 'paddle', *sys.argv[1:]]\nfrom paddletorch.__main__ import main; main()\n"

HALF_WAY = f"""
import os, signal, sys, time
from paddletorch.output import write
real, done = write.write_back, []
def write_back(result):
    if len(done) == 20:
        open('../half way', 'w').close()
        while not signal.sigpending(): time.sleep(0.01)
    done.append(result)
    return real(result)
if '--stop' in sys.argv:
    sys.argv.remove('--stop')
    write.write_back = write_back
{MAIN}"""
"""With ``--stop`` the run waits, in the middle of its writing, until a signal has come."""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_stopped_in_the_middle_of_writing(tree: Tree, folder: Path, number: signal.Signals) -> None:
    tree({f"f{n}.py": PLAIN for n in range(40)})
    new = new_of(PLAIN)
    process = start(folder, "--stop", "--write", "--quiet", script=HALF_WAY)
    wait_until((folder.parent / "half way").exists)
    process.send_signal(number)
    _, stderr = process.communicate()
    changed = changed_in(folder)
    assert 20 <= changed <= 21
    assert {file.read_text() for file in folder.glob("f*.py")} == {PLAIN, new}
    if number is signal.SIGKILL:
        assert len(temporary_in(folder)) <= 1
    else:
        assert process.returncode == 128 + number
        assert f"interrupted; {changed} files were written, each of them whole".encode() in stderr
        assert not temporary_in(folder)
    again = start(folder, "--write", "--quiet")
    assert again.communicate() == (b"", b"")
    assert again.returncode == 0
    assert {file.read_text() for file in folder.glob("f*.py")} == {new}
    assert not temporary_in(folder)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_stopped_at_any_moment(tree: Tree, folder: Path, number: signal.Signals) -> None:
    """However far it is: files are whole, and their number is said."""
    tree({f"f{n}.py": PLAIN for n in range(300)})
    new = new_of(PLAIN)
    process = start(folder, "--write", "--quiet")
    wait_until(lambda: process.poll() is not None or any(new in file.read_text() for file in folder.glob("f*.py")))
    process.send_signal(number)
    _, stderr = process.communicate()
    changed = changed_in(folder)
    assert {file.read_text() for file in folder.glob("f*.py")} <= {PLAIN, new}
    assert not temporary_in(folder)
    if changed < 300:
        assert process.returncode == 128 + number
        assert f"interrupted; {changed} files were written, each of them whole".encode() in stderr


@pytest.mark.parametrize("moment", ["temporary file made", "temporary file written", "all but the rename"])
def test_killed_while_a_temporary_file_is_there(tree: Tree, folder: Path, moment: str) -> None:
    tree({"a.py": PLAIN, "b.py": PLAIN})
    step = {"temporary file made": "fdopen", "temporary file written": "fsync", "all but the rename": "access"}[moment]
    script = (
        "import os, signal, sys\n"
        "from paddletorch.output import write\n"
        f"real, calls = os.{step}, []\n"
        "def kill(*arguments, **named):\n"
        "    if os.path.exists(os.path.join('.', 'marker')): os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return real(*arguments, **named)\n"
        "made = write.make_file\n"
        "def make_file(target):\n"
        "    found = made(target)\n"
        "    open('marker', 'w').close()\n"
        "    return found\n"
        "write.make_file = make_file\n"
        f"{'write._check_unchanged' if step == 'access' else f'os.{step}'} = kill\n"
        "sys.argv[1:] = ['convert', '--to', 'paddle', '--write']\n"
        "from paddletorch.__main__ import main; main()\n"
    )
    if step == "access":
        script = script.replace("real, calls = os.access, []", "real = write._check_unchanged")
    killed = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    (folder / "marker").unlink()
    assert len(temporary_in(folder)) == 1
    assert (folder / "a.py").read_text() == PLAIN
    report = start(folder)  # a report changes nothing
    report.communicate()
    assert len(temporary_in(folder)) == 1
    again = start(folder, "--write")
    again.communicate()
    assert again.returncode == 0
    assert names_in(folder) == ["a.py", "b.py"]
    assert "paddle" in (folder / "a.py").read_text()


HELD_WORKERS = f"""
import os, sys, time
from paddletorch.batch import one_file, pool, run
real = one_file.read
def read(path, limit):
    open(f'../working-{{os.getpid()}}', 'w').close()
    while not os.path.exists('../go'): time.sleep(0.01)
    return real(path, limit)
one_file.read, run.POOL_FROM = read, 1
pool._LEAST = pool._MOST = 1
{MAIN}"""
"""Workers say that they are at work, and wait for the file ``go``."""


def working(folder: Path) -> list[int]:
    """The workers of a run of ``HELD_WORKERS``."""
    return [int(file.name.partition("-")[2]) for file in folder.parent.glob("working-*")]


def test_workers_end_with_a_killed_run(tree: Tree, folder: Path) -> None:
    tree({f"f{n}.py": PLAIN for n in range(16)})
    process = start(folder, "--jobs", "3", script=HELD_WORKERS)
    wait_until(lambda: len(working(folder)) == 3)
    process.kill()
    process.communicate()
    wait_until(lambda: is_gone(process.pid))


def test_killed_worker_costs_no_other_file(tree: Tree, folder: Path) -> None:
    tree({f"f{n}.py": PLAIN for n in range(16)})
    process = start(folder, "--jobs", "2", "--write", "--quiet", script=HELD_WORKERS)
    wait_until(lambda: len(working(folder)) == 2)
    os.kill(working(folder)[0], signal.SIGKILL)
    (folder.parent / "go").touch()
    assert process.communicate() == (b"", b"")
    assert process.returncode == 0
    assert changed_in(folder) == 16


def test_file_too_large_for_the_disk(tree: Tree, folder: Path) -> None:
    large = PLAIN + "value = 1\n" * 2000
    tree({"a.py": PLAIN, "b.py": large, "c.py": PLAIN})
    process = start(folder, "--write", before=files_up_to(8192))
    stdout, _ = process.communicate()
    assert process.returncode == 2
    assert b"b.py\n  SRC005 cannot be written: File too large; left alone" in stdout
    assert (folder / "b.py").read_text() == large
    assert "paddle" in (folder / "a.py").read_text() and "paddle" in (folder / "c.py").read_text()
    assert names_in(folder) == ["a.py", "b.py", "c.py"]


def _own_disk() -> bool:
    """Whether this user may mount a small file system of his own."""
    done = subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True, check=False)
    return done.returncode == 0


@pytest.mark.skipif(shutil.which("unshare") is None or not _own_disk(), reason="no file system can be mounted here")
@pytest.mark.parametrize("arguments", [("--write", "src"), ("src", "--output", "copy")], ids=["write", "output"])
def test_full_disk(tree: Tree, folder: Path, arguments: tuple[str, ...]) -> None:
    body = PLAIN + "value = 1\n" * 800
    tree({f"files/f{n}.py": body for n in range(20)})
    (folder / "disk").mkdir()
    script = (
        "mount -t tmpfs -o size=1m tmpfs disk && cp -r files disk/src && cd disk;"
        "dd if=/dev/zero of=fill 2> /dev/null;"
        ' "$0" "$@"; code=$?; mkdir ../after && cp -r src ../after; ls -A > ../names; exit $code'
    )
    arguments = (sys.executable, "-m", "paddletorch", *TO, *arguments)
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script, *arguments], cwd=folder, capture_output=True, check=False
    )
    assert done.returncode == 2, done.stdout + done.stderr
    assert b"No space left on device" in done.stdout + done.stderr
    new = new_of(body)
    assert {file.read_text() for file in (folder / "after/src").iterdir()} <= {body, new}
    assert sorted(names_in(folder / "after/src")) == sorted(names_in(folder / "files"))
    assert (folder / "names").read_text().split() == ["fill", "src"]


@pytest.mark.parametrize("what", ["edited", "removed", "folder", "link to other text", "pipe", "same text by a link"])
def test_changed_between_reading_and_writing(tree: Tree, folder: Path, what: str) -> None:
    tree({"a.py": PLAIN, "b.py": PLAIN, "other.txt": "other\n", "same.txt": PLAIN})
    script = (
        "import os, sys\n"
        "from paddletorch.output import write\n"
        "real = write.write_back\n"
        "def write_back(result):\n"
        "    if result.path == 'a.py':\n"
        "        os.unlink('a.py')\n"
        f"        {_DEEDS[what]}\n"
        "    return real(result)\n"
        "write.write_back = write_back\n"
        "sys.argv[1:] = ['convert', '--to', 'paddle', '--write']\n"
        "from paddletorch.__main__ import main; main()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, check=False)
    assert done.stderr == b""
    assert "paddle" in (folder / "b.py").read_text()
    assert (folder / "other.txt").read_text() == "other\n"
    assert not temporary_in(folder)
    file = folder / "a.py"
    if what == "same text by a link":  # it is the file that was converted, moved: the link stays one
        assert done.returncode == 0 and file.is_symlink() and "paddle" in (folder / "same.txt").read_text()
        return
    assert done.returncode == 2
    assert (b"a.py\n  SRC007" if what in ("edited", "link to other text") else b"a.py\n  SRC005") in done.stdout
    kept = {"edited": file.is_file(), "removed": not file.exists(), "folder": file.is_dir(), "pipe": file.is_fifo()}
    assert kept.get(what, file.is_symlink())
    assert what != "edited" or file.read_text() == "edited\n"


_DEEDS = {
    "edited": "open('a.py', 'w').write('edited\\n')",
    "removed": "pass",
    "folder": "os.mkdir('a.py')",
    "link to other text": "os.symlink('other.txt', 'a.py')",
    "pipe": "os.mkfifo('a.py')",
    "same text by a link": "os.symlink('same.txt', 'a.py')",
}


def test_other_hard_links_keep_the_old_text(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"a.py": PLAIN})
    outside = folder.parent / "outside.py"
    os.link(folder / "a.py", outside)
    assert paddletorch(*TO, "--write").returncode == 0
    assert "paddle" in (folder / "a.py").read_text()
    assert outside.read_text() == PLAIN


def test_two_runs_at_once(tree: Tree, folder: Path) -> None:
    tree({f"f{n}.py": PLAIN for n in range(300)})
    runs = [start(folder, "--write", "--format", "json") for _ in range(3)]
    outputs = [process.communicate() for process in runs]
    new = new_of(PLAIN)
    assert {file.read_text() for file in folder.glob("*.py")} == {new}
    assert not temporary_in(folder)
    converted = 0
    for process, (stdout, stderr) in zip(runs, outputs, strict=True):
        assert stderr == b""
        report = json.loads(stdout)
        failed = report["summary"]["files"]["failed"]
        assert process.returncode == (2 if failed else 0)
        assert {d["code"] for d in report["diagnostics"]} <= {"SRC005", "SRC007"}
        converted += report["summary"]["files"]["converted"]
    assert converted >= 300


def test_a_run_that_is_writing_is_not_disturbed(tree: Tree, folder: Path) -> None:
    tree({"a.py": PLAIN})
    holder = (
        "import sys; from pathlib import Path; from paddletorch.output.temporary import make_file\n"
        "descriptor, path = make_file(Path('a.py').resolve()); print('ready', flush=True); sys.stdin.read()\n"
    )
    other = subprocess.Popen([sys.executable, "-c", holder], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert other.stdout is not None and other.stdout.readline() == b"ready\n"
    process = start(folder, "--write")
    stdout, _ = process.communicate()
    assert process.returncode == 2
    assert b"a.py\n  SRC005 cannot be written: another run is writing it; left alone" in stdout
    assert (folder / "a.py").read_text() == PLAIN
    assert len(temporary_in(folder)) == 1
    other.communicate()  # it ends without cleaning up
    assert start(folder, "--write").wait() == 0
    assert names_in(folder) == ["a.py"]


def test_killed_while_copying(tree: Tree, folder: Path) -> None:
    tree({f"src/f{n}.py": PLAIN for n in range(1500)})
    process = start(folder, "src", "--output", "copy", "--quiet")
    wait_until(lambda: len([*folder.glob(".paddletorch-*/tree/*")]) > 10)
    process.kill()
    process.communicate()
    assert not (folder / "copy").exists()
    assert len(temporary_in(folder)) == 1
    again = start(folder, "src", "--output", "copy", "--quiet")
    assert again.communicate() == (b"", b"")
    assert again.returncode == 0
    assert names_in(folder) == ["copy", "src"]
    assert len(names_in(folder / "copy")) == 1500


def test_leftovers_are_not_copied(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"src/a.py": PLAIN, "src/.paddletorch-0123456789abcdef.tmp": "half a fi"})
    assert paddletorch(*TO, "src", "--output", "copy").returncode == 0
    assert names_in(folder / "copy") == ["a.py"]


@pytest.mark.parametrize("target", ["link to src", "src/../src/new", "src/."])
def test_output_into_itself_by_another_name(paddletorch: Run, tree: Tree, folder: Path, target: str) -> None:
    tree({"src/a.py": PLAIN})
    (folder / "link to src").symlink_to("src")
    result = paddletorch(*TO, "src", "--output", target)
    assert result.returncode == 2
    assert b"not empty" in result.stderr or b"lies in" in result.stderr
    assert names_in(folder / "src") == ["a.py"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(("--write",), 0), ((), 1), (("--format", "json"), 1), (("--diff",), 2), (("-",), 2)],
    ids=["write", "report", "json", "diff", "stdin"],
)
def test_closed_stdout(tree: Tree, folder: Path, arguments: tuple[str, ...], code: int) -> None:
    tree({"a.py": PLAIN})
    command = 'exec "$@" >&- < a.py'
    done = subprocess.run(
        ["sh", "-c", command, "sh", *COMMAND, *arguments], cwd=folder, capture_output=True, check=False
    )
    assert done.returncode == code, done.stderr
    assert (b"stdout is closed" in done.stderr) == (code == 2)
    assert ("paddle" in (folder / "a.py").read_text()) == (arguments == ("--write",))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="nothing here is always full")
@pytest.mark.parametrize("streams", ["> /dev/full", "> /dev/full 2>&1"])
@pytest.mark.parametrize("arguments", [("--write",), (), ("--format", "json"), ("--diff",), ("-",)], ids=" ".join)
def test_no_space_for_what_is_printed(tree: Tree, folder: Path, arguments: tuple[str, ...], streams: str) -> None:
    tree({"a.py": PLAIN})
    command = f'exec "$@" {streams} < a.py'
    done = subprocess.run(
        ["sh", "-c", command, "sh", *COMMAND, *arguments], cwd=folder, capture_output=True, check=False
    )
    assert done.returncode == 2, done.stderr
    assert done.stdout == b""
    said = b"paddletorch: what was to be printed cannot be written: No space left on device\n"
    assert done.stderr == (b"" if "2>" in streams else said)
    assert ("paddle" in (folder / "a.py").read_text()) == (arguments == ("--write",))


def test_every_stream_closed(tree: Tree, folder: Path) -> None:
    tree({f"f{n}.py": PLAIN for n in range(5)})
    command = 'exec "$@" >&- 2>&- <&-'
    done = subprocess.run(["sh", "-c", command, "sh", *COMMAND, "--write"], cwd=folder, check=False)
    assert done.returncode == 0
    assert {file.read_text() for file in folder.iterdir()} == {new_of(PLAIN)}


def test_closed_stdin(folder: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *COMMAND, "-"], cwd=folder, capture_output=True, check=False
    )
    assert done.returncode == 2
    assert b"stdin is closed" in done.stderr and b"internal error" not in done.stderr


@pytest.mark.parametrize("arguments", [(), ("--format", "json"), ("--diff",), ("--write",)])
def test_undecodable_names(tree: Tree, folder: Path, arguments: tuple[str, ...]) -> None:
    names = [b"b\xff.py", b"new\nline.py", b"esc\x1b[31m.py", "日本.py".encode()]
    for name in names:
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_text(PLAIN)
    Path(os.fsdecode(os.fsencode(folder) + b"/broken\xfe.py")).write_text(
        "import torch\nscaler = torch.amp.GradScaler("
    )
    done = subprocess.run([*COMMAND, *arguments], cwd=folder, capture_output=True, check=False)
    assert done.returncode == 2
    assert b"internal error" not in done.stderr
    if "--format" in arguments:
        found = {os.fsencode(file["path"]) for file in json.loads(done.stdout)["files"]}
        assert found == {*names, b"broken\xfe.py"}
    elif "--diff" in arguments:
        quoted = [rb'"b\377.py"', rb'"new\012line.py"', rb'"esc\033[31m.py"', "日本.py".encode()]  # as git quotes them
        assert all(b"--- " + name in done.stdout for name in quoted)
    else:
        assert b"\x1b" not in done.stdout
        assert b"broken\\udcfe.py\n  2:" in done.stdout
    assert ("--write" in arguments) == ("paddle" in (folder / "日本.py").read_text())


def test_paths_longer_than_the_system_takes(tree: Tree, folder: Path) -> None:
    tree({"a.py": PLAIN})
    here = os.open(folder, os.O_RDONLY)
    try:
        for _ in range(30):  # 30 * 201 bytes, more than the 4,096 of a path
            os.mkdir("d" * 200, dir_fd=here)
            inner = os.open("d" * 200, os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = inner
        with open("deep.py", "w", opener=lambda path, flags: os.open(path, flags, dir_fd=here)) as file:
            file.write(PLAIN)
    finally:
        os.close(here)
    done = subprocess.run([*COMMAND, "--write"], cwd=folder, capture_output=True, check=False)
    assert done.returncode == 2
    assert b"SRC003 cannot be read: File name too long" in done.stdout
    assert "paddle" in (folder / "a.py").read_text()
    subprocess.run(["rm", "-rf", "d" * 200], cwd=folder, check=True)  # shutil.rmtree of Python 3.10 cannot


def test_memory_that_runs_out_costs_one_file(tree: Tree, folder: Path) -> None:
    tree({"a.py": PLAIN, "large.py": PLAIN + "x = [" + "a, " * 3_000_000 + "]\n", "z.py": PLAIN})
    limit = 700 * 1024 * 1024
    process = start(folder, "--write", before=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    stdout, stderr = process.communicate()
    assert process.returncode == 2, stderr
    assert b"large.py\n  SRC008" in stdout
    assert "paddle" in (folder / "a.py").read_text() and "paddle" in (folder / "z.py").read_text()


@pytest.mark.parametrize("arguments", [(), ("--write",)])
def test_reader_that_goes_away(tree: Tree, folder: Path, arguments: tuple[str, ...]) -> None:
    tree({f"f{n}.py": PLAIN for n in range(400)})
    process = start(folder, *arguments)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 1  # the report did not get through
    assert changed_in(folder) == (400 if arguments else 0)
    assert not temporary_in(folder)


def test_warnings_about_the_code_are_not_ours(tree: Tree, folder: Path) -> None:
    tree({"a.py": PLAIN + "pattern = '\\d'\nprint(1is 1)\n"})
    for level in ("error", "always"):
        done = subprocess.run(
            [*COMMAND, "--quiet"],
            cwd=folder,
            capture_output=True,
            env=os.environ | {"PYTHONWARNINGS": level},
            check=False,
        )
        assert done.returncode == 1
        assert done.stderr == b""


@pytest.mark.skipif(os.name == "nt", reason="a folder in use cannot be removed there")
def test_a_current_folder_that_is_gone(folder: Path) -> None:
    gone = folder / "gone"
    gone.mkdir()
    run = (
        f"import os, runpy, sys; os.rmdir({str(gone)!r}); sys.argv = ['paddletorch', 'convert', '--to', 'paddle', '.']"
    )
    code = f"{run}; runpy.run_module('paddletorch', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], cwd=gone, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"the current folder is gone" in done.stderr
