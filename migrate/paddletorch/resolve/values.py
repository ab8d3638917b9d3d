"""What an expression can be: framework APIs by qualified name, instances of tracked types, or unknown."""

from __future__ import annotations

import ast
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


@dataclass(frozen=True, slots=True)
class Partial:
    """``functools.partial`` over the API ``name``."""

    name: str


@dataclass(frozen=True, slots=True)
class Local:
    """A function, lambda or class of this file."""

    node: ast.AST


@dataclass(frozen=True, slots=True)
class Container:
    """A list, tuple, set, dict or iterator whose elements can be ``elements``."""

    elements: frozenset[Value]


@dataclass(frozen=True, slots=True)
class NoneValue:
    """None."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Anything else."""


Value = Qualified | Instance | Partial | Local | Container | NoneValue | Unknown
Values = frozenset[Value]

NOTHING: Values = frozenset()
UNKNOWN: Values = frozenset({Unknown()})
NONE: Values = frozenset({NoneValue()})


def elements(values: Values) -> Values:
    """What iterating or subscripting ``values`` can give."""
    found: Values = NOTHING
    for value in values:
        found |= value.elements if isinstance(value, Container) else UNKNOWN
    return found


def container(values: Values) -> Values:
    """A container of ``values``; what is nested too deep counts as unknown."""
    return frozenset({Container(values if _depth(values) < _NESTING else UNKNOWN)})


def _depth(values: Values) -> int:
    return max((1 + _depth(v.elements) for v in values if isinstance(v, Container)), default=0)


_NESTING = 3
