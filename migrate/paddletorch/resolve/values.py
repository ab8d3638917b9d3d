"""What an expression can be: framework APIs by qualified name, instances of tracked types, or unknown."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Qualified:
    """A dotted name below an imported (or unbound) root, such as ``torch.cuda.amp.GradScaler``."""

    name: str


@dataclass(frozen=True, slots=True)
class Instance:
    """An object of a tracked type (``scaler``, ``optimizer``, ``autocast``) made by ``api``; no type: a local class.

    The type ``foreign`` is of no framework: a number, a string, a NumPy array.
    """

    type: str
    api: str
    overrides: frozenset[str] = frozenset()
    """Methods that a local subclass defines itself."""
    node: ast.ClassDef | None = None
    """The local class it is an instance of."""
    external_class: str = ""
    """``path:name`` of the class in another module that it is an instance of, or that its local class inherits from."""
    call: ast.Call | None = None
    """The call in this module that makes it, for types of which one object may be left and another one converted."""
    holds: Container | None = None
    """The modules that a module such as ``Sequential`` is made of, where that is known."""


@dataclass(frozen=True, slots=True)
class Partial:
    """``functools.partial`` over the API ``name``, with so many positional arguments."""

    name: str
    positional: int = 0


@dataclass(frozen=True, slots=True)
class Local:
    """A function, lambda or class of this module."""

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
class OpaqueFunction:
    """A function or method of which only the result of a call is known."""

    result: frozenset[Value]


@dataclass(frozen=True, slots=True)
class Container:
    """A list, tuple, set, dict or iterator whose elements can be ``elements``."""

    elements: frozenset[Value]
    parts: tuple[frozenset[Value], ...] = ()
    """The values at each position, for a tuple of known length."""
    names: tuple[str, ...] = ()
    """The names of the positions, of modules that got some."""


@dataclass(frozen=True, slots=True)
class NoneValue:
    """None."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Anything else."""


Value = Qualified | Instance | Method | OpaqueFunction | Partial | Local | Container | NoneValue | Unknown
Values = frozenset[Value]

NOTHING: Values = frozenset()
UNKNOWN: Values = frozenset({Unknown()})
NONE: Values = frozenset({NoneValue()})

TENSOR = "tensor"
"""The type of tensors."""


@lru_cache(maxsize=10_000)
def qualified(name: str) -> Values:
    """The API or module of the dotted name."""
    return frozenset({Qualified(name)})


@lru_cache(maxsize=10_000)
def foreign(kind: str) -> Values:
    """An object of no framework; ``kind`` is its Python type, or the function that made it."""
    return frozenset({Instance("foreign", kind)})


def container(values: Values) -> Values:
    """A container of ``values``; unknown elements where containers are nested too deep."""
    return frozenset({Container(values if _depth(values) < _NESTING else UNKNOWN)})


def tuple_of(parts: Sequence[Values]) -> Values:
    """A tuple by its parts."""
    elements = frozenset(v for part in parts for v in part)
    return frozenset({Container(elements, tuple(parts)) if _depth(elements) < _NESTING else Container(UNKNOWN)})


def _depth(values: Values) -> int:
    inner = (v.holds if isinstance(v, Instance) else v for v in values)
    return max((1 + _depth(v.elements) for v in inner if isinstance(v, Container)), default=0)


_NESTING = 3
