"""A star import may bind any name: no function is then written into the file, and none that is not there is called."""

from __future__ import annotations

import ast
import re

from paddletorch_rules.adapters import functions

from ...fixture_files import Fixture, engine_for, with_fixtures

_FIRST_IMPORT = re.compile(rb"^(import|from) (?!__future__)", re.MULTILINE)


def _defined(tree: ast.Module) -> set[str]:
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def _read(tree: ast.Module) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _has_written_function(fixture: Fixture) -> bool:
    if _FIRST_IMPORT.search(fixture.source) is None:
        return False
    return any(f"\ndef {name}(".encode() in fixture.output for name in functions(fixture.target))


@with_fixtures(_has_written_function)
def test_nothing_is_called_that_is_not_written(fixture: Fixture) -> None:
    first = _FIRST_IMPORT.search(fixture.source)
    assert first is not None
    source = fixture.source[: first.start()] + b"from helpers import *\n" + fixture.source[first.start() :]
    output = ast.parse(engine_for(fixture.options).convert(source, "a.py").output)
    assert (_read(output) & set(functions(fixture.target))) - _defined(output) - _read(ast.parse(source)) == set()
