"""Edits that rename, drop and add arguments of a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from paddletorch.model import Edit, Span
from paddletorch.text.call_spans import CallLayout
from paddletorch.text.source import has_line_end


class ArgumentChanges(NamedTuple):
    """Changes to a call's arguments; arguments are given by their index in ``CallLayout.arguments``."""

    drop: frozenset[int] = frozenset()
    keywords: Mapping[int, str] | None = None
    prepend: Sequence[str] = ()
    append: Sequence[str] = ()
    first: int = 0
    """Index of the first argument that is the API's own: 1 in a call of ``functools.partial``."""


def edit_arguments(
    layout: CallLayout,
    changes: ArgumentChanges,
    code: str,
    values: Sequence[Edit] = (),
    width: int | None = None,
) -> list[Edit]:
    """Edits that rename or name arguments, drop some and add others; comments stay.

    A call on one line that new arguments make longer than ``width`` characters gets a line for each argument.
    ``values`` are edits inside the arguments that stay. The order matters where edits meet at one byte: text before
    an argument, its name, its value, text after it.
    """
    remaining = [i for i in range(len(layout.arguments)) if i not in changes.drop]
    named = _keyword_edits(layout, changes, code)
    if not remaining:
        if width is not None and _outgrows(layout, changes, named, width):
            return _one_per_line(layout, changes, remaining, code)
        return [*named, *_replace_all(layout, changes, code)]
    edits: list[Edit] = []
    appended = list(changes.append)
    first = next((i for i in remaining if i >= changes.first), None)
    if changes.prepend and first is None:
        appended = [*changes.prepend, *appended]
    elif changes.prepend and first is not None:
        start = layout.arguments[first].whole.start
        gap = _line_break(layout, first) or " "
        edits.append(Edit(Span(start, start), "".join(f"{text},{gap}" for text in changes.prepend), code))
    edits += [*named, *values]
    if width is not None and _outgrows(layout, changes, [*edits], width):
        opening, *breaks = _one_per_line(layout, changes, remaining, code)
        return [opening, *named, *values, *breaks]
    edits += (_beyond_value(layout, edit) for edit in _drops(layout, changes.drop, remaining[-1], code))
    if appended:
        edits += _append(layout, remaining[-1], appended, code)
    return [e for e in edits if e.text or e.span.end > e.span.start]


def _keyword_edits(layout: CallLayout, changes: ArgumentChanges, code: str) -> list[Edit]:
    edits: list[Edit] = []
    for index, name in (changes.keywords or {}).items():
        argument = layout.arguments[index]
        if argument.keyword is None:
            edits.append(Edit(Span(argument.value.start, argument.value.start), f"{name}=", code))
        elif layout.source.slice(argument.keyword) != name:
            edits.append(Edit(argument.keyword, name, code))
    return edits


def _text(layout: CallLayout, start: int, end: int) -> bytes:
    return layout.source.body[start:end]


def _replace_all(layout: CallLayout, changes: ArgumentChanges, code: str) -> list[Edit]:
    """Edits that drop every argument."""
    added = ", ".join((*changes.prepend, *changes.append))
    if not layout.arguments:
        return [Edit(Span(layout.close_start, layout.close_start), added, code)] if added else []
    first, last = layout.arguments[0], layout.arguments[-1]
    edits: list[Edit] = []
    for number, argument in enumerate(layout.arguments):
        end = argument.comma_end if argument.comma_end is not None else argument.whole.end
        following = _text(layout, end, argument.after_end)
        if argument is not last and b"#" not in following:
            end = argument.after_end
        text = added if number == 0 else ""
        if number == 0 and added and argument.comma_end is not None and has_line_end(_before(layout, 0)):
            text += ","
        edits.append(_beyond_value(layout, Edit(Span(argument.whole.start, end), text, code)))
    if not added and b"#" not in _text(layout, layout.open_end, layout.close_start):
        bracket = _text(layout, layout.close_start, layout.close_start + 1).decode("ascii")
        return [Edit(Span(layout.open_end, layout.close_start + 1), bracket, code)]
    assert first.whole.start >= layout.open_end
    return edits


def _beyond_value(layout: CallLayout, edit: Edit) -> Edit:
    """The edit, one character longer if it replaces just a value, which another edit may move elsewhere as it is."""
    if all(edit.span != argument.whole for argument in layout.arguments):
        return edit
    end = edit.span.end
    kept = _text(layout, end, end + 1).decode("ascii")  # a bracket, white space or the sign of a comment
    return Edit(Span(edit.span.start, end + 1), edit.text + kept, edit.code)


def _before(layout: CallLayout, index: int) -> bytes:
    """White space and comments before argument ``index``."""
    if index == 0:
        return _text(layout, layout.open_end, layout.arguments[0].whole.start)
    previous = layout.arguments[index - 1]
    assert previous.comma_end is not None
    return _text(layout, previous.comma_end, previous.after_end)


def _outgrows(layout: CallLayout, changes: ArgumentChanges, edits: Sequence[Edit], width: int) -> bool:
    """Whether added arguments make a call on one line longer than ``width``."""
    source = layout.source
    if not changes.append or has_line_end(_text(layout, layout.function.start, layout.close_start)):
        return False
    line = source.line_span(source.position(layout.function.start)[0])
    length = len(source.slice(line).rstrip("\r\n"))
    length += sum(len(edit.text) - (edit.span.end - edit.span.start) for edit in edits)
    length += sum(len(text) + 2 for text in changes.append)
    length -= sum(a.whole.end - a.whole.start + 2 for i, a in enumerate(layout.arguments) if i in changes.drop)
    return length > width


def _one_per_line(layout: CallLayout, changes: ArgumentChanges, remaining: Sequence[int], code: str) -> list[Edit]:
    """Break a call on one line: a line for each argument, a comma after the last."""
    source = layout.source
    indentation = source.indentation(source.position(layout.function.start)[0])
    outer = source.newline + indentation
    inner = outer + ("\t" if "\t" in indentation else " " * source.indent)
    close = f",{outer}"
    before = [f"{inner}{text}," for text in changes.prepend if not changes.first]
    if not remaining:
        added = f",{inner}".join(changes.append)
        return [Edit(Span(layout.open_end, layout.close_start), "".join(before) + inner + added + close, code)]
    edits: list[Edit] = []
    position, text = layout.open_end, "".join(before)
    for index in remaining:
        argument = layout.arguments[index]
        if changes.first and index >= changes.first:
            text += "".join(f"{inner}{item}," for item in changes.prepend) if index == changes.first else ""
        edits.append(Edit(Span(position, argument.whole.start), text + inner, code))
        position, text = argument.whole.end, ","
    added = "".join(f",{inner}{item}" for item in changes.append)
    return [*edits, Edit(Span(position, layout.close_start), added + close, code)]


def _line_break(layout: CallLayout, index: int) -> str:
    """The line break and indentation before argument ``index``; empty if it is on the line of the one before."""
    before = _before(layout, index)
    if not has_line_end(before):
        return ""
    indentation = before[max(before.rfind(b"\n"), before.rfind(b"\r")) + 1 :].decode("utf-8")
    return layout.source.newline + indentation


def _drops(layout: CallLayout, drop: frozenset[int], last_remaining: int, code: str) -> list[Edit]:
    tail = sorted(i for i in drop if i > last_remaining)
    edits = [_drop(layout, index, last_remaining, code) for index in sorted(drop) if index < last_remaining]
    if not tail:
        return edits
    last, final = layout.arguments[last_remaining], layout.arguments[tail[-1]]
    assert last.comma_end is not None
    end = final.comma_end if final.comma_end is not None else final.whole.end
    if b"#" in _text(layout, last.comma_end, final.whole.end):
        return edits + [_drop(layout, index, last_remaining, code) for index in tail]
    start = last.comma_end if final.comma_end is not None else last.whole.end
    return [*edits, Edit(Span(start, end), "", code)]


def _drop(layout: CallLayout, index: int, last_remaining: int, code: str) -> Edit:
    argument = layout.arguments[index]
    end = argument.comma_end if argument.comma_end is not None else argument.whole.end
    if index < last_remaining:
        following = _text(layout, end, argument.after_end)
        if b"#" not in following:
            return Edit(Span(argument.whole.start, argument.after_end), "", code)
        return Edit(Span(argument.whole.start, end + len(following) - len(following.lstrip(b" \t"))), "", code)
    previous = layout.arguments[index - 1]
    assert previous.comma_end is not None
    between = _before(layout, index)
    kept_end = layout.arguments[last_remaining].comma_end
    commented = kept_end is not None and b"#" in _text(layout, kept_end, argument.whole.start)
    if commented and not has_line_end(_text(layout, end, argument.after_end)):
        return Edit(Span(argument.whole.start, end), "", code)  # the line end is that of the comment
    if b"#" in between:
        following = _text(layout, end, argument.after_end)
        if following.lstrip(b" \t").startswith(b"#"):  # each comment keeps its line
            return Edit(Span(argument.whole.start, end + len(following) - len(following.lstrip(b" \t"))), "", code)
        newline = max(between.rfind(b"\n"), between.rfind(b"\r"))
        if newline > 0 and between[newline - 1 : newline + 1] == b"\r\n":
            newline -= 1
        return Edit(Span(previous.comma_end + newline, end), "", code)
    start = previous.comma_end if argument.comma_end is not None or index - 1 > last_remaining else previous.whole.end
    return Edit(Span(start, end), "", code)


def _append(layout: CallLayout, last: int, added: Sequence[str], code: str) -> list[Edit]:
    argument = layout.arguments[last]
    line = _line_break(layout, last)
    if not line:
        return [Edit(Span(argument.whole.end, argument.whole.end), "".join(f", {text}" for text in added), code)]
    text = "".join(f",{line}{item}" for item in added)
    after_start = argument.comma_end if argument.comma_end is not None else argument.whole.end
    after = _text(layout, after_start, argument.after_end)
    if b"#" not in after.split(b"\n")[0].split(b"\r")[0]:
        return [Edit(Span(argument.whole.end, argument.whole.end), text, code)]
    # a comment follows on the argument's line: it stays there, the new arguments go below it
    breaks = [p for p in (after.find(b"\n"), after.find(b"\r")) if p >= 0]
    line_end = after_start + min(breaks)
    rest = text[1:]
    if argument.comma_end is not None:
        return [Edit(Span(line_end, line_end), rest + ",", code)]
    return [
        Edit(Span(argument.whole.end, argument.whole.end), ",", code),
        Edit(Span(line_end, line_end), rest, code),
    ]
