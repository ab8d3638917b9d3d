"""Regular expressions of tables for names of variables: only such as cannot take long on any name.

Python's ``re`` goes back to try what else could fit. In how many ways a pattern can be tried at one place of a name is
worked out from the parsed pattern, and a pattern of too many is refused.
"""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from typing import Any

if sys.version_info >= (3, 11):
    from re import _parser as parser  # type: ignore[attr-defined]
else:
    import sre_parse as parser

LONGEST_PATTERN = 500
LONGEST_NAME = 128
"""A longer name matches no pattern."""
MOST_WAYS = 100_000
"""At one place of a name: enough for two ``.*``, too few for three or for one repetition in another."""


class UnsafePattern(ValueError):
    """A pattern that is no regular expression, or that can take too long."""


def check_pattern(pattern: str) -> None:
    """Refuse what cannot be used.

    Raises:
        UnsafePattern: says why.
    """
    if len(pattern) > LONGEST_PATTERN:
        raise UnsafePattern(f"is longer than {LONGEST_PATTERN} characters")
    for text in (pattern, without_anchors(pattern)):
        try:
            re.compile(text)
            ways = _ways(parser.parse(text))
        except (re.error, OverflowError) as error:
            raise UnsafePattern(f"is no regular expression ({error})") from None
        except RecursionError:
            raise UnsafePattern("is nested too deeply") from None
        if ways > MOST_WAYS:
            raise UnsafePattern(
                "could take too long on some names: it may hold no repetition of what repeats or has alternatives, "
                "and no more than two unbounded repetitions or a few optional parts in a row"
            )


def matches_name(pattern: str, name: str) -> bool:
    """Whether a pattern that was checked is found in ``name``; never for the empty pattern."""
    return bool(pattern) and len(name) <= LONGEST_NAME and re.search(pattern, name) is not None


@lru_cache
def without_anchors(pattern: str) -> str:
    """The pattern, found anywhere in a name."""
    return pattern.replace("$", "").replace("^", "")


def _ways(parsed: Any) -> int:
    """In how many ways ``re`` can try a sequence on a name, at most; stops counting above the limit."""
    ways = 1
    for operation, value in parsed:
        ways *= _ways_of(str(operation), value)
        if ways > MOST_WAYS:
            return ways
    return ways


def _ways_of(operation: str, value: Any) -> int:
    if operation in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        least, most, body = value
        return _repeated(_ways(body), min(int(least), LONGEST_NAME), min(int(most), LONGEST_NAME))
    if operation == "BRANCH":
        return sum(map(_ways, value[1]))
    if operation == "SUBPATTERN":
        return _ways(value[-1])
    if operation == "ATOMIC_GROUP":
        return _ways(value)
    if operation in ("ASSERT", "ASSERT_NOT"):
        return _ways(value[1])
    if operation == "GROUPREF_EXISTS":
        return _ways(value[1]) + (_ways(value[2]) if value[2] is not None else 1)
    return 1  # a character, a class of them, a place or what a group matched


def _repeated(ways: int, least: int, most: int) -> int:
    if ways == 1:
        return most - least + 1
    total = 0
    for times in range(least, most + 1):
        total += ways**times
        if total > MOST_WAYS:
            break
    return total
