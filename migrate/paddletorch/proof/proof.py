"""The proof of one row: each example converted, run on both frameworks, compared, and brought back."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from paddletorch_rules import Row, other_framework
from paddletorch_rules.fates import is_reported

from paddletorch.api.convert import convert
from paddletorch.api.result import Result
from paddletorch.model import Framework, Options, Severity, Status
from paddletorch.proof.compare import difference
from paddletorch.proof.names import leftovers, members
from paddletorch.proof.run import execute, module_text

RELEASES = (None, "installed")
"""Releases that examples are converted for: all that users can install (which may lack an API), and those here."""
_NOT_IN_EVERY_RELEASE = "API208"


class Verdict(str, Enum):
    """What is known about a row."""

    BOTH = "verified both ways"
    ONE = "verified one way"
    UNVERIFIABLE = "not verifiable"
    REPORTED = "no counterpart"
    NO_EXAMPLE = "no example"
    FAILING = "failing"


@dataclass(frozen=True, slots=True)
class Failure:
    """Where a proof broke: ``stage`` of ``example``, why, and the text of the module at that point."""

    stage: str
    message: str
    example: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Proof:
    """The verdict on a row; ``directions`` are the targets to which its examples were proven."""

    row: str
    code: str
    file: str
    verdict: Verdict
    reason: str = ""
    directions: tuple[Framework, ...] = ()
    failure: Failure | None = None


def prove(row: Row, tables: tuple[str, ...] = ()) -> Proof:
    """Run the examples of ``row`` on the installed frameworks; whatever goes wrong is a verdict."""
    if is_reported(row):
        return _proof(row, Verdict.REPORTED, f"reported as {row.report}")
    if row.unverified:
        return _proof(row, Verdict.UNVERIFIABLE, row.unverified)
    if not row.examples and not row.paddle_examples:
        return _proof(row, Verdict.NO_EXAMPLE)
    proven: set[Framework] = set()
    stays = ""
    examples: tuple[tuple[Framework, str], ...] = (
        *(("torch", example) for example in row.examples),
        *(("paddle", example) for example in row.paddle_examples),
    )
    try:
        for source, example in examples:
            attempt = _Attempt(row, source, example, tables)
            proven |= attempt.run()
            stays = stays or attempt.stays
    except _Unavailable as broken:
        return _proof(row, Verdict.UNVERIFIABLE, f"not in the installed release: {broken.failure.message}")
    except _Broken as broken:
        return _proof(row, Verdict.FAILING, broken.failure.message, (), broken.failure)
    directions: tuple[Framework, ...] = tuple(side for side in ("paddle", "torch") if side in proven)
    for target in ("paddle", "torch"):
        if row.serves(target) and target not in proven:
            source = other_framework(target)
            message = (
                f"no example was converted to {target} by this row: another row was used"
                f" (give a {source} example, or a direction)"
            )
            failure = Failure(f"convert to {target}", message, "\n".join((*row.examples, *row.paddle_examples)))
            return _proof(row, Verdict.FAILING, message, directions, failure)
    if row.direction is not None:
        reason = f"the row serves conversion to {row.direction} only"
        if stays:
            return _proof(row, Verdict.ONE, f"{reason}, and no other row brings it back: {stays}", directions)
        return _proof(row, Verdict.BOTH, f"{reason}, and other rows bring it back", ("paddle", "torch"))
    return _proof(row, Verdict.BOTH, "", directions)


def _proof(
    row: Row,
    verdict: Verdict,
    reason: str = "",
    directions: tuple[Framework, ...] = (),
    failure: Failure | None = None,
) -> Proof:
    return Proof(row.id, row.code, row.file, verdict, reason, directions, failure)


class _Broken(Exception):
    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class _Unavailable(_Broken):
    """The row is for some of the releases only."""


class _Attempt:
    """One example of one row."""

    def __init__(self, row: Row, source: Framework, example: str, tables: tuple[str, ...]) -> None:
        self.row, self.source, self.example, self.tables = row, source, example, tables
        self.target: Framework = other_framework(source)
        self.stays = ""
        """Why the result does not come back by other rows, of a row that serves one target; empty if it does."""

    def run(self) -> set[Framework]:
        """The targets to which a conversion by the row was proven.

        Raises:
            _Broken: something failed.
        """
        try:
            text = module_text(self.source, self.example)
        except ValueError as error:
            raise self._broken("read the example", str(error), self.example) from None
        proven: set[Framework] = set()
        done: set[str] = set()
        for release in RELEASES:
            try:
                converted = self._convert(text, self.target, release)
                if converted.text not in done:
                    proven |= self._both_ways(text, converted, release)
                    done.add(converted.text)
            except _Unavailable:
                if release == RELEASES[-1]:
                    raise
        return proven

    def _both_ways(self, text: str, there: _Converted, release: str | None) -> set[Framework]:
        proven: set[Framework] = set()
        expected = self._execute(self.source, text, "run the example on")
        actual = self._execute(self.target, there.text, "run on")
        self._compare(expected, actual, f"compare {self.source} with {self.target}", there.text)
        if there.used:
            proven.add(self.target)
        if self.row.serves(self.source):
            back = self._convert(there.text, self.source, release)
            again = self._execute(self.source, back.text, "run back on")
            self._compare(actual, again, f"compare {self.target} with {self.source} again", back.text)
            if back.used:
                proven.add(self.source)
        else:
            self.stays = self.stays or self._stays(there, release, actual)
        return proven

    def _stays(self, there: _Converted, release: str | None, actual: object) -> str:
        """Why what the row wrote does not come back by other rows with equal results; empty if it does."""
        why = ""
        for back_release in dict.fromkeys((release, RELEASES[-1])):
            try:
                back = self._convert(there.text, self.source, back_release)
                again = self._execute(self.source, back.text, "run back on")
                self._compare(actual, again, f"compare {self.target} with {self.source} again", back.text)
            except _Broken as broken:
                why = broken.failure.message
                if not isinstance(broken, _Unavailable):
                    break
            else:
                return ""
        return why

    def _convert(self, text: str, target: Framework, release: str | None) -> _Converted:
        stage = f"convert to {target}" + (f", {release} release" if release else "")
        result = convert(text, to=target, source_version=release, target_version=release, tables=self.tables)
        output = result.output
        allowed = self.row.warn.get(target)
        for diagnostic in result.findings:
            if diagnostic.severity is Severity.INFO:
                continue
            if diagnostic.code != allowed:
                kind = _Unavailable if diagnostic.code == _NOT_IN_EVERY_RELEASE else _Broken
                raise kind(self._failure(stage, f"{diagnostic.code}: {diagnostic.message}", output))
        if result.status is Status.FAILED:
            raise self._broken(stage, "the conversion failed", output)
        left = sorted(set(leftovers(output, Options(target).source)))
        if left:
            raise self._broken(stage, f"left over: {', '.join(left)}", output)
        return _Converted(output, self._used(result, output, target))

    def _used(self, result: Result[str], output: str, target: Framework) -> bool:
        """Whether this row converted something, or is a member of one name on both sides that the text uses."""
        if any(conversion.row == self.row.id for conversion in result.conversions):
            return True
        if self.row.receiver is None:
            return False
        here, there = ({n for form in self.row.forms(side) for n in form.names} for side in ("torch", "paddle"))
        return not (here & there).isdisjoint(members(output))

    def _execute(self, framework: Framework, text: str, stage: str) -> object:
        try:
            label = f"<{self.row.id} for {framework}>"
            return execute(framework, text, label, processes=self.row.prove == "processes")
        except ModuleNotFoundError as missing:  # such as torchvision, which not every environment has
            raise _Unavailable(self._failure(f"{stage} {framework}", str(missing), text)) from missing
        except Exception as error:
            message = f"{type(error).__name__}: {str(error).strip() or 'no message'}"
            raise self._broken(f"{stage} {framework}", _shortened(message), text) from error

    def _compare(self, expected: object, actual: object, stage: str, text: str) -> None:
        problem = difference(expected, actual, tolerance=self.row.tolerance, values=self.row.prove != "shape")
        if problem is not None:
            raise self._broken(stage, problem, text)

    def _broken(self, stage: str, message: str, text: str) -> _Broken:
        return _Broken(self._failure(stage, message, text))

    def _failure(self, stage: str, message: str, text: str) -> Failure:
        return Failure(stage, message, self.example, text)


@dataclass(frozen=True, slots=True)
class _Converted:
    text: str
    used: bool


def _shortened(message: str, lines: int = 12) -> str:
    """C++ errors of Paddle have the reason at the end, after a long stack."""
    every = [line for line in message.splitlines() if line.strip()]
    return "\n".join(every if len(every) <= lines else [*every[:2], "...", *every[3 - lines :]])
