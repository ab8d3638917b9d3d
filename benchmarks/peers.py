"""What other tools that rewrite Python files do with hostile input, beside what this one does; each on real runs.

    python benchmarks/peers.py [--write-docs]       # docs/robustness.md is made of what it prints

Needs ruff, black and libcst on the search path of this Python. Every case is made anew in a temporary folder for each
tool, every process has a time limit, and only processes that were started here are ended.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click
from measure import environment

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "robustness.md"
LIMIT = 120.0
"""Seconds that a run may take."""
ROUNDS = 20
FILES = 60

TOOLS: dict[str, list[str]] = {
    "ruff check with fixes": [sys.executable, "-m", "ruff", "check", "--fix", "--quiet", "--no-cache", "."],
    "ruff format": [sys.executable, "-m", "ruff", "format", "--no-cache", "."],
    "black": [sys.executable, "-m", "black", "--quiet", "."],
    "LibCST": [
        *(sys.executable, "-m", "libcst.tool", "codemod", "rename.RenameCommand", "--hide-progress", "--no-format"),
        *("--old_name", "torch.zeros", "--new_name", "torch.ones", "."),
    ],
    "paddletorch": [sys.executable, "-m", "paddletorch", "convert", "--to", "paddle", "--write", "--no-cache", "."],
}
"""LibCST as its own command with the codemod that comes with it; paddletorch without the results that it keeps."""

PROGRAM = "import os\nimport torch\nx = torch.zeros( 3 )\n"
"""Every tool has something to change here: an import that is not used, spaces, a name."""

CODECS = (
    "big5",
    "big5hkscs",
    "cp932",
    "cp950",
    "euc_jis_2004",
    "euc_jp",
    "hz",
    "iso2022_jp",
    "johab",
    "mac_arabic",
    "mac_farsi",
    "utf_7",
)
"""Those of Python's codecs that are ASCII below 128 and for some bytes write others than they read."""


@dataclass(frozen=True)
class Run:
    """What a tool did: its exit code (None: ended after the limit), its time, the memory of its largest process."""

    code: int | None
    seconds: float
    megabytes: int
    output: str

    @property
    def in_words(self) -> str:
        """Exit code or time-out."""
        return f"exit code {self.code}" if self.code is not None else f"no end after {LIMIT:.0f} s"


def run(tool: str, folder: Path, limit: float = LIMIT) -> Run:
    """Run a tool on a folder."""
    began = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            TOOLS[tool],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        status, used = 0, None
        while time.perf_counter() - began < limit:
            pid, status, used = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            time.sleep(0.005)
        else:
            used = None
        if used is None:
            os.killpg(process.pid, signal.SIGKILL)
            _, status, used = os.wait4(process.pid, 0)
            code = None
        else:
            code = os.waitstatus_to_exitcode(status)
        process.returncode = status
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    return Run(code, time.perf_counter() - began, used.ru_maxrss // 1024, text)


@contextmanager
def folder() -> Iterator[Path]:
    """A folder that is the top of a repository, so that no tool looks further up."""
    with tempfile.TemporaryDirectory(prefix="peers-") as name:
        top = Path(name) / "project"
        top.mkdir()
        subprocess.run(["git", "init", "--quiet"], cwd=top, check=True)
        yield top


def codecs(tool: str) -> str:
    """Files in codecs that do not give back what they were given: are the bytes of a comment still the same?"""
    found: Counter[str] = Counter()
    for codec in CODECS:
        odd = odd_bytes(codec)
        assert odd is not None, codec
        with folder() as top:
            path = top / "a.py"
            comment = b"# " + odd + b"\n"
            path.write_bytes(f"# coding: {codec}\n".encode() + comment + PROGRAM.encode())
            old = path.read_bytes()
            run(tool, top)
            new = path.read_bytes()
            if new == old:
                found["left alone"] += 1
            elif comment in new:
                found["written, comment kept"] += 1
            else:
                found["written, comment changed"] += 1
    return counted(found)


def odd_bytes(codec: str) -> bytes | None:
    """Bytes that ``codec`` decodes and encodes to others."""
    known = {"utf_7": b"+AGEAYg-", "hz": b"~{~}a", "iso2022_jp": b"\x1b(B\x1b(Ba", "mac_arabic": b"a\xa0(\xa8"}
    tries = [known[codec]] if codec in known else []
    tries += [bytes((a, b)) for a in range(0x81, 0xFF) for b in range(0x40, 0xFF)]
    tries += [bytes((0x8F, a, b)) for a in range(0xA1, 0xFF) for b in range(0xA1, 0xFF)]
    for tried in tries:
        try:
            if tried.decode(codec).encode(codec) != tried:
                return tried
        except UnicodeError:
            continue
    return None


def nul(tool: str) -> str:
    """A NUL in a comment."""
    return of_bytes(tool, PROGRAM.encode() + b"# a\0b\n", b"# a\0b\n")


def lone_cr(tool: str) -> str:
    """Lines that end with a carriage return alone."""
    with folder() as top:
        path = top / "a.py"
        path.write_bytes(PROGRAM.encode().replace(b"\n", b"\r") + b"y = 'b'\r")
        old = path.read_bytes()
        done = run(tool, top)
        new = path.read_bytes()
        if new == old:
            return f"left alone, {done.in_words}"
        return "written, line ends changed" if b"\n" in new else "written, line ends kept"


def of_bytes(tool: str, old: bytes, kept: bytes) -> str:
    """What a tool does with a file of these bytes, and whether it keeps some of them."""
    with folder() as top:
        path = top / "a.py"
        path.write_bytes(old)
        done = run(tool, top)
        new = path.read_bytes()
    if new == old:
        return f"left alone, {done.in_words}"
    return "written, bytes kept" if kept in new else "written, bytes changed"


def hostile_ignore(tool: str) -> str:
    """A pattern in ``.gitignore`` that a regular expression tries in very many ways."""
    with folder() as top:
        (top / ".gitignore").write_text("*a" * 14 + "b\n")
        (top / ("a" * 60 + ".py")).write_text(PROGRAM)
        done = run(tool, top)
        written = (top / ("a" * 60 + ".py")).read_text() != PROGRAM
        return f"{'written' if written else 'not written'}, {in_time(done)}"


def file_link(tool: str) -> str:
    """A link to a file outside of the folder that was named."""
    with folder() as top:
        outside = top.parent / "outside.py"
        outside.write_text(PROGRAM)
        (top / "link.py").symlink_to(outside)
        done = run(tool, top)
        is_link = (top / "link.py").is_symlink()
        if outside.read_text() != PROGRAM:
            return "writes the file outside"
        return f"file outside left alone, {done.in_words}" if is_link else "the link became a file"


def folder_link(tool: str) -> str:
    """A link to a folder outside of the folder that was named."""
    with folder() as top:
        outside = top.parent / "outside"
        outside.mkdir()
        (outside / "a.py").write_text(PROGRAM)
        (top / "link").symlink_to(outside, target_is_directory=True)
        run(tool, top)
        return "writes the files outside" if (outside / "a.py").read_text() != PROGRAM else "files outside left alone"


def fifo(tool: str) -> str:
    """A pipe with the name of a Python file, beside a file."""
    with folder() as top:
        os.mkfifo(top / "pipe.py")
        (top / "a.py").write_text(PROGRAM)
        done = run(tool, top, 30)
        written = "the file beside it written" if (top / "a.py").read_text() != PROGRAM else "nothing written"
        return f"{written}, {done.in_words if done.code is not None else 'no end after 30 s'}"


def long_line(tool: str) -> str:
    """A line of ten million bytes: a list of numbers."""
    with folder() as top:
        path = top / "a.py"
        path.write_text(PROGRAM + "data = [" + "1234567, " * 1_111_111 + "]\n")
        size = path.stat().st_size
        done = run(tool, top)
        changed = path.stat().st_size != size
        return f"{'written' if changed else 'left alone'}, {in_time(done)}, {done.megabytes:,} MB"


def in_time(done: Run) -> str:
    """How long it took, or that it did not end."""
    return f"{done.seconds:.1f} s" if done.code is not None else f"no end after {LIMIT:.0f} s"


def killed(tool: str) -> str:
    """kill -9 at a random moment: files that are neither as before nor as after, and files that are left over."""
    text = PROGRAM + "".join(f"x{i} = torch.zeros( {i} )\n" for i in range(400))
    names = [f"a{i}.py" for i in range(FILES)]
    with folder() as top:
        for name in names:
            (top / name).write_text(text)
        done = run(tool, top, 600)
        new = (top / names[0]).read_text()
        assert new != text, (tool, done.output[-300:])
    window = write_window(tool, names, text)
    states: Counter[str] = Counter()
    chance = random.Random(1)
    for _ in range(ROUNDS):
        with folder() as top:
            for name in names:
                (top / name).write_text(text)
            old = written_at(top, names)
            process = started(tool, top)
            while process.poll() is None and written_at(top, names) == old:
                time.sleep(0.0005)
            time.sleep(chance.uniform(0, window))
            ended = process.poll() is not None
            if not ended:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            found = [(top / name).read_text() for name in names]
            states["rounds"] += 1
            states["hit while writing"] += not ended and any(f != text for f in found) and any(f == text for f in found)
            states["broken"] += sum(f not in (text, new) for f in found)
            states["left over"] += len([p for p in top.iterdir() if p.name not in (*names, ".git")])
    return (
        f"{states['broken']} files broken, {states['left over']} left over "
        f"({states['hit while writing']} of {states['rounds']} kills came between the first and the last file)"
    )


def write_window(tool: str, names: list[str], text: str) -> float:
    """Seconds from the first file that a run writes to the last one."""
    with folder() as top:
        for name in names:
            (top / name).write_text(text)
        old = written_at(top, names)
        process = started(tool, top)
        first = last = None
        while process.poll() is None:
            if (now := written_at(top, names)) != old:
                last = time.perf_counter()
                first = first if first is not None else last
                old = now
            time.sleep(0.0005)
        return last - first if first is not None and last is not None else 0.0


def written_at(top: Path, names: list[str]) -> list[int]:
    """When each file was written last."""
    return [(top / name).stat().st_mtime_ns for name in names]


def started(tool: str, top: Path) -> subprocess.Popen[bytes]:
    """A run of the tool on a folder, whose output nobody reads."""
    return subprocess.Popen(
        TOOLS[tool], cwd=top, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )


def corpus(top: Path) -> list[Path]:
    """Copies of the project's fixtures for one direction: programs with all that the tables know."""
    sources = sorted((ROOT / "fixtures" / "to_paddle").glob("*.in.py"))
    for source in sources:
        shutil.copy(source, top / source.name.replace(".in.py", "_in.py"))
    return sorted(top.glob("*.py"))


def second_run(tool: str) -> str:
    """Files that a second run changes, of those that the first run changed."""
    with folder() as top:
        files = corpus(top)
        states = []
        for _ in range(3):
            states.append({f: f.read_bytes() for f in files})
            run(tool, top, 600)
        first = [f for f in files if states[0][f] != states[1][f]]
        second = [f for f in files if states[1][f] != states[2][f]]
        return f"{len(second)} of {len(first)} files" + (
            f" ({', '.join(f.stem for f in second[:5])})" if second else ""
        )


LATE = {
    "late": "import torch\nx = torch.zeros(3)\nimport torch\nprint(x)\n",
    "guarded": "import torch\nx = torch.zeros(3)\ntry:\n    import torch\nexcept ImportError:\n    pass\nprint(x)\n",
    "checked": "import torch, typing\nif typing.TYPE_CHECKING:\n    import torch\nx = torch.zeros(3)\n",
    "main": "import torch\nx = torch.zeros(3)\nif __name__ == '__main__':\n    import torch\n    print(x)\n",
    "other": "import torch\nx = torch.zeros(3)\nimport paddle\nprint(x, paddle)\n",
    "tried": "try:\n    import torch\nexcept ImportError:\n    pass\nx = torch.zeros(3)\n",
}
"""Programs that import a framework twice, late or under a guard, and the other one as well."""


def unbound(tool: str) -> str:
    """Files whose output has a name that pyflakes does not find bound, and found before."""
    from pyflakes.api import check

    class Names:
        def __init__(self) -> None:
            self.found: set[str] = set()

        def unexpectedError(self, filename: str, message: str) -> None: ...
        def syntaxError(self, filename: str, *rest: object) -> None: ...
        def flake(self, message: object) -> None:
            if type(message).__name__ in ("UndefinedName", "UndefinedLocal", "UndefinedExport"):
                self.found.add(str(message.message_args[0]))  # type: ignore[attr-defined]

    def undefined(file: Path) -> set[str]:
        names = Names()
        check(file.read_text(encoding="utf-8", errors="replace"), file.name, names)
        return names.found

    with folder() as top:
        corpus(top)
        for name, text in LATE.items():
            (top / f"{name}_late.py").write_text(text)
        files = [f for f in sorted(top.glob("*.py")) if b"import torch" in f.read_bytes()]
        old = {f: (f.read_bytes(), undefined(f)) for f in files}
        run(tool, top, 600)
        changed = [f for f in files if f.read_bytes() != old[f][0]]
        bad = [f for f in changed if undefined(f) - old[f][1]]
        return of(bad, changed)


CASES: dict[str, tuple[str, Callable[[str], str]]] = {
    "codecs": (f"{len(CODECS)} codecs that do not round-trip: bytes of a comment", codecs),
    "nul": ("NUL in a comment", nul),
    "cr": ("lines that end with a carriage return", lone_cr),
    "ignore": ("`.gitignore` with `*a*a*a…b`, a file named `aaa…`", hostile_ignore),
    "file-link": ("link to a file outside", file_link),
    "folder-link": ("link to a folder outside", folder_link),
    "fifo": ("pipe named `pipe.py`", fifo),
    "long": ("a line of 10 MB", long_line),
    "kill": (f"kill -9 while {FILES} files are written", killed),
    "second": ("files that a second run changes", second_run),
    "unbound": ("files with a name that is unbound afterwards", unbound),
}

PAGE_TEXT = """# Hostile input: other tools

What tools that rewrite Python files do with input that they were not made for, beside what `paddletorch convert`
does. It is what real runs did, not what documentation says: `{command}` made this page. [Input of
others](hostile-input.md) says what this tool bounds, and with which options.

{environment}

| | {tools} |
|---|{rule}
{rows}

How it was run:

- `ruff check with fixes` and `ruff format` without their cache, `black --quiet`, and LibCST as its own command with
  the codemod that comes with it (`libcst.tool codemod rename.RenameCommand`, without formatting, `torch.zeros` to
  `torch.ones`).
  All without settings, in a new repository, at most {limit:.0f} s each ({fifo} s for the pipe). Memory is that of the
  largest process. The machine had other work, so times only tell seconds from minutes.
- Every file gives every tool something to change: an import that nothing uses, spaces, a name.
- Codecs: {codecs}. Each file has a comment with bytes that Python's codec reads and would write as others. ruff takes
  every file for UTF-8.
- kill -9: {rounds} runs for each tool, each ended at a random moment between its first written file and its last.
  Broken is a file that is neither what it was nor what a whole run makes of it; left over is a file that was not there.
  What a killed run of paddletorch leaves is one temporary file, which its next run knows by its name.
  A first series, of 200 files with 1,500 lines each, ended early for want of time: ruff check with fixes 0 files
  broken, ruff format 1, in 20 runs each; the others were not reached.
- Second run and unbound names: the {corpus} programs of `fixtures/to_paddle`, and for the names {late} more that
  import a framework twice, late or under a guard; only files that the tool changed count, and for the names only those
  that import torch. A formatter moves no import, so it can leave no name unbound; its zero says little.
"""


@click.command()
@click.option("--only", multiple=True, type=click.Choice(list(CASES)), help="This case; may be repeated.")
@click.option("--tool", "tools", multiple=True, type=click.Choice(list(TOOLS)), help="This tool; may be repeated.")
@click.option("--keep", type=click.Path(dir_okay=False, path_type=Path), help="A file of results: what is in it stays.")
@click.option("--write-docs", is_flag=True, help="Write docs/robustness.md.")
def main(only: tuple[str, ...], tools: tuple[str, ...], keep: Path | None, write_docs: bool) -> None:
    """Run every case with every tool and print the table."""
    known: dict[str, str] = json.loads(keep.read_text()) if keep is not None and keep.exists() else {}
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    chosen = tools or tuple(TOOLS)
    rows = []
    for name in only or CASES:
        title, case = CASES[name]
        cells = []
        for tool in chosen:
            key = f"{name}, {tool}"
            if key not in known:
                known[key] = case(tool)
                if keep is not None:
                    keep.write_text(json.dumps(known, indent=1))
            cells.append(known[key])
            click.echo(f"{key}: {cells[-1]}")
        rows.append(f"| {title} | " + " | ".join(cells) + " |")
    text = PAGE_TEXT.format(
        command="python benchmarks/peers.py --write-docs",
        environment=environment("ruff", "black", "libcst", "pyflakes"),
        tools=" | ".join(chosen),
        rule="---|" * len(chosen),
        rows="\n".join(rows),
        limit=LIMIT,
        fifo=30,
        codecs=", ".join(CODECS),
        rounds=ROUNDS,
        corpus=len(list((ROOT / "fixtures" / "to_paddle").glob("*.in.py"))),
        late=len(LATE),
    )
    click.echo(text)
    if write_docs:
        PAGE.write_text(text, encoding="utf-8")


def of(some: list[Path], every: list[Path]) -> str:
    """How many of how many, and the first ones by name."""
    named = f" ({', '.join(f.stem for f in some[:5])})" if some else ""
    return f"{len(some)} of {len(every)} files{named}"


def counted(found: Counter[str]) -> str:
    """``3 written, 2 left alone``."""
    return ", ".join(f"{number} {what}" for what, number in sorted(found.items()))


if __name__ == "__main__":
    main()
