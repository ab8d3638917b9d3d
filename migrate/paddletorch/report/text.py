"""The report for people: findings by file, each with its line of source, and a summary that fits one screen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeVar

import click

from paddletorch.model import Applicability, Conversion, Diagnostic, Fate, FileResult, Options, Severity
from paddletorch.model.counts import converted
from paddletorch.report.became import became
from paddletorch.report.coverage import LABELS, left_lines
from paddletorch.report.excerpt import Excerpts
from paddletorch.report.headline import counted, findings_line, headline, packages_line
from paddletorch.report.next_step import Asked, next_step
from paddletorch.report.printable import printable
from paddletorch.report.styles import COLOURS, width, wrapped
from paddletorch.report.summary import Summary

_CODES = 6
"""How many codes the summary names."""
_PLACES = 6
"""How many further places of a finding are named."""
_WORDS = 5
"""How many words at the head or the end of two messages tell that they say the same."""
_T = TypeVar("_T")


def finding_lines(results: Sequence[FileResult], *, conversions: bool) -> Iterator[str]:
    """What is left, by file, the most serious first; with ``conversions`` also what is, or would be, converted."""
    columns = width()
    files = [(result, _folded(result)) for result in results]
    files.sort(key=lambda file: min((_rank(same[0]) for same in file[1]), default=len(_RANKS)))
    for result, folded in files:
        if not folded and not (conversions and result.conversions):
            continue
        yield click.style(printable(result.path), bold=True)
        excerpts = Excerpts(result)
        said: set[str] = set()
        for same in folded:
            yield from _finding(same, excerpts, columns, said)
        if conversions:
            yield from _conversions(converted(result), columns)
        yield ""


def note_lines(results: Sequence[FileResult], summary: Summary, options: Options) -> Iterator[str]:
    """What is worth knowing and leaves nothing to do: each note once, however many places it is about."""
    infos = [(result.path, found) for result in results for found in result.diagnostics if found.fate is None]
    if not infos and not summary.notes:
        return
    from paddletorch_rules import load

    columns, specs = width(), load(options.tables).diagnostics
    notes: dict[tuple[str, str], list[list[tuple[str, Diagnostic]]]] = {}
    for path, found in infos:
        of_the_run = found.code in specs and specs[found.code].once  # else each API behaves in its own way
        groups = notes.setdefault((found.code, "" if of_the_run else found.name or found.message), [])
        like = (same for same in groups if of_the_run or _alike(same[0][1], found))
        _into(next(like, None), groups, (path, found))
    yield click.style("Good to know", bold=True)
    for (code, _), same in ((key, same) for key in sorted(notes) for same in notes[key]):
        path, found = same[0]
        first = ":".join(filter(None, [path, _place(found)]))
        places = f"{len(same):,} places, first {first}" if len(same) > 1 else first
        text = f"{code} {printable(f'{found.message} ({places})')}"
        yield from _styled_code(wrapped(text, columns, "  ", " " * 9), code, COLOURS[Severity.INFO])
    for note in summary.notes:
        code = f" ({note.code})" if note.code else ""
        yield from wrapped(f"{printable(note.message)}{code}", columns, "  ", "  ")
    yield ""


def summary_lines(
    summary: Summary, options: Options, asked: Asked, *, coverage: bool, statistics: bool
) -> Iterator[str]:
    """The closing summary: the four fates, what is left by code, and the next command.

    ``coverage``: also the names that are left. ``statistics``: every code.
    """
    yield from wrapped(headline(summary), width())
    if summary.packages:
        yield from wrapped(packages_line(summary, options), width())
    total = summary.coverage.total
    if total.total:
        yield ""
        for (key, label), colour in zip(LABELS, ("green", "green", "yellow", "yellow"), strict=True):
            count = getattr(total, key)
            yield f"{click.style(f'{count:9,}', fg=colour if count else None, bold=True)}  {label}"
        yield f"{total.total:9,}  uses of {options.source} in all"
    yield from _left_by_code(summary, options, every=statistics)
    left = list(left_lines(summary.coverage)) if coverage else []
    if left:
        yield ""
        yield from left
    yield ""
    remarks = list(_remarks(summary, options))
    if remarks:
        for remark in remarks:
            yield from wrapped(remark, width())
        yield ""
    yield from next_step(summary, options, asked)


_RANKS = ((Severity.ERROR, Fate.NEEDS_YOU), (Severity.WARNING, Fate.NEEDS_YOU), (Severity.ERROR, Fate.NOT_EXAMINED))


def _rank(found: Diagnostic) -> int:
    """The smaller the more serious."""
    key = found.severity, found.fate
    return _RANKS.index(key) if key in _RANKS else len(_RANKS) - (found.fate is Fate.NOT_EXAMINED)


def _folded(result: FileResult) -> list[list[Diagnostic]]:
    """Findings that leave something to do, those of one code about one API together; the most serious first."""
    folded: dict[tuple[str, str, str], list[list[Diagnostic]]] = {}
    for found in result.diagnostics:
        if found.fate is not None:
            groups = folded.setdefault((found.code, found.name or found.message, found.hint), [])
            like = (same for same in groups if _alike(same[0], found) and _place(same[-1]) != _place(found))
            _into(next(like, None), groups, found)
    entries = [same for groups in folded.values() for same in groups]
    return sorted(entries, key=lambda same: (_rank(same[0]), same[0].line, same[0].column))


def _alike(one: Diagnostic, other: Diagnostic) -> bool:
    """Whether two findings of one code and API say the same, but for an expression that they name."""
    first, second = one.message.split(), other.message.split()
    return first[:_WORDS] == second[:_WORDS] or first[-_WORDS:] == second[-_WORDS:]


def _into(group: list[_T] | None, groups: list[list[_T]], item: _T) -> None:
    """Put ``item`` into its group, or into a new one."""
    if group is None:
        groups.append([item])
    else:
        group.append(item)


def _finding(same: Sequence[Diagnostic], excerpts: Excerpts, columns: int, said: set[str]) -> Iterator[str]:
    """One finding and the places of those like it; a hint in ``said`` is not repeated in a file."""
    found = same[0]
    where = _place(found)
    offer = " [--unsafe converts it]" if found.applicability is Applicability.UNSAFE else ""
    text = f"{found.code} {printable(found.message)}{offer}"
    first = f"  {where} " if where else "  "
    yield from _styled_code(wrapped(text, columns, first, " " * 6), found.code, COLOURS[found.severity])
    shown = excerpts.of(found, columns - 8)
    if shown is not None:
        line, carets = shown
        yield f"      | {line}"
        yield f"      | {click.style(carets, fg=COLOURS[found.severity], bold=True)}"
    if found.hint and found.hint not in said:
        said.add(found.hint)
        yield from (click.style(line, dim=True) for line in wrapped(printable(found.hint), columns, "      = "))
    if len(same) > 1:
        others = [_place(other) for other in same[1:]]
        more = f" and {len(others) - _PLACES} more" if len(others) > _PLACES else ""
        yield from wrapped(f"also at {', '.join(others[:_PLACES])}{more}", columns, "      = ")


def _conversions(conversions: Sequence[Conversion], columns: int) -> Iterator[str]:
    """What becomes of each use; the same change of one API on several lines is one entry."""
    folded: dict[tuple[str, str, str], list[str]] = {}
    for one in conversions:
        key = one.code, printable(one.name), printable(became(one))
        folded.setdefault(key, []).append(_place(one))
    for (code, name, text), places in folded.items():
        times = f" ({len(places)} times)" if len(places) > 1 else ""
        line = f"{code} {name} -> {text}{times}"
        yield from _styled_code(wrapped(line, columns, f"  {places[0]} ", " " * 6), code, "green")


def _styled_code(lines: Iterator[str], code: str, colour: str) -> Iterator[str]:
    """The lines, with the code in the first one in colour."""
    styled = click.style(code, fg=colour, bold=True)
    for number, line in enumerate(lines):
        yield line if number else line.replace(code, styled, 1)


def _place(item: Conversion | Diagnostic) -> str:
    if item.cell is not None:
        return f"cell {item.cell.number}:{item.cell.line}:{item.cell.column}"
    return f"{item.line}:{item.column}" if item.line else ""


def _left_by_code(summary: Summary, options: Options, *, every: bool) -> Iterator[str]:
    """The codes of what is left, the most frequent first."""
    codes = Counter(summary.left)
    if not codes:
        return
    from paddletorch_rules import load

    specs = load(options.tables).diagnostics
    columns = width()
    yield ""
    yield from wrapped(findings_line(summary), columns)
    shown = len(codes) if every or len(codes) == _CODES + 1 else _CODES  # one more takes the line that would count it
    for code, count in codes.most_common(shown):
        title = printable(specs[code].title) if code in specs else ""
        yield from _styled_code(wrapped(f"{code}  {title}", columns, f"{count:9,}  ", " " * 19), code, "yellow")
    if shown < len(codes):
        rest = sum(count for _, count in codes.most_common()[shown:])
        yield f"{rest:9,}  under {len(codes) - shown} other codes; --statistics lists them"


def _remarks(summary: Summary, options: Options) -> Iterator[str]:
    if summary.known:
        yield f"{counted(summary.known, 'known finding')} of the baseline not shown."
    if summary.answered:
        gone = counted(summary.settled, "finding")
        yield f"Recorded runs answered {counted(summary.answered, 'open question')}; {gone} gone by that."
    if summary.unsafe and not options.unsafe:
        yield f"--unsafe also converts what is likely but not sure ({summary.unsafe:,}); review the result."
    if summary.open:
        found = counted(summary.open, "finding")
        yield f"paddletorch record runs the program and notes what only a run can tell ({found})."
