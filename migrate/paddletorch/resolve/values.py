"""What an expression can be: framework APIs by qualified name, instances of tracked types, or unknown."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Qualified:
    """A dotted name below an imported (or unbound) root, such as ``torch.cuda.amp.GradScaler``."""

    name: str


@dataclass(frozen=True, slots=True)
class Instance:
    """An object of a tracked type (``scaler``, ``optimizer``, ``autocast``) made by ``api``; no type: a local class."""

    type: str
    api: str
    overrides: frozenset[str] = frozenset()
    """Methods that a local subclass defines itself."""
    node: ast.ClassDef | None = None
    """The local class it is an instance of."""
    outside: str = ""
    """The class of another file that it, or its local class, comes from; see ``TreeIndex``."""


@dataclass(frozen=True, slots=True)
class Partial:
    """``functools.partial`` over the API ``name``, with so many positional arguments."""

    name: str
    positional: int = 0


@dataclass(frozen=True, slots=True)
class Local:
    """A function, lambda or class of this file."""

    node: ast.AST


@dataclass(frozen=True, slots=True)
class Method:
    """A method of an instance of a tracked type, and what calling it makes; empty if that is not known."""

    type: str
    name: str
    makes: str = ""
    root: str = ""
    """The framework of the instance, if that is known."""


@dataclass(frozen=True, slots=True)
class Returning:
    """A method that another file defines, by what calling it gives."""

    gives: frozenset[Value]


@dataclass(frozen=True, slots=True)
class Container:
    """A list, tuple, set, dict or iterator whose elements can be ``elements``."""

    elements: frozenset[Value]
    parts: tuple[frozenset[Value], ...] = ()
    """What stands where, for a tuple whose length is known."""


@dataclass(frozen=True, slots=True)
class NoneValue:
    """None."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Anything else."""


Value = Qualified | Instance | Method | Returning | Partial | Local | Container | NoneValue | Unknown
Values = frozenset[Value]

NOTHING: Values = frozenset()
UNKNOWN: Values = frozenset({Unknown()})
NONE: Values = frozenset({NoneValue()})


def container(values: Values) -> Values:
    """A container of ``values``; what is nested too deep counts as unknown."""
    return frozenset({Container(values if _depth(values) < _NESTING else UNKNOWN)})


def tuple_of(parts: Sequence[Values]) -> Values:
    """A tuple by its parts."""
    elements = frozenset(v for part in parts for v in part)
    return frozenset({Container(elements, tuple(parts)) if _depth(elements) < _NESTING else Container(UNKNOWN)})


def _depth(values: Values) -> int:
    return max((1 + _depth(v.elements) for v in values if isinstance(v, Container)), default=0)


_NESTING = 3
