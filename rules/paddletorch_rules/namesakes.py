"""APIs that are reported although the other framework has something of the same name, and what differs."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

from paddletorch_rules.releases import Framework, other_framework

FILE = Path(__file__).with_name("namesakes.toml")


class Namesake(NamedTuple):
    """What the other framework has under the same name."""

    name: str
    difference: str
    """Empty: the two have not been compared."""


def namesake(source: Framework, name: str) -> Namesake | None:
    """What has the name of an API of ``source``, of a member as ``tensor.apply_``; None where nothing says so."""
    difference = _differences()[source].get(name)
    if difference is None:
        return None
    other = other_framework(source)
    root, _, rest = name.partition(".")
    return Namesake(f"{other}.Tensor.{rest}" if root == "tensor" else f"{other}.{rest}", difference)


def named(source: Framework) -> frozenset[str]:
    """All APIs of ``source`` that have a namesake."""
    return frozenset(_differences()[source])


@cache
def _differences() -> dict[str, dict[str, str]]:
    if sys.version_info >= (3, 11):
        import tomllib  # slow to import, and few findings ask
    else:
        import tomli as tomllib
    data: dict[str, dict[str, str]] = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return data
