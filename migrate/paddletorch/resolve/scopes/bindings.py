"""The records of scope analysis: scopes, the bindings in them, and stores to attributes."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

ScopeKind = Literal["module", "function", "class", "comprehension"]
BindingKind = Literal[
    "import", "assign", "unpack", "def", "class", "parameter", "iterate", "enter", "augment", "opaque", "delete"
]


@dataclass(eq=False, slots=True)
class Binding:
    """One assignment, parameter, import or other construct that binds a name."""

    kind: BindingKind
    name: str
    node: ast.AST
    scope: Scope
    value: ast.expr | None = None
    """The assigned expression, a loop's iterable, a context manager, or a parameter's default, by ``kind``."""
    annotation: ast.expr | None = None
    qualified: str | None = None
    """The dotted name that an import binds."""
    alias: ast.alias | None = None
    """The part of the import statement that binds the name."""
    path: tuple[int | None, ...] = ()
    """Which part of ``value`` is bound: a position for each level of unpacking; None for any element."""


@dataclass(eq=False, slots=True)
class Scope:
    """One lexical scope and the names bound in it."""

    kind: ScopeKind
    node: ast.AST
    parent: Scope | None
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    redirected: dict[str, Scope | None] = field(default_factory=dict)
    """Names that ``global`` and ``nonlocal`` declare, with the module's scope or None."""
    returns: list[ast.expr | None] = field(default_factory=list)
    """What the function returns; None for ``yield`` and for a return without value."""

    def lookup(self, name: str) -> list[Binding]:
        """All bindings that ``name`` may refer to in this scope; empty if nothing in the module binds it."""
        scope: Scope | None = self
        first = True
        while scope is not None:
            if name in scope.redirected:
                target = scope.redirected[name]
                if target is None:
                    scope, first = scope.parent, False
                    continue
                return target.bindings.get(name, [])
            if (first or scope.kind != "class") and name in scope.bindings:
                return scope.bindings[name]
            first = False
            scope = scope.parent
        return []

    def enclosing_class(self) -> Scope | None:
        """The class scope around this one, if any."""
        scope: Scope | None = self
        while scope is not None and scope.kind != "class":
            scope = scope.parent
        return scope

    def function(self) -> Scope:
        """The nearest function or module scope: where a comprehension's walrus binds."""
        scope = self
        while scope.kind == "comprehension" and scope.parent is not None:
            scope = scope.parent
        return scope


class AttributeStore(NamedTuple):
    """``target = value`` (or ``target: annotation``) where the target is an attribute."""

    target: ast.Attribute
    value: ast.expr | None
    annotation: ast.expr | None
    scope: Scope
    registered: bool = False
    """Whether a module takes the value as a buffer or a parameter, which is a tensor or None."""


_TENSORS = {"add_parameter": "parameter", "register_buffer": "tensor", "register_parameter": "param"}
_MODULES = {"add_module": "module", "add_sublayer": "sublayer", "register_module": "module"}
REGISTERING = _TENSORS | _MODULES
"""Methods of modules that store to an attribute, and the parameter that takes the value."""


def registered(call: ast.Call, scope: Scope) -> AttributeStore | None:
    """The store to ``self.x`` that ``self.register_buffer("x", value)`` does; None for other calls."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in REGISTERING:
        return None
    name, value = _argument(call, 0, "name"), _argument(call, 1, REGISTERING[call.func.attr])
    if value is None or not isinstance(name, ast.Constant) or not isinstance(name.value, str):
        return None
    if call.func.attr in _MODULES and not _is_self(call.func.value):
        return None  # of a container, whose own names tell nothing of other objects
    target = ast.copy_location(ast.Attribute(call.func.value, name.value, ast.Store()), call)
    return AttributeStore(target, value, None, scope, registered=call.func.attr in _TENSORS)


def set_by_name(call: ast.Call, scope: Scope) -> AttributeStore | None:
    """The store to ``self.x`` that ``setattr(self, "x", value)`` does; None for other calls."""
    if len(call.args) != 3 or not _is_self(call.args[0]):
        return None
    owner, name, value = call.args
    if not isinstance(name, ast.Constant) or not isinstance(name.value, str):
        return None
    return AttributeStore(ast.copy_location(ast.Attribute(owner, name.value, ast.Store()), call), value, None, scope)


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _argument(call: ast.Call, place: int, name: str) -> ast.expr | None:
    if place < len(call.args):
        return call.args[place]
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
