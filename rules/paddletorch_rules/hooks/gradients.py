"""Gradient modes and variables of old code."""

from __future__ import annotations

import ast
from collections.abc import Callable

from paddletorch_rules.guesses import suggests
from paddletorch_rules.hooks.arguments import as_list
from paddletorch_rules.hooks.protocol import BoundCall, hook
from paddletorch_rules.releases import Framework


@hook("inference_mode", to="paddle")
def inference_mode(call: BoundCall) -> None:
    """Paddle has no inference mode: without gradients is what it means for a result."""
    if call.value("mode") is not None and call.literal("mode") is not True:
        call.stop("API221", parameter="mode", value=str(call.literal("mode")))
    call.drop("mode")


@hook("variable", to="paddle")
def variable(call: BoundCall) -> None:
    """A variable of its own, cut off from what made the data."""
    asked = call.literal("requires_grad") if call.value("requires_grad") is not None else False
    if asked not in (True, False):
        call.stop("API221", parameter="requires_grad", value="...")
    call.drop("requires_grad")
    if asked:
        call.rewrite("paddle.to_tensor({data}, stop_gradient=False)")


@hook("backward", to="torch")
def backward(call: BoundCall) -> None:
    """Paddle starts from ones at a tensor of several elements: the gradient of its sum."""
    given = call.value("grad_tensor") is not None and call.literal("grad_tensor") is not None
    if not given and call.has_several_elements("self"):
        call.rewrite("{self}.sum().backward({retain_graph:retain_graph=%})")


@hook("gradients_of", to="paddle")
def gradients_of_to_paddle(call: BoundCall) -> None:
    """Paddle takes tensors and lists of them: what gives its elements one by one becomes a list."""
    for parameter in ("outputs", "inputs", "grad_outputs"):
        as_list(call, parameter)


@hook("gradients_of", to="torch")
def gradients_of_to_torch(call: BoundCall) -> None:
    """Paddle starts from ones at each output: torch wants the gradient of the sum where it is no number."""
    if call.value("grad_outputs") is not None and call.literal("grad_outputs") is not None:
        return
    outputs = call.value("outputs")
    if isinstance(outputs, ast.List | ast.Tuple):
        for output in outputs.elts:
            if isinstance(output, ast.Name) and not _is_number(output):
                call.replace(output, f"{output.id}.sum()")
    elif outputs is not None and not _is_number(outputs) and not _is_number(call.origin("outputs")):
        types = call.types("outputs")
        if "sequence" in types and "Tensor" not in types:
            call.wrap("outputs", "[output.sum() for output in ", "]")
        else:
            primary = isinstance(outputs, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
            call.wrap("outputs", *(("", ".sum()") if primary else ("(", ").sum()")))


def _is_number(node: ast.expr | None) -> bool:
    """Whether an output has one element, as far as its name or the function that gives it says."""
    if isinstance(node, ast.Call):
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else ast.unparse(function)
        if name == "scale" and node.args:
            return _is_number(node.args[0])
        method = isinstance(function, ast.Attribute) and not node.args and not node.keywords
        return (name in ("sum", "mean") and (method or len(node.args) == 1)) or suggests("loss", name)
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return suggests("loss", name)


def counts_other_arguments(node: ast.ClassDef, target: Framework) -> bool:
    """Whether ``backward`` of an autograd function seems to return another number of values than ``target`` expects.

    torch expects one for each argument of ``forward``, Paddle one for each tensor among them, which is None where the
    tensor stops gradients.
    """
    methods = {s.name: s for s in node.body if isinstance(s, ast.FunctionDef)}
    if "forward" not in methods or "backward" not in methods:
        return False
    arguments = methods["forward"].args
    taken = len(arguments.args) - 1
    for statement in ast.walk(methods["backward"]):
        if not isinstance(statement, ast.Return) or statement.value is None:
            continue
        value = statement.value
        values = value.elts if isinstance(value, ast.Tuple) else [value]
        if any(isinstance(v, ast.Starred) for v in values):
            return True
        if target == "torch" and len(values) != taken and not isinstance(value, ast.Call | ast.Name):
            return True
        if target == "paddle" and (taken > 1 or arguments.vararg):
            return True
    return False


CLASS_CHECKS: dict[str, Callable[[ast.ClassDef, Framework], bool]] = {"autograd.Function": counts_other_arguments}
"""By row: whether a class with the row's API as its base deserves the row's ``warn``."""
