"""Where the parts of a call lie, read by LibCST from the call's own text, and edits to its arguments.

A dict display is measured as a call of nothing, whose arguments are the items: it may supply the keywords of a call.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from paddletorch.model import Edit, Span
from paddletorch.source import Source

if TYPE_CHECKING:
    import libcst


class LayoutError(ValueError):
    """LibCST cannot read the call's text back as it stands."""


@dataclass(frozen=True, slots=True)
class ArgumentSpan:
    """One argument: ``whole`` is the argument without comma, ``after`` what follows up to the next one."""

    whole: Span
    keyword: Span | None
    value: Span
    comma_end: int | None
    after_end: int


@dataclass(frozen=True, slots=True)
class CallLayout:
    """Spans of one call, in the file's bytes."""

    source: Source
    function: Span
    open_end: int
    arguments: tuple[ArgumentSpan, ...]
    close_start: int

    def argument(self, node: ast.expr) -> ArgumentSpan:
        """The argument whose value is ``node``."""
        start = self.source.span(node).start
        return next(a for a in self.arguments if a.value.start <= start < a.value.end)


def read_layout(source: Source, call: ast.Call | ast.Dict) -> CallLayout:
    """Parse the call's text with LibCST and measure its parts.

    Raises:
        LayoutError: LibCST cannot parse the text, or would not write it back byte for byte.
    """
    import libcst

    span = source.span(call)
    text = source.slice(span)
    config = libcst.PartialParserConfig(default_newline=source.newline)
    module = libcst.Module(body=[], default_newline=source.newline)
    node: libcst.BaseExpression | None = None
    for prefix, suffix in (("", ""), ("(", ")")):
        try:
            parsed = libcst.parse_expression(prefix + text + suffix, config=config)
        except (libcst.ParserSyntaxError, RecursionError):
            continue
        if module.code_for_node(parsed) == prefix + text + suffix:
            node = parsed
            break
    if isinstance(node, libcst.Dict):
        return _measure_items(source, span.start, node, module)
    if not isinstance(node, libcst.Call):
        raise LayoutError(f"cannot read the call at line {call.lineno} back")
    return _measure(source, span.start, node, module)


def run_of_arguments(source: Source, call: ast.Call, first: ast.expr, last: ast.expr) -> Span:
    """From the first argument to the last, with the brackets around these: ``(a), b`` begins before its bracket.

    Raises:
        LayoutError: LibCST cannot read the call.
    """
    span = Span(source.span(first).start, source.span(last).end)
    depth = 0
    for byte in source.body[span.start : span.end]:
        depth += (byte in b"([{") - (byte in b")]}")
        if depth < 0:
            break
    if depth == 0:
        return span
    layout = read_layout(source, call)
    ends = (node.value if isinstance(node, ast.Starred) else node for node in (first, last))
    start, end = (layout.argument(node).whole for node in ends)
    return Span(start.start, end.end)


def _measure(source: Source, start: int, node: libcst.Call, module: libcst.Module) -> CallLayout:
    import libcst

    def length(part: libcst.CSTNode) -> int:
        if isinstance(part, libcst.SimpleWhitespace | libcst.Name) and not getattr(part, "lpar", ()):
            return len(part.value.encode("utf-8"))  # most parts are of these, and writing code is slow
        return len(module.code_for_node(part).encode("utf-8"))

    position = start + length(node.func)
    function = Span(start, position)
    position += length(node.whitespace_after_func) + 1
    open_end = position
    position += length(node.whitespace_before_args)
    arguments: list[ArgumentSpan] = []
    for argument in node.args:
        begin = position
        position += len(argument.star) + length(argument.whitespace_after_star)
        keyword = None
        if argument.keyword is not None:
            keyword = Span(position, position + length(argument.keyword))
            position = keyword.end
            if isinstance(argument.equal, libcst.AssignEqual):
                position += length(argument.equal)
        value = Span(position, position + length(argument.value))
        position = value.end
        comma_end = None
        if isinstance(argument.comma, libcst.Comma):
            comma_end = position + length(argument.comma.whitespace_before) + 1
            position = comma_end + length(argument.comma.whitespace_after)
        position += length(argument.whitespace_after_arg)
        arguments.append(ArgumentSpan(Span(begin, value.end), keyword, value, comma_end, position))
    return CallLayout(source, function, open_end, tuple(arguments), position)


def _measure_items(source: Source, start: int, node: libcst.Dict, module: libcst.Module) -> CallLayout:
    import libcst

    def length(part: libcst.CSTNode) -> int:
        return len(module.code_for_node(part).encode("utf-8"))

    position = start + 1
    items: list[ArgumentSpan] = []
    position += length(node.lbrace.whitespace_after)
    for element in node.elements:
        whole = Span(position, position + length(element.with_changes(comma=libcst.MaybeSentinel.DEFAULT)))
        position, comma_end = whole.end, None
        if isinstance(element.comma, libcst.Comma):
            comma_end = position + length(element.comma.whitespace_before) + 1
            position = comma_end + length(element.comma.whitespace_after)
        items.append(ArgumentSpan(whole, None, whole, comma_end, position))
    position += length(node.rbrace.whitespace_before)
    if items:
        items[-1] = replace(items[-1], after_end=position)
    return CallLayout(source, Span(start, start), start + 1, tuple(items), position)


@dataclass(frozen=True, slots=True)
class ArgumentChanges:
    """What to do to a call's arguments; keys are positions in ``CallLayout.arguments``."""

    drop: frozenset[int] = frozenset()
    keywords: Mapping[int, str] | None = None
    prepend: Sequence[str] = ()
    append: Sequence[str] = ()
    first: int = 0
    """Position of the first argument that is the API's own: 1 below ``functools.partial``."""


def edit_arguments(
    layout: CallLayout,
    changes: ArgumentChanges,
    code: str,
    values: Sequence[Edit] = (),
    width: int | None = None,
) -> list[Edit]:
    """Edits that rename or name arguments, drop some and add others; comments stay.

    A call on one line that new arguments make longer than ``width`` characters gets a line for each argument.
    ``values`` are edits inside the kept arguments. The order matters where edits meet at one byte: what is
    put before an argument, its name, its value, what is put behind it.
    """
    kept = [i for i in range(len(layout.arguments)) if i not in changes.drop]
    named = _keyword_edits(layout, changes, code)
    if not kept:
        if width is not None and _outgrows(layout, changes, named, width):
            return _one_per_line(layout, changes, kept, code)
        return [*named, *_replace_all(layout, changes, code)]
    edits: list[Edit] = []
    appended = list(changes.append)
    place = next((i for i in kept if i >= changes.first), None)
    if changes.prepend and place is None:
        appended = [*changes.prepend, *appended]
    elif changes.prepend and place is not None:
        start = layout.arguments[place].whole.start
        gap = _line_break(layout, place) or " "
        edits.append(Edit(Span(start, start), "".join(f"{text},{gap}" for text in changes.prepend), code))
    edits += [*named, *values]
    if width is not None and _outgrows(layout, changes, [*edits], width):
        opening, *breaks = _one_per_line(layout, changes, kept, code)
        return [opening, *named, *values, *breaks]
    edits += _drops(layout, changes.drop, kept[-1], code)
    if appended:
        edits += _append(layout, kept[-1], appended, code)
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
        if number == 0 and added and argument.comma_end is not None and _breaks(_before(layout, 0)):
            text += ","
        edits.append(Edit(Span(argument.whole.start, end), text, code))
    if not added and b"#" not in _text(layout, layout.open_end, layout.close_start):
        return [Edit(Span(layout.open_end, layout.close_start), "", code)]
    assert first.whole.start >= layout.open_end
    return edits


def _before(layout: CallLayout, index: int) -> bytes:
    """White space and comments before argument ``index``."""
    if index == 0:
        return _text(layout, layout.open_end, layout.arguments[0].whole.start)
    previous = layout.arguments[index - 1]
    assert previous.comma_end is not None
    return _text(layout, previous.comma_end, previous.after_end)


def _outgrows(layout: CallLayout, changes: ArgumentChanges, edits: Sequence[Edit], width: int) -> bool:
    """Whether a one-line call would run over ``width`` because of the arguments it gains."""
    source = layout.source
    if not changes.append or _breaks(_text(layout, layout.function.start, layout.close_start)):
        return False
    line = source.line_span(source.position(layout.function.start)[0])
    length = len(source.slice(line).rstrip("\r\n"))
    length += sum(len(edit.text) - (edit.span.end - edit.span.start) for edit in edits)
    length += sum(len(text) + 2 for text in changes.append)
    length -= sum(a.whole.end - a.whole.start + 2 for i, a in enumerate(layout.arguments) if i in changes.drop)
    return length > width


def _one_per_line(layout: CallLayout, changes: ArgumentChanges, kept: Sequence[int], code: str) -> list[Edit]:
    """Break a one-line call: a line for each argument, a comma after the last."""
    source = layout.source
    indentation = source.indentation(source.position(layout.function.start)[0])
    outer = source.newline + indentation
    inner = outer + ("\t" if "\t" in indentation else " " * source.indent)
    close = f",{outer}"
    before = [f"{inner}{text}," for text in changes.prepend if not changes.first]
    if not kept:
        added = f",{inner}".join(changes.append)
        return [Edit(Span(layout.open_end, layout.close_start), "".join(before) + inner + added + close, code)]
    edits: list[Edit] = []
    position, text = layout.open_end, "".join(before)
    for index in kept:
        argument = layout.arguments[index]
        if changes.first and index >= changes.first:
            text += "".join(f"{inner}{item}," for item in changes.prepend) if index == changes.first else ""
        edits.append(Edit(Span(position, argument.whole.start), text + inner, code))
        position, text = argument.whole.end, ","
    added = "".join(f",{inner}{item}" for item in changes.append)
    return [*edits, Edit(Span(position, layout.close_start), added + close, code)]


def _line_break(layout: CallLayout, index: int) -> str:
    """The line break and indentation before argument ``index``; empty if it stands behind another one."""
    before = _before(layout, index)
    if not _breaks(before):
        return ""
    indentation = before[max(before.rfind(b"\n"), before.rfind(b"\r")) + 1 :].decode("utf-8")
    return layout.source.newline + indentation


def _drops(layout: CallLayout, drop: frozenset[int], last_kept: int, code: str) -> list[Edit]:
    tail = sorted(i for i in drop if i > last_kept)
    edits = [_drop(layout, index, last_kept, code) for index in sorted(drop) if index < last_kept]
    if not tail:
        return edits
    kept, final = layout.arguments[last_kept], layout.arguments[tail[-1]]
    assert kept.comma_end is not None
    end = final.comma_end if final.comma_end is not None else final.whole.end
    if b"#" in _text(layout, kept.comma_end, final.whole.end):
        return edits + [_drop(layout, index, last_kept, code) for index in tail]
    start = kept.comma_end if final.comma_end is not None else kept.whole.end
    return [*edits, Edit(Span(start, end), "", code)]


def _drop(layout: CallLayout, index: int, last_kept: int, code: str) -> Edit:
    argument = layout.arguments[index]
    end = argument.comma_end if argument.comma_end is not None else argument.whole.end
    if index < last_kept:
        following = _text(layout, end, argument.after_end)
        if b"#" not in following:
            return Edit(Span(argument.whole.start, argument.after_end), "", code)
        return Edit(Span(argument.whole.start, end + len(following) - len(following.lstrip(b" \t"))), "", code)
    previous = layout.arguments[index - 1]
    assert previous.comma_end is not None
    between = _before(layout, index)
    if b"#" in between and not _breaks(_text(layout, end, argument.after_end)):
        return Edit(Span(argument.whole.start, end), "", code)  # the line's end belongs to the comment
    if b"#" in between:
        newline = max(between.rfind(b"\n"), between.rfind(b"\r"))
        if newline > 0 and between[newline - 1 : newline + 1] == b"\r\n":
            newline -= 1
        return Edit(Span(previous.comma_end + newline, end), "", code)
    start = previous.comma_end if argument.comma_end is not None or index - 1 > last_kept else previous.whole.end
    return Edit(Span(start, end), "", code)


def _breaks(text: bytes) -> bool:
    """Whether ``text`` holds a line's end."""
    return b"\n" in text or b"\r" in text


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
    place = after_start + min(breaks)
    rest = text[1:]
    if argument.comma_end is not None:
        return [Edit(Span(place, place), rest + ",", code)]
    return [
        Edit(Span(argument.whole.end, argument.whole.end), ",", code),
        Edit(Span(place, place), rest, code),
    ]
