"""Cases, the trees that they come from, and the servers that run them, with what is kept between runs."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import paddletorch
import paddletorch_rules
import paddletorch_shim
from other_converter import OtherConverter
from paddletorch.evidence.load import load
from paddletorch.model import Evidence
from program_convert import convert_files, converter_digest, digest_of
from program_trees import distribution_folder, top_levels

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


HERE = Path(__file__).parent
CASES = HERE / "program_cases"
LIMIT = {"source": 40, "target": 40}
"""Seconds of CPU time; five times as much on the clock."""
TORCHVISION = "torchvision==0.28.0"
"""For originals that import it, and for programs that became torch's; its compiled operators are not needed."""
CHILD_FILES = ("program_child.py", "program_stages.py", "program_trees.py", "program_vision.py")


@dataclass(frozen=True, slots=True)
class Package:
    """A package of the index and how its sources are reached.

    Args:
        requirement: NAME==VERSION; empty: the cases need none.
        to: the framework that it is converted to.
        beside: other requirements whose sources are converted along.
    """

    name: str
    requirement: str
    to: str
    beside: tuple[str, ...] = ()

    @property
    def origin(self) -> str:
        return "torch" if self.to == "paddle" else "paddle"


@dataclass(frozen=True, slots=True)
class Case:
    """A module or program: what makes it, what it is called with."""

    package: Package
    name: str
    code: str
    inputs: tuple[str, ...]
    keywords: Mapping[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return f"{self.package.name}/{self.name}"


def packages() -> list[Package]:
    """All packages, in order of name."""
    made = []
    for path in sorted(CASES.glob("*.toml")):
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        made.append(Package(path.stem, data["requirement"], data["to"], tuple(data.get("beside", ()))))
    return made


def cases_of(package: Package) -> list[Case]:
    """The cases of a package's file."""
    data = tomllib.loads((CASES / f"{package.name}.toml").read_text(encoding="utf-8"))
    return [
        Case(package, one["name"], _code(package, one), tuple(one["inputs"]), one.get("keywords", {}))
        for one in data.get("case", ())
    ]


def _code(package: Package, case: Mapping[str, Any]) -> str:
    if "code" in case:
        return str(case["code"])
    make = case["make"]
    lines = [f"from {case['module']} import {make.partition('(')[0]}"]
    if re.search(r"\bnn\.", make):
        lines.insert(0, "import torch.nn as nn" if package.origin == "torch" else "import paddle.nn as nn")
    lines += case.get("imports", [])
    return "\n".join(lines) + f"\n\n\ndef build():\n    return {make}\n"


def install_dependencies(cache: Path, listed: Path, torchvision: str) -> None:
    """Put what packages need besides a framework into ``deps`` of the cache, and torchvision into a folder of its own.

    Raises:
        RuntimeError: the package index does not have it.
    """
    wanted = [line for line in listed.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    for folder, requirements in ((cache / "deps", wanted), (cache / "torchvision", [torchvision])):
        if folder.exists():
            continue
        part = folder.with_name(f"{folder.name}.{os.getpid()}")
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(part), *requirements]
        done = subprocess.run(pip, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{folder.name} cannot be installed: {done.stderr[-1000:]}")
        part.rename(folder)


class Server:
    """A process with one framework that answers jobs one after the other."""

    def __init__(self, side: str, folders: Sequence[Path]) -> None:
        self._command = [sys.executable, str(HERE / "program_child.py"), side, *map(str, folders)]
        self._process: subprocess.Popen[str] | None = None

    def ask(self, job: Mapping[str, Any]) -> dict[str, Any]:
        """The reply to a job; a server that is gone is started again."""
        if self._process is None or self._process.poll() is not None:
            paths = [str(Path(one.__path__[0]).parent) for one in (paddletorch, paddletorch_shim, paddletorch_rules)]
            env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join([*paths, str(HERE)])}
            env |= {"FLAGS_use_mkldnn": "0", "GLOG_minloglevel": "3", "CUDA_VISIBLE_DEVICES": "", "PYTHONHASHSEED": "0"}
            env |= {"HF_HUB_OFFLINE": "1"}
            quiet = None if os.environ.get("PROGRAMS_DEBUG") else subprocess.DEVNULL
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=quiet, text=True, env=env
            )
        assert self._process.stdin and self._process.stdout
        try:
            self._process.stdin.write(json.dumps(job) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            return {"ended": "died", "message": "the server died"}
        reply: dict[str, Any] = json.loads(line)
        return reply

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            assert self._process.stdin
            self._process.stdin.close()
            self._process.wait()


class Bench:
    """Everything that a run shares: folders, servers of each thread, the pool that converts."""

    def __init__(
        self, cache: Path, jobs: int, evidence: Path | None = None, other: OtherConverter | None = None
    ) -> None:
        """``evidence``: the top folder of a project that has the packages and what recorded runs showed of them.

        ``other``: the converter to judge, if it is not this project's.
        """
        self.cache = cache
        self.jobs = jobs
        self.results = cache / "results"
        self.work = cache / "work"
        for folder in (self.results, self.work, cache / "source"):
            folder.mkdir(parents=True, exist_ok=True)
        # as it is parsed: how it is laid out does not matter
        self.child = _key(*(ast.dump(ast.parse((HERE / name).read_bytes())) for name in CHILD_FILES))
        package = Path(paddletorch.__path__[0])
        self.child += digest_of(str(package / "comparison"), str(package / "children"))
        weights = Path(paddletorch_shim.__path__[0], "weights")
        self.weights = (
            digest_of(str(weights))
            + hashlib.sha256(Path(paddletorch_rules.__path__[0], "layouts.py").read_bytes()).hexdigest()[:16]
        )
        self.evidence = evidence / ".paddletorch" / "evidence.json" if evidence else None
        told = f"-{_key(self.evidence.read_text(encoding='utf-8'))}" if self.evidence else ""
        self.converted = cache / "converted" / (other.name if other else f"{converter_digest()}{told}")
        self.other = other
        self._local = threading.local()
        self._servers: list[Server] = []
        self._lock = threading.Lock()
        self._roots: dict[str, dict[str, Path]] = {}
        self.converting = ProcessPoolExecutor(jobs)

    def server(self, side: str) -> Server:
        """The server of this thread for a framework."""
        found: dict[str, Server] = self._local.__dict__.setdefault("servers", {})
        if side not in found:
            folders = [self.cache / "deps"]
            if side == "torch":
                folders.append(self.cache / "torchvision")
            found[side] = Server(side, folders)
            with self._lock:
                self._servers.append(found[side])
        return found[side]

    def close(self) -> None:
        """End all processes."""
        self.converting.shutdown()
        for server in self._servers:
            server.close()

    def roots(self, package: Package) -> dict[str, Path]:
        """Folder of the sources by top-level name."""
        with self._lock:
            if package.name not in self._roots:
                made: dict[str, Path] = {}
                for requirement in filter(None, (*package.beside, package.requirement)):
                    folder = distribution_folder(self.cache, requirement)
                    made |= dict.fromkeys(top_levels(folder), folder)
                    if self.other is not None:
                        self.other.convert(folder, self.converted / package.to / folder.name)
                self._roots[package.name] = made
            return self._roots[package.name]

    def converted_roots(self, package: Package) -> dict[str, Path]:
        """Folder of the converted sources by top-level name."""
        return {top: self.converted / package.to / folder.name for top, folder in self.roots(package).items()}

    def output(self, package: Package, file: Path) -> Path:
        """Where a file of the sources is when converted."""
        for folder in self.roots(package).values():
            if file.is_relative_to(folder):
                return self.converted / package.to / folder.name / file.relative_to(folder)
        raise ValueError(f"{file} is in no tree of {package.name}")


def _key(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]


def slug_of(case: Case) -> str:
    return re.sub(r"[^\w.-]", "_", case.id)[:100] + "-" + _key(case.id)[:6]


def run_source(bench: Bench, case: Case, mode: str = "float32") -> tuple[str, dict[str, Any] | None]:
    """The key of what the original gives, and what it did; from the cache if nothing changed."""
    key = _key(
        str(bench.cache),
        bench.child,
        bench.weights,
        case.code,
        *case.inputs,
        json.dumps(dict(case.keywords)),
        case.package.requirement,
        mode,
    )
    out = bench.cache / "source" / f"{slug_of(case)}.{mode}.pkl"
    note = out.with_suffix(".json")
    if note.exists():
        kept: dict[str, Any] = json.loads(note.read_text())
        if kept["key"] == key and (out.exists() or kept["error"]):
            return key, kept
    work = bench.work / slug_of(case)
    (work / "source").mkdir(parents=True, exist_ok=True)
    entry = work / "source" / "program_case.py"
    entry.write_text(case.code)
    reply = bench.server(case.package.origin).ask(
        {
            "kind": "source", "out": str(out), "limit": LIMIT["source"], "mode": mode, "folder": str(work),
            "entry": str(entry), "inputs": list(case.inputs), "keywords": dict(case.keywords),
            "roots": {top: str(folder) for top, folder in bench.roots(case.package).items()},
        }
    )  # fmt: skip
    kept = {"key": key, "error": None, "loaded": [], "stages": [], "unsupported": {}}
    if reply["ended"] != "done":
        kept["error"] = reply["message"]
    else:
        import pickle

        made = pickle.loads(out.read_bytes())
        if "failed" in made:
            kept["error"] = f"{made['failed']['error']}: {made['failed']['message']}"
            kept["frames"] = made["failed"]["frames"][-3:]
            out.unlink()
        else:
            kept |= {name: made[name] for name in ("loaded", "unsupported", "seconds")}
            kept["stages"] = list(made["stages"])
    note.write_text(json.dumps(kept))
    return key, kept


def run_target(
    bench: Bench, case: Case, kept: Mapping[str, Any], key: str, mode: str = "float32", **more: Any
) -> dict[str, Any]:
    """Run a case's converted form, or take the result from the cache if no file that it read has changed."""
    work = bench.work / slug_of(case)
    entry = work / "source" / "program_case.py"
    converted_entry = work / _key(converter_digest(), case.code) / "program_case.py"
    if not converted_entry.exists():
        top = next(iter(bench.roots(case.package).values()), None)  # the tree that the case belongs to
        place = str(top / "program_case.py") if top else str(entry)
        bench.converting.submit(
            convert_files,
            case.package.to,
            {str(entry): str(converted_entry)},
            {str(entry): place},  # type: ignore[arg-type]
        ).result()
    variant = "".join(sorted(more))
    record = bench.results / f"{slug_of(case)}.{mode}{variant}.json"
    base = _key(key, bench.child, bench.weights, _digest(converted_entry))
    if record.exists():
        old: dict[str, Any] = json.loads(record.read_text())
        with contextlib.suppress(FileNotFoundError):
            if old["base"] == base and all(
                _digest(bench.output(case.package, Path(f))) == d for f, d in old["files"].items()
            ):
                return old
    source = bench.cache / "source" / f"{slug_of(case)}.{mode}.pkl"
    for _ in range(8):
        out = work / f"target.{mode}{variant}.json"
        reply = bench.server(case.package.to).ask(
            {
                "kind": "target", "out": str(out), "limit": LIMIT["target"], "mode": mode, "folder": str(work),
                "entry": str(converted_entry), "inputs": list(case.inputs), "keywords": dict(case.keywords),
                "source": str(source), "blocked": case.package.origin,
                "roots": {top: str(folder) for top, folder in bench.roots(case.package).items()},
                "converted": {top: str(folder) for top, folder in bench.converted_roots(case.package).items()}, **more,
            }
        )  # fmt: skip
        if reply["ended"] != "done":
            made = {
                "outcome": "fails",
                "stage": "run",
                "error": reply["ended"],
                "message": reply["message"],
                "frames": [],
            }
            made |= {"loaded": kept["loaded"], "covered": []}
            break
        made = json.loads(out.read_text())
        if "failed" in made:
            made = {"outcome": "fails", "stage": "harness", **made["failed"], "loaded": kept["loaded"]}
            break
        if not made["needed"]:
            break
        convert_package(bench, case.package, {Path(one) for one in made["needed"]})
    made["base"] = base
    made["files"] = {one: _digest(bench.output(case.package, Path(one))) for one in made["loaded"]}
    record.write_text(json.dumps(made))
    return made


_digests: dict[tuple[str, int], str] = {}


def _digest(path: Path) -> str:
    stamp = (str(path), path.stat().st_mtime_ns)
    if stamp not in _digests:
        _digests[stamp] = hashlib.sha256(path.read_bytes()).hexdigest()[:20]
    return _digests[stamp]


@dataclass(slots=True)
class Verdict:
    """What became of one case.

    Args:
        outcome: equal, differs or fails; original if the original does not run here.
        named: a finding of the conversion names the line.
        stage: how far it came.
        cause: what it has in common with others of its class.
        place: file and line of the source, with its text.
        text: the converted line.
        codes: findings on the line, or for a difference on all lines that were run.
    """

    case: Case
    outcome: str
    named: bool = False
    stage: str = ""
    cause: str = ""
    message: str = ""
    place: str = ""
    source: str = ""
    text: str = ""
    codes: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    """Names that keep the import that failed."""
    stubbed: str = ""
    seconds: float = 0.0
    mode: str = "float32"


def convert_package(bench: Bench, package: Package, files: set[Path]) -> None:
    if bench.other is not None:
        return  # it converts whole trees
    entries = sorted(
        (str(file), str(bench.output(package, file))) for file in files if not bench.output(package, file).exists()
    )
    seen = _evidence(bench, package)
    waiting = [
        bench.converting.submit(convert_files, package.to, dict(entries[start : start + 40]), None, seen)  # type: ignore[arg-type]
        for start in range(0, len(entries), 40)
    ]
    for one in waiting:
        one.result()


def _evidence(bench: Bench, package: Package) -> dict[str, Evidence]:
    """What recorded runs showed of the files of a package's trees."""
    if bench.evidence is None:
        return {}
    found = load(bench.evidence, package.origin)  # type: ignore[arg-type]
    return {str(folder / path): one for path, one in found.items() for folder in bench.roots(package).values()}
