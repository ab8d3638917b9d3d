"""Codes as users give them: an area's letters, a whole code, or the beginning of one."""

from __future__ import annotations

from collections.abc import Collection, Iterable


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
    near = [full for full in names if full.startswith(name)] or near_names(name, names)
    return f"; did you mean {near[0]!r}?" if near else ""


def near_names(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Known names that ``name`` may be a slip for, the nearest first; the last parts of dotted ones are alike too."""
    from difflib import SequenceMatcher, get_close_matches  # slow to import, and only mistakes need it

    last = name.rpartition(".")[2]
    close = get_close_matches(name, list(known), n=20, cutoff=_ALIKE)
    return [one for one in close if SequenceMatcher(None, last, one.rpartition(".")[2]).ratio() >= _ALIKE][:most]


_ALIKE = 0.65
"""What share of two names must be the same for one to be a slip for the other."""
