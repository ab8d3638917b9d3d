"""What the benchmarks share: a command's CPU time, the machine and versions, a section of the results file."""

from __future__ import annotations

import os
import platform
import re
import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

PADDLETORCH = (sys.executable, "-m", "paddletorch")
RESULTS = Path(__file__).with_name("RESULTS.md")


@dataclass(frozen=True, slots=True)
class Measured:
    """One finished process: user + system CPU seconds of it and its children, wall seconds, its stdout."""

    cpu: float
    wall: float
    output: bytes


def run(command: Sequence[str], *, env: Mapping[str, str] | None = None, good: Sequence[int] = (0, 1)) -> Measured:
    """Run ``command`` in a fresh process.

    Raises:
        RuntimeError: its exit code is not one of ``good`` (a finding is exit code 1 for every tool here).
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    process = subprocess.run(command, capture_output=True, env={**os.environ, **(env or {})}, check=False)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode not in good:
        raise RuntimeError(f"{' '.join(command)}: exit code {process.returncode}\n{process.stderr.decode()[-2000:]}")
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return Measured(cpu, wall, process.stdout)


def python_files(tree: Path) -> list[Path]:
    """The tree's Python files in a fixed order."""
    return sorted(p for suffix in ("*.py", "*.pyi") for p in tree.rglob(suffix) if p.is_file() and not p.is_symlink())


def lines(files: Sequence[Path]) -> int:
    """Line ends in ``files``."""
    return sum(file.read_bytes().count(b"\n") for file in files)


def environment(*distributions: str) -> str:
    """One line: the Python, the versions of ``distributions``, the machine and the code measured."""
    here = Path(__file__).parent
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=here, capture_output=True, text=True).stdout
    versions = ", ".join(f"{name} {version(name)}" for name in distributions)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return (
        f"Python {platform.python_version()}, {versions}; {_processor()}, {cores} cores, "
        f"{platform.system()} {platform.release()}; paddletorch at {commit.strip() or version('paddletorch')}."
    )


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*: (.+)", cpuinfo.read_text()) if cpuinfo.exists() else None
    return found.group(1) if found else platform.processor() or platform.machine()


def write_section(name: str, text: str, path: Path = RESULTS) -> None:
    """Replace (or append) the part of the results file between the markers of ``name``."""
    opening, closing = f"<!-- {name} -->", f"<!-- end of {name} -->"
    section = f"{opening}\n{text.strip()}\n{closing}\n"
    old = path.read_text(encoding="utf-8") if path.exists() else "# Results\n"
    pattern = re.compile(re.escape(opening) + ".*?" + re.escape(closing) + "\n", re.DOTALL)
    new = pattern.sub(lambda _: section, old) if pattern.search(old) else f"{old.rstrip()}\n\n{section}"
    path.write_text(new, encoding="utf-8")
