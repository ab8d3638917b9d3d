"""An expression without its comments and line breaks, for text that is written where lines end."""

from __future__ import annotations

import io
import keyword
import re
import tokenize

_LINE_END = re.compile(r"\r\n?")
_STARTS = frozenset({"FSTRING_START", "TSTRING_START"})
_ENDS = frozenset({"FSTRING_END", "TSTRING_END"})
_LAYOUT = frozenset(
    {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER, tokenize.INDENT, tokenize.DEDENT}
)


def on_one_line(text: str) -> str:
    """``text``, an expression, on one line: only strings over several lines stay as they are."""
    if "\n" not in text and "\r" not in text:
        return text
    body = _LINE_END.sub("\n", text)
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(f"({body})").readline))
    except (tokenize.TokenError, SyntaxError):
        return body
    lines = f"({body})".splitlines(keepends=True)
    written: list[str] = []
    before: tokenize.TokenInfo | None = None
    inside = 0  # of strings that hold expressions, whose parts are tokens
    for token in tokens:
        if token.type in _LAYOUT:
            continue
        name = tokenize.tok_name[token.type]
        if before is not None and inside:
            written.append(_between(lines, before.end, token.start))
        elif before is not None:
            written.append(_gap(lines, before, token))
        inside += (name in _STARTS) - (name in _ENDS)
        written.append(_between(lines, token.start, token.end))
        before = token
    return "".join(written)[1:-1]


def _gap(lines: list[str], before: tokenize.TokenInfo, token: tokenize.TokenInfo) -> str:
    """What stands between two tokens, on one line."""
    if before.end[0] == token.start[0]:
        return lines[token.start[0] - 1][before.end[1] : token.start[1]]
    is_name = before.type == tokenize.NAME and not keyword.iskeyword(before.string)
    called = token.string in ("(", "[") and (is_name or before.string in (")", "]"))
    tight = before.string in ("(", "[", "{", ".") or token.string in (")", "]", "}", ".", ",", ":")
    return "" if tight or called else " "


def _between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    """The text from one position to another."""
    (first, column), (last, stop) = start, end
    if first == last:
        return lines[first - 1][column:stop]
    return "".join([lines[first - 1][column:], *lines[first : last - 1], lines[last - 1][:stop]])
