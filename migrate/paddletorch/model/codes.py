"""Codes as users give them: an area's letters, a whole code, or the beginning of one."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches


def areas(codes: Iterable[str]) -> frozenset[str]:
    """The letters that the codes begin with."""
    return frozenset(code.rstrip("0123456789") for code in codes)


def unknown_code(wanted: Iterable[str], known: Collection[str]) -> str | None:
    """The first of ``wanted`` that is neither an area, nor a code, nor the beginning of one."""
    letters = areas(known)
    for code in wanted:
        if code.rstrip("0123456789") not in letters or not any(full.startswith(code) for full in known):
            return code
    return None


def nearest(name: str, known: Iterable[str]) -> str:
    """``; did you mean 'x'?`` for the known name closest to ``name``, or nothing."""
    names = sorted(known)
    near = [full for full in names if full.startswith(name)] or get_close_matches(name, names, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
