"""Arguments of optimizers: betas, rates that must be floats, where epsilon stands."""

from __future__ import annotations

import ast

from paddletorch_rules.hooks.protocol import BoundCall, hook

_SMALL = 1e-5
"""An epsilon below which its place in the formula does not show in float32 training."""


@hook("optimizer")
def optimizer(call: BoundCall) -> None:
    """Betas, numbers that Paddle wants as floats, and what Paddle keeps inside the optimizer."""
    if call.target == "paddle":
        _to_paddle(call)
    else:
        _to_torch(call)


def _to_paddle(call: BoundCall) -> None:
    for name, target in (("lr", "learning_rate"), ("weight_decay", "weight_decay")):
        value = call.literal(name)
        if isinstance(value, int) and not isinstance(value, bool) and (name == "lr" or value):
            call.drop(name)
            call.force(target, repr(float(value)))
        elif name == "lr" and _is_integer(call.origin("lr")):
            call.wrap("lr", "float(", ")")
    betas = call.value("betas")
    if betas is None:
        return
    if isinstance(betas, ast.Tuple | ast.List) and len(betas.elts) == 2:
        first, second = (ast.unparse(e) for e in betas.elts)
    elif _is_path(betas):
        text = ast.unparse(betas)
        first, second = f"{text}[0]", f"{text}[1]"
    else:
        call.stop("API222", argument="betas")
    call.drop("betas")
    call.force("beta1", first)
    call.force("beta2", second)


def _is_integer(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int) and not isinstance(node.value, bool)


def _is_path(node: ast.expr) -> bool:
    """A name, or parts of one: it can be read twice."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Constant):
            return False
        node = node.value
    return isinstance(node, ast.Name)


def _to_torch(call: BoundCall) -> None:
    if call.value("parameters") is None or call.literal("parameters") is None:
        call.refuse("parameters is missing: torch has no list of all parameters to fall back on")
    given = [call.value("beta1"), call.value("beta2")]
    if any(given):
        first, second = (d if v is None else ast.unparse(v) for v, d in zip(given, ("0.9", "0.999"), strict=True))
        call.drop("beta1")
        call.drop("beta2")
        call.force("betas", f"({first}, {second})")
    call.drop("grad_clip")  # the plan of optimizers puts a call before the steps, or reports


@hook("rmsprop")
def rmsprop(call: BoundCall) -> None:
    """torch adds eps to the root of the mean square, Paddle to the mean square itself: squared, the two agree."""
    optimizer(call)
    source, target = ("eps", "epsilon") if call.target == "paddle" else ("epsilon", "eps")
    value: object = call.literal(source)
    if isinstance(value, float):
        call.drop(source)
        call.force(target, repr(value**2 if call.target == "paddle" else value**0.5))
    elif call.value(source) is None:
        value = 1e-8 if call.target == "paddle" else 1e-6
    where = "torch adds epsilon to the root of the mean square, Paddle its square to the mean square"
    if isinstance(value, float):
        _check_epsilon(call, source, value, value if call.target == "paddle" else value**0.5, where)


@hook("adamax")
def adamax(call: BoundCall) -> None:
    """torch adds eps to the gradient's size, Paddle to the decayed maximum."""
    optimizer(call)
    name = "eps" if call.target == "paddle" else "epsilon"
    value = call.literal(name)
    if isinstance(value, float):
        _check_epsilon(call, name, value, value, "torch adds epsilon to the gradient's size, Paddle to the old maximum")


def _check_epsilon(call: BoundCall, name: str, value: float, size: float, where: str) -> None:
    if size > _SMALL:
        call.report("OPT201", where=where, parameter=name, value=repr(value))
