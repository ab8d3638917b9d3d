"""A baseline: findings that are known and put off, in a file, so that only new ones are shown.

A finding is known by its file, its code and the text of its line, and by how often that occurs: it stays known when
lines move, and is new when its line is written anew.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from paddletorch_rules.bounded import TABLE_BYTES, read_regular

from paddletorch.model import Diagnostic, FileResult, Framework, Options, Status
from paddletorch.model.failure import reason

VERSION = 1
"""Of the file's form; a later form gets another number."""


class BaselineError(Exception):
    """A baseline that cannot be used; the message names the file."""


class FindingKey(NamedTuple):
    """What a finding is known by: two with the same key are not told apart."""

    path: str
    """Relative to the folder of the baseline, with slashes."""
    code: str
    text: str
    """The finding's first line, without indentation; runs of blanks are one. Empty for the file as a whole."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A run's results against a baseline."""

    results: list[FileResult]
    """Findings of the baseline are in ``known`` rather than in ``diagnostics``."""
    stale: Counter[FindingKey]
    """Findings of the baseline that the run would have found if they were still there."""
    current: Counter[FindingKey]
    """What a baseline written now holds: all findings of the run, and the others that it says nothing about."""


class Baseline:
    """The findings of one file, for one direction."""

    def __init__(self, file: Path, target: Framework, findings: Counter[FindingKey]) -> None:
        self.file = file
        self.target = target
        self.findings = findings
        self._folder = os.path.realpath(file.parent)
        self._relative_paths: dict[str, str] = {}

    def compare(
        self, results: Sequence[FileResult], checked: Iterable[str], options: Callable[[str], Options]
    ) -> Compared:
        """Compare ``results`` with the baseline; ``checked`` are the run's files, ``options`` what held for each."""
        remaining, current, compared = Counter(self.findings), Counter[FindingKey](), []
        for result in results:
            keys = [] if result.status is Status.FAILED else self._keys(result)
            known: list[Diagnostic] = []
            new: list[Diagnostic] = list(result.diagnostics) if result.status is Status.FAILED else []
            for key, diagnostic in zip(keys, result.diagnostics, strict=False):
                current[key] += 1
                former = key._replace(code=diagnostic.formerly or key.code)
                key = former if remaining[key] <= 0 < remaining[former] else key
                (known if remaining[key] > 0 else new).append(diagnostic)
                remaining[key] -= 1
            compared.append(replace(result, diagnostics=tuple(new), known=tuple(known)) if known else result)
        failed = {self._relative_path(result.path) for result in results if result.status is Status.FAILED}
        wants = {self._relative_path(path): options(path).wants for path in checked}
        stale = Counter[FindingKey]()
        for key, count in (+remaining).items():
            judged = key.path in wants and key.path not in failed and wants[key.path](key.code)
            if judged or not os.path.lexists(os.path.join(self._folder, key.path)):  # noqa: PTH118 - "../x" stays as it is
                stale[key] = count
            else:
                current[key] += count
        return Compared(compared, stale, current)

    def text(self, findings: Counter[FindingKey]) -> bytes:
        """What the file of a baseline of ``findings`` holds."""
        nested: dict[str, dict[str, dict[str, int]]] = {}
        for key, count in sorted(findings.items()):
            nested.setdefault(key.path, {}).setdefault(key.code, {})[key.text] = count
        document = {"version": VERSION, "to": self.target, "findings": nested}
        try:
            return json.dumps(document, indent=1, ensure_ascii=False).encode() + b"\n"
        except UnicodeEncodeError:  # file names that are not UTF-8
            return json.dumps(document, indent=1).encode() + b"\n"

    def _keys(self, result: FileResult) -> list[FindingKey]:
        from paddletorch.text.lines import text_lines

        path = self._relative_path(result.path)
        lines = text_lines(result.source) if result.diagnostics else []
        in_cells = any(diagnostic.cell for diagnostic in result.diagnostics)
        cells = [_code(cell) for cell in json.loads(result.source)["cells"]] if in_cells else []

        def text(found: Diagnostic) -> str:
            if found.cell is not None:  # a line of the file can be all of the notebook
                return _line(cells[found.cell.number - 1], found.cell.line)
            return _line(lines, found.line)

        return [FindingKey(path, diagnostic.code, text(diagnostic)) for diagnostic in result.diagnostics]

    def _relative_path(self, path: str) -> str:
        folder, name = os.path.split(path)
        if folder not in self._relative_paths:
            self._relative_paths[folder] = os.path.relpath(os.path.realpath(folder or os.curdir), self._folder)
        return os.path.normpath(os.path.join(self._relative_paths[folder], name)).replace(os.sep, "/")  # noqa: PTH118


def _code(cell: Mapping[str, Any]) -> list[str]:
    source = cell["source"]
    return ("".join(source) if isinstance(source, list) else str(source)).splitlines()


def _line(lines: Sequence[str], number: int) -> str:
    return " ".join(lines[number - 1].split()) if 0 < number <= len(lines) else ""


def read_baseline(file: Path, target: Framework) -> Baseline:
    """Read a baseline for a run to ``target``.

    Raises:
        BaselineError: it is not there, is none, or is for the other direction.
    """
    try:
        document = json.loads(read_regular(file, TABLE_BYTES))
    except FileNotFoundError as error:
        raise BaselineError(f"{file}: no such baseline; --write-baseline makes it") from error
    except OSError as error:
        raise BaselineError(f"{file}: {reason(error)}") from error
    except RecursionError as error:
        raise BaselineError(f"{file}: nested too deeply") from error
    except ValueError as error:
        raise BaselineError(f"{file}: not valid JSON: {error}") from error
    version = document.get("version") if isinstance(document, dict) else None
    if version != VERSION:
        raise BaselineError(f"{file}: not a baseline of this release of paddletorch (version {version!r})")
    if document.get("to") != target:
        raise BaselineError(f"{file}: a baseline for --to {document.get('to')}, not for --to {target}")
    return Baseline(file, target, Counter(_findings(file, document.get("findings"))))


def _findings(file: Path, nested: Any) -> dict[FindingKey, int]:
    try:
        found = {
            FindingKey(path, code, text): count
            for path, codes in nested.items()
            for code, texts in codes.items()
            for text, count in texts.items()
        }
    except AttributeError as error:
        raise BaselineError(f"{file}: 'findings' must be tables of paths, codes and lines") from error
    for key, count in found.items():
        if type(count) is not int or count < 1:
            raise BaselineError(f"{file}: the count of {key.text!r} ({key.path}, {key.code}) must be a number from 1")
    return found
