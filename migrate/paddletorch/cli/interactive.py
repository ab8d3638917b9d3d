"""``convert --interactive``: asks about each change before files are written, as ``git add -p`` does."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import click

from paddletorch.model import Evidence, FileResult, Options, StatementChange, Status
from paddletorch.model.document_kinds import document_kind
from paddletorch.report.changes import opcodes
from paddletorch.report.printable import printable
from paddletorch.text.source import Source, splice

if TYPE_CHECKING:
    from paddletorch.api.result import Result

_HELP = """\
y - make this change
n - leave this line as it is; what depends on it is planned anew
i - leave it, and write the comment that ignores it in later runs too
a - make this change and all others in the file
d - leave this change and all others in the file
q - leave this change and all that were not asked about; what was answered is written
? - print this help"""

_CONTEXT = 2
"""Unchanged lines that are shown around a change."""

Convert = Callable[[bytes, frozenset[int]], "Result[bytes]"]
"""The result for the bytes of one file, with the statements on these lines left."""


def check_interactive(paths: tuple[str, ...], given: Mapping[str, Any]) -> None:
    """Refuse what does not go with questions.

    Raises:
        UsageError: the command asks for both.
    """
    others = ("output", "diff", "write_baseline", "watch")
    named = next((name for name in others if given[name]), None)
    if named or "-" in paths or given["form"] != "text":
        other = f"--{named.replace('_', '-')}" if named else "'-'" if "-" in paths else f"--format {given['form']}"
        raise click.UsageError(f"--interactive asks at the terminal and edits in place: {other} does not go with it")


class Questions:
    """Asks about the changes of one file after the other."""

    def __init__(self) -> None:
        self.skipped = 0
        """Changes that were left without a comment: the next run asks again."""
        self._quit = False

    def answered(self, result: FileResult, convert: Convert) -> FileResult:
        """What is to be written of a file, by the user's answers."""
        if result.status is not Status.CONVERTED:
            return result
        state = _File(result.path, result.source, convert)
        if document_kind(result.path) or not state.open_changes():
            return self._whole(result, convert)
        while (change := state.next_change()) is not None:
            answer = "q" if self._quit else self._answer(state, change)
            if answer in ("y", "a"):
                state.apply([change] if answer == "y" else state.open_changes())
            elif answer == "i":
                problem = state.ignore(change)
                if problem:
                    click.echo(problem)
            elif answer == "n":
                problem = state.leave([change])
                self.skipped += not problem
                if problem:
                    click.echo(f"It cannot be left alone: {problem}. Answer y, or d to leave the rest of the file.")
            else:
                self._quit = answer == "q"
                self.skipped += state.leave_the_rest()
        return state.result(result)

    def _whole(self, result: FileResult, convert: Convert) -> FileResult:
        """A file with nothing to ask about line by line: a document, or one whose imports alone change."""
        from paddletorch.report.diff import unified_diff

        answer = "n"
        if not self._quit:
            click.echo(unified_diff(result, colour=False, terminal=True).decode("utf-8", "replace"), nl=False)
            answer = _asked(f"Change {printable(result.path)}", "ynq")
        self._quit = self._quit or answer == "q"
        if answer == "y":
            return result
        self.skipped += 1
        return _untouched(result, convert)

    def _answer(self, state: _File, change: StatementChange) -> str:
        click.echo()
        for line in _shown(state.path, state.text_lines(), change):
            click.echo(line)
        number, total = state.progress()
        return _asked(f"({number}/{total}) Make this change", "yniadq")


@dataclass(slots=True)
class _File:
    """One file and the answers about it so far."""

    path: str
    source: bytes
    """The file, with the comments that answers wrote."""
    convert: Convert
    left: frozenset[int] = frozenset()
    applied: frozenset[int] = frozenset()
    answers: int = 0
    _result: Result[bytes] | None = None
    _changes: tuple[StatementChange, ...] = field(default=())

    def changes(self) -> tuple[StatementChange, ...]:
        """All changes that are planned with the answers so far."""
        if self._result is None:
            self._take(self.convert(self.source, self.left))
        return self._changes

    def open_changes(self) -> list[StatementChange]:
        """The changes that were not answered."""
        return [change for change in self.changes() if not change.to_leave <= self.applied]

    def next_change(self) -> StatementChange | None:
        return next(iter(self.open_changes()), None)

    def progress(self) -> tuple[int, int]:
        """The number of this question, and of all as far as is known."""
        return self.answers + 1, self.answers + len(self.open_changes())

    def text_lines(self) -> list[str]:
        from paddletorch.text.lines import text_lines

        return text_lines(self.source)

    def apply(self, changes: Sequence[StatementChange]) -> None:
        """Make these changes."""
        self.answers += len(changes)
        self.applied |= frozenset[int]().union(*(change.to_leave for change in changes))

    def leave(self, changes: Sequence[StatementChange]) -> str:
        """Plan with these left; if that cannot be, nothing happens, and the reason is returned."""
        lines = frozenset[int]().union(*(change.to_leave for change in changes))
        return self._replan(self.source, self.left | lines)

    def leave_the_rest(self) -> int:
        """Leave all that is open, but for what belongs to changes that are made; how many changes that were.

        Where that cannot be, the whole file is left.
        """
        left = 0
        while self.open_changes():
            asked = len(self.open_changes())
            if not self.leave(self.open_changes()):
                left += asked
                continue
            lines = frozenset[int]().union(*(change.to_leave for change in self.open_changes()))
            kept = _not_left(self.convert(self.source, self.left | lines).changes, lines)
            if kept:
                self.applied |= frozenset[int]().union(*(change.to_leave for change in kept))
                continue
            click.echo(f"No part of {printable(self.path)} can be left alone: all of it stays.")
            self.applied = frozenset()
            self._take(self.convert(self.source, _all_lines(self.source)))
            return left + asked
        return left

    def ignore(self, change: StatementChange) -> str:
        """Write comments that keep the change away, and plan anew; if that cannot be, the reason is returned."""
        from paddletorch.text.ignore_comments import ignoring

        source = Source(self.source)
        by_line: dict[int, list[str]] = {}
        for one in change.conversions:
            by_line.setdefault(one.line, []).append(one.code)
        if not by_line:
            return "No comment keeps this change away: answer n to leave it this time."
        body = source.body
        for line, codes in by_line.items():
            current = Source(body, encoding="utf-8")
            candidates = range(line, max(line, change.last) + 1)
            edit = ignoring(current, candidates, list(dict.fromkeys(codes)))
            if edit is None:
                return f"Line {line} can hold no comment: answer n to leave it this time."
            body = splice(body, [edit])
        commented = self.convert(source.encode(body), self.left)
        if any(again.to_leave & change.to_leave for again in commented.changes):
            return "A comment here does not keep this change away: answer n to leave it this time."
        problem = self._replan(source.encode(body), self.left)
        return f"It cannot be left alone: {problem}." if problem else ""

    def result(self, asked: FileResult) -> FileResult:
        """What is to be written over the file as it was ``asked`` about."""
        self.changes()
        assert self._result is not None
        found = self._result.file
        if not self.applied:  # what is left serves nothing
            found = _untouched(found, self.convert)
        changed = found.output != asked.source
        return replace(
            found,
            status=Status.CONVERTED if changed else Status.CLEAN,
            source=asked.source,
            edits=found.edits if found.source == asked.source else (),
        )

    def _replan(self, source: bytes, left: frozenset[int]) -> str:
        result = self.convert(source, left)
        if result.status is Status.FAILED:
            return result.findings[0].message
        changes = result.changes
        for kept in _not_left(changes, left - self.applied):
            return f"line {kept.first} would change all the same, for a change that is made"
        self.answers += 1
        planned = {line for change in changes for line in change.to_leave}
        for change in self._changes:
            if change.to_leave and change.to_leave <= self.applied and not change.to_leave & planned:
                click.echo(f"Line {change.first} now stays too: its change needs what is left.")
        self.source, self.left = source, left
        self._result, self._changes = result, changes
        return ""

    def _take(self, result: Result[bytes]) -> None:
        self._result, self._changes = result, result.changes


def _not_left(changes: Sequence[StatementChange], lines: frozenset[int]) -> list[StatementChange]:
    """The changes that are made though they were to be left: they belong to others."""
    return [change for change in changes if change.to_leave and change.to_leave <= lines]


def _untouched(result: FileResult, convert: Convert) -> FileResult:
    """The result with every line left; a document, which is not planned by line, keeps its counts."""
    bare = convert(result.source, _all_lines(result.source)).file
    return replace(bare, status=Status.CLEAN, output=bare.source, conversions=(), edits=(), cells=())


def _all_lines(source: bytes) -> frozenset[int]:
    return frozenset(range(1, source.count(b"\n") + source.count(b"\r") + 2))


def _asked(question: str, answers: str) -> str:
    """One of the letters; the end of the input is q."""
    while True:
        click.echo(click.style(f"{question} [{','.join(answers)},?]? ", bold=True), nl=False)
        line = sys.stdin.readline() if sys.stdin is not None else ""
        answer = line.strip().lower()
        if not line:
            click.echo()
            return "q"
        if len(answer) == 1 and answer in answers:
            return answer
        for help_line in _HELP.splitlines():
            if help_line[0] in f"{answers}?":
                click.echo(help_line)


def _shown(path: str, lines: Sequence[str], change: StatementChange) -> Iterator[str]:
    yield click.style(f"{printable(path)}:{change.first}", bold=True)
    old, new = change.old.splitlines(), change.new.splitlines()
    before = lines[max(0, change.first - 1 - _CONTEXT) : change.first - 1]
    yield from (_line(" ", line) for line in before)
    for tag, start, end, new_start, new_end in opcodes(old, new):
        if tag == "equal":
            yield from (_line(" ", line) for line in old[start:end])
        else:
            yield from (click.style(_line("-", line), fg="red") for line in old[start:end])
            yield from (click.style(_line("+", line), fg="green") for line in new[new_start:new_end])
    yield from (_line(" ", line) for line in lines[change.last : change.last + _CONTEXT])
    if change.elsewhere:
        named = ", ".join(dict.fromkeys(one.name for one in change.elsewhere))
        numbers = ", ".join(map(str, sorted({one.line for one in change.elsewhere})))
        yield printable(f"With it the uses of {named} on line {numbers}, whose text stays.")
    for found in change.findings:
        yield printable(f"{found.code} {found.message}")


def _line(sign: str, line: str) -> str:
    return sign + printable(line.rstrip("\r\n"))


def ask(
    results: Sequence[FileResult], options: Callable[[str], Options], evidence: Mapping[str, Evidence]
) -> tuple[list[FileResult], int]:
    """The results as the answers want them, and how many changes were skipped.

    ``options``: what holds for the file at a path.
    """
    from paddletorch.batch.one_file import converter_for

    questions = Questions()
    answered = []
    for result in results:

        def convert(data: bytes, left: frozenset[int], path: str = result.path) -> Result[bytes]:
            return converter_for(options(path)).convert(data, path, evidence=evidence.get(path), left=left)

        answered.append(questions.answered(result, convert))
    return answered, questions.skipped
