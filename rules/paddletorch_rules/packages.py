"""Packages that are built on one of the frameworks (``packages.toml``): what is known of each, by its import name."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from paddletorch_rules import compiled
from paddletorch_rules.releases import Framework

FILE = Path(__file__).with_name("packages.toml")

CODES = ("API244", "API245")
"""The findings that name such packages: one that is needed, and one that the program can do without."""

_KEYS = frozenset(["name", "on", "of", "counterpart", "instead", "distributions"])


class Package(NamedTuple):
    """A package, or the part of one, that is built on ``on``."""

    name: str
    """What is imported, such as ``timm``; dotted where only a part is meant."""
    on: Framework
    of: str
    """What is in it."""
    counterpart: str
    """What has the like for the other framework; empty if nothing is known."""
    instead: str
    """The way out, in a sentence."""
    distributions: tuple[str, ...]
    """Its names in requirements."""


class Packages:
    """The packages that are built on one framework."""

    def __init__(self, packages: tuple[Package, ...]) -> None:
        self._by_name = {package.name: package for package in packages}

    def of(self, dotted: str) -> Package | None:
        """The package that a dotted name lies in; of a package and a part of it, the part."""
        parts = dotted.split(".")
        names = (".".join(parts[:number]) for number in range(len(parts), 0, -1))
        return next((self._by_name[name] for name in names if name in self._by_name), None)

    def distributed_as(self, distribution: str) -> Package | None:
        """The package that a requirement means, by its name in any spelling that pip takes."""
        return self._by_distribution.get(normalized(distribution))

    def may_be_imported(self, data: bytes) -> bool:
        """Whether a file with these bytes may import one of them."""
        return any(token in data for token in self._tokens) and self._import.search(data) is not None

    def may_be_required(self, data: bytes) -> bool:
        """Whether a file with these bytes may name one of them as a requirement."""
        lowered = data.lower()
        return any(token in lowered for token in self._required)

    @cached_property
    def _required(self) -> tuple[bytes, ...]:
        return tuple(sorted({part.encode() for name in self._by_distribution for part in name.split("-")[:1]}))

    @cached_property
    def _by_distribution(self) -> Mapping[str, Package]:
        return {normalized(name): package for package in self._by_name.values() for name in package.distributions}

    @cached_property
    def _tokens(self) -> tuple[bytes, ...]:
        return tuple(sorted({name.partition(".")[0].encode() for name in self._by_name}))

    @cached_property
    def _import(self) -> re.Pattern[bytes]:
        return re.compile(rb"(?:import|from|[,(\"'])[ \t]*(?:" + b"|".join(self._tokens) + rb")\b")


def normalized(distribution: str) -> str:
    """A distribution's name as PyPI compares it."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


@lru_cache(maxsize=2)
def packages(side: Framework) -> Packages:
    """The packages built on ``side``, read once; from the compiled form if there is one.

    Raises:
        TableError: the file is wrong; the message names the package and the key.
    """
    return Packages(tuple(package for package in _all() if package.on == side))


@lru_cache(maxsize=1)
def _all() -> tuple[Package, ...]:
    digest = compiled.digest_of([FILE])
    found = compiled.restore("packages", digest)
    if found is None:
        found = plain()
        compiled.keep("packages", digest, found)
    return tuple(Package(*values) for values in found["packages"])


def plain() -> dict[str, Any]:
    """The entries of the file as plain values.

    Raises:
        TableError: the file is wrong; the message names the package and the key.
    """
    return {"packages": [tuple(getattr(one, key) for key in Package.__match_args__) for one in read()]}


def read() -> tuple[Package, ...]:
    """All entries of the file, in order.

    Raises:
        TableError: the file is wrong; the message names the package and the key.
    """
    if sys.version_info >= (3, 11):
        import tomllib  # slow to import, and not needed where the packages were kept
    else:
        import tomli as tomllib
    from paddletorch_rules.where import Where

    found: dict[str, Package] = {}
    for number, entry in enumerate(tomllib.loads(FILE.read_text(encoding="utf-8")).get("package", ()), 1):
        where = Where(FILE.name, str(entry.get("name", f"#{number}")))
        where.keys(entry, _KEYS)
        name = where.text(entry, "name")
        if name in found:
            raise where.error("name", f"{name!r} stands twice")
        found[name] = Package(
            name,
            where.choice(entry, "on", ("torch", "paddle"), "torch"),  # type: ignore[arg-type]
            where.text(entry, "of"),
            where.text(entry, "counterpart", ""),
            where.text(entry, "instead"),
            where.strings(entry, "distributions") or (() if "." in name else (name,)),
        )
    return tuple(found.values())
