"""The source code that a hook runs, so that a recorded proof does not outlive a change to it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from paddletorch_rules import facts, hooks

_PROTOCOL = f"{hooks.__name__}.protocol"
"""Declares what a hook sees of a call, and has no code of its own."""

_ROOMS = (hooks.__name__ + ".", facts.__name__)
"""What a hook may use that a change is to be seen of."""

_Name = tuple[str, str]
"""A module, and a name that it defines."""


class _Definition(NamedTuple):
    text: str
    uses: tuple[str, ...]


@cache
def source_of(hook: str) -> tuple[str, ...]:
    """The text of all definitions in the hooks' modules that the hook called ``hook`` uses, in a fixed order.

    Both directions count, and the facts of a hook that asks for one. It is empty for the hooks in the engine: no
    record covers the engine's code, which the fixtures and the round trips hold.
    """
    texts: dict[_Name, str] = {}
    for (name, _), value in hooks.argument_hooks().items():
        if name == hook:
            _collect((value.function.__module__, value.function.__name__), texts)
    return tuple(texts[name] for name in sorted(texts))


def _collect(name: _Name, texts: dict[_Name, str]) -> None:
    """Add the definition of ``name`` to ``texts``, and those of the names in it."""
    waiting = [name]
    while waiting:
        module, last = waiting.pop()
        imports, definitions = _read(module)
        if last in imports:
            waiting.append(imports[last])
        elif last in definitions and (module, last) not in texts:
            texts[module, last] = definitions[last].text
            waiting += [(module, used) for used in definitions[last].uses]


@cache
def _read(module: str) -> tuple[Mapping[str, _Name], Mapping[str, _Definition]]:
    """What a module of hooks has from others of them, and what it defines itself."""
    imports: dict[str, _Name] = {}
    definitions: dict[str, _Definition] = {}
    if module == facts.__name__:
        return imports, {"facts": _Definition(facts.FILE.read_text(encoding="utf-8"), ())}
    spec = find_spec(module)
    if module == _PROTOCOL or spec is None or spec.origin is None:
        return imports, definitions
    source = Path(spec.origin).read_text(encoding="utf-8")
    lines = source.splitlines()
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(_ROOMS):
            imports.update((alias.asname or alias.name, (node.module or "", alias.name)) for alias in node.names)
            continue
        names: list[str] = []
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names = [node.name]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)]
        definitions.update((name, _definition(node, lines)) for name in names)
    return imports, definitions


def _definition(node: ast.stmt, lines: list[str]) -> _Definition:
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    text = "\n".join(lines[first - 1 : node.end_lineno])
    return _Definition(text, tuple(sorted({n.id for n in ast.walk(node) if isinstance(n, ast.Name)})))
