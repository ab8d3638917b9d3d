"""IPython's own syntax in a cell: magics, shell commands and help are covered so that the rest is Python.

A cover has as many characters as what it covers, on the same lines, so that every position stays.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

_CELL_MAGIC = re.compile(r"\s*%%(?P<name>[\w!]+)")
_LINE_MAGIC = re.compile(r"[ \t]*[%!?]")
_BARE_INSTALL = re.compile(r"(?:pip3?|conda|mamba|uv)[ \t]+\w+(?:[ \t]|$)")
_HELP = re.compile(r"[ \t]*%{0,2}[A-Za-z_*][\w.*\[\]]*[ \t]*\?{1,2}[ \t]*(?:;[ \t]*)?$")
_ASSIGNED = re.compile(r"[\w.,\[\] \t*]+=[ \t]*(?P<magic>[%!].*)")
_STATEMENT = re.compile(r"[ \t]*(?P<magic>%(?:time|timeit)(?:[ \t]+-[a-z]+(?:[ \t]*\d+)?)*[ \t]+)(?P<code>[^-\s].*)")
_MAGIC_NAME = re.compile(r"[ \t]*%+(\w*)")
_NAME = re.compile(r"[^\W\d]\w*")
_INTERPOLATED = re.compile(r"\{[^{}]*\}|\$\w+")

_SHELL_CELLS = frozenset({"%%bash", "%%sh", "%%!", "%%system"})
_COMMAND_MARK = re.compile(r"[ \t]*(?:(?:!{1,2}|%(?=pip|conda))[ \t]*)?(?=\w)")

_PYTHON_BODY = frozenset({"time", "timeit", "capture", "prun", "memit", "debug"})
"""Cell magics that run the rest of the cell in the notebook's own namespace."""
_OTHER_PYTHON = frozenset({"python", "python3", "pypy", "writefile", "file"})
"""Cell magics whose text may be Python for another process."""
_PYTHON_LINE = frozenset({"time", "timeit", "prun", "lprun", "memit", "mprun", "debug"})
"""Line magics that are given Python."""


@dataclass(frozen=True, slots=True)
class CoveredMagic:
    """What was covered. ``line`` counts from 1 in the cell."""

    line: int
    magic: str
    """What it is: ``%timeit``, ``%%writefile`` or ``!``."""
    python: str
    """The part that may be Python and use an API."""
    names: frozenset[str]
    """Names of the notebook that it uses."""


@dataclass(frozen=True, slots=True)
class PlainCell:
    """A cell as Python sees it. ``python`` has the length of the cell."""

    python: str
    covers: tuple[CoveredMagic, ...] = ()


def blank(text: str) -> str:
    """White space in place of the text, with the same line ends."""
    return re.sub(r"[^\r\n]", " ", text)


def names_in(text: str) -> frozenset[str]:
    """Everything in a text that may be a name."""
    return frozenset(_NAME.findall(text))


def without_magics(code: str) -> PlainCell:
    """The cell with blanks or a filler in place of what IPython takes for itself; the rest need not be valid Python."""
    match = _CELL_MAGIC.match(code)
    if match is None:
        return _lines(list(io.StringIO(code, newline="")))
    name = match["name"]
    if name not in _PYTHON_BODY:
        python = code if name in _OTHER_PYTHON else ""
        line = code.count("\n", 0, match.start("name")) + 1
        return PlainCell(blank(code), (CoveredMagic(line, f"%%{name}", python, _interpolated(code)),))
    lines = list(io.StringIO(code, newline=""))
    first = next(number for number, line in enumerate(lines) if line.strip())
    header = CoveredMagic(first + 1, f"%%{name}", lines[first].partition(name)[2], names_in(lines[first]))
    rest = _lines(lines[first + 1 :], before=first + 1)
    return PlainCell(blank("".join(lines[: first + 1])) + rest.python, (header, *rest.covers))


def _lines(lines: Sequence[str], before: int = 0) -> PlainCell:
    """Cover the magics on lines of their own; ``before`` lines of the cell come first."""
    written: list[str] = []
    covers: list[CoveredMagic] = []
    index = 0
    while index < len(lines):
        line = lines[index]
        text = line.rstrip("\r\n")
        magic = _LINE_MAGIC.match(text) or _HELP.match(text) or _BARE_INSTALL.match(text)
        assigned = _ASSIGNED.match(text)
        end = _continued(lines, index) if magic or assigned else _logical_end(lines, index)
        whole = "".join(lines[index:end])
        statement = _STATEMENT.match(text)
        if statement and end == index + 1 and _is_simple(statement["code"]):
            start, stop = statement.span("magic")
            cover = "0".ljust(stop - start - 1) + ";"  # one statement more on the line: the code stays where it is
            written.append(line[:start] + cover + line[stop:])
        elif magic:
            indentation = len(line) - len(line.lstrip(" \t"))
            written.append(line[:indentation] + "0" + blank(whole[indentation + 1 :]))
            covers.append(_cover(whole, before + index + 1))
        elif assigned:
            start = assigned.start("magic")
            value = "_" * (len(text) - start)  # a name that nothing binds: what a magic returns is not known
            written.append(whole[:start] + value + blank(whole[len(text) :]))
            covers.append(_cover(whole[start:], before + index + 1))
        else:
            written.append(whole)
        index = end
    return PlainCell("".join(written), tuple(covers))


def command_texts(code: str, covers: Sequence[CoveredMagic]) -> Iterator[tuple[int, str]]:
    """What a shell or pip is given of a cell, with its place: the text behind ``!`` and ``%``, or below ``%%bash``."""
    lines = list(io.StringIO(code, newline=""))
    starts = [0, *accumulate(map(len, lines))]
    for cover in covers:
        first = cover.line - 1
        if cover.magic in _SHELL_CELLS:
            yield starts[cover.line], code[starts[cover.line] :]
        elif cover.magic in ("!", "%pip", "%conda", "") or _BARE_INSTALL.match(lines[first]):
            text = "".join(lines[first : _continued(lines, first)])
            mark = _COMMAND_MARK.match(text)
            if mark is not None:
                yield starts[first] + mark.end(), text[mark.end() :]


def _cover(text: str, line: int) -> CoveredMagic:
    match = _MAGIC_NAME.match(text)
    if match is None:
        return CoveredMagic(line, text.strip()[:1], "", _interpolated(text))
    python = text[match.end() :] if match[1] in _PYTHON_LINE else ""
    return CoveredMagic(line, f"%{match[1]}", python, names_in(python) | _interpolated(text))


def _interpolated(text: str) -> frozenset[str]:
    """Names that IPython puts into a command: ``{name}`` and ``$name``."""
    return frozenset(name for part in _INTERPOLATED.findall(text) for name in _NAME.findall(part))


def _is_simple(code: str) -> bool:
    """Whether code can stand behind a semicolon."""
    try:
        ast.parse("0;" + code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _continued(lines: Sequence[str], index: int) -> int:
    """The line after a magic that backslashes continue."""
    while index < len(lines) - 1 and lines[index].rstrip("\r\n").endswith("\\"):
        index += 1
    return index + 1


def _logical_end(lines: Sequence[str], index: int) -> int:
    """The line after the logical line that begins at ``index``: brackets and strings may run over several."""
    text = lines[index].strip()
    if not text or text.startswith("#"):
        return index + 1
    try:
        for token in _tokens(lines, index):
            if token.type == tokenize.NEWLINE:
                return index + token.start[0]
    except (tokenize.TokenError, SyntaxError, ValueError):  # ValueError: half of a surrogate pair
        pass
    return len(lines)  # no Python: the parser will say so


def _tokens(lines: Sequence[str], first: int) -> Iterator[tokenize.TokenInfo]:
    """Those from a line on; the lines are not copied, which each line of a long cell would do."""
    return tokenize.generate_tokens(map(lines.__getitem__, range(first, len(lines))).__next__)
