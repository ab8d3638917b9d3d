"""To torch: ``apply`` of an autograd function takes no keywords, so what they name is given by place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.model import Edit, Span
from paddletorch.plan.inference.plain_arguments import method_of, parameters_of
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.side_effects import is_pure


def keyword_calls(view: FileView, function: ast.ClassDef) -> Iterator[ast.Call]:
    """The calls of the function's ``apply``, by its class or by a variable that holds it, with keywords."""
    applied = {m for m in view.tree.members.get("apply", ()) if view.text(m.value) in (function.name, "cls")}
    for call in view.tree.calls:
        if not call.keywords:
            continue
        if call.func in applied and _is_own(view, function, call.func):
            yield call
        elif isinstance(call.func, ast.Name) and (reached := view.evaluator.reaching(call.func)):
            held = [binding.value for binding in reached if binding.kind == "assign" and not binding.path]
            if len(held) == len(reached) and any(value in applied for value in held):
                yield call


def _is_own(view: FileView, function: ast.ClassDef, member: ast.expr) -> bool:
    """Whether ``cls`` stands in the class itself."""
    if not isinstance(member, ast.Attribute) or view.text(member.value) != "cls":
        return True
    return any(node is member for node in ast.walk(function))


def by_place(view: FileView, function: ast.ClassDef, call: ast.Call, code: str) -> list[Edit] | None:
    """Edits that leave the keywords' names out, with defaults for what is not given; None where it is not certain."""
    forward = method_of(function, "forward")
    if forward is None or forward.args.vararg or forward.args.kwonlyargs or forward.args.posonlyargs:
        return None
    names = parameters_of(forward)
    given = [keyword.arg for keyword in call.keywords]
    if any(isinstance(argument, ast.Starred) for argument in call.args) or not set(given) <= set(names):
        return None
    place = len(call.args)
    defaults = dict(zip(reversed(names), reversed(forward.args.defaults), strict=False))
    edits: list[Edit] = []
    for keyword in call.keywords:
        missing, place = names[place : names.index(keyword.arg or "")], names.index(keyword.arg or "") + 1
        if not all(name in defaults and isinstance(defaults[name], ast.Constant | ast.UnaryOp) for name in missing):
            return None  # out of order, or a default that is more than a number
        if not all(is_pure(defaults[name]) for name in missing):
            return None
        start, value = view.source.span(keyword).start, view.source.span(keyword.value).start
        filled = "".join(f"{view.written(defaults[name])}, " for name in missing)
        bracket = view.source.slice(Span(start, value)).partition("=")[2].lstrip()
        edits.append(Edit(Span(start, value), filled + bracket, code))
    return edits
