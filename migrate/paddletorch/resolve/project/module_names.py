"""What a module binds at its top level, by syntax alone: enough to rule out what a class may derive from."""

from __future__ import annotations

import ast
import re
from functools import cached_property

_GLOBAL = re.compile(r"\bglobal\s+([^\n;#]+)")

_CONSTRUCTORS = frozenset({"__init__", "__new__"})

Meaning = ast.ClassDef | str | None
"""A class of the module, the dotted name of what is imported, or None for anything else."""


class ModuleNames:
    """The names that one module binds at its top level, without scopes and values."""

    def __init__(self, module: ast.Module, text: str) -> None:
        """``text``: the module's own."""
        self._module = module
        self._text = text

    @cached_property
    def _found(self) -> dict[str, list[Meaning]]:
        """What each name may be."""
        declared = re.findall(r"\w+", " ".join(_GLOBAL.findall(self._text)))
        found: dict[str, list[Meaning]] = {name: [None] for name in declared}
        pending: list[ast.AST] = list(self._module.body)
        while pending:
            node = pending.pop()
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(node)
                continue
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found.setdefault(node.name, []).append(None)
                continue
            if isinstance(node, ast.Import | ast.ImportFrom):
                for name, dotted in _imported(node):
                    found.setdefault(name, []).append(dotted)
                continue
            if isinstance(node, ast.Name):
                if not isinstance(node.ctx, ast.Load):
                    found.setdefault(node.id, []).append(None)
                continue
            bound = getattr(node, "name", None) or getattr(node, "rest", None)  # handlers and patterns bind names too
            if isinstance(bound, str):
                found.setdefault(bound, []).append(None)
            pending.extend(ast.iter_child_nodes(node))
        return found

    def binds(self, name: str) -> bool:
        """Whether a statement of the module's own binds the name."""
        return name in self._found

    @property
    def stars(self) -> list[str]:
        """The modules of which it imports everything."""
        modules = [one.removesuffix("*") for one in self._found.get("*", []) if isinstance(one, str)]
        return [module.rstrip(".") or module for module in modules]

    def bound(self, name: str) -> list[Meaning]:
        """What the name may be; empty if nothing binds it."""
        found = self._found.get(name, [])
        return found or ([None] if "*" in self._found else [])

    def bases(self, node: ast.ClassDef) -> list[Meaning]:
        """What the bases may be of which a class inherits its constructor, as of :meth:`bound`."""
        own = {s.name for s in node.body if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef)}
        if own & _CONSTRUCTORS:
            return []
        return [found for base in node.bases for found in self._meanings(base)]

    def _meanings(self, node: ast.expr) -> list[Meaning]:
        """What an expression may be."""
        members: list[str] = []
        while isinstance(node, ast.Attribute | ast.Subscript):  # a subscript gives a generic class its arguments
            if isinstance(node, ast.Attribute):
                members.insert(0, node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return [None]
        found = self.bound(node.id)
        if not members:
            return found
        return [".".join([one, *members]) if isinstance(one, str) else None for one in found]


def _imported(node: ast.Import | ast.ImportFrom) -> list[tuple[str, str]]:
    """The names that a statement binds, ``*`` among them, each with the dotted name of what it imports."""
    if isinstance(node, ast.Import):
        return [(a.asname, a.name) if a.asname else (a.name.partition(".")[0],) * 2 for a in node.names]
    module = "." * node.level + (node.module or "")
    dot = "" if module.endswith(".") else "."
    return [(a.asname or a.name, f"{module}{dot}{a.name}") for a in node.names]
