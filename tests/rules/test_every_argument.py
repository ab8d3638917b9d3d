"""Every row's call with arguments that nobody expects converts or is refused: no exception, no broken text, no hole."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from paddletorch.model import Framework, Options
from paddletorch_rules import Form, Parameter, Row, load

from ..fixture_files import engine_for

TABLE = load()
ARGUMENTS = ("name", "call()", "call()[0] + name", "{'k': name}['k']", "'{x}'", "-name", "None", "name if name else 1")
"""Simple, with side effects, of several operators, with braces, no value at all."""

HEADS: dict[Framework, str] = {
    "torch": "import torch, torchvision\ndef f(name, call, opt: torch.optim.Optimizer):\n    x = torch.zeros(3)\n",
    "paddle": "import paddle\ndef f(name, call, opt: paddle.optimizer.Optimizer):\n    x = paddle.zeros([3])\n",
}
RECEIVERS = {"tensor": "x", "optimizer": "opt"}
FILES = sorted({row.file for row in TABLE.rows})


def written(head: str, parameters: list[Parameter], values: list[str], *, by_name: bool) -> str:
    """A call with these values, in order or by name."""
    given = [
        f"{p.name}={v}" if (by_name or p.keyword_only) and not p.variadic else v
        for p, v in zip(parameters, values, strict=True)
        if p.variadic != "**"
    ]
    return f"{head}({', '.join(given)})"


def calls(row: Row, form: Form) -> Iterator[str]:
    """Calls of one spelling: all arguments of one kind, all, those that are needed, and by unpacking."""
    if not form.names or not form.signatures or row.kind not in ("function", "class", "method"):
        return
    receiver = RECEIVERS.get(row.receiver or "", row.receiver)
    head = f"{receiver}.{form.names[0]}" if row.kind == "method" else form.names[0]
    parameters = [p for p in form.signatures[-1][1].parameters if p.name != "self"]
    needed = [p for p in parameters if p.default is None and not p.variadic]
    for argument in ARGUMENTS:
        yield written(head, parameters, [argument] * len(parameters), by_name=False)
        yield written(head, parameters, [argument] * len(parameters), by_name=True)
        yield written(head, needed, [argument] * len(needed), by_name=False)
    if parameters:
        yield written(head, parameters, [*["name"] * (len(parameters) - 1), "*name"], by_name=False)
    yield f"{head}(**name)"


def compiling(head: str, statements: list[str]) -> list[str]:
    """Those of the calls that are Python."""
    found = []
    for statement in dict.fromkeys(statements):
        try:
            compile(f"{head}    {statement}\n", "calls.py", "exec")
        except SyntaxError:
            continue
        found.append(statement)
    return found


def holes(before: str, after: str) -> set[str]:
    """What looks like a placeholder that nothing was put into: ``{x}`` as code, or in a text that is new."""
    old, new = (list(ast.walk(ast.parse(text))) for text in (before, after))
    texts = {node.value for node in old if isinstance(node, ast.Constant)}
    sets = {ast.unparse(node) for node in new if isinstance(node, ast.Set)}
    strings = {n.value for n in new if isinstance(n, ast.Constant) and isinstance(n.value, str)} - texts
    return sets | {s for s in strings if re.search(r"\{\w*[:}]", s)}


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize(("source", "target"), [("torch", "paddle"), ("paddle", "torch")])
def test_no_argument_breaks_the_text(source: Framework, target: Framework, file: str) -> None:
    engine = engine_for(Options(target))
    rows = (row for row in TABLE.rows if row.file == file and row.serves(target))
    head = HEADS[source]
    for row in rows:
        statements = compiling(head, [call for form in row.forms(source) for call in calls(row, form)])
        text = head + "".join(f"    {statement}\n" for statement in statements)
        result = engine.convert(text.encode(), "calls.py")
        assert not [d for d in result.diagnostics if d.code.startswith("SRC")], row.id
        assert not holes(text, result.output.decode()), row.id
