"""Proves the adapters of functions: each example of a row, with its arguments unseen, computes the same.

A framework may end the process in an example, so the examples run in a process of their own. It takes the adapters from
a file that is not theirs: what is not proven never stands beside the tables.
"""

from __future__ import annotations

import ast
import sys
import tempfile
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from paddletorch_rules import Framework, Row, load, other_framework
from paddletorch_rules.adapters import Adapter, functions_file, take_functions_from

from paddletorch.api.convert import convert
from paddletorch.model import Severity
from paddletorch.proof.compare import difference
from paddletorch.proof.run import execute, module_text
from paddletorch.proof.worker import Ended, Replaced
from paddletorch.proof.write_adapters import toml

_MODULE = "arguments_from_elsewhere"
"""A module of which the converter knows nothing: what its functions hand on is unseen."""

_UNSEEN_ARGUMENTS = "API240"

_Results = Mapping[str, Sequence[bool | None]]
"""By the API that an adapter stands for: whether each example computes the same."""


class Proven(NamedTuple):
    """The adapters that hold, in their order."""

    kept: tuple[Adapter, ...]
    ended: Mapping[str, str]
    """How the process ended, by the id of the row whose examples ended it; none of the row's adapters is kept."""


def proven(adapters: Sequence[Adapter], target: Framework, tables: tuple[str, ...] = ()) -> Proven:
    """Those of the adapters with which every example computes the same.

    An example may as well stop at an argument that the adapter lacks: that is an error which names the argument.
    """
    names = {one.of for one in adapters}
    found: dict[str, list[bool | None]] = {}
    ended: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, functions_file(target).name)
        path.write_text(toml(adapters), encoding="utf-8")
        with Replaced(_answers, target, str(path), tables) as process:
            for row in load(tables).rows:
                own = [name for name in _first_names(row, target) if name in names]
                answer = process.ask(row.id) if own else {}
                if isinstance(answer, Ended):  # again, in a new process: an earlier row may have harmed that one
                    answer = process.ask(row.id)
                if isinstance(answer, Ended):
                    ended[row.id] = answer.message
                    answer = dict.fromkeys(own, (False,))
                for name, results in answer.items():
                    found.setdefault(name, []).extend(results)
    kept = (one for one in adapters if any(found.get(one.of, ())) and False not in found[one.of])
    return Proven(tuple(kept), ended)


def _first_names(row: Row, target: Framework) -> list[str]:
    """The names of the source that the row's forms go by."""
    return [next(iter(form.names), "") for form in row.forms(other_framework(target))]


def _answers(target: Framework, path: str, tables: tuple[str, ...]) -> Callable[[str], _Results]:
    """What answers for a row in the process, with the adapters of the file ``path``."""
    by_name = take_functions_from(Path(path), target)
    handed = ModuleType(_MODULE)
    handed.__dict__.update(positional=lambda *given: given, keywords=lambda **given: given)
    sys.modules[_MODULE] = handed
    rows = {row.id: row for row in reversed(load(tables).rows)}

    def answer(row_id: str) -> _Results:
        row, results = rows[row_id], dict[str, list[bool | None]]()
        for form in row.forms(other_framework(target)):
            adapter = by_name.get(next(iter(form.names), ""))
            if adapter is not None:
                results.setdefault(adapter.of, []).extend(_results(row, form.names, adapter, target, tables))
        return results

    return answer


def _results(
    row: Row, names: Sequence[str], adapter: Adapter, target: Framework, tables: tuple[str, ...]
) -> Iterator[bool | None]:
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
        result = convert(text, to=target, tables=tables)
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
