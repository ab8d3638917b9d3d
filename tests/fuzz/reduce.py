"""Makes a case that breaks a promise small: fewer options, fewer lines, fewer tokens, as long as it breaks it still."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from paddletorch.model import Options

from .names import undefined_frameworks
from .promises import judge

_TRIES = 600
_TOKEN = re.compile(rb"[\w\x80-\xff]+|[ \t]+|[^\w\s\x80-\xff]")


class Small(NamedTuple):
    """A case that is as small as it was found to be, and what it breaks."""

    data: bytes
    options: Options
    detail: str


def reduced(data: bytes, options: Options, promise: str, tries: int = _TRIES, seconds: float = float("inf")) -> Small:
    """A smaller case that breaks ``promise`` too, found in at most ``tries`` conversions and about ``seconds``."""
    left = [tries]
    until = time.perf_counter() + seconds
    unbound = undefined_frameworks(data)

    def detail(data: bytes, options: Options) -> str | None:
        left[0] = left[0] - 1 if time.perf_counter() < until else -1
        if left[0] < 0 or not undefined_frameworks(data) <= unbound:  # losing an import makes another case
            return None
        return next((v.detail for v in judge(data, options).violations if v.promise == promise), None)

    for name in ("annotate", "unsafe", "select", "ignore", "shim", "source_version", "target_version"):
        plainer = replace(options, **{name: getattr(Options(options.target), name)})
        if plainer != options and detail(data, plainer) is not None:
            options = plainer

    def breaks(parts: Sequence[bytes]) -> bool:
        return detail(b"".join(parts), options) is not None

    lines: list[bytes] = re.split(rb"(?<=\n)|(?<=\r)(?!\n)", data)
    size = 0
    while size != len(b"".join(lines)) and left[0] > 0:
        size = len(b"".join(lines))
        lines = _fewer([line for line in lines if line], breaks)
        lines = _dedented(lines, breaks)
        tokens = [token for line in lines for token in _tokens(line)]
        lines = re.split(rb"(?<=\n)|(?<=\r)(?!\n)", b"".join(_fewer(tokens, breaks)))
    data = b"".join(lines)
    left[0], until = 1, float("inf")
    return Small(data, options, detail(data, options) or "not found again")


def _tokens(line: bytes) -> Iterator[bytes]:
    place = 0
    for match in _TOKEN.finditer(line):
        if match.start() > place:
            yield line[place : match.start()]
        yield match.group()
        place = match.end()
    if place < len(line):
        yield line[place:]


def _fewer(parts: list[bytes], breaks: Callable[[Sequence[bytes]], bool]) -> list[bytes]:
    """Leave out ever smaller runs of parts."""
    size = max(len(parts) // 2, 1)
    while True:
        place = 0
        while place < len(parts):
            without = parts[:place] + parts[place + size :]
            if without and breaks(without):
                parts = without
            else:
                place += size
        if size == 1:
            return parts
        size //= 2


def _dedented(lines: list[bytes], breaks: Callable[[Sequence[bytes]], bool]) -> list[bytes]:
    """Leave out the head of a block, with the block one step to the left."""
    for index in range(len(lines)):
        if index >= len(lines) or not lines[index].rstrip().endswith(b":"):
            continue
        own = len(lines[index]) - len(lines[index].lstrip())
        end = index + 1
        while end < len(lines) and (len(lines[end]) - len(lines[end].lstrip()) > own or not lines[end].strip()):
            end += 1
        inner = [line[:own] + line.lstrip(b" \t") for line in lines[index + 1 : end]]
        shallower = [*lines[:index], *inner, *lines[end:]]
        if inner and breaks(shallower):
            lines = shallower
    return lines
