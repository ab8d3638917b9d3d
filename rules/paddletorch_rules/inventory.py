"""The public names of an installed framework, and which of them are one object."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import textwrap
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any, Literal

from paddletorch_rules.releases import Framework

NameKind = Literal["class", "function", "constant", "module", "member"]

UNDERSCORED = ("torch._foreach_", "torch._check", "torch._assert", "torch._weight_norm")
"""Beginnings of names that programs use though they begin with an underscore."""

_PLAIN = (bool, int, float, str, bytes, tuple, list, dict, set, frozenset, type(None))
"""Types of constants that count only where ``__all__`` has them: most are a module's own."""

_OPEN_MODULES = frozenset(["torch", "paddle", "paddle.tensor"])
"""Modules of which every name counts that has no underscore: their ``__all__`` is not whole."""

_TESTS = frozenset(["test", "tests", "testing", "conftest", "setup"])


@dataclass(frozen=True, slots=True)
class PublicName:
    """A name that a framework offers, or a member of a class that it offers (``torch.Tensor.abs``).

    ``owner`` is the class of a member, by the name in ``module``; ``identity`` is the same for two names of one object.
    """

    name: str
    module: str
    kind: NameKind
    identity: int
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Inventory:
    """What was found: the public names, how many private ones were passed over, and what could not be imported."""

    names: tuple[PublicName, ...]
    private: dict[str, int]
    not_importable: tuple[str, ...]


def take_inventory(
    side: Framework, passed_over: Callable[[str], bool], with_members: Callable[[str], bool]
) -> Inventory:
    """Walk the installed framework.

    Args:
        side: which framework; it must be installed.
        passed_over: whether a module need not be looked into, since one statement is about all its names.
        with_members: whether the members of a class, given by its name, are listed too.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a deprecated name warns when it is looked at
        return _Walk(side, passed_over, with_members).inventory()


class _Walk:
    """One walk over one framework."""

    def __init__(
        self, side: Framework, passed_over: Callable[[str], bool], with_members: Callable[[str], bool]
    ) -> None:
        self.side, self.passed_over, self.with_members = side, passed_over, with_members
        self.found: dict[str, PublicName] = {}
        self.private: dict[str, int] = {}
        self.broken: list[str] = []
        self.kept: list[object] = []  # an object that is gone could share its id with another one
        self.listed: set[type] = set()

    def inventory(self) -> Inventory:
        root = importlib.import_module(self.side)
        modules = {self.side: root, **dict(self._modules(root))}
        for name, module in modules.items():
            self._names(name, module)
        return Inventory(tuple(self.found.values()), self.private, tuple(self.broken))

    def _modules(self, package: ModuleType) -> Iterator[tuple[str, ModuleType]]:
        """The public modules below ``package``, also those that are attributes only (``torch.ops``)."""
        for entry in pkgutil.iter_modules(getattr(package, "__path__", ()), package.__name__ + "."):
            last = entry.name.rpartition(".")[2]
            if last.startswith("_") or last in _TESTS:
                continue
            if self.passed_over(entry.name):
                self._add(entry.name, package.__name__, "module", entry)
                continue
            try:
                module = importlib.import_module(entry.name)
            except (Exception, SystemExit):  # a module may need a package, a device or another system
                self.broken.append(entry.name)
                continue
            yield entry.name, module
            if entry.ispkg:
                yield from self._modules(module)

    def _names(self, place: str, module: ModuleType) -> None:
        stated = getattr(module, "__all__", None)
        listed = {str(name) for name in stated} if stated is not None else set()
        for last in sorted({*dir(module), *listed}):
            name = f"{place}.{last}"
            if last.startswith("__") or not last.isidentifier():
                continue
            try:
                found = getattr(module, last)
            except Exception:  # a name that __all__ has and the module lacks, or one that fails when it is looked at
                continue
            if isinstance(found, ModuleType) or not self._is_of_framework(found, place, module, last in listed):
                continue
            any_name = place in _OPEN_MODULES or (stated is None and self.side == "torch")
            if not self._is_public(name, last, any_name, listed):
                self.private[place] = self.private.get(place, 0) + 1
                continue
            kind: NameKind = "class" if isinstance(found, type) else "function" if callable(found) else "constant"
            self._add(name, place, kind, found)
            legacy = type(found).__name__ == "tensortype"  # torch.FloatTensor: its members are those of Tensor
            if isinstance(found, type) and found not in self.listed and not legacy and self.with_members(name):
                self.listed.add(found)
                self._members(name, place, found)

    def _is_public(self, name: str, last: str, any_name: bool, listed: set[str]) -> bool:
        if name.startswith(UNDERSCORED):
            return True
        return not last.startswith("_") and (last in listed or any_name)

    def _is_of_framework(self, found: object, place: str, module: ModuleType, listed: bool) -> bool:
        if listed:
            return True
        if isinstance(found, type) or callable(found):
            home = _home(found)
            if home == place or hasattr(module, "__path__"):
                return not home or home.partition(".")[0] == self.side
            return not home and not isinstance(found, type)  # written in C
        return not isinstance(found, _PLAIN) and _home(type(found)).partition(".")[0] == self.side

    def _add(self, name: str, place: str, kind: NameKind, found: object, owner: str = "") -> None:
        self.kept.append(found)
        plain = isinstance(found, _PLAIN)
        self.found[name] = PublicName(name, place, kind, 0 if plain else id(found), owner)

    def _members(self, owner: str, place: str, kind: type) -> None:
        """The members that a public class adds to those of its public bases, and of classes outside the framework."""
        outside = {last for base in kind.__mro__ if not self._is_own(base) for last in dir(base)}
        above = [base for base in kind.__mro__[1:] if self._is_own(base) and self._is_public_class(base)]
        given = outside.union(*map(_own_members, above))
        for last in sorted({*dir(kind), *_own_members(kind)} - given):
            if last.startswith("_"):
                continue
            found = inspect.getattr_static(kind, last, None)
            self._add(f"{owner}.{last}", place, "member", found, owner)

    def _is_own(self, base: type) -> bool:
        return _home(base).partition(".")[0] == self.side or base.__name__ == "TensorBase"

    def _is_public_class(self, base: type) -> bool:
        return not base.__name__.startswith("_") and base.__name__ != "TensorBase"


def _home(found: object) -> str:
    home = getattr(found, "__module__", None)
    return home if isinstance(home, str) else ""


def _own_members(kind: type) -> set[str]:
    """What the class has of itself: its attributes, those it annotates, and those its ``__init__`` sets on ``self``."""
    return {*vars(kind), *vars(kind).get("__annotations__", {}), *_set_in_init(kind)}


def _set_in_init(kind: type) -> set[str]:
    start: Any = vars(kind).get("__init__")
    if not isinstance(start, FunctionType):
        return set()
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(start)))
    except (OSError, TypeError, SyntaxError):
        return set()
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self"
    }
