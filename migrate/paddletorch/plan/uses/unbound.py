"""Methods of tensors that are called through their class: ``torch.Tensor.add(x, y)`` is ``x.add(y)``."""

from __future__ import annotations

import ast

from paddletorch_rules import Form, Row

from paddletorch.model import Edit
from paddletorch.plan.calls.arguments import plan_arguments
from paddletorch.plan.calls.binding import CallBinding, bind
from paddletorch.plan.calls.fill_template import compose, surrounding
from paddletorch.plan.inference.overloads import choose
from paddletorch.plan.inference.results import named_result
from paddletorch.plan.model.refusals import Refusal
from paddletorch.plan.model.view import FileView

TENSOR = "tensor"


def methods(view: FileView, class_name: str, attribute: str) -> list[tuple[Row, Form]]:
    """The rows of a tensor's method, if the name is that of a class of tensors."""
    if view.settings.table.makes(class_name) != TENSOR:
        return []
    rows = view.settings.members(attribute)
    return [pair for pair in rows if pair[0].receiver == TENSOR and pair[0].kind == "method"]


def _as_method(view: FileView, call: ast.Call, attribute: ast.Attribute) -> ast.Call:
    """The same call as a method of its first argument.

    Raises:
        Refusal: the first argument cannot be seen.
    """
    if not call.args or isinstance(call.args[0], ast.Starred):
        raise Refusal("API203", what=view.text(call))
    function = ast.copy_location(ast.Attribute(call.args[0], attribute.attr, ast.Load()), attribute)
    method = ast.copy_location(ast.Call(function, call.args[1:], call.keywords), call)
    parent = view.parent(call)
    if parent is not None:
        view.tree.parents[method] = parent
    return method


def convert_method(view: FileView, call: ast.Call, binding: CallBinding, target: Form) -> tuple[list[Edit], str]:
    """Edits that write the bound method in the place of the call, and what it becomes."""
    whole, template = named_result(view, call, target, binding.beside) if target.results else (call, target.template)
    template = binding.template or template or _plain(binding, target)
    edits = [*compose(binding, target, template, whole), *surrounding(binding)]
    return edits, template.replace("{self}", TENSOR)


def bind_method(
    view: FileView, call: ast.Call, attribute: ast.Attribute, options: list[tuple[Row, Form]]
) -> CallBinding:
    """The call bound to the row of the method that it fits."""
    method = _as_method(view, call, attribute)
    row, form = choose(view, method, options)
    binding = bind(view, method, row, form, f"{TENSOR}.{attribute.attr}")
    binding.receiver = call.args[0]
    return binding


def _plain(binding: CallBinding, target: Form) -> str:
    """A template for the method with the arguments that the call gives."""
    before = len(binding.view.findings)
    plan = plan_arguments(binding, target)
    del binding.view.findings[before:]  # they are made again where the template is filled
    given = {*plan.keywords.values(), *(name for name, _ in (*plan.prepend, *plan.append))}
    signature = target.signature(binding.view.settings.target_releases.newest)
    names = [(n, p) for n, p in enumerate(signature.parameters if signature else ()) if p.name in given]
    arguments = [f"{{{p.name}}}" if n == 0 or p.variadic else f"{p.name}={{{p.name}}}" for n, p in names]
    return f"{{self}}.{target.names[0]}({', '.join(arguments)})"
