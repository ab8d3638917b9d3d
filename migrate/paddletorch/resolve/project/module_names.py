"""What a module binds at its top level, by syntax alone: enough to rule out what a class may derive from."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

_GLOBAL = re.compile(r"\bglobal\s+([^\n;#]+)")

_CONSTRUCTORS = frozenset({"__init__", "__new__"})


class ClassBases:
    """A class at a module's top level: the expressions of which it inherits its constructor."""

    def __init__(self, node: ast.ClassDef) -> None:
        own = {s.name for s in node.body if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef)}
        self.written = () if own & _CONSTRUCTORS else tuple(map(_dotted, node.bases))
        """Dotted names, empty for other expressions; none at all where the class has a constructor of its own."""


Meaning = ClassBases | str | None
"""A class of the module, the dotted name of what is imported, or None for anything else."""


class ModuleNames:
    """The names that one module binds at its top level, without scopes and values; it holds no syntax."""

    def __init__(self, module: ast.Module, text: str) -> None:
        """``text``: the module's own."""
        self._found = _bound_at_top(module, text)

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

    def bases(self, of: ClassBases) -> list[Meaning]:
        """What the bases may be of which a class inherits its constructor, as of :meth:`bound`."""
        return [found for written in of.written for found in self._meanings(written)]

    def _meanings(self, dotted: str) -> list[Meaning]:
        """What an expression may be."""
        if not dotted:
            return [None]
        root, dot, members = dotted.partition(".")
        found = self.bound(root)
        if not dot:
            return found
        return [f"{one}.{members}" if isinstance(one, str) else None for one in found]


def _bound_at_top(module: ast.Module, text: str) -> Mapping[str, list[Meaning]]:
    """What each name may be."""
    declared = re.findall(r"\w+", " ".join(_GLOBAL.findall(text))) if "global" in text else ()
    found: dict[str, list[Meaning]] = {name: [None] for name in declared}
    pending: list[ast.AST] = list(module.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.ClassDef):
            found.setdefault(node.name, []).append(ClassBases(node))
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


def _dotted(node: ast.expr) -> str:
    """The dotted name that an expression is; empty for others. A subscript gives a generic class its arguments."""
    members: list[str] = []
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute):
            members.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(members)]) if isinstance(node, ast.Name) else ""


def _imported(node: ast.Import | ast.ImportFrom) -> list[tuple[str, str]]:
    """The names that a statement binds, ``*`` among them, each with the dotted name of what it imports."""
    if isinstance(node, ast.Import):
        return [(a.asname, a.name) if a.asname else (a.name.partition(".")[0],) * 2 for a in node.names]
    module = "." * node.level + (node.module or "")
    dot = "" if module.endswith(".") else "."
    return [(a.asname or a.name, f"{module}{dot}{a.name}") for a in node.names]
