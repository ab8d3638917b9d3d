"""Gradients of autograd functions: torch's ``backward`` returns one per argument, Paddle's one per tensor.

For a tensor that stops gradients Paddle wants None, where torch drops what it is given. Only at run time is it known
which arguments are tensors. ``forward`` stores what torch's context has by itself, whether each argument needs a
gradient, and ``backward`` returns the gradients of those.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.model import Edit, Fate, Span
from paddletorch.plan.model.changes import NOTHING, Changes, Planned
from paddletorch.plan.model.findings import Finding, finding
from paddletorch.plan.model.refusals import Refused
from paddletorch.plan.model.use import Use
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.written_functions import missing_functions
from paddletorch.plan.passes.tensors.applied_functions import by_place, keyword_calls
from paddletorch.plan.passes.tensors.contexts_set_apart import (
    SetApart,
    first_statement,
    methods_of,
    plan_set_apart,
)
from paddletorch.plan.passes.tensors.gradients_of_numbers import with_nones

_CODE = "AGD202"
_ABSENT = "AGD210"
_NEEDS = "needs_input_grad"


def plan_functions(view: FileView, planned: Planned) -> Changes:
    """Give each autograd function the gradients that the target expects; those where that is not seen stay reported."""
    revised: list[Use] = []
    reads: list[ast.Attribute] = []
    findings: list[Finding] = []
    for use in planned.uses.converted:
        function = view.parent(use.site.node)
        if use.site.role != "base" or use.row.id != "autograd.Function" or not isinstance(function, ast.ClassDef):
            continue
        own: list[ast.Attribute] = []
        applied: list[Edit] = []
        if view.target == "torch":
            edits = with_nones(view, function, use.row.code)
            for call in keyword_calls(view, function):
                places = by_place(view, function, call, use.row.code)
                applied += places or []
                if places is None:
                    findings.append(finding(_ABSENT, call, f"{function.name}.apply with these keywords", use.row))
        else:
            own += _reads(function)
            apart = plan_set_apart(view, function, use.row.code)
            edits = _edits(view, function, use.row.code, bool(own), apart) if apart is not None else []
            if apart is None:
                left = (m for m in methods_of(function).values() if m.name == "setup_context")
                findings += (finding(_ABSENT, m, f"{use.site.name}.setup_context", use.row) for m in left)
        if edits:
            revised.append(use.with_edits(*edits, *applied).without_finding(_CODE))
            reads += own
        elif applied:
            revised.append(use.with_edits(*applied))
    unlisted = tuple((f"function_context.{_NEEDS}", Fate.SAME) for _ in reads)
    made = Changes(findings=tuple(findings), uses=tuple(revised), handled=frozenset(reads), unlisted=unlisted)
    return NOTHING if made == Changes() else made


def _reads(function: ast.ClassDef) -> Iterator[ast.Attribute]:
    """Where the methods ask their context which arguments need a gradient."""
    for method in function.body:
        if isinstance(method, ast.FunctionDef) and method.name in ("forward", "backward") and method.args.args:
            context = method.args.args[0].arg
            yield from (
                node
                for node in ast.walk(method)
                if isinstance(node, ast.Attribute) and node.attr == _NEEDS and _is_name(node.value, context)
            )


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _edits(view: FileView, node: ast.ClassDef, code: str, is_read: bool, apart: SetApart) -> list[Edit]:
    """Edits of both methods; those for gradients only where it is seen what is returned, for several arguments."""
    return [*apart.edits, *_of_gradients(view, node, code, is_read, apart.context)]


def _of_gradients(view: FileView, node: ast.ClassDef, code: str, is_read: bool, given: str | None) -> list[Edit]:
    """``given``: the context that ``forward`` gets; None: its first parameter is one."""
    methods = methods_of(node)
    if "forward" not in methods or "backward" not in methods:
        return []
    forward, backward = methods["forward"], methods["backward"]
    first = first_statement(forward)
    if first is None or not (forward.args.args and backward.args.args) or forward.args.kwonlyargs:
        return []
    context, parameters = (given, forward.args.args) if given else (forward.args.args[0].arg, forward.args.args[1:])
    names = [a.arg for a in parameters] + ([f"*{forward.args.vararg.arg}"] if forward.args.vararg else [])
    returned = [value for value in view.tree.own[backward].returns if value is not None]
    has_several = len(names) > 1 or bool(forward.args.vararg)
    if not names or not (is_read or (has_several and returned)):
        return []
    start = view.source.span(first).start
    line_end = view.source.newline + view.source.indentation(first.lineno)
    asked = f"torch_needs_input_grad({', '.join(names)})"
    edits = [Edit(Span(start, start), f"{context}.{_NEEDS} = {asked}{line_end}", code)]
    for value in returned if has_several else ():
        if not isinstance(value, ast.Tuple) and (forward.args.defaults or not _may_be_tuple(view, value)):
            return []  # one gradient for an argument that is given alone
        edits.append(_selected(view, value, f"{backward.args.args[0].arg}.{_NEEDS}", code))
    try:
        for edit in edits:
            missing_functions(view, edit, _NEEDS)
    except Refused:
        return []
    return edits


def _may_be_tuple(view: FileView, value: ast.expr) -> bool:
    if isinstance(value, ast.BinOp):  # (grad,) * n, (grad,) + nones
        return isinstance(value.left, ast.Tuple) or isinstance(value.right, ast.Tuple)
    if not isinstance(value, ast.Name | ast.Call | ast.Attribute):
        return False
    return not view.tensor(value).is_seen


def _selected(view: FileView, value: ast.expr, needs: str, code: str) -> Edit:
    """The gradients of all arguments become those of tensors, with None for a tensor that stops gradients."""
    span = view.source.span(value)
    bare = isinstance(value, ast.Tuple) and not _in_brackets(view.source.slice(span))
    before, after = ("(", ")") if bare else ("", "")
    return Edit(span, "", code, (f"torch_needed_gradients({needs}, {before}", span, f"{after})"))


def _in_brackets(text: str) -> bool:
    """Whether the brackets enclose the whole tuple, unlike those of ``(a), (b)``."""
    if not text.startswith("("):
        return False
    try:
        ast.parse(f"[{text[1:-1]}]")
    except SyntaxError:
        return False
    return text.endswith(")")
