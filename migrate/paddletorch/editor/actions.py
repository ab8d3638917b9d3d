"""What an editor offers on a line: convert the use, leave it with a comment, convert the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lsprotocol.types import CodeAction, CodeActionKind, Diagnostic, Range, TextEdit

from paddletorch.editor.checked import Check, Checked
from paddletorch.editor.diagnostics import named
from paddletorch.editor.positions import Positions, on_lines
from paddletorch.model import StatementChange
from paddletorch.text.ignore_comments import ignoring
from paddletorch.text.source import Source, splice

CONVERT_FILE = "source.paddletorch"
"""The kind of the action for a whole file; editors that fix all on saving do not take it."""

KINDS = (CodeActionKind.QuickFix, CONVERT_FILE)


def actions(
    uri: str, checked: Checked, text: str, span: Range, shown: Sequence[Diagnostic], only: Sequence[str] | None
) -> list[CodeAction]:
    """The actions on the lines of ``span``, without their edits: ``data`` says what :func:`edits` is to do.

    ``shown``: the diagnostics that the client has there. ``only``: the kinds that it wants; None for all.
    """
    found: list[CodeAction] = []
    if _wanted(CodeActionKind.QuickFix, only):
        for title, kept in _sites(checked.changes, span):
            data = {"uri": uri, "do": "site", "lines": sorted(kept)}
            found.append(CodeAction(title, kind=CodeActionKind.QuickFix, diagnostics=list(shown), data=data))
        for code, lines in _ignorable(checked, span).items():
            data = {"uri": uri, "do": "ignore", "code": code, "lines": list(lines)}
            if _commented(text, lines, code) is not None:
                about = [one for one in shown if one.code == code]
                title = f"Ignore {code} here"
                found.append(CodeAction(title, kind=CodeActionKind.QuickFix, diagnostics=about, data=data))
    if checked.result.changed and _wanted(CONVERT_FILE, only):
        count = sum(len(change.conversions) for change in checked.changes)
        title = f"Convert the whole file with paddletorch ({count} use{'' if count == 1 else 's'})"
        found.append(CodeAction(title, kind=CONVERT_FILE, data={"uri": uri, "do": "file"}))
    return found


def edits(
    data: Mapping[str, Any], checked: Checked, text: str, path: str, positions: Positions, check: Check
) -> list[TextEdit] | None:
    """The edits of an action by its ``data``; None if the text, as it is now, cannot have them."""
    new: str | None = None
    if data["do"] == "file":
        new = checked.output
    elif data["do"] == "ignore":
        new = _commented(text, data["lines"], data["code"])
    elif data["do"] == "site":
        others = frozenset[int]().union(*(change.to_leave for change in checked.changes))
        alone = check(path, text, others - frozenset(data["lines"]))
        new = alone.output if alone is not None and alone.result.changed else None
    return None if new is None else positions.edits(new)


def _sites(changes: Sequence[StatementChange], span: Range) -> Iterator[tuple[str, frozenset[int]]]:
    """A title for each statement on the lines that converts, and the lines of its uses."""
    for change in changes:
        here = [one for one in change.conversions if one not in change.elsewhere]
        if change.to_leave and here and on_lines(change.first, change.last, span):
            yield _title([named(one) for one in here]), change.to_leave
        by_line: dict[int, list[str]] = {}
        for one in change.elsewhere:
            by_line.setdefault(one.line, []).append(named(one))
        for line, uses in by_line.items():
            lines = _run_of(change.to_leave, line)
            if on_lines(min(lines), max(lines), span):
                yield _title(uses), lines


def _run_of(lines: frozenset[int], line: int) -> frozenset[int]:
    """Those of ``lines`` that follow on ``line``: of a statement, the rest."""
    last = line
    while last + 1 in lines:
        last += 1
    return frozenset(range(line, last + 1))


def _title(uses: Sequence[str]) -> str:
    more = f" and {len(uses) - 1} more" if len(uses) > 1 else ""
    return f"Convert {uses[0]}{more}"


def _ignorable(checked: Checked, span: Range) -> dict[str, Sequence[int]]:
    """The codes on the lines of ``span``, each with the lines that can take its comment."""
    found: dict[str, Sequence[int]] = {}
    for one in checked.file.diagnostics:
        last = max(one.line, one.end_line)
        if one.line and on_lines(one.line, last, span):
            found.setdefault(one.code, range(one.line, last + 1))
    for change in checked.changes:
        for use in change.conversions:
            last = change.last if change.first <= use.line <= change.last else max(_run_of(change.to_leave, use.line))
            if on_lines(use.line, last, span):
                found.setdefault(use.code, range(use.line, last + 1))
    return found


def _commented(text: str, lines: Sequence[int], code: str) -> str | None:
    try:
        source = Source(text.encode("utf-8"), encoding="utf-8")
    except UnicodeEncodeError:  # half of a surrogate pair
        return None
    edit = ignoring(source, lines, [code])
    return None if edit is None else splice(source.body, [edit]).decode("utf-8")


def _wanted(kind: str, only: Sequence[str] | None) -> bool:
    """Whether a client that asks for ``only`` these kinds, or kinds below them, takes ``kind``."""
    return only is None or any(kind == one or kind.startswith(f"{one}.") or one == "" for one in only)
