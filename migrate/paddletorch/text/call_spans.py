"""The spans of a call's parts: its function, its brackets, its arguments and the commas between them.

A dict display is read like a call without function, whose arguments are the items: it may be unpacked as the keywords
of a call.

``ast`` has the spans of the values. Between them are only white space, comments, brackets, commas, stars and names of
keywords; their spans are read from the bytes.
"""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from paddletorch.model import Span
from paddletorch.text.source import Source

_NO_CODE = re.compile(rb"(?:[ \t\f\r\n]+|#[^\r\n]*|\\\r?\n|\\\r)*")
"""White space and comments."""

_NAME = re.compile(rb"[^\s=#\\]+")


class LayoutError(ValueError):
    """The bytes between the call's parts cannot be read."""


class ArgumentSpan(NamedTuple):
    """One argument: ``whole`` is the argument without comma, ``after_end`` the start of the next one."""

    whole: Span
    keyword: Span | None
    value: Span
    comma_end: int | None
    after_end: int


class CallLayout(NamedTuple):
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
    """Find the spans of the call's parts.

    Raises:
        LayoutError: there is something else than white space, comments and punctuation between them.
    """
    span = source.span(call)
    punctuation = _Punctuation(source.body, span.end - 1)
    try:
        if isinstance(call, ast.Dict):
            return _read_items(source, punctuation, call)
        function = Span(span.start, punctuation.brackets_end(source.span(call.func).end))
        open_end = punctuation.after(b"(", punctuation.skip(function.end))
        position = punctuation.skip(open_end)
        arguments: list[ArgumentSpan] = []
        given: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
        for node in sorted(given, key=lambda node: (node.lineno, node.col_offset)):
            arguments.append(_argument(source, punctuation, position, node))
            position = arguments[-1].after_end
        punctuation.after(b")", position)
    except LayoutError:
        raise LayoutError(f"cannot read the call at line {call.lineno}") from None
    return CallLayout(source, function, open_end, tuple(arguments), position)


def _argument(source: Source, punctuation: _Punctuation, start: int, node: ast.expr | ast.keyword) -> ArgumentSpan:
    """The argument that begins at ``start``."""
    keyword, begin, value = None, start, node.value if isinstance(node, ast.keyword | ast.Starred) else node
    if isinstance(node, ast.Starred):
        begin = punctuation.skip(punctuation.after(b"*", start))
    elif isinstance(node, ast.keyword) and node.arg is None:
        begin = punctuation.skip(punctuation.after(b"**", start))
    elif isinstance(node, ast.keyword):
        keyword = Span(start, punctuation.name_end(start))
        begin = punctuation.skip(punctuation.after(b"=", punctuation.skip(keyword.end)))
    inner = source.span(value).end
    if inner > punctuation.close:  # a generator that shares the call's brackets
        assert isinstance(value, ast.GeneratorExp)
        last = value.generators[-1]
        inner = source.span(last.ifs[-1] if last.ifs else last.iter).end
    end = punctuation.brackets_end(inner)
    return ArgumentSpan(Span(start, end), keyword, Span(begin, end), *punctuation.comma(end))


def _read_items(source: Source, punctuation: _Punctuation, display: ast.Dict) -> CallLayout:
    start = source.span(display).start
    position = punctuation.skip(start + 1)
    items: list[ArgumentSpan] = []
    for value in display.values:
        whole = Span(position, punctuation.brackets_end(source.span(value).end))
        items.append(ArgumentSpan(whole, None, whole, *punctuation.comma(whole.end)))
        position = items[-1].after_end
    punctuation.after(b"}", position)
    return CallLayout(source, Span(start, start), start + 1, tuple(items), position)


class _Punctuation:
    """Reads the punctuation between the nodes of one call, up to the bracket that closes it."""

    def __init__(self, body: bytes, close: int) -> None:
        self._body = body
        self.close = close

    def skip(self, position: int) -> int:
        """The end of the white space and the comments at ``position``."""
        match = _NO_CODE.match(self._body, position, self.close)
        return match.end() if match is not None else position

    def after(self, mark: bytes, position: int) -> int:
        """The end of ``mark`` at ``position``.

        Raises:
            LayoutError: there is no such mark.
        """
        if not self._body.startswith(mark, position):
            raise LayoutError
        return position + len(mark)

    def comma(self, position: int) -> tuple[int | None, int]:
        """The end of the comma that follows, if one does, and the start of the next argument or the closing bracket.

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
        """The end of the brackets around an expression that ends at ``position``."""
        following = self.skip(position)
        while following < self.close and self._body.startswith(b")", following):
            position = following + 1
            following = self.skip(position)
        return position


def keyword_name(source: Source, keyword: ast.keyword) -> Span:
    """The keyword's name as the file spells it, which may be longer than the identifier that Python makes of it."""
    start = source.span(keyword).start
    found = _NAME.match(source.body, start)
    return Span(start, found.end() if found is not None else start)


def run_of_arguments(source: Source, call: ast.Call, first: ast.expr, last: ast.expr) -> Span:
    """From the first argument to the last, with the brackets around each: ``(a), b`` begins with the bracket.

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
