"""Promise: a decorator that compiles a function for the source framework, and stays, keeps the function's body."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache

from paddletorch_rules.facts import facts

from paddletorch.gate.converted_text import ConvertedText
from paddletorch.gate.violation import Violation
from paddletorch.model import Framework
from paddletorch.resolve import Binding

CODE = "SRC014"

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def converted_under_kept_decorators(text: ConvertedText, source: Framework) -> list[Violation]:
    """A violation for each function that edits change below a decorator of the source framework that they keep."""
    return [
        Violation(CODE, f"{ast.unparse(decorator)} stays", frozenset(range(node.lineno, (node.end_lineno or 0) + 1)))
        for node in text.tree.own
        if isinstance(node, _Function) and node.decorator_list
        for decorator in _kept(text, node, source)
        if _is_changed(text, node)
    ]


def _is_changed(text: ConvertedText, node: _Function) -> bool:
    """Whether an edit changes code of the function, other than by comments."""
    return any(not e.written.lstrip().startswith("#") for e in text.edits_in(text.source.span(node)))


def _kept(text: ConvertedText, node: _Function, source: Framework) -> Iterator[ast.expr]:
    """The decorators that compile the function and that no edit removes or replaces."""
    for decorator in node.decorator_list:
        name = decorator.func if isinstance(decorator, ast.Call) else decorator
        path: list[str] = []
        while isinstance(name, ast.Attribute):
            path.insert(0, name.attr)
            name = name.value
        if isinstance(name, ast.Name) and text.remains(text.source.span(decorator)):
            bindings = text.tree.scopes[name].lookup(name.id)
            roots = {b.qualified or "" for b in bindings} if bindings else {name.id}
            meanings = {".".join((root, *path)) for root in roots}
            remains = not bindings or _remain(text, bindings, name.id, source)
            if remains and any(_compiles(meaning, source) for meaning in meanings):
                yield decorator


def _compiles(name: str, source: Framework) -> bool:
    """Whether a decorator compiles, or is an unknown one of a module of those that do: ``torch.jit.newer``."""
    known = facts().compiling_decorators[source]
    module = name.rpartition(".")[0]
    return name in known or (module != source and module in _modules_of(source))


@cache
def _modules_of(source: Framework) -> frozenset[str]:
    """The modules of the decorators that compile."""
    return frozenset(name.rpartition(".")[0] for name in facts().compiling_decorators[source])


def _remain(text: ConvertedText, bindings: Iterable[Binding], name: str, source: Framework) -> bool:
    """Whether the name is still bound to the source framework in the new text, if only by an import in a function."""
    if any(text.remains(text.source.span(b.node)) for b in bindings if isinstance(b.node, ast.stmt)):
        return True
    tree = text.new_tree
    if tree is None:
        return False
    imports: list[ast.Import | ast.ImportFrom] = [*tree.of_kind(ast.Import), *tree.of_kind(ast.ImportFrom)]
    return any(
        (alias.asname or alias.name.partition(".")[0]) == name
        and (getattr(s, "module", None) or alias.name).partition(".")[0] == source
        for s in imports
        for alias in s.names
    )
