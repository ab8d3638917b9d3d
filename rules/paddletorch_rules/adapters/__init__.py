"""Classes with the arguments of the other framework's layers, for calls whose arguments only the program knows.

``paddletorch rules adapters`` writes ``to_paddle.toml`` and ``to_torch.toml``: what the converter itself makes of a
subclass with the source's signature. A few are written by hand, in ``written_to_paddle.toml`` and
``written_to_torch.toml``, whose ``[[function]]`` entries are functions that such classes call.

``functions_to_paddle.toml`` and ``functions_to_torch.toml`` hold functions that templates of rows and hooks call, named
by the source's API: ``torch_chunk``. A converted file gets those that it calls. One with ``of`` has the parameters of
that function of the source, and so is its adapter.

The same command writes ``calls_to_paddle.toml`` and ``calls_to_torch.toml``, the adapters of functions: what the
converter makes of a function with the source's signature that hands its arguments on.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from paddletorch_rules import compiled
from paddletorch_rules.releases import Framework

_FOLDER = Path(__file__).parent


class Definition(NamedTuple):
    """A class or function that is written into a file."""

    name: str
    text: str


class Adapter(NamedTuple):
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
    """Parameters of which it takes a string, or a tensor made in the call, as it stands."""
    beside: tuple[str, ...] = ()
    """Classes that show, made in the same class, that the target's own layer does not suit the input."""
    answers: tuple[str, ...] = ()
    """Codes of what is said of the target's own layer and does not hold for it."""
    calls: str = ""
    """``source``: its ``forward`` has the source's parameters and result, so that its calls stay as they are."""
    escapes: bool = False
    """Whether it stands for the layer where one is handed to a function, which may call it in ways of the source."""
    objects: tuple[str, ...] = ()
    """Parameters of which it takes a function or layer, where the target's own layer takes a name only."""
    alone: bool = False
    """Whether the target has no such layer, so that the class stands for every use of the source's."""
    is_base: bool = False
    """Whether it stands for the source's class where the program derives a class from that, and only there."""
    derivable: bool = False
    """Whether it stands for the source's class there as well as elsewhere."""
    needs: tuple[str, ...] = ()
    """Names of the functions and other adapters that its text names."""
    at: tuple[str, ...] = ()
    """Other names of the source's class that no rule of ``aliases.toml`` gives."""
    members: tuple[str, ...] = ()
    """Members of the source's class or its objects that it has and the target's own layer lacks."""

    @property
    def keeps_calls(self) -> bool:
        """Whether calls of the layer stay as the source's."""
        return self.calls == "source"


def file(target: Framework) -> Path:
    """Where the adapters of layers that are converted to ``target`` are kept."""
    return _FOLDER / f"to_{target}.toml"


def functions_file(target: Framework) -> Path:
    """Where the adapters of functions that are converted to ``target`` are kept."""
    return _FOLDER / f"calls_to_{target}.toml"


_TAKEN: dict[Framework, Path] = {}
"""Files that adapters of functions are taken from in this process, instead of their own."""


def take_functions_from(path: Path, target: Framework) -> Mapping[str, Adapter]:
    """Take the adapters of functions from another file, in a process that proves them before they are written."""
    _TAKEN[target] = path
    function_adapters.cache_clear()
    return function_adapters(target)


@lru_cache
def adapters(target: Framework) -> Mapping[str, Adapter]:
    """The adapters by the source's class, and by other names of it that no rule of ``aliases.toml`` gives."""
    found = [_adapter(one) for one in _entries(target, "adapter")]
    return MappingProxyType({name: one for one in found for name in (one.of, *one.at)})


@lru_cache
def function_adapters(target: Framework) -> Mapping[str, Adapter]:
    """The adapters of functions by the source's function; and of the classes of optimizers and the like."""
    made, written = _parsed(_TAKEN.get(target, functions_file(target)), _FOLDER / f"functions_to_{target}.toml")
    entries = [*made["adapter"], *(one for one in written["function"] if "of" in one)]
    return MappingProxyType({one["of"]: _adapter(one) for one in entries})


@lru_cache
def definitions(target: Framework, adapter: Adapter) -> tuple[Definition, ...]:
    """What is written into a file for the adapter: what it needs, and last its class."""
    known = {one["name"]: Definition(one["name"], one["text"]) for one in _entries(target, "function")}
    known |= functions(target) if adapter.needs else {}
    named = {one.name: one for one in adapters(target).values()}
    found: dict[str, Definition] = {}
    for name in adapter.needs:
        needed = definitions(target, named[name]) if name in named else (known[name],)
        found |= {one.name: one for one in needed}
    return (*found.values(), Definition(adapter.name, adapter.text))


@lru_cache
def functions(target: Framework) -> Mapping[str, Definition]:
    """The functions that templates towards ``target`` may call, by name."""
    (table,) = _parsed(_FOLDER / f"functions_to_{target}.toml")
    return MappingProxyType({one["name"]: Definition(one["name"], one["text"]) for one in table["function"]})


@lru_cache
def readers(target: Framework) -> Mapping[str, str]:
    """The functions that read an attribute of any object as the source's layers have it, by the layer and attribute."""
    (table,) = _parsed(_FOLDER / f"functions_to_{target}.toml")
    return MappingProxyType({one["reads"]: one["name"] for one in table["function"] if "reads" in one})


def _entries(target: Framework, kind: str) -> list[Mapping[str, Any]]:
    return [one for table in _tables(target) for one in table.get(kind, ())]


@lru_cache
def _tables(target: Framework) -> tuple[Mapping[str, Any], ...]:
    return _parsed(file(target), _FOLDER / f"written_to_{target}.toml")


def _parsed(*paths: Path) -> tuple[Mapping[str, Any], ...]:
    return tuple(map(_parsed_file, paths))


def _parsed_file(path: Path) -> Mapping[str, Any]:
    kind, digest = f"adapters_{path.stem}", compiled.digest_of([path])
    found: Mapping[str, Any] | None = compiled.restore(kind, digest)
    if found is None:
        found = read(path)
        compiled.keep(kind, digest, found)
    return found


def read(path: Path) -> Mapping[str, Any]:
    """What one of the files here holds, without the cache."""
    if sys.version_info >= (3, 11):
        import tomllib  # slow to import, and not needed where the file was kept
    else:
        import tomli as tomllib
    found: Mapping[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    return found


def write_compiled(folder: Path) -> None:
    """Write what a wheel brings of the files here into ``folder``.

    Raises:
        OSError: the folder cannot be written to.
    """
    for path in sorted(_FOLDER.glob("*.toml")):
        compiled.write(folder, f"adapters_{path.stem}", [path], read(path))


def _adapter(entry: Mapping[str, Any]) -> Adapter:
    lists = {key: tuple(entry.get(key, ())) for key in _LISTS}
    warns = tuple(entry.get("warns", {}).items())
    return Adapter(
        entry["of"],
        entry["name"],
        entry["text"],
        warns=warns,
        calls=entry.get("calls", ""),
        alone=entry.get("alone", False),
        is_base=entry.get("is_base", False),
        derivable=entry.get("derivable", False),
        escapes=entry.get("escapes", False),
        **lists,
    )


_LISTS = ("lacks", "checks", "texts", "beside", "answers", "objects", "needs", "members", "at")
