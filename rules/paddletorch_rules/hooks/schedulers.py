"""Arguments of schedulers: torch's take the optimizer, Paddle's the rate that it starts from.

``OPTIMIZER`` stands for the optimizer until the plan of schedulers has found it.
"""

from __future__ import annotations

import ast

from paddletorch_rules.hooks.arguments import is_call_of, literally
from paddletorch_rules.hooks.protocol import BoundCall, hook

OPTIMIZER = "__optimizer__"
BASE = "__base__"
"""The rate of the scheduler that a warm-up leads to."""

_LAMBDA = "torch.optim.lr_scheduler.LambdaLR"

_MOMENTUM = "it also moves momentum (beta1) between base_momentum and max_momentum, which Paddle's does not"


@hook("scheduler", to="paddle")
def scheduler_to_paddle(call: BoundCall) -> None:
    """``StepLR(optimizer, ...)`` starts from ``optimizer.get_lr()``; Paddle's ``step_size`` is no float."""
    _check_optimizer(call)
    if isinstance(call.value("min_lr"), ast.List | ast.Tuple):
        call.stop("LRS202", what="a smallest rate for each parameter group")
    call.wrap("optimizer", "", ".get_lr()")
    step, given = call.value("step_size"), call.literal("step_size")
    if step is not None and isinstance(given, float) and given.is_integer():
        call.replace(step, str(int(given)))


@hook("rate_of_scheduler", to="torch")
def rate_of_scheduler(call: BoundCall) -> None:
    """``scheduler.get_lr()`` of schedulers that Paddle computes from the last rate gives the one after it."""
    made = call.origin("self")
    if is_call_of(made, "LinearWarmup") and isinstance(made, ast.Call):
        after = [*made.args[:1], *(k.value for k in made.keywords if k.arg == "learning_rate")]
        made = after[0] if after and is_call_of(after[0], "LinearLR") else None
    if any(is_call_of(made, name) for name in _FROM_THE_LAST_RATE):
        call.report("LRS202", what=_FURTHER)


_FROM_THE_LAST_RATE = ("CosineAnnealingDecay", "LinearLR")
"""All of Paddle 3.3.1 whose get_lr() differs from last_lr."""

_FURTHER = (
    "Paddle's get_lr() gives the rate that follows the one in use; this is the one in use, as of optimizer.get_lr()"
)


@hook("scheduler", to="torch")
def scheduler_to_torch(call: BoundCall) -> None:
    """torch's schedulers take the optimizer, which has the rate, in place of a rate."""
    rate = call.value("learning_rate")
    if rate is not None:
        call.replace(rate, OPTIMIZER)


def _check_optimizer(call: BoundCall) -> None:
    node = call.value("optimizer")
    while isinstance(node, ast.Attribute):
        node = node.value
    if not isinstance(node, ast.Name):
        call.stop("LRS201", what="the optimizer is given by an expression that is no name")


@hook("scheduler_lambda", to="paddle")
def scheduler_lambda_to_paddle(call: BoundCall) -> None:
    """Paddle takes one function for all groups, torch a list of them too."""
    scheduler_to_paddle(call)
    given = call.value("lr_lambda")
    if isinstance(given, ast.List | ast.Tuple):
        if len(given.elts) != 1:
            call.stop("LRS202", what="a function for each parameter group; Paddle's scheduler takes one function")
        call.drop("lr_lambda")
        call.force("lr_lambda", ast.unparse(given.elts[0]))


@hook("scheduler_lambda", to="torch")
def scheduler_lambda_to_torch(call: BoundCall) -> None:
    """As ``scheduler``."""
    scheduler_to_torch(call)


@hook("scheduler_cyclic", to="paddle")
def scheduler_cyclic_to_paddle(call: BoundCall) -> None:
    """Paddle's takes no optimizer and moves no momentum."""
    _check_optimizer(call)
    _check_momentum(call)
    if call.value("step_size_up") is None:
        call.force("step_size_up", "2000")
    if any(isinstance(call.value(n), ast.List | ast.Tuple) for n in ("base_lr", "max_lr")):
        call.stop("LRS202", what="a rate for each parameter group")


@hook("scheduler_cyclic", to="torch")
def scheduler_cyclic_to_torch(call: BoundCall) -> None:
    """torch's takes the optimizer beside its own rates."""
    call.force("optimizer", OPTIMIZER)


def _check_momentum(call: BoundCall) -> None:
    if call.literal("cycle_momentum") is not False:
        call.drop("cycle_momentum")
        call.report("LRS202", what=_MOMENTUM)


@hook("scheduler_onecycle", to="paddle")
def scheduler_onecycle_to_paddle(call: BoundCall) -> None:
    """The last rate, an argument in Paddle, is ``max_lr / div_factor / final_div_factor``."""
    _check_optimizer(call)
    _check_momentum(call)
    _onecycle_to_paddle(call)


def _onecycle_to_paddle(call: BoundCall) -> None:
    largest = call.value("max_lr")
    if largest is None or isinstance(largest, ast.List | ast.Tuple):
        call.stop("LRS202", what="a rate for each parameter group")
    if call.value("total_steps") is None or call.literal("total_steps") is None:
        epochs, steps = call.value("epochs"), call.value("steps_per_epoch")
        if epochs is None or steps is None:
            call.refuse("total_steps, or epochs and steps_per_epoch, are missing")
        call.drop("total_steps")
        call.force("total_steps", ast.unparse(ast.BinOp(epochs, ast.Mult(), steps)))
    call.drop("epochs")
    call.drop("steps_per_epoch")
    call.drop("final_div_factor")
    divisors = (_or(call.value("div_factor"), "25.0"), _or(call.value("final_div_factor"), "10000.0"))
    call.force("end_learning_rate", _quotient(largest, *divisors))


@hook("scheduler_onecycle", to="torch")
def scheduler_onecycle_to_torch(call: BoundCall) -> None:
    """torch's last rate is a quotient: ``final_div_factor`` is computed from Paddle's ``end_learning_rate``."""
    call.force("optimizer", OPTIMIZER)
    call.drop("end_learning_rate")
    last, largest = _or(call.value("end_learning_rate"), "0.0001"), call.value("max_learning_rate")
    if largest is None:
        call.refuse("max_learning_rate is missing")
    if isinstance(last, ast.Constant) and last.value == 0:
        call.stop("LRS202", what="end_learning_rate=0; torch's last rate is a quotient")
    call.force("final_div_factor", _quotient(largest, _or(call.value("divide_factor"), "25.0"), last))


def _or(node: ast.expr | None, text: str) -> ast.expr:
    return node if node is not None else ast.parse(text, mode="eval").body


def _quotient(number: ast.expr, *divisors: ast.expr) -> str:
    for divisor in divisors:
        number = ast.BinOp(number, ast.Div(), divisor)
    return ast.unparse(number)


@hook("scheduler_polynomial", to="paddle")
def scheduler_polynomial_to_paddle(call: BoundCall) -> None:
    """As ``scheduler``."""
    scheduler_to_paddle(call)


@hook("scheduler_polynomial", to="torch")
def scheduler_polynomial_to_torch(call: BoundCall) -> None:
    """torch's goes down to 0 and stays there; another end becomes a function of the step."""
    end, cycle = call.value("end_lr"), call.literal("cycle") is True
    if call.literal("end_lr") in (0, 0.0) and not isinstance(call.literal("end_lr"), bool) and not cycle:
        scheduler_to_torch(call)
        return
    rate = call.value("learning_rate")
    if rate is None:
        call.refuse("learning_rate is missing")
    start, last = (literally(ast.unparse(node)) for node in (rate, _or(end, "0.0001")))
    for name in ("learning_rate", "end_lr", "cycle"):
        call.drop(name)
    call.force("optimizer", OPTIMIZER)
    length = "steps * max(1, -(-step // steps))" if cycle else "steps"
    names = f"step, rate={start}, steps={{total_iters}}, last={last}, power={{power}}"
    formula = f"(rate - last) * max(0, 1 - step / ({length})) ** power + last"
    call.rewrite(f"{_LAMBDA}({OPTIMIZER}, lambda {names}: {formula}{{last_epoch:, last_epoch=%}})")


@hook("scheduler_warmup", to="torch")
def scheduler_warmup(call: BoundCall) -> None:
    """A warm-up before another scheduler is a sequence of two; before a number it is a function of the step."""
    if "scheduler" not in call.types("learning_rate"):
        if isinstance(call.origin("learning_rate"), ast.Call):
            call.stop("LRS201", what="whether learning_rate is a number or a scheduler cannot be seen")
        return
    names = f"step, rate={BASE}, steps={{warmup_steps}}, first={{start_lr}}, last={{end_lr}}"
    first = f"{_LAMBDA}({OPTIMIZER}, lambda {names}: (first + (last - first) * step / steps) / rate)"
    parts = f"{OPTIMIZER}, [{first}, {{learning_rate}}], milestones=[{{warmup_steps}}]"
    call.rewrite(f"torch.optim.lr_scheduler.SequentialLR({parts}{{last_epoch:, last_epoch=%}})")


@hook("scheduler_sequence", to="paddle")
def scheduler_sequence(call: BoundCall) -> None:
    """Schedulers one after the other: a function that asks the one whose turn it is."""
    _check_optimizer(call)
    if call.value("last_epoch") is not None and call.literal("last_epoch") != -1:
        call.stop("LRS202", what="last_epoch is given")
