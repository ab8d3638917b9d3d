"""Holds the tables against the inventory of an installed framework: what becomes of each public name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from paddletorch_rules.fates import Fate, Said, said_of
from paddletorch_rules.inventory import Inventory, PublicName, take_inventory
from paddletorch_rules.releases import Framework
from paddletorch_rules.table import Table


@dataclass(frozen=True, slots=True)
class Covered:
    """A public name and its fate.

    ``same_as`` is another name of the same object. An open name with one that the tables have lacks an alias only.
    """

    name: str
    module: str
    fate: Fate
    said: Said
    same_as: str = ""


class Coverage(NamedTuple):
    """All public names of one framework with their fates, and how many private names each module has beside them."""

    side: Framework
    names: tuple[Covered, ...]
    private: dict[str, int]

    @property
    def open(self) -> tuple[Covered, ...]:
        """The names of which the tables say nothing."""
        return tuple(covered for covered in self.names if covered.fate is Fate.OPEN)


def cover(table: Table, side: Framework) -> Coverage:
    """Take the inventory of the installed ``side`` and look each name up; takes some 20 s for torch.

    Raises:
        ImportError: the framework is not installed.
    """
    inventory = take_inventory(
        side,
        passed_over=lambda module: said_of(table, side, f"{module}.*").fate is Fate.NO_COUNTERPART,
        with_members=lambda name: said_of(table, side, name).fate in (Fate.ROW, Fate.ALIAS),
    )
    return Coverage(side, tuple(_covered(table, side, inventory)), inventory.private)


def _covered(table: Table, side: Framework, inventory: Inventory) -> Iterator[Covered]:
    said = {public.name: said_of(table, side, _asked(public)) for public in inventory.names}
    objects: dict[int, list[str]] = {}
    for public in inventory.names:
        if public.identity and public.kind != "member":
            objects.setdefault(public.identity, []).append(public.name)
    for public in inventory.names:
        here = said[public.name]
        if here.fate is not Fate.OPEN:
            yield Covered(public.name, public.module, here.fate, here, here.alias_of)
            continue
        names = objects.get(public.identity, [public.name])
        known = [name for name in names if said[name].fate is not Fate.OPEN]
        first = _first(known or names)
        fate = Fate.OPEN
        if said[first].fate is Fate.NO_COUNTERPART:
            fate = Fate.NO_COUNTERPART
        elif not known and first != public.name:
            fate = Fate.ALIAS  # of what is open under its first name
        yield Covered(public.name, public.module, fate, said[first], first if first != public.name else "")
    for module in (public.name for public in inventory.names if public.kind == "module"):  # they were passed over
        for name in sorted(table.names(side)):
            if name.startswith(f"{module}.") and "._" not in name:
                yield Covered(name, module, (found := said_of(table, side, name)).fate, found)
    for module in inventory.not_importable:
        found = said_of(table, side, f"{module}.*")
        yield Covered(module, module.rpartition(".")[0], found.fate, found)


def _asked(public: PublicName) -> str:
    return f"{public.name}.*" if public.kind == "module" else public.name


def _first(names: Iterable[str]) -> str:
    """The name that users are told to write: the shortest path, the first of equals."""
    return min(names, key=lambda name: (name.count("."), name))


def above(module: str, parts: int) -> str:
    """The module itself or the one above it whose name has ``parts`` parts."""
    return ".".join(module.split(".")[:parts])
