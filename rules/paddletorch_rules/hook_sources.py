"""The source code that a hook runs, so that a recorded proof does not outlive a change to it."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import NamedTuple

from paddletorch_rules import hooks

_PROTOCOL = f"{hooks.__name__}.protocol"
"""Declares what a hook sees of a call, and has no code of its own."""

_Name = tuple[str, str]
"""A module, and a name that it defines."""


class _Definition(NamedTuple):
    text: str
    uses: tuple[str, ...]


@cache
def source_of(hook: str) -> tuple[str, ...]:
    """The text of all definitions in the hooks' modules that the hook called ``hook`` uses, in a fixed order.

    A hook that a factory made counts with what it was made of. It is empty for the hooks in the engine: no record
    covers the engine's code, which the fixtures and the round trips hold.
    """
    value = hooks.argument_hooks().get(hook)
    if value is None:
        return ()
    texts: dict[_Name, str] = {}
    made_of = [text for name in _roots(value) for text in _collect(name, texts)]
    return (*made_of, *(texts[name] for name in sorted(texts)))


def _roots(value: object) -> Iterator[_Name | str]:
    """The module-level definitions of a hook, and the values that it was made with as text."""
    if isinstance(value, FunctionType):
        name = value.__qualname__.partition(".")[0]  # of an inner function: the outer one
        yield value.__module__, _lambda(value.__code__.co_firstlineno) if name == "<lambda>" else name
        for cell in value.__closure__ or ():
            yield from _roots(cell.cell_contents)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from _roots(getattr(value, field.name))
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _roots(item)
    elif isinstance(value, Mapping):
        yield from _roots(tuple(value.items()))
    else:
        yield repr(sorted(value, key=repr) if isinstance(value, set | frozenset) else value)


def _collect(name: _Name | str, texts: dict[_Name, str]) -> Iterator[str]:
    """Add the definition of ``name`` to ``texts``, and those of the names in it; a value's text is given back."""
    if isinstance(name, str):
        yield name
        return
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
    spec = find_spec(module)
    if module == _PROTOCOL or spec is None or spec.origin is None:
        return imports, definitions
    source = Path(spec.origin).read_text(encoding="utf-8")
    lines = source.splitlines()
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(hooks.__name__ + "."):
            imports.update((alias.asname or alias.name, (node.module or "", alias.name)) for alias in node.names)
            continue
        names: list[str] = []
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names = [node.name]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)]
            lambdas = [n for n in ast.walk(node) if isinstance(n, ast.Lambda)]
            definitions.update((_lambda(n.lineno), _definition(n, lines)) for n in lambdas)
        definitions.update((name, _definition(node, lines)) for name in names)
    return imports, definitions


def _definition(node: ast.stmt | ast.Lambda, lines: list[str]) -> _Definition:
    text = "\n".join(lines[node.lineno - 1 : node.end_lineno])
    return _Definition(text, tuple(sorted({n.id for n in ast.walk(node) if isinstance(n, ast.Name)})))


def _lambda(line: int) -> str:
    """What a function without a name is called here; one that moves counts as another."""
    return f"<lambda> {line}"
