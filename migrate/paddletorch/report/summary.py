"""What a run amounts to: the counts, the notes and the exit code that every report format shares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from paddletorch.model import Applicability, FileResult, Options, Status
from paddletorch.model.counts import converted, places
from paddletorch.report.coverage import Coverage, measure

NUMPY_NOTE = "AMP240"
_PACKAGE = "API244"
"""The finding about a package that is built on the source framework; it is named after the package."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something about the run as a whole; it does not change the exit code."""

    code: str
    message: str


class Summary(NamedTuple):
    """Counts over all files of a run."""

    applied: bool
    """Whether the converted text went where the user wanted it, or was only shown."""
    scanned: int
    with_uses: int
    """Files, other than failed ones, with a use of an API, a conversion or a finding."""
    converted: int
    """Files whose converted text differs from the source."""
    failed: int
    conversions: dict[tuple[str, str], int]
    """Uses by (name, replacement), the most frequent first."""
    findings: dict[str, int]
    """Findings by code, in the order of codes; those of failed files included."""
    left: dict[str, int]
    """Those of ``findings`` that leave something to do, by code."""
    left_uses: int
    """The uses that those are about."""
    known: int
    """Findings that the baseline holds; they are not among ``findings``, and their uses are among the fates."""
    unsafe: int
    """Findings that ``--unsafe`` would convert."""
    open: int
    """Findings that a recorded run could settle."""
    answered: int
    """Open questions that recorded runs answered."""
    settled: int
    """Findings that are gone because of that."""
    coverage: Coverage
    """What became of the uses of the source framework's API."""
    packages: dict[str, int]
    """Packages built on the source framework without which the program cannot run, each with its files."""
    notes: tuple[Note, ...]
    exit_code: int


def summarise(
    results: Sequence[FileResult],
    options: Options,
    *,
    scanned: int,
    applied: bool,
    remarks: Sequence[str] = (),
) -> Summary:
    """Count; ``remarks`` about the run become notes."""
    conversions = Counter((c.name, c.replacement) for result in results for c in converted(result))
    diagnostics = [diagnostic for result in results for diagnostic in result.diagnostics]
    findings = Counter(diagnostic.code for diagnostic in diagnostics)
    packages = Counter(diagnostic.name for diagnostic in diagnostics if diagnostic.code == _PACKAGE)
    return Summary(
        applied=applied,
        scanned=scanned,
        with_uses=sum(_has_uses(result) for result in results),
        converted=sum(result.status is Status.CONVERTED for result in results),
        failed=sum(result.status is Status.FAILED for result in results),
        conversions=dict(sorted(conversions.items(), key=lambda item: (-item[1], item[0]))),
        findings=dict(sorted(findings.items())),
        left=dict(sorted(Counter(diagnostic.code for diagnostic in diagnostics if diagnostic.fate).items())),
        left_uses=sum(len(places(result.diagnostics)) for result in results),
        known=sum(len(result.known) for result in results),
        unsafe=sum(diagnostic.applicability is Applicability.UNSAFE for diagnostic in diagnostics),
        open=sum(bool(diagnostic.questions) for diagnostic in diagnostics),
        answered=sum(result.answered for result in results),
        settled=sum(result.settled for result in results),
        coverage=measure(results),
        packages=dict(sorted(packages.items(), key=lambda item: (-item[1], item[0]))),
        notes=(*_notes(results, options), *(Note("", remark) for remark in remarks)),
        exit_code=exit_code(results, applied=applied),
    )


def _has_uses(result: FileResult) -> bool:
    return result.status is not Status.FAILED and bool(
        result.conversions or result.diagnostics or result.known or result.unlisted
    )


def exit_code(results: Iterable[FileResult], *, applied: bool) -> int:
    """2: a file failed; 1: findings are left, or files would change; 0: nothing is left to do."""
    code = 0
    for result in results:
        if result.status is Status.FAILED:
            return 2
        if any(diagnostic.fate is not None for diagnostic in result.diagnostics):
            code = 1
        if result.status is Status.CONVERTED and not applied:
            code = 1
    return code


def _notes(results: Iterable[FileResult], options: Options) -> Iterable[Note]:
    replacements = (conversion.replacement for result in results for conversion in result.conversions)
    if any(name == "paddle.amp.GradScaler" for name in replacements):
        from paddletorch_rules import load

        spec = load(options.tables).diagnostics[NUMPY_NOTE]
        yield Note(NUMPY_NOTE, f"{spec.message}. {spec.hint}")
