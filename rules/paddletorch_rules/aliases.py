"""Other names of what the tables know: a framework offers most of its API in several modules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypedDict

from paddletorch_rules.releases import Framework
from paddletorch_rules.schema import AliasRule


class Aliases:
    """Where else the names of the tables stand, by rule: ``torch.nn.modules.conv.Conv2d`` is ``torch.nn.Conv2d``."""

    def __init__(self, rules: Iterable[AliasRule], index: Index | None = None) -> None:
        """``index``: what :func:`index_of` gives for the rules, where that is known."""
        self.rules = tuple(rules)
        self._index = index if index is not None else index_of(self.rules)
        self._modules, self._names = self._index["modules"], self._index["names"]

    def modules(self, above: str) -> list[str]:
        """The modules at or below ``above`` that hold the names of another one."""
        return [module for module in self._modules if module == above or module.startswith(above + ".")]

    def paths(self, side: Framework) -> frozenset[str]:
        """Every other name of ``side``, ``module.*`` for all names of a module, and the modules that lead to them."""
        return frozenset(self._index["paths"][side])

    def segments(self, side: Framework) -> Sequence[str]:
        """The parts of :meth:`paths` between the dots, each once."""
        return self._index["segments"][side]

    def others(self, name: str) -> Iterator[str]:
        """The names that ``name`` is another one of, by one rule each; a table need not have them."""
        yield from self._names.get(name, ())
        top, _, rest = name.partition(".")
        if rest.startswith(f"{top}."):  # a package imports itself, and all of its modules are below that
            yield rest
        module, _, last = name.rpartition(".")
        for other in self._modules.get(module, ()):
            yield f"{other}.{last}"

    def below(self, module: str) -> Iterator[tuple[str, str]]:
        """Names that stand in ``module`` by rule, each with the name it is another one of; ``*`` is every name."""
        for other in self._modules.get(module, ()):
            yield f"{module}.*", f"{other}.*"
        for name in self._names_in.get(module, ()):
            yield from ((name, other) for other in self._names[name])

    @cached_property
    def _names_in(self) -> dict[str, list[str]]:
        """The single names by the module that holds them."""
        found: dict[str, list[str]] = {}
        for name in self._names:
            found.setdefault(name.rpartition(".")[0], []).append(name)
        return found

    def circle(self) -> str | None:
        """A name that leads back to itself, if there is one."""
        starts = [*self._names, *(f"{module}.*" for module in self._modules)]
        return next((name for name in starts if self._leads_to(name, name, set())), None)

    def _leads_to(self, name: str, end: str, seen: set[str]) -> bool:
        for other in self.others(name):
            if other == end:
                return True
            if other not in seen:
                seen.add(other)
                if self._leads_to(other, end, seen):
                    return True
        return False


class Index(TypedDict):
    """The names that the rules lead to, as plain values."""

    modules: Mapping[str, Sequence[str]]
    """Modules that hold the names of others, each with those."""
    names: Mapping[str, Sequence[str]]
    """Single names, each with those that it is another one of."""
    paths: Mapping[str, Sequence[str]]
    segments: Mapping[str, Sequence[str]]


def index_of(rules: Iterable[AliasRule]) -> Index:
    """What :class:`Aliases` looks up."""
    modules: dict[str, list[str]] = {}
    names: dict[str, list[str]] = {}
    for rule in rules:
        for alias, name in expanded(rule):
            if alias.endswith(".*"):
                modules.setdefault(alias[:-2], []).append(name[:-2])
            else:
                names.setdefault(alias, []).append(name)
    ends = [*names, *(f"{module}.*" for module in modules)]
    paths: dict[str, tuple[str, ...]] = {}
    segments: dict[str, tuple[str, ...]] = {}
    for side, packages in (("torch", ("torch", "torchvision")), ("paddle", ("paddle",))):
        parts = [end.split(".") for end in ends if end.partition(".")[0] in packages]
        paths[side] = tuple(dict.fromkeys(".".join(p[:n]) for p in parts for n in range(1, len(p) + 1)))
        segments[side] = tuple(dict.fromkeys(part for p in parts for part in p))
    return {"modules": modules, "names": names, "paths": paths, "segments": segments}


def expanded(rule: AliasRule) -> Iterator[tuple[str, str]]:
    """Each alias of a rule and the name that it is another one of; both end in ``.*`` for all names of a module."""
    for at in rule.at:
        for place in (at, *(f"{at[:-2]}.{module}.*" for module in rule.modules)):
            if rule.names or rule.overloads:
                yield from ((place[:-1] + name, rule.of[:-1] + name) for name in rule.names)
                for overload, names in rule.overloads.items():
                    yield from ((f"{place[:-1]}{name}.{overload}", rule.of[:-1] + name) for name in names)
            elif place != rule.of:
                yield place, rule.of
