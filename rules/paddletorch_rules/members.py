"""Members that classes of both frameworks have alike (``members.toml``), beside those that rows are about."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from paddletorch_rules.releases import Framework, other_framework

FILE = Path(__file__).with_name("members.toml")

_KEYS = frozenset(["torch", "paddle", "same", "example", "paddle_example", "unproven"])


class ClassMembers(NamedTuple):
    """Members of one name and one meaning.

    Args:
        torch, paddle: the two classes.
        same: the members' names.
        example: code in torch that proves them: of the object ``m`` each member is asked that the code does not name.
        unproven: why there is no example.
        paddle_example: the same code in Paddle, where a conversion would write other members than those meant.
    """

    torch: str
    paddle: str
    same: tuple[str, ...]
    example: tuple[str, ...]
    paddle_example: str = ""
    unproven: str = ""

    def owner(self, side: Framework) -> str:
        """The class on ``side``."""
        return self.torch if side == "torch" else self.paddle


@lru_cache(maxsize=1)
def class_members() -> tuple[ClassMembers, ...]:
    """All entries of the file, in order.

    Raises:
        TableError: the file is wrong; the message names the class and the key.
    """
    if sys.version_info >= (3, 11):
        import tomllib  # slow to import, and asked for by few commands
    else:
        import tomli as tomllib
    from paddletorch_rules.where import Where

    found = []
    for number, entry in enumerate(tomllib.loads(FILE.read_text(encoding="utf-8")).get("class", ()), 1):
        where = Where(FILE.name, str(entry.get("torch", f"#{number}")))
        where.keys(entry, _KEYS)
        one = ClassMembers(
            where.text(entry, "torch"),
            where.text(entry, "paddle"),
            where.strings(entry, "same"),
            where.either(entry, "example"),
            where.text(entry, "paddle_example", ""),
            where.text(entry, "unproven", ""),
        )
        if not one.same:
            raise where.error("same", "missing")
        if bool(one.example) == bool(one.unproven):
            raise where.error("example", "an example is needed, or 'unproven', the reason why there is none")
        found.append(one)
    return tuple(found)


def same_member(side: Framework, name: str) -> str:
    """The other framework's name of the member ``torch.nn.AvgPool2d.padding``; empty if nothing is said of it."""
    return _by_name(side).get(name, "")


@lru_cache(maxsize=2)
def _by_name(side: Framework) -> Mapping[str, str]:
    other = other_framework(side)
    found: dict[str, str] = {}
    for one in class_members():
        for last in one.same:
            found.setdefault(f"{one.owner(side)}.{last}", f"{one.owner(other)}.{last}")
    return found
