"""Runs whole modules of real packages as they are and converted, where the source framework cannot be imported.

    python benchmarks/programs.py [--to paddle] [--package timm] [--only NAME] [--list] [--json FILE] [--write-results]

The cases are data, in program_cases/*.toml: a package of the package index, what makes a module, what it is called
with. For each: the original runs on its framework; its files are converted with default options; the converted module
runs on the other framework with the weights that ``paddletorch state convert`` makes; outputs, gradients, buffers and
three steps of training are compared. Nothing that did not change since the last run is run again.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import itertools
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import paddletorch_rules
import paddletorch_shim
from measure import environment, write_section
from program_convert import convert_files, converter_digest, digest_of
from program_trees import FAMILIES, cache_folder, distribution_folder, top_levels

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
CASES = HERE / "program_cases"
FAILING = HERE / "programs-failing.md"
LIMIT = {"source": 40, "target": 40}
"""Seconds of CPU time; five times as much on the clock."""
TORCHVISION = "torchvision==0.28.0"
"""For originals that import it, and for programs that became torch's; its compiled operators are not needed."""
CHILD_FILES = ("program_child.py", "program_trees.py")


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
            paths = [str(Path(one.__path__[0]).parent) for one in (paddletorch_shim, paddletorch_rules)]
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

    def __init__(self, cache: Path, jobs: int) -> None:
        self.cache = cache
        self.jobs = jobs
        self.results = cache / "results"
        self.work = cache / "work"
        for folder in (self.results, self.work, cache / "source"):
            folder.mkdir(parents=True, exist_ok=True)
        # as it is parsed: how it is laid out does not matter
        self.child = _key(*(ast.dump(ast.parse((HERE / name).read_bytes())) for name in CHILD_FILES))
        weights = Path(paddletorch_shim.__path__[0], "weights")
        self.weights = (
            digest_of(str(weights))
            + hashlib.sha256(Path(paddletorch_rules.__path__[0], "layouts.py").read_bytes()).hexdigest()[:16]
        )
        self.converted = cache / "converted" / converter_digest()
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


def _slug(case: Case) -> str:
    return re.sub(r"[^\w.-]", "_", case.id)[:100] + "-" + _key(case.id)[:6]


# the three phases of a case


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
    out = bench.cache / "source" / f"{_slug(case)}.{mode}.pkl"
    note = out.with_suffix(".json")
    if note.exists():
        kept: dict[str, Any] = json.loads(note.read_text())
        if kept["key"] == key and (out.exists() or kept["error"]):
            return key, kept
    work = bench.work / _slug(case)
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
    work = bench.work / _slug(case)
    entry = work / "source" / "program_case.py"
    converted_entry = work / converter_digest() / "program_case.py"
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
    record = bench.results / f"{_slug(case)}.{mode}{variant}.json"
    base = _key(key, bench.child, bench.weights, _digest(converted_entry))
    if record.exists():
        old: dict[str, Any] = json.loads(record.read_text())
        with contextlib.suppress(FileNotFoundError):
            if old["base"] == base and all(
                _digest(bench.output(case.package, Path(f))) == d for f, d in old["files"].items()
            ):
                return old
    source = bench.cache / "source" / f"{_slug(case)}.{mode}.pkl"
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
        _convert_package(bench, case.package, {Path(one) for one in made["needed"]})
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


# what became of a case


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


def judge(bench: Bench, case: Case) -> Verdict:
    """Run both sides of a case and say what became of it."""
    key, kept = run_source(bench, case)
    assert kept is not None
    if kept["error"]:
        return Verdict(case, "original", message=kept["error"])
    made = run_target(bench, case, kept, key)
    mode = "float32"
    if made["outcome"] == "differs":
        again = _in_float64(bench, case, made)
        if again is not None:
            made, mode = again, "float64"
    verdict = Verdict(case, made["outcome"], stage=made.get("stage", ""), seconds=made.get("seconds", 0.0), mode=mode)
    if made["outcome"] == "equal":
        return verdict
    verdict.message = made["message"]
    if made["outcome"] == "differs":
        traced = run_target(bench, case, kept, key, trace=True)
        _name_difference(bench, case, verdict, traced)
    else:
        _name_failure(bench, case, verdict, made)
        if "out of reach" in made["message"]:
            verdict.left = _left(bench, case, [Path(one) for one in kept["loaded"]])
            stubbed = run_target(bench, case, kept, key, stubs=True)
            if stubbed["outcome"] == "differs":
                stubbed = _in_float64(bench, case, stubbed, stubs=True) or stubbed
            verdict.stubbed = stubbed["outcome"]
            if stubbed["outcome"] != "equal":
                verdict.stubbed += f": {stubbed.get('error', '')} {stubbed['message']}"
    return verdict


def _in_float64(bench: Bench, case: Case, made: Mapping[str, Any], **more: Any) -> dict[str, Any] | None:
    """The result in float64 if it is equal there: rounding grows in deep networks, and only a mistake is left."""
    if "largest difference" not in made["message"]:
        return None
    key, kept = run_source(bench, case, "float64")
    if kept is None or kept["error"]:
        return None
    again = run_target(bench, case, kept, key, "float64", **more)
    return again if again["outcome"] == "equal" and set(again["stages"]) >= set(made["stages"]) else None


def _left(bench: Bench, case: Case, files: Sequence[Path]) -> tuple[str, ...]:
    """The names that keep an import of the source framework, in all files of a case."""
    found: dict[str, None] = {}
    pattern = re.compile(rf"(?m)^\s*(?:import|from) (?:{'|'.join(FAMILIES[case.package.origin])})\b")
    for file in files:
        output = bench.output(case.package, file)
        if output.exists() and pattern.search(output.read_text(encoding="utf-8", errors="replace")):
            record = json.loads(output.with_name(output.name + ".json").read_text())
            found |= dict.fromkeys(record["left"] or ["an import that nothing uses or that no table has"])
    return tuple(found)


def _records(bench: Bench, case: Case, filename: str) -> tuple[dict[str, Any], Path] | None:
    """What the conversion of a converted file found, and its source."""
    path = Path(filename)
    if path.name == "program_case.py" and bench.work in path.parents:
        record = path.with_name("program_case.py.json")
        return (json.loads(record.read_text()), bench.work / _slug(case) / "source" / "program_case.py")
    for top, folder in bench.converted_roots(case.package).items():
        if path.is_relative_to(folder):
            record = path.with_name(path.name + ".json")
            if record.exists():
                return json.loads(record.read_text()), bench.roots(case.package)[top] / path.relative_to(folder)
    return None


def _source_lines(record: Mapping[str, Any], line: int) -> tuple[int, int]:
    first, last = record["lines"].get(str(line), (line, line))
    return first, last


def _findings_at(record: Mapping[str, Any], first: int, last: int) -> list[dict[str, Any]]:
    return [
        one
        for one in record["findings"]
        if one["severity"] != "info" and first <= one["end_line"] and one["line"] <= last
    ]


def _line(path: Path, number: int) -> str:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def _name_failure(bench: Bench, case: Case, verdict: Verdict, made: Mapping[str, Any]) -> None:
    verdict.message = f"{made['error']}: {made['message']}"
    verdict.cause = _normal(verdict.message)
    first = True
    for filename, line, _, _ in reversed(made["frames"]):
        found = _records(bench, case, filename)
        if found is None:
            continue
        record, source = found
        begin, end = _source_lines(record, line)
        here = _findings_at(record, begin, end)
        if first:
            verdict.place = f"{_relative(bench, case, source)}:{begin}"
            verdict.source, verdict.text = _line(source, begin), _line(Path(filename), line)
            first = False
            if "out of reach" in made["message"]:
                here = [one for one in record["findings"] if one["severity"] != "info"]
                names = sorted({f"{one['code']} {one['name']}" for one in here if one["name"]})
                left = sorted(record["left"])
                verdict.named = bool(here)
                verdict.codes = tuple(dict.fromkeys(one["code"] for one in here))
                verdict.cause = "left import: " + (", ".join(names[:4]) or ", ".join(left[:4]) or "nothing reported")
                return
        if here:
            verdict.named = True
            verdict.codes = tuple(dict.fromkeys(one["code"] for one in here))
            return


def _name_difference(bench: Bench, case: Case, verdict: Verdict, traced: Mapping[str, Any]) -> None:
    verdict.cause = "differs: " + _normal(verdict.message)
    found: dict[str, None] = {}
    for filename, line in traced.get("covered", ()):
        record = _records(bench, case, filename)
        if record is None:
            continue
        for one in _findings_at(record[0], *_source_lines(record[0], line)):
            found[f"{one['code']} {Path(filename).name}:{one['line']}"] = None
    verdict.named = bool(found)
    verdict.codes = tuple(dict.fromkeys(one.partition(" ")[0] for one in found))
    verdict.place = ", ".join(list(found)[:3])


def _relative(bench: Bench, case: Case, source: Path) -> str:
    for folder in bench.roots(case.package).values():
        if source.is_relative_to(folder):
            return str(source.relative_to(folder))
    return source.name


def _normal(message: str) -> str:
    """A message without what differs from case to case."""
    message = re.sub(r"/[\w./-]+", "PATH", message)
    message = re.sub(r"\[[\d, x]+\]|\([\d, ]+\)", "[…]", message)
    message = re.sub(r"(gradient of( input)?|after steps|buffer) [\w.\[\]]+", r"\1 …", message)
    message = re.sub(r"\b\d+(\.\d+)?(e[-+]?\d+)?\b", "N", message)
    return message[:160]


# reports

HEADER = (
    "| package | to | cases | equal | differ | fail, named | fail, silent | equal once left imports are stubbed |\n"
    "|---|---|--:|--:|--:|--:|--:|--:|"
)


def table(verdicts: Sequence[Verdict]) -> str:
    """Lines of the table: each package, then each direction."""
    rows = [HEADER]
    by_package: dict[str, list[Verdict]] = defaultdict(list)
    for one in verdicts:
        if one.outcome != "original":
            package = one.case.package
            alone = package.requirement.partition("==")[0].lower().replace("-", "_") == package.name.lower()
            by_package[
                package.requirement
                if alone
                else package.name
                if not package.requirement
                else f"{package.name} ({package.requirement})"
            ].append(one)
    for to in ("paddle", "torch"):
        mine = {name: group for name, group in by_package.items() if group[0].case.package.to == to}
        for name, group in sorted(mine.items()):
            rows.append(_row(name, to, group))
        if mine:
            rows.append(_row("**all**", to, [one for group in mine.values() for one in group]))
    return "\n".join(rows)


def _row(name: str, to: str, group: Sequence[Verdict]) -> str:
    counts = Counter(one.outcome for one in group)
    differs = [one for one in group if one.outcome == "differs"]
    fails = [one for one in group if one.outcome == "fails"]
    silent = sum(not one.named for one in differs)
    stubbed = counts["equal"] + sum(one.stubbed == "equal" for one in fails)
    shown = f"{len(differs)} ({silent} silent)" if differs else "0"
    share = f"{counts['equal']} ({counts['equal'] / len(group):.0%})"
    return (
        f"| {name} | {to} | {len(group)} | {share} | {shown} | {sum(one.named for one in fails)} | "
        f"{sum(not one.named for one in fails)} | {stubbed} |"
    )


def classes(verdicts: Sequence[Verdict], most: int = 3) -> str:
    """The failing cases grouped by cause, the largest classes first."""
    parts = []
    for to in ("paddle", "torch"):
        groups: dict[str, list[Verdict]] = defaultdict(list)
        for one in verdicts:
            if one.outcome in ("differs", "fails") and one.case.package.to == to:
                groups[one.cause].append(one)
        if not groups:
            continue
        parts.append(f"## Towards {to}: {sum(map(len, groups.values()))} cases in {len(groups)} classes\n")
        parts += _left_names([one for group in groups.values() for one in group if one.left])
        for cause, group in sorted(groups.items(), key=lambda one: (-len(one[1]), one[0])):
            silent = sum(not one.named for one in group)
            codes = ", ".join(dict.fromkeys(code for one in group for code in one.codes))
            parts.append(
                f"### {len(group)} ({silent} silent): {_cell(cause)}\n" + (f"\ncodes: {codes}\n" if codes else "")
            )
            for one in group[:most]:
                parts.append(f"- `{one.case.id}` at {one.stage}: {_cell(one.message[:300])}")
                if one.place:
                    parts.append(f"  - {one.place}")
                if one.source:
                    parts.append(f"  - source: `{_cell(one.source)}`")
                if one.text and one.text != one.source:
                    parts.append(f"  - converted: `{_cell(one.text)}`")
                if one.stubbed:
                    parts.append(f"  - with its left imports stubbed: {_cell(one.stubbed[:200])}")
            if len(group) > most:
                parts.append(f"- and {', '.join(f'`{one.case.id}`' for one in group[most : most + 12])}")
            parts.append("")
    return "\n".join(parts)


def _left_names(verdicts: Sequence[Verdict]) -> list[str]:
    """A table of the names that keep an import of the source framework, by how many cases stop there."""
    if not verdicts:
        return []
    counted = Counter(name for one in verdicts for name in one.left)
    alone = Counter(one.left[0] for one in verdicts if len(one.left) == 1)
    example = {name: one for one in reversed(verdicts) for name in one.left}
    lines = [
        f"{len(verdicts)} cases stop at an import of the source framework that is left. The names that keep it:\n",
        "| name | cases | the only one | such as |\n|---|--:|--:|---|",
    ]
    for name, count in counted.most_common(30):
        lines.append(
            f"| `{_cell(name)}` | {count} | {alone[name]} | `{example[name].case.id}` at {example[name].place} |"
        )
    return [*lines, ""]


def _cell(text: str) -> str:
    return " ".join(text.replace("`", "'").split())


@click.command()
@click.option("--to", type=click.Choice(["paddle", "torch"]), help="Only this direction.")
@click.option("--package", "names", multiple=True, help="Only this package, by the name of its file; may be repeated.")
@click.option("--only", multiple=True, metavar="TEXT", help="Only cases whose PACKAGE/NAME has this in it.")
@click.option("--list", "listing", is_flag=True, help="List the cases.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write every verdict to this file.")
@click.option("--failing", type=click.Path(path_type=Path), help="Write the failing cases by cause to this file.")
@click.option("--cache", type=click.Path(path_type=Path), help="Folder of what can be made again.")
@click.option("--jobs", default=2, show_default=True)
@click.option("--write-results", is_flag=True, help="Put the table into RESULTS.md and the failing cases beside it.")
def main(
    to: str | None, names: tuple[str, ...], only: tuple[str, ...], listing: bool, json_file: Path | None,
    failing: Path | None, cache: Path | None, jobs: int, write_results: bool,
) -> None:  # fmt: skip
    """Run the cases and print a table."""
    chosen = [one for one in packages() if (not to or one.to == to) and (not names or one.name in names)]
    cases = [case for one in chosen for case in cases_of(one) if not only or any(text in case.id for text in only)]
    if listing:
        for case in cases:
            click.echo(f"{case.id}  to {case.package.to}: {', '.join(case.inputs)}")
        return
    bench = Bench(cache_folder(cache), jobs)
    if any(case.package.requirement for case in cases):
        install_dependencies(bench.cache, CASES / "dependencies.txt", TORCHVISION)
    start = time.monotonic()
    try:
        verdicts = []
        for verdict in run_all(bench, cases):
            verdicts.append(verdict)
            if failing and len(verdicts) % 25 == 0:
                _write_failing(failing, verdicts)
    finally:
        bench.close()
    click.echo(table(verdicts))
    missing = [one for one in verdicts if one.outcome == "original"]
    if missing:
        click.echo(f"\noriginals that do not run here: {len(missing)}")
        for verdict in missing[:10]:
            click.echo(f"  {verdict.case.id}: {verdict.message[:200]}")
    seconds = time.monotonic() - start
    click.echo(f"\n{seconds:.0f} s")
    if len(cases) <= 12:
        click.echo(classes(verdicts))
    if json_file:
        json_file.write_text(json.dumps([_plain(one) for one in verdicts], indent=1))
    if failing or write_results:
        _write_failing(failing or FAILING, verdicts)
    if write_results:
        write_section("programs", report(verdicts, seconds))


def _write_failing(path: Path, verdicts: Sequence[Verdict]) -> None:
    path.write_text(f"# Programs that do not run alike\n\n{classes(verdicts)}\n", encoding="utf-8")


def run_all(bench: Bench, cases: Sequence[Case]) -> Iterator[Verdict]:
    """Package by package: originals, then conversions, then converted programs."""
    done = Counter[str]()
    with ThreadPoolExecutor(bench.jobs) as threads:
        for _, group in itertools.groupby(cases, lambda case: case.package.name):
            mine = list(group)
            bench.roots(mine[0].package)
            kept = list(threads.map(lambda case: run_source(bench, case)[1], mine))
            _convert_package(bench, mine[0].package, {Path(file) for one in kept if one for file in one["loaded"]})
            for verdict in threads.map(lambda case: judge(bench, case), mine):
                done[verdict.outcome] += 1
                yield verdict
            click.echo(f"{mine[0].package.name}: {done.total()} of {len(cases)}, {dict(done)}", err=True)


def _convert_package(bench: Bench, package: Package, files: set[Path]) -> None:
    entries = sorted(
        (str(file), str(bench.output(package, file))) for file in files if not bench.output(package, file).exists()
    )
    waiting = [
        bench.converting.submit(convert_files, package.to, dict(entries[start : start + 40]))  # type: ignore[arg-type]
        for start in range(0, len(entries), 40)
    ]
    for one in waiting:
        one.result()


def _plain(verdict: Verdict) -> dict[str, Any]:
    case = verdict.case
    return {
        "case": case.id, "to": case.package.to, "outcome": verdict.outcome, "named": verdict.named,
        "stage": verdict.stage, "cause": verdict.cause, "message": verdict.message, "place": verdict.place,
        "source": verdict.source, "converted": verdict.text, "codes": list(verdict.codes), "stubbed": verdict.stubbed,
        "left": list(verdict.left), "mode": verdict.mode, "seconds": round(verdict.seconds, 2),
    }  # fmt: skip


def report(verdicts: Sequence[Verdict], seconds: float) -> str:
    """The section for RESULTS.md."""
    return "\n".join(
        [
            "## Whole programs\n\n`python benchmarks/programs.py --write-results`\n",
            f"{environment('torch', 'paddlepaddle')}\n",
            "Modules of packages from the package index, converted with default options and run where the source "
            "framework cannot be imported, with weights as `paddletorch state convert` makes them. Equal: outputs and "
            "gradients of inputs and parameters in eval and in train mode, buffers, three steps of SGD, as far as the "
            "original can do them; of a training program, what it returns and the model after it. In float32 outputs "
            "may differ by 1e-3 of the largest value, gradients by 5e-3; what differs by more is run again in float64 "
            "(1e-6, 1e-5). Running variances differ by the frameworks' definition (NNL208) and count only where one is "
            "more than twice the other. What the original does not repeat, or makes much of rounding in, is left out. "
            "Named: a finding of the conversion is on the line that failed, or on a line on the way to it; for a left "
            "import, in its file; for a difference, on a line that was run.\n",
            table(verdicts),
            f"\nThe failing cases by cause: `benchmarks/programs-failing.md`. The run took {seconds:.0f} s.",
        ]
    )


if __name__ == "__main__":
    main()
