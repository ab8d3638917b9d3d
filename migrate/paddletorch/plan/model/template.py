"""Expression templates of the tables, and how they are matched against expressions."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping
from functools import lru_cache

from paddletorch.plan.model.same_code import same_code
from paddletorch.resolve.scopes.bindings import Scope

_PLACEHOLDER = "__placeholder_{}__"


class Template:
    """An expression with placeholders, such as ``float({self}.state_dict().get('scale', [1.0])[0])``."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._tree = _parse(text)

    def members(self) -> list[str]:
        """The members of ``{self}`` that the template uses; none if it is a single member."""
        placeholder = _PLACEHOLDER.format("self")
        if isinstance(self._tree, ast.Attribute) and isinstance(self._tree.value, ast.Name):
            return []
        return [
            n.attr
            for n in ast.walk(self._tree)
            if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == placeholder
        ]

    def match(self, node: ast.AST, scopes: Mapping[ast.AST, Scope]) -> dict[str, ast.expr] | None:
        """The expression at each placeholder if ``node`` has the template's shape, else None.

        Names of Python's own functions in it must mean those in the node's scope: the file may define a ``str``.
        """
        arguments: dict[str, ast.expr] = {}
        if not _match(self._tree, node, arguments):
            return None
        given = {id(part) for value in arguments.values() for part in ast.walk(value)}
        own = (n for n in ast.walk(node) if isinstance(n, ast.Name) and id(n) not in given and hasattr(builtins, n.id))
        return None if any(n in scopes and scopes[n].lookup(n.id) for n in own) else arguments


@lru_cache(maxsize=256)
def _parse(text: str) -> ast.expr:
    return ast.parse(text.format_map(_Placeholders()), mode="eval").body


class _Placeholders(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return _PLACEHOLDER.format(key)


def _match(pattern: ast.AST, node: ast.AST, arguments: dict[str, ast.expr]) -> bool:
    if isinstance(pattern, ast.Name) and pattern.id.startswith("__placeholder_"):
        name = pattern.id[len("__placeholder_") : -2]
        if not isinstance(node, ast.expr):
            return False
        earlier = arguments.setdefault(name, node)
        return earlier is node or same_code(earlier, node)
    if type(pattern) is not type(node):
        return False
    for field in pattern._fields:
        if field in ("ctx", "kind", "type_comment"):
            continue
        left, right = getattr(pattern, field, None), getattr(node, field, None)
        if isinstance(left, ast.AST):
            if not isinstance(right, ast.AST) or not _match(left, right, arguments):
                return False
        elif isinstance(left, list):
            if not isinstance(right, list) or len(left) != len(right):
                return False
            if not all(_match(a, b, arguments) for a, b in zip(left, right, strict=True)):
                return False
        elif left != right or type(left) is not type(right):
            return False
    return True
