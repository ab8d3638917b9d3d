"""Which table defines what first: a second definition is an error, unless the first one says that it overrides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from paddletorch_rules.aliases import Aliases
from paddletorch_rules.releases import Framework
from paddletorch_rules.schema import Row
from paddletorch_rules.where import Where


class _Definition(NamedTuple):
    where: Where
    overrides: bool


class Definitions:
    """The first definition of every value map, type, diagnostic, area, row and name of an API.

    Tables are read in the order in which they win: those of the user before the built-in ones.
    """

    def __init__(self) -> None:
        self._first: dict[tuple[str, ...], _Definition] = {}

    def is_first(self, kind: str, name: str, where: Where, data: Mapping[str, Any]) -> bool:
        """Whether this ``[[kind]]`` is the one that counts; ``data`` is its table.

        Raises:
            TableError: there was one before that does not say ``override = true``; names both places.
        """
        found = self._first.setdefault((kind, name), _Definition(where, where.flag(data, "override")))
        if found.where is where:
            return True
        if not found.overrides or found.where.file == where.file:
            raise _twice(found.where, name, where)
        return False

    def add_row(self, row: Row, where: Where, overrides: bool) -> None:
        """Note the row and the names that it reads.

        Raises:
            TableError: a row of another file has the name, and the one before does not say ``override = true``.
        """
        definition = _Definition(where, overrides)
        names = [("row", row.id)]
        sides: tuple[tuple[Framework, Framework], ...] = (("torch", "paddle"), ("paddle", "torch"))
        for side, target in sides:
            if row.serves(target):
                names += [(f"{row.receiver or ''}@{side}", name) for form in row.forms(side) for name in form.names]
        for kind, name in names:
            found = self._first.setdefault((kind, name), definition)
            if found.where.file != where.file and not found.overrides:  # overloads stand in one file
                raise _twice(found.where, name, where)

    def check_aliases(self, aliases: Aliases) -> None:
        """Look whether a row's name is, by rule, another name of an API in another file.

        Raises:
            TableError: it is, and the row does not say ``override = true``.
        """
        for (kind, name), found in self._first.items():
            if kind.startswith("@") and not found.overrides:
                for other in aliases.others(name):
                    same = self._first.get((kind, other))
                    if same is not None and same.where.file != found.where.file:
                        raise _twice(found.where, other, same.where)


def _twice(first: Where, name: str, second: Where) -> Exception:
    return first.error(
        "override",
        f"{name!r} is defined in {second.file}, row {second.row!r}, too; 'override = true' says that this one counts",
    )
