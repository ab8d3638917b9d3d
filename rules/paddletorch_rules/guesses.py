"""What names of variables say of the kind of what they hold, where nothing else does (``guesses.toml``).

A guess may say of what kind an object is, and never which object it is.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from paddletorch_rules import compiled
from paddletorch_rules.name_patterns import matches_name

FILE = Path(__file__).with_name("guesses.toml")


class Guess(NamedTuple):
    """What one pattern of names says, and how often that was so."""

    kind: str
    """What something by such a name is."""
    names: str
    """The pattern, which is searched for in the name."""
    right: int
    """Of the uses counted, those of the kind; see ``benchmarks/guesses.py``."""
    of: int
    """The uses of such names in real trees of which the files show the kind."""


@lru_cache(maxsize=1)
def guesses() -> Mapping[str, Guess]:
    """All guesses, read once; from the compiled form if there is one."""
    digest = compiled.digest_of([FILE])
    found = compiled.restore("guesses", digest)
    if found is None:
        found = read()
        compiled.keep("guesses", digest, found)
    return {name: Guess(**guess) for name, guess in found.items()}


def read() -> dict[str, Any]:
    """The tables of the file."""
    if sys.version_info >= (3, 11):
        import tomllib  # slow to import, and not needed where the guesses were kept
    else:
        import tomli as tomllib
    found: dict[str, Any] = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return found


def suggests(guess: str, name: str) -> bool:
    """Whether the guess says something of what has the name."""
    return matches_name(guesses()[guess].names, name)
