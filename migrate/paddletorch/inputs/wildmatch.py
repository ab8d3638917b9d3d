"""Patterns in gitignore syntax, matched as git matches them, in a time that no pattern can make long.

git's own matcher and regular expressions made from such patterns go back to every ``*`` when the rest does not fit,
which takes forever for ``*a*a*a*a*a*b``. Here only the last ``*`` of a segment and the last ``**`` are gone back to:
what stands before them can stay where it first fitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple


class Wildcard(Enum):
    """What stands for any number of bytes."""

    WITHIN = "*"
    """None of them a slash."""
    DEEP = "**"
    FOLDERS = "**/"
    """Whole segments with their slashes, or nothing."""


Token = Wildcard | frozenset[int]
"""A wildcard, or the bytes that one byte can be."""

_SLASH = ord("/")
_ANY = frozenset(range(256)) - {_SLASH}
_WILD = frozenset(b"*?[\\")
_ASCII = "".join(map(chr, range(128)))
_GRAPHIC = "".join(one for one in _ASCII if one.isprintable() and one != " ")
_CLASSES = {
    b"alnum": "".join(filter(str.isalnum, _ASCII)),
    b"alpha": "".join(filter(str.isalpha, _ASCII)),
    b"blank": " \t",
    b"cntrl": "".join(one for one in _ASCII if not one.isprintable()),
    b"digit": "".join(filter(str.isdigit, _ASCII)),
    b"graph": _GRAPHIC,
    b"lower": "".join(filter(str.islower, _ASCII)),
    b"print": _GRAPHIC + " ",
    b"punct": "".join(one for one in _GRAPHIC if not one.isalnum()),
    b"space": " \t\n\v\f\r",
    b"upper": "".join(filter(str.isupper, _ASCII)),
    b"xdigit": "0123456789abcdefABCDEF",
}


class Rule(NamedTuple):
    """One line of a .gitignore file."""

    negated: bool
    """Takes in again what an earlier line leaves out."""
    folders_only: bool
    anywhere: bool
    """Holds for the name of a file or folder at any depth, not for its path."""
    literal: bytes | None
    """What the whole name or path is, or with :attr:`suffix` ends in; None: see :attr:`tokens`."""
    suffix: bool
    tokens: tuple[Token, ...]

    def matches(self, path: bytes, name: bytes, *, is_dir: bool) -> bool:
        """Whether it is about ``path``, relative to the folder of the rule, whose last part is ``name``."""
        if self.folders_only and not is_dir:
            return False
        text = name if self.anywhere else path
        if self.literal is None:
            return _fits(self.tokens, text)
        return text.endswith(self.literal) if self.suffix else text == self.literal


def read_rule(line: bytes, *, strict: bool = False) -> Rule | None:
    """Read a line without its line end; None for an empty one or a comment.

    Raises:
        ValueError: no name can match it, as where a bracket is not closed; ``strict``: a range in it runs backwards.
    """
    pattern = _without_trailing_spaces(line)
    if not pattern or pattern.startswith(b"#"):
        return None
    negated = pattern.startswith(b"!")
    pattern = pattern[negated:]
    folders_only = pattern.endswith(b"/")
    pattern = pattern[: len(pattern) - folders_only]
    if not pattern:
        return None
    anywhere = b"/" not in pattern
    if not anywhere:
        pattern = pattern.removeprefix(b"/")
    if not _WILD.intersection(pattern):
        return Rule(negated, folders_only, anywhere, pattern, False, ())
    if anywhere and pattern[:1] == b"*" and not _WILD.intersection(pattern[1:]):
        return Rule(negated, folders_only, anywhere, pattern[1:], True, ())
    return Rule(negated, folders_only, anywhere, None, False, tuple(_tokens(pattern, anywhere, strict)))


def _without_trailing_spaces(line: bytes) -> bytes:
    stripped = line.rstrip(b" ")
    backslashes = len(stripped) - len(stripped.rstrip(b"\\"))
    return stripped + b" " if backslashes % 2 and len(stripped) < len(line) else stripped


def _tokens(pattern: bytes, anywhere: bool, strict: bool) -> list[Token]:
    found: list[Token] = []
    # git compares what stands before the first wildcard by itself, and looks at the rest as if it began there
    start = next(index for index, byte in enumerate(pattern) if byte in _WILD)
    at = 0
    while at < len(pattern):
        byte = pattern[at : at + 1]
        if byte == b"*":
            after = at
            while pattern[after : after + 1] == b"*":
                after += 1
            crosses = not anywhere and after > at + 1 and (at == start or pattern[at - 1] == _SLASH)
            if crosses and pattern[after : after + 1] == b"/":
                found.append(Wildcard.FOLDERS)
                after += 1
            elif crosses and (after == len(pattern) or pattern[after : after + 2] == b"\\/"):
                found.append(Wildcard.DEEP)
            else:
                found.append(Wildcard.WITHIN)
            at = after
        elif byte == b"[":
            members, at = _bracket(pattern, at + 1, strict)
            found.append(members)
        elif byte == b"\\":
            if at + 1 == len(pattern):
                raise ValueError(f"{_shown(pattern)} ends in a backslash")
            found.append(frozenset(pattern[at + 1 : at + 2]))
            at += 2
        else:
            found.append(_ANY if byte == b"?" else frozenset(byte))
            at += 1
    return found


def _bracket(pattern: bytes, at: int, strict: bool) -> tuple[frozenset[int], int]:
    """The bytes that a bracket expression stands for, and where it ends; ``at`` is behind its ``[``."""
    negated = pattern[at : at + 1] in (b"!", b"^")
    first = at = at + negated
    members: set[int] = set()
    previous: int | None = None
    while True:
        byte = pattern[at : at + 1]
        if byte == b"]" and at > first:
            break
        named = pattern[at + 2 : pattern.find(b"]", at + 2)] if pattern[at : at + 2] == b"[:" else b""
        if byte == b"-" and previous is not None and pattern[at + 1 : at + 2] not in (b"", b"]"):
            escaped = pattern[at + 1 : at + 2] == b"\\"
            last = pattern[at + 1 + escaped : at + 2 + escaped]
            if not last:
                raise ValueError(f"{_shown(pattern)} has a bracket that is not closed")
            if strict and last[0] < previous:
                raise ValueError(f"{_shown(pattern)} has a range that runs backwards")
            members.update(range(previous, last[0] + 1))
            previous = None
            at += 2 + escaped
        elif named.endswith(b":") and b"]" in pattern[at + 2 :]:
            if named[:-1] not in _CLASSES:
                raise ValueError(f"{_shown(pattern)} names an unknown class, [:{_shown(named)}]")
            members.update(map(ord, _CLASSES[named[:-1]]))
            previous = None
            at += len(named) + 3
        else:
            escaped = byte == b"\\"
            byte = pattern[at + escaped : at + escaped + 1]
            if not byte:
                raise ValueError(f"{_shown(pattern)} has a bracket that is not closed")
            members.add(byte[0])
            previous = byte[0]
            at += 1 + escaped
    found = _ANY - members if negated else _ANY & members
    if not found:
        raise ValueError(f"{_shown(pattern)} has a bracket that stands for nothing")
    return found, at + 1


def _shown(pattern: bytes) -> str:
    return pattern.decode(errors="backslashreplace")


def _fits(tokens: Sequence[Token], text: bytes) -> bool:
    """Whether the whole of ``text`` fits, in a time below the product of both lengths and the depth of the path."""
    token = at = 0
    star: tuple[int, int] | None = None  # the token after the last "*", and where in the text it was tried
    deep: tuple[int, int, Wildcard] | None = None  # the same for the last "**", which "*" before it need not outlive
    while True:
        current = tokens[token] if token < len(tokens) else None
        if current is Wildcard.WITHIN:
            token += 1
            star = token, at
        elif isinstance(current, Wildcard):
            token += 1
            star, deep = None, (token, at, current)
        elif current is None and at == len(text):
            return True
        elif current is not None and at < len(text) and text[at] in current:
            token, at = token + 1, at + 1
        elif star is not None and star[1] < len(text) and text[star[1]] != _SLASH:
            token, at = star[0], star[1] + 1
            star = token, at
        elif deep is not None and (following := _next_start(text, deep[1], deep[2])) is not None:
            token, at = deep[0], following
            star, deep = None, (token, at, deep[2])
        else:
            return False


def _next_start(text: bytes, at: int, wildcard: Wildcard) -> int | None:
    """Where what follows ``**`` can be tried after ``at``."""
    if wildcard is Wildcard.DEEP:
        return at + 1 if at < len(text) else None
    return text.find(b"/", at) + 1 or None
