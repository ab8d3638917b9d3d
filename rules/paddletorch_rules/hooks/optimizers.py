"""Arguments of optimizers: betas, rates that must be floats, where epsilon stands."""

from __future__ import annotations

import ast

from paddletorch_rules.hooks.protocol import BoundCall, hook

_SMALL = 1e-6
"""An epsilon below which its place in the formula does not show: less than 1 % of a step at gradients of 1e-3."""


@hook("optimizer", to="paddle")
def optimizer_to_paddle(call: BoundCall) -> None:
    """Two numbers for ``betas``, and floats where Paddle wants them."""
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
    pair = betas.elts if isinstance(betas, ast.Tuple | ast.List) else []
    if len(pair) == 2 and not any(isinstance(e, ast.Starred) for e in pair):
        first, second = (ast.unparse(e) for e in pair)
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


@hook("optimizer", to="torch")
def optimizer_to_torch(call: BoundCall) -> None:
    """One tuple of betas; what clips gradients stands before the steps in torch."""
    if call.value("parameters") is None or call.literal("parameters") is None:
        call.refuse("parameters is missing: torch has no list of all parameters to fall back on")
    if call.value("lazy_mode") is not None and call.literal("lazy_mode") is True:
        call.report("OPT205", what="lazy_mode=True leaves rows that no batch uses; torch's Adam goes on changing them")
    given = [call.value("beta1"), call.value("beta2")]
    if any(given):
        first, second = (d if v is None else ast.unparse(v) for v, d in zip(given, ("0.9", "0.999"), strict=True))
        call.drop("beta1")
        call.drop("beta2")
        call.force("betas", f"({first}, {second})")
    call.drop("grad_clip")  # the plan of optimizers puts a call before the steps, or reports


_OF_MEAN_SQUARE = "torch adds epsilon to the root of the mean square, Paddle its square to the mean square"
_OF_MAXIMUM = "torch adds epsilon to the gradient's size, Paddle to the old maximum"


@hook("rmsprop", to="paddle")
def rmsprop_to_paddle(call: BoundCall) -> None:
    """torch adds eps to the root of the mean square, Paddle to the mean square itself: squared, the two agree."""
    optimizer_to_paddle(call)
    value: object = call.literal("eps")
    if isinstance(value, float):
        call.drop("eps")
        call.force("epsilon", repr(value**2))
    elif call.value("eps") is None:
        value = 1e-8
    if isinstance(value, float):
        _check_epsilon(call, "eps", value, value, _OF_MEAN_SQUARE)


@hook("rmsprop", to="torch")
def rmsprop_to_torch(call: BoundCall) -> None:
    """torch adds eps to the root of the mean square, Paddle to the mean square itself: squared, the two agree."""
    optimizer_to_torch(call)
    value: object = call.literal("epsilon")
    if isinstance(value, float):
        call.drop("epsilon")
        call.force("eps", repr(value**0.5))
    elif call.value("epsilon") is None:
        value = 1e-6
    if isinstance(value, float):
        _check_epsilon(call, "epsilon", value, value**0.5, _OF_MEAN_SQUARE)


@hook("adamax", to="paddle")
def adamax_to_paddle(call: BoundCall) -> None:
    """torch adds eps to the gradient's size, Paddle to the decayed maximum."""
    optimizer_to_paddle(call)
    value = call.literal("eps")
    if isinstance(value, float):
        _check_epsilon(call, "eps", value, value, _OF_MAXIMUM)


@hook("adamax", to="torch")
def adamax_to_torch(call: BoundCall) -> None:
    """torch adds eps to the gradient's size, Paddle to the decayed maximum."""
    optimizer_to_torch(call)
    value = call.literal("epsilon")
    if isinstance(value, float):
        _check_epsilon(call, "epsilon", value, value, _OF_MAXIMUM)


def _check_epsilon(call: BoundCall, name: str, value: float, size: float, where: str) -> None:
    if size >= _SMALL:
        call.report("OPT201", where=where, parameter=name, value=repr(value))


@hook("optimizer_state", to="torch")
def optimizer_state(call: BoundCall) -> None:
    """Paddle's optimizer saves and loads the state of the scheduler that it follows as well."""
    made = call.origin("self")
    if isinstance(made, ast.Call):
        rates = [k.value for k in made.keywords if k.arg in ("learning_rate", None)] or made.args[:1]
        if all(isinstance(rate, ast.Constant) for rate in rates):
            return
    call.report("LRS202", what="Paddle loads the state of the optimizer's scheduler too; save and load it by itself")


@hook("clip_by_value", to="torch")
def clip_by_value(call: BoundCall) -> None:
    """torch clips to both sides alike, as Paddle does if the lower limit is the upper one's negative."""
    low, high = call.literal("min"), call.literal("max")
    if isinstance(low, int | float) and isinstance(high, int | float) and low == -high:
        call.drop("min")
