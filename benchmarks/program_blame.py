"""Which line of the source a failure or a difference comes from, and which finding names it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paddletorch.children.absent import FAMILIES
from program_bench import Bench, Case, Verdict, slug_of


def left_imports(bench: Bench, case: Case, files: Sequence[Path]) -> tuple[str, ...]:
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
    path = _current(bench, Path(filename))
    if path.name == "program_case.py" and bench.work in path.parents:
        record = path.with_name("program_case.py.json")
        return (json.loads(record.read_text()), bench.work / slug_of(case) / "source" / "program_case.py")
    for top, folder in bench.converted_roots(case.package).items():
        if path.is_relative_to(folder):
            record = path.with_name(path.name + ".json")
            if record.exists():
                return json.loads(record.read_text()), bench.roots(case.package)[top] / path.relative_to(folder)
    return None


def _current(bench: Bench, path: Path) -> Path:
    """Where the converted file is now, if an earlier converter wrote the same text: its result was not made again."""
    folders = bench.converted.parent
    return bench.converted.joinpath(*path.relative_to(folders).parts[1:]) if path.is_relative_to(folders) else path


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


def name_failure(bench: Bench, case: Case, verdict: Verdict, made: Mapping[str, Any]) -> None:
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
            verdict.source, verdict.text = _line(source, begin), _line(_current(bench, Path(filename)), line)
            first = False
            if made.get("absent"):
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


def name_difference(bench: Bench, case: Case, verdict: Verdict, traced: Mapping[str, Any]) -> None:
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
