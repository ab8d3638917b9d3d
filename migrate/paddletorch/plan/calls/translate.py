"""Translates arguments and defaults from one framework's values to the other's."""

from __future__ import annotations

import ast

from paddletorch_rules import Framework, ValueMap, other_framework

from paddletorch.model import Edit, Span
from paddletorch.plan.calls.literal_sources import origin_edits
from paddletorch.plan.inference.overloads import is_python_dtype, kinds
from paddletorch.plan.inference.receivers import Certainty, Receivers
from paddletorch.plan.model.refusals import Refused, StatedByTable
from paddletorch.plan.model.same_code import same_code
from paddletorch.plan.model.target_forms import check_release
from paddletorch.plan.model.template import Template
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.constants import constant, constant_in
from paddletorch.plan.syntax.placeholders import with_brackets
from paddletorch.plan.syntax.precedence import ATOM, brackets_for, precedence_of
from paddletorch.resolve import NoneValue


def translate_default(text: str, values: ValueMap | None, target: Framework) -> str:
    """A default of the source as the target's value.

    Raises:
        Refused: the value has no counterpart.
    """
    if values is None:
        return text
    key = _canonical_key(text, values, target)
    if key in values.refuse:
        raise Refused(StatedByTable(values.refuse[key], (("value", text),)))
    mapped = _paired(key, values, target)
    if mapped is not None:
        return mapped
    wrap = values.to_paddle if target == "paddle" else values.to_torch
    if wrap is None or constant_in(text) is not ...:
        return text
    before, after = wrap.split("{x}")
    return text.join(with_brackets(before, after, ast.parse(text.strip(), mode="eval").body))


def translated_text(view: FileView, node: ast.expr, text: str, values: ValueMap | None) -> str:
    """The value at ``node`` as the target's value, for ``text``, by which it is written elsewhere.

    Raises:
        Refused: the value has no counterpart.
    """
    if values is None:
        return text
    found = kinds(view, node)
    if constant(node) is ... and "str" not in found and (found & values.keeps or values.strings):
        return text
    translated = translate_default(text, values, view.target)
    check_release(view, translated)
    bare = translated.startswith(f"{text}.") and _may_be_none(view, node)
    return f"({text} and {translated})" if bare else translated  # None has no methods


def translate_edits(view: FileView, node: ast.expr, values: ValueMap | None, code: str) -> list[Edit]:
    """Edits that translate the value at ``node``; of a conditional expression, each branch.

    Raises:
        Refused: the value has no counterpart.
    """
    if values is None:
        return []
    target = view.target
    if isinstance(node, ast.IfExp):
        return translate_edits(view, node.body, values, code) + translate_edits(view, node.orelse, values, code)
    key = _canonical_key(_key(view, node), values, target)
    if key in values.refuse:
        raise Refused(StatedByTable(values.refuse[key], (("value", view.text(node)),)))
    mapped = _paired(key, values, target)
    span = view.source.span(node)
    if mapped is not None:
        check_release(view, mapped)
        text = view.quoted(mapped, node)
        return [] if text == view.text(node) else [Edit(span, text, code)]
    return _wrapped(view, node, values, span, code)


def _wrapped(view: FileView, node: ast.expr, values: ValueMap, span: Span, code: str) -> list[Edit]:
    to_paddle = view.target == "paddle"
    wrap = values.to_paddle if to_paddle else values.to_torch
    opposite = values.to_torch if to_paddle else values.to_paddle
    if opposite is not None:
        arguments = Template(opposite).match(_guarded(node), view.tree.scopes)
        if arguments is not None and opposite == "not {x}" and isinstance(arguments["x"], ast.Attribute):
            arguments = None  # the attribute's own row converts ``not x.requires_grad``
        if arguments is not None:  # remove what the other direction added
            kept = _without_default(arguments["x"], values, view.target)
            inner = view.source.span(kept)
            opening, closing = brackets_for(kept, view.source.slice(inner), view.parent(node), node)
            return [Edit(Span(span.start, inner.start), opening, code), Edit(Span(inner.end, span.end), closing, code)]
    value = constant(node)
    if isinstance(value, str) and repr(value) in {pair[1 if to_paddle else 0] for pair in values.pairs}:
        return []  # the target accepts it already: dtype="int64"
    if wrap is None and _false_for_none(view, node, values):
        return [Edit(Span(span.end, span.end), " or False", code)]
    if wrap is None or (wrap == "float({x})" and isinstance(constant(node), float)):
        return []
    is_lookup = f"({view.target}, " in wrap or wrap.startswith(("torch_", "paddle_"))
    if is_lookup and Template(wrap).match(node, view.tree.scopes) is not None:
        return []  # looked up in the target already
    found = kinds(view, node) if values.keeps or values.strings else frozenset()
    is_string = "str" in found or (values.strings and isinstance(node, ast.JoinedStr))
    if not is_string and (found & values.keeps or values.strings):
        return []
    if ".replace(" in wrap and not view.is_sources(node):
        view.quoted(wrap, node)  # a call that the first run had to leave stays
        return []
    if values.strings or ".replace(" in wrap:
        literal = origin_edits(view, node, values, code)
        if literal is not None:
            return literal
    before, after = view.quoted(wrap, node).split("{x}")  # a table gives the placeholder once
    default = default_for_none(view, node, values)
    if default is not None and before.endswith("("):
        after = " or " + view.quoted(default, node) + after
    if _becomes_expression(view, node) and not before.endswith("("):
        before, after = before + "(", ")" + after
    before, after = with_brackets(before, after, node)
    if wrap.startswith("{x}.") and isinstance(node, ast.Name) and _may_be_none(view, node):
        before = f"{node.id} and "  # None has no methods
        if not isinstance(view.parent(node), ast.Call | ast.keyword | ast.Dict):
            before, after = "(" + before, after + ")"
    return [Edit(Span(span.start, span.start), before, code), Edit(Span(span.end, span.end), after, code)]


def _becomes_expression(view: FileView, node: ast.expr) -> bool:
    """Whether an attribute is written as an expression that is no single operand: ``1 - bn._momentum``."""
    if not isinstance(node, ast.Attribute):
        return False
    rows = [row for row, _ in view.settings.members(node.attr) if row.kind == "attribute"]
    forms = [(row, form) for row in rows if (form := view.settings.emitted(row)) is not None and form.template]
    known = view.provide(Receivers)
    return any(
        precedence_of(ast.parse(form.template.format(self="x"), mode="eval").body) < ATOM
        and known.certainty(node.value, row.receiver or "") is Certainty.YES
        for row, form in forms
        if form.template is not None
    )


def _guarded(node: ast.expr) -> ast.expr:
    """The call in ``x and x.replace('cuda', 'gpu')``, which the other direction writes where ``x`` may be None."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And) and len(node.values) == 2:
        name, call = node.values
        function = call.func if isinstance(call, ast.Call) else None
        if isinstance(name, ast.Name) and isinstance(function, ast.Attribute):
            return call if same_code(function.value, name) else node
    return node


def default_for_none(view: FileView, node: ast.expr, values: ValueMap) -> str | None:
    """The default to substitute when the variable may be None, since the other side may not accept None."""
    source = other_framework(view.target)
    default = values.also(source).get("None")
    if default is None or not isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call):
        return None
    return _paired(default, values, view.target) if _may_be_none(view, node) else None


def _false_for_none(view: FileView, node: ast.expr, values: ValueMap) -> bool:
    """Whether ``x or False`` is what the target takes: the variable may be None, if only by a parameter's default."""
    other = other_framework(view.target)
    default = values.also(other).get("None")
    if default is None or _paired(default, values, view.target) != "False":
        return False
    given = view.evaluator.reaching(node) if isinstance(node, ast.Name) else ()
    defaults = [b.value for b in given if b.kind == "parameter" and isinstance(b.value, ast.Constant)]
    return any(d.value is None for d in defaults) or default_for_none(view, node, values) is not None


def _may_be_none(view: FileView, node: ast.expr) -> bool:
    """Whether the variable may be None, as far as the file shows."""
    return any(isinstance(v, NoneValue) for v in view.evaluator.values(node))


def _without_default(node: ast.expr, values: ValueMap, target: Framework) -> ast.expr:
    """The variable in ``dtype or "float16"``, if the default is the meaning of None on this side."""
    default = values.also(target).get("None")
    if default is not None and isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) and len(node.values) == 2:
        source = other_framework(target)
        if repr(constant(node.values[1])) == _paired(default, values, source):
            return node.values[0]
    return node


def _key(view: FileView, node: ast.expr) -> str:
    """The value as the tables write it; empty if they have no such value, or if a variable may hold another one too."""
    name = view.qualified(node)
    if name is not None and _is_written_out(view, node):
        return name
    if isinstance(node, ast.Name) and is_python_dtype(view, node):
        return node.id
    if isinstance(node, ast.Call) and not node.args and not node.keywords:
        return f"{view.qualified(node.func)}()"
    value = constant(node)
    return "" if value is ... else repr(value)


def _is_written_out(view: FileView, node: ast.expr) -> bool:
    """Whether the expression is the API's name, or a variable that only the API is assigned to."""
    if _may_be_none(view, node):
        return False  # ``torch.bfloat16 if fast else None``
    while isinstance(node, ast.Attribute):
        node = node.value
    scope = view.tree.scopes.get(node)
    bindings = scope.lookup(node.id) if scope is not None and isinstance(node, ast.Name) else []
    imported = all(b.qualified is not None for b in bindings)
    return imported or (len(bindings) == 1 and bindings[0].kind == "assign")


def _canonical_key(key: str, values: ValueMap, target: Framework) -> str:
    source = other_framework(target)
    return values.also(source).get(key, key)


def _paired(key: str, values: ValueMap, target: Framework) -> str | None:
    for torch_value, paddle_value in values.pairs:
        if key == (torch_value if target == "paddle" else paddle_value):
            return paddle_value if target == "paddle" else torch_value
    return None
