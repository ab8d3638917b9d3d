"""Proves the adapters of functions: each example of a row, with its arguments unseen, computes the same."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Container, Iterator, Sequence
from types import ModuleType
from typing import Any

from paddletorch_rules import Framework, Row, Table, other_framework
from paddletorch_rules.adapters import Adapter

from paddletorch.api.convert import convert
from paddletorch.model import Severity
from paddletorch.proof.compare import difference
from paddletorch.proof.run import execute, module_text

_MODULE = "arguments_from_elsewhere"
"""A module of which the converter knows nothing: what its functions hand on is unseen."""

_UNSEEN_ARGUMENTS = "API240"


def proven(adapters: Sequence[Adapter], table: Table, target: Framework) -> Iterator[Adapter]:
    """Those of the adapters, which the converter must know already, with which every example computes the same.

    An example may as well stop at an argument that the adapter lacks: that is an error which names the argument.
    """
    by_name = {one.of: one for one in adapters}
    handed = ModuleType(_MODULE)
    handed.__dict__.update(positional=lambda *given: given, keywords=lambda **given: given)
    sys.modules[_MODULE] = handed
    kept: set[str] = set()
    wrong: set[str] = set()
    for row in table.rows:
        for form in row.forms(other_framework(target)):
            adapter = by_name.get(next(iter(form.names), ""))
            if adapter is not None:
                results = list(_results(row, form.names, adapter, target))
                kept.update([adapter.of] if any(results) else [])
                wrong.update([adapter.of] if False in results else [])
    return (one for one in adapters if one.of in kept and one.of not in wrong)


def _results(row: Row, names: Sequence[str], adapter: Adapter, target: Framework) -> Iterator[bool | None]:
    """Whether each example that calls the function computes the same; None where it stops at what is lacking."""
    source = other_framework(target)
    if row.prove == "processes":
        return
    for example in row.examples if source == "torch" else row.paddle_examples:
        change = _Unseen(names)
        tree = ast.fix_missing_locations(change.visit(ast.parse(example)))
        if not change.count:
            continue
        text = f"from {_MODULE} import keywords, positional\n{module_text(source, ast.unparse(tree))}"
        result = convert(text, to=target)
        told = {one.code for one in result.findings if one.severity is not Severity.INFO}
        if told - {_UNSEEN_ARGUMENTS, *row.warn.values()} or f"def {adapter.name}(" not in result.output:
            continue
        expected = _value(lambda text=text: execute(source, text, "<source>"))  # type: ignore[misc]
        found = _value(lambda text=result.output: execute(target, text, "<target>"))  # type: ignore[misc]
        if isinstance(expected, Exception):
            continue
        if isinstance(found, Exception):
            yield None if isinstance(found, TypeError) and f"{adapter.name}() " in str(found) else False
        else:
            values = row.prove != "shape"
            yield difference(expected, found, tolerance=row.tolerance, values=values) is None


def _value(compute: Callable[[], Any]) -> Any:
    try:
        return compute()
    except Exception as error:
        return error


class _Unseen(ast.NodeTransformer):
    """Hands the arguments of calls on through functions of which nothing is known."""

    def __init__(self, names: Container[str]) -> None:
        self._names = names
        self.count = 0

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        spread = any(isinstance(one, ast.Starred) for one in node.args) or any(one.arg is None for one in node.keywords)
        if ast.unparse(node.func) not in self._names or spread or not (node.args or node.keywords):
            return node
        self.count += 1
        positional = ast.Call(ast.Name("positional", ast.Load()), node.args, [])
        keywords = ast.Call(ast.Name("keywords", ast.Load()), [], node.keywords)
        return ast.Call(
            node.func,
            [ast.Starred(positional, ast.Load())] if node.args else [],
            [ast.keyword(None, keywords)] if node.keywords else [],
        )
