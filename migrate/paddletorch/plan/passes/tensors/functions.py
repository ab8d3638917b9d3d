"""Gradients of autograd functions: torch's ``backward`` returns one per argument, Paddle's one per tensor.

Only at run time is it known which arguments are tensors. ``forward`` stores it in the context, and ``backward``
returns the gradients of those.
"""

from __future__ import annotations

import ast

from paddletorch.model import Edit, Span
from paddletorch.plan.model.changes import NOTHING, Changes, Planned
from paddletorch.plan.model.use import Use
from paddletorch.plan.model.view import FileView
from paddletorch.plan.passes.tensors.gradients_of_numbers import with_nones

_CODE = "AGD202"
_NOTE = "tensor_arguments"


def plan_functions(view: FileView, planned: Planned) -> Changes:
    """Give each autograd function the gradients that the target expects; those where that is not seen stay reported."""
    revised: list[Use] = []
    for use in planned.uses:
        statement = view.parent(use.site.node)
        if use.site.role != "base" or use.row.id != "autograd.Function" or not isinstance(statement, ast.ClassDef):
            continue
        if not use.converts:
            continue
        if view.target == "torch":
            edits = with_nones(view, statement, use.row.code)
        elif any(f.code == _CODE for f in use.findings):
            edits = _edits(view, statement, use.row.code)
        else:
            continue
        if edits:
            revised.append(use.with_edits(*edits).without_finding(_CODE))
    return Changes(uses=tuple(revised)) if revised else NOTHING


def _edits(view: FileView, node: ast.ClassDef, code: str) -> list[Edit]:
    methods = {s.name: s for s in node.body if isinstance(s, ast.FunctionDef)}
    if "forward" not in methods or "backward" not in methods:
        return []
    forward, backward = methods["forward"], methods["backward"]
    first = _first_statement(forward)
    returned = view.tree.own[backward].returns
    if first is None or not returned or not (forward.args.args and backward.args.args) or forward.args.kwonlyargs:
        return []
    names = [a.arg for a in forward.args.args[1:]] + ([f"*{forward.args.vararg.arg}"] if forward.args.vararg else [])
    start = view.source.span(first).start
    line_end = view.source.newline + view.source.indentation(first.lineno)
    arguments = f"({names[0]},)" if len(names) == 1 else f"({', '.join(names)})"
    text = f"{forward.args.args[0].arg}.{_NOTE} = [isinstance(a, paddle.Tensor) for a in {arguments}]{line_end}"
    edits = [Edit(Span(start, start), text, code)]
    for value in returned:
        if not isinstance(value, ast.Tuple):
            return []
        span = view.source.span(value)
        before, after = ("", "") if _in_brackets(view.source.slice(span)) else ("(", ")")
        parts = (f"tuple(g for g, t in zip({before}", span, f"{after}, {backward.args.args[0].arg}.{_NOTE}) if t)")
        edits.append(Edit(span, "", code, parts))
    return edits


def _in_brackets(text: str) -> bool:
    """Whether the brackets enclose the whole tuple, unlike those of ``(a), (b)``."""
    if not text.startswith("("):
        return False
    try:
        ast.parse(f"[{text[1:-1]}]")
    except SyntaxError:
        return False
    return text.endswith(")")


def _first_statement(function: ast.FunctionDef) -> ast.stmt | None:
    """The first statement after the docstring, if it starts a line."""
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    before = function.body[0] if body is not function.body else None
    if not body or body[0].lineno == function.lineno or (before and before.end_lineno == body[0].lineno):
        return None
    return body[0]
