"""Attributes of tracked instances that are read or assigned: ``x.requires_grad``, ``x.is_cuda``."""

from __future__ import annotations

import ast
from collections.abc import Callable

from paddletorch_rules import Form, ParameterPair, Row

from paddletorch.model import Edit, Span
from paddletorch.plan.calls.fill_template import fill
from paddletorch.plan.calls.translate import translate_edits
from paddletorch.plan.inference.leaf_tensors import stopped
from paddletorch.plan.inference.shapes import shape
from paddletorch.plan.model.member_plan import MemberPlan, record
from paddletorch.plan.model.outcome import target_form
from paddletorch.plan.model.refusals import Refusal
from paddletorch.plan.model.template import Template
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.spelling import helper_modules, names_root, root_in_scope, with_aliases, with_root
from paddletorch.plan.syntax.statements import remove_statement
from paddletorch.plan.uses.linear_weights import linear_weight, other_weight


def plan_attribute(view: FileView, plan: MemberPlan, node: ast.Attribute, row: Row, form: Form) -> None:
    """Plan one use of an attribute of an instance of the row's type."""
    name = f"{row.receiver}.{node.attr}"
    try:
        if row.report is not None and not row.forms(view.target):
            raise Refusal(row.report, method=node.attr)
        if not view.is_located(node):
            raise Refusal("API216")
        target = target_form(row, view)
        if target.template == f"{{self}}.{node.attr}()" and _is_called(view, node):
            return  # converted already, in a file that still imports the source
        hook = ATTRIBUTE_HOOKS.get(row.hook or "")
        found = hook(view, node) if hook is not None else None
        if found is not None:
            edits = [_filled(view, node, node.value, found, row.code)] if found else []
        elif isinstance(node.ctx, ast.Store):
            edits = stopped(view, node, row.code) or _store(view, node, row, target)
        else:
            edits = larger_member(view, node, form, target, row.code) or _load(view, node, row, target)
        edits = with_target_root(view, plan, node, edits, name)
    except Refusal as refusal:
        view.report(refusal.code, node, name, row, **refusal.holes)
        return
    if view.target in row.warn:
        view.report(row.warn[view.target], node, name, row)
    plan.edits += edits
    if edits:
        record(view, plan, node, row, name, target.template or f"{row.receiver}.{target.names[0]}")


def _is_called(view: FileView, node: ast.Attribute) -> bool:
    parent = view.parent(node)
    return isinstance(parent, ast.Call) and parent.func is node


AttributeHook = Callable[[FileView, ast.Attribute], "str | None"]


def _data(view: FileView, node: ast.Attribute) -> str | None:
    """``init.normal_(weight.data)``: Paddle's random initializers leave a detached tensor as it is."""
    parent = view.parent(node)
    call = view.parent(parent) if isinstance(parent, ast.keyword) else parent
    name = view.qualified(call.func) if isinstance(call, ast.Call) and call.func is not node else None
    return "{self}" if name is not None and name.startswith("torch.nn.init.") else None


ATTRIBUTE_HOOKS: dict[str, AttributeHook] = {
    "shape": shape,
    "data": _data,
    "linear_weight": linear_weight,
    "other_weight": other_weight,
}
"""Hooks of attribute rows: the template to write, an empty one for no change, None to leave it to the row."""


def larger_member(view: FileView, node: ast.Attribute, form: Form, target: Form, code: str) -> list[Edit]:
    """What takes the place of the larger expression around a member, if the source's form names it."""
    if not form.also or not target.also:
        return []
    current: ast.AST | None = view.parent(node)
    for _ in range(_DEPTH):
        if not isinstance(current, ast.expr):
            break
        for text in form.also:
            holes = Template(text).match(current)
            if holes is not None and holes.get("self") is node.value:
                parts = fill(view, target.also[0], holes, current)
                return [Edit(view.source.span(current), "", code, tuple(parts))]
        current = view.parent(current)
    return []


_DEPTH = 5
"""How many levels above a member a larger expression can begin."""


def _filled(view: FileView, node: ast.expr, receiver: ast.expr, template: str, code: str) -> Edit:
    return Edit(view.source.span(node), "", code, tuple(fill(view, template, {"self": receiver}, node)))


def _load(view: FileView, node: ast.Attribute, row: Row, target: Form) -> list[Edit]:
    template = target.template
    pair = _values(row)
    if template is None and pair is not None:
        values = view.settings.table.values[pair.values or ""]
        wrap = values.to_paddle if view.target == "paddle" else values.to_torch
        if wrap is not None:
            template = wrap.replace("{x}", "{self}." + target.names[0])
    if template is not None:
        whole: ast.expr = node
        parent = view.parent(node)
        if template.startswith("not {self}") and isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not):
            whole, template = parent, template.removeprefix("not ")
        parts = fill(view, template, {"self": node.value}, whole)
        return [Edit(view.source.span(whole), "", row.code, tuple(parts))]
    return _rename(view, node, row, target)


def _rename(view: FileView, node: ast.Attribute, row: Row, target: Form) -> list[Edit]:
    if not target.names or node.attr in target.names:
        return []
    end = view.source.span(node).end
    return [Edit(Span(end - len(node.attr.encode()), end), target.names[0], row.code)]


def _store(view: FileView, node: ast.Attribute, row: Row, target: Form) -> list[Edit]:
    """``x.requires_grad = False`` and other assignments."""
    statement = view.parent(node)
    simple = isinstance(statement, ast.Assign) and len(statement.targets) == 1
    value = statement.value if simple and isinstance(statement, ast.Assign) else None
    if value is not None:
        for text, template in target.assign.items():
            if text in ("*", ast.unparse(value)) and isinstance(statement, ast.Assign):
                if not template:
                    return [remove_statement(view, statement)]
                parts = fill(view, template, {"self": node.value, "value": value}, node)
                return [Edit(view.source.span(statement), "", row.code, tuple(parts))]
    if isinstance(statement, ast.AugAssign) and target.assign.get("*"):
        read = target.template or "{self}." + (target.names[0] if target.names else node.attr)
        operator = _OPERATORS.get(type(statement.op))
        template = target.assign["*"].replace("{value}", f"{read} {operator} {{value}}")
        if operator is not None:
            parts = fill(view, template, {"self": node.value, "value": statement.value}, node)
            return [Edit(view.source.span(statement), "", row.code, tuple(parts))]
    if not target.names:
        raise Refusal("API209", replacement=target.template or "the counterpart")
    pair = _values(row)
    if pair is None:
        return _rename(view, node, row, target)
    if value is None:
        raise Refusal("API209", replacement=target.names[0])
    edits = translate_edits(view, value, view.settings.table.values[pair.values or ""], row.code)
    return [*_rename(view, node, row, target), *edits]


_OPERATORS: dict[type, str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
}


def _values(row: Row) -> ParameterPair | None:
    return next((p for p in row.parameters if p.values is not None), None)


def with_target_root(view: FileView, plan: MemberPlan, node: ast.expr, edits: list[Edit], api: str) -> list[Edit]:
    """The edits with the target's root as it is known at ``node``; notes that it must be imported.

    Raises:
        Refusal: the name is taken by something else.
    """
    scope = view.tree.scopes.get(node, view.tree.scope)
    edits = [with_aliases(view, e, scope) for e in edits]
    plan.rooted += [(node, m) for e in edits for m in helper_modules(view, e, scope, api)]
    if not any(names_root(view, e) for e in edits):
        return edits
    root = root_in_scope(view, scope, api)
    plan.rooted.append((node, view.target))
    return edits if root == view.target else [with_root(view, e, root) for e in edits]
