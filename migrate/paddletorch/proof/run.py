"""An example as the text of a module, and running such a text."""

from __future__ import annotations

import ast
import linecache
import os
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from paddletorch.model import Framework
from paddletorch.proof.environment import INPUTS, reset, tensor
from paddletorch.proof.fill import fill
from paddletorch.proof.processes import in_two_processes
from paddletorch.proof.torchvision_operators import load_torchvision

FUNCTION = "example"
_ALIASES = {
    "torch": {"nn": "torch.nn", "F": "torch.nn.functional", "optim": "torch.optim"},
    "paddle": {"nn": "paddle.nn", "F": "paddle.nn.functional", "optimizer": "paddle.optimizer"},
}
_OTHERS = {"np": "numpy", "numpy": "numpy", "math": "math", "torch": "torch", "paddle": "paddle"}


def module_text(source: Framework, example: str) -> str:
    """A module with one function, whose parameters are the ready-made inputs that ``example`` uses.

    Imports, classes and functions at the example's start go before the function; its last expression is returned.

    Raises:
        ValueError: the example is no Python, or does not end with an expression.
    """
    example = textwrap.dedent(example).strip()
    try:
        body = ast.parse(example).body
    except SyntaxError as error:
        raise ValueError(f"line {error.lineno}: {error.msg}") from None
    if not body or not isinstance(body[-1], ast.Expr):
        raise ValueError("the last line is no expression")
    names_read = _FreeNames()
    for statement in body:
        names_read.visit(statement)
    lines = example.splitlines()
    head = 0
    while isinstance(body[head], (ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef)):
        head += 1
    first = body[head].lineno - 1
    last = body[-1].lineno - 1
    before = lines[last][: body[-1].col_offset]  # statements on the line of the last one, before a semicolon
    inner = [*lines[first:last], before + "return " + lines[last][len(before) :], *lines[last + 1 :]]
    parameters = ", ".join(f"{name}: {source}.Tensor" for name in INPUTS if name in names_read.free)
    return "\n".join(
        [
            *_imports(source, names_read.free, bool(parameters)),
            *(["", "", *lines[:first]] if first else []),
            "",
            "",
            f"def {FUNCTION}({parameters}):",
            *(textwrap.indent(line, "    ") for line in inner),
            "",
        ]
    )


def _imports(source: Framework, names: set[str], annotated: bool) -> Iterator[str]:
    if annotated or source in names:
        yield f"import {source}"
    for name, module in {**_OTHERS, **_ALIASES[source]}.items():
        if name in names and name != source:
            yield f"import {module}" if name == module else f"import {module} as {name}"


class _FreeNames(ast.NodeVisitor):
    """The names that a text reads before it binds them."""

    def __init__(self) -> None:
        self.free: set[str] = set()
        self.bound: set[str] = set()

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self.bound.add(node.id)
        elif node.id not in self.bound:
            self.free.add(node.id)

    def visit_Assign(self, node: ast.Assign) -> None:
        self._in_order(node.value, *node.targets)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._in_order(node.annotation, node.value, node.target)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name) and node.target.id not in self.bound:
            self.free.add(node.target.id)
        self._in_order(node.value, node.target)

    def visit_For(self, node: ast.For) -> None:
        self._in_order(node.iter, node.target, *node.body, *node.orelse)

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        self.bound.update(alias.asname or alias.name.partition(".")[0] for alias in node.names)

    visit_ImportFrom = visit_Import

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._in_order(*node.decorator_list, *node.bases)
        self._inner(set(), *node.body)
        self.bound.add(node.name)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.Lambda) -> None:
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        every += [argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None]
        self._in_order(*arguments.defaults, *arguments.kw_defaults, *(argument.annotation for argument in every))
        if isinstance(node, ast.FunctionDef):
            self._in_order(*node.decorator_list, node.returns)
            self.bound.add(node.name)
        body = node.body if isinstance(node.body, list) else [node.body]
        self._inner({argument.arg for argument in every}, *body)

    visit_Lambda = visit_FunctionDef

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        parts: list[ast.AST] = []
        for generator in node.generators:
            parts += [generator.iter, generator.target, *generator.ifs]
        self._inner(set(), *parts, *results)

    visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_ListComp

    def _in_order(self, *nodes: ast.AST | None) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    def _inner(self, bound: set[str], *nodes: ast.AST) -> None:
        outer = self.bound
        self.bound = outer | bound
        self._in_order(*nodes)
        self.bound = outer


def execute(
    framework: Framework,
    text: str,
    label: str,
    *,
    processes: bool = False,
    inputs: Callable[[Framework, str], Any] = tensor,
) -> Any:
    """Run the function of a module text on fresh inputs, in an empty folder; gives its result.

    ``label`` names the text in tracebacks. With ``processes`` it runs in two, and a list of their results is given.
    ``inputs`` makes the tensor of a name.
    """
    if processes:
        return in_two_processes(framework, lambda: execute(framework, text, label, inputs=inputs))
    reset(framework)
    if "torchvision" in text:
        load_torchvision()
    linecache.cache[label] = (len(text), None, text.splitlines(keepends=True), label)
    namespace: dict[str, Any] = {"__name__": label, "fill": fill}
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            exec(compile(text, label, "exec"), namespace)
            function = namespace[FUNCTION]
            names = function.__code__.co_varnames[: function.__code__.co_argcount]
            return function(*(inputs(framework, name) for name in names))
        finally:
            os.chdir(here)
