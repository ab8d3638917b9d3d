"""Where the parts of a call lie: its function, its brackets, its arguments and the commas between them.

A dict display is measured as a call of nothing, whose arguments are the items: it may supply the keywords of a call.

``ast`` says where the values lie. Between them stand only white space, comments, brackets, commas, stars and names of
keywords, so that a look at the bytes there says the rest.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from paddletorch.model import Span
from paddletorch.text.source import Source

_NO_CODE = re.compile(rb"(?:[ \t\f\r\n]+|#[^\r\n]*|\\\r?\n|\\\r)*")
"""White space and comments."""

_NAME = re.compile(rb"[^\s=#\\]+")


class LayoutError(ValueError):
    """What stands between the call's parts cannot be read."""


@dataclass(frozen=True, slots=True)
class ArgumentSpan:
    """One argument: ``whole`` is the argument without comma, ``after_end`` where the next one begins."""

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
    """Measure the call's parts.

    Raises:
        LayoutError: something else than white space, comments and marks stands between them.
    """
    span = source.span(call)
    marks = _Marks(source.body, span.end - 1)
    try:
        if isinstance(call, ast.Dict):
            return _read_items(source, marks, call)
        function = Span(span.start, marks.brackets_end(source.span(call.func).end))
        open_end = marks.after(b"(", marks.skip(function.end))
        position = marks.skip(open_end)
        arguments: list[ArgumentSpan] = []
        given: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
        for node in sorted(given, key=lambda node: (node.lineno, node.col_offset)):
            arguments.append(_argument(source, marks, position, node))
            position = arguments[-1].after_end
        marks.after(b")", position)
    except LayoutError:
        raise LayoutError(f"cannot read the call at line {call.lineno}") from None
    return CallLayout(source, function, open_end, tuple(arguments), position)


def _argument(source: Source, marks: _Marks, start: int, node: ast.expr | ast.keyword) -> ArgumentSpan:
    """The argument that begins at ``start``."""
    keyword, begin, value = None, start, node.value if isinstance(node, ast.keyword | ast.Starred) else node
    if isinstance(node, ast.Starred):
        begin = marks.skip(marks.after(b"*", start))
    elif isinstance(node, ast.keyword) and node.arg is None:
        begin = marks.skip(marks.after(b"**", start))
    elif isinstance(node, ast.keyword):
        keyword = Span(start, marks.name_end(start))
        begin = marks.skip(marks.after(b"=", marks.skip(keyword.end)))
    inner = source.span(value).end
    if inner > marks.close:  # a generator that shares the call's brackets
        assert isinstance(value, ast.GeneratorExp)
        last = value.generators[-1]
        inner = source.span(last.ifs[-1] if last.ifs else last.iter).end
    end = marks.brackets_end(inner)
    return ArgumentSpan(Span(start, end), keyword, Span(begin, end), *marks.comma(end))


def _read_items(source: Source, marks: _Marks, display: ast.Dict) -> CallLayout:
    start = source.span(display).start
    position = marks.skip(start + 1)
    items: list[ArgumentSpan] = []
    for value in display.values:
        whole = Span(position, marks.brackets_end(source.span(value).end))
        items.append(ArgumentSpan(whole, None, whole, *marks.comma(whole.end)))
        position = items[-1].after_end
    marks.after(b"}", position)
    return CallLayout(source, Span(start, start), start + 1, tuple(items), position)


class _Marks:
    """Reads what stands between the nodes of one call, up to the bracket that closes it."""

    def __init__(self, body: bytes, close: int) -> None:
        self._body = body
        self.close = close

    def skip(self, position: int) -> int:
        """Where the white space and the comments at ``position`` end."""
        match = _NO_CODE.match(self._body, position, self.close)
        return match.end() if match is not None else position

    def after(self, mark: bytes, position: int) -> int:
        """The end of ``mark``, which must stand at ``position``.

        Raises:
            LayoutError: it does not.
        """
        if not self._body.startswith(mark, position):
            raise LayoutError
        return position + len(mark)

    def comma(self, position: int) -> tuple[int | None, int]:
        """The end of the comma that follows, if one does, and where the next argument begins or the call closes.

        Raises:
            LayoutError: something else follows.
        """
        following = self.skip(position)
        if following == self.close:
            return None, following
        end = self.after(b",", following)
        return end, self.skip(end)

    def name_end(self, position: int) -> int:
        """The end of the name at ``position``."""
        match = _NAME.match(self._body, position, self.close)
        return match.end() if match is not None else position

    def brackets_end(self, position: int) -> int:
        """The end of the brackets that close behind an expression that ends at ``position``."""
        following = self.skip(position)
        while following < self.close and self._body.startswith(b")", following):
            position = following + 1
            following = self.skip(position)
        return position


def run_of_arguments(source: Source, call: ast.Call, first: ast.expr, last: ast.expr) -> Span:
    """From the first argument to the last, with the brackets around these: ``(a), b`` begins before its bracket.

    Raises:
        LayoutError: the call cannot be read.
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
