"""Classes with the arguments of the other framework's layers, for calls whose arguments only the program knows.

``paddletorch rules adapters`` writes ``to_paddle.toml`` and ``to_torch.toml``: what the converter itself makes of a
subclass with the source's signature. A few are written by hand, in ``written_to_torch.toml``.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from paddletorch_rules.releases import Framework

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Adapter:
    """A subclass of the target's layer with the constructor of the source's."""

    of: str
    """The source's class: ``torch.nn.BatchNorm2d``."""
    name: str
    """``TorchBatchNorm2d``."""
    text: str
    """The class statement; it names the target by its full name."""
    lacks: tuple[str, ...] = ()
    """Parameters of the source's class that it does not have, since the target has nothing like them."""
    checks: tuple[str, ...] = ()
    """Parameters of which it takes only what the target has, and raises a ValueError otherwise."""
    warns: tuple[tuple[str, str], ...] = ()
    """What is to be said where it is used: a code, and the words that its message lacks."""
    texts: tuple[str, ...] = ()
    """Parameters of which it takes a string as it stands."""
    beside: tuple[str, ...] = ()
    """Classes that show, made in the same class, that the target's own layer does not suit the input."""
    answers: tuple[str, ...] = ()
    """Codes of what is said of the target's own layer and does not hold for it."""


def file(target: Framework) -> Path:
    """Where the adapters of calls that are converted to ``target`` are kept."""
    return _FOLDER / f"to_{target}.toml"


@lru_cache
def adapters(target: Framework) -> Mapping[str, Adapter]:
    """The adapters by the source's class."""
    if sys.version_info >= (3, 11):
        import tomllib  # slow to import, and few files need an adapter
    else:
        import tomli as tomllib
    found: dict[str, Adapter] = {}
    for path in (file(target), _FOLDER / f"written_to_{target}.toml"):
        if path.exists():
            with path.open("rb") as opened:
                found |= {one["of"]: _adapter(one) for one in tomllib.load(opened)["adapter"]}
    return MappingProxyType(found)


def _adapter(entry: Mapping[str, Any]) -> Adapter:
    lists = {key: tuple(entry.get(key, ())) for key in ("lacks", "checks", "texts", "beside", "answers")}
    return Adapter(entry["of"], entry["name"], entry["text"], warns=tuple(entry.get("warns", {}).items()), **lists)
