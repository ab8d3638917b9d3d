"""Losses other than cross entropy, and the reductions of old torch code."""

from __future__ import annotations

import ast
from collections.abc import Callable

from paddletorch_rules.hooks.arguments import (
    is_call_of,
    is_plain,
    is_pure,
    literally,
    no_counterpart,
    operand,
    rewrite_once,
)
from paddletorch_rules.hooks.protocol import BoundCall, hook
from paddletorch_rules.releases import Framework


@hook("reduction", to="paddle")
def reduction(call: BoundCall) -> None:
    """``size_average`` and ``reduce`` decide over ``reduction`` where they are given."""
    if call.value("size_average") is None and call.value("reduce") is None:
        return
    average, reduce = (call.literal(n) if call.value(n) is not None else None for n in ("size_average", "reduce"))
    for name, value in (("size_average", average), ("reduce", reduce)):
        if value not in (None, True, False):
            no_counterpart(call, name)
        call.drop(name)
    if average is not None or reduce is not None:
        call.force("reduction", "'none'" if reduce is False else "'sum'" if average is False else "'mean'")


@hook("signs", to="paddle")
def signs(call: BoundCall) -> None:
    """Labels of 1 and -1 are often integers, which torch casts to the dtype of the inputs.

    Paddle multiplies only tensors of one dtype.
    """
    reduction(call)
    label = call.value("target")
    if label is None or (call.dtype("target") or "").startswith(("float", "bfloat", "double", "half")):
        return
    if call.dtype("target") is None and is_call_of(label, "sign"):
        return
    given = call.value("input1")
    if isinstance(given, ast.Name):
        call.wrap("target", "", f".astype({given.id}.dtype)")


@hook("layer_signs", to="paddle")
def layer_signs(call: BoundCall) -> None:
    """The class of such a loss, whose calls are looked at where they stand."""
    reduction(call)


@hook("nll_loss", to="paddle")
def nll_loss_to_paddle(call: BoundCall) -> None:
    """With an index that is ignored, a class of our own: the gradients of Paddle 3.3's kernel spoil memory (CPU)."""
    reduction(call)
    if call.value("ignore_index") is None or call.literal("ignore_index") == -100:
        return
    legacy = any(call.value(name) is not None for name in ("size_average", "reduce"))
    average = f", reduction={reduced(call)!r}" if legacy else "{reduction:, reduction=%}"
    made = "TorchIgnoringNLLLoss(ignore_index={ignore_index}{weight:, weight=%}" + average + ")"
    call.rewrite(made if call.value("input") is None else made + "({input}, {label})")


def reduced(call: BoundCall, default: str = "mean") -> str:
    """The reduction as far as it is written: ``mean``, ``sum``, ``none``, or empty."""
    average, reduce = (call.literal(n) if call.target == "paddle" else None for n in ("size_average", "reduce"))
    if reduce is False:
        return "none"
    if average is False:
        return "sum"
    if call.value("reduction") is None:
        return default
    value = call.literal("reduction")
    return value if isinstance(value, str) else ""


def is_given(call: BoundCall, name: str) -> bool:
    node = call.value(name)
    return node is not None and not (isinstance(node, ast.Constant) and node.value is None)


@hook("smooth_l1", to="paddle")
def smooth_l1_to_paddle(call: BoundCall) -> None:
    """torch divides by ``beta``, Paddle does not: alike at 1 only."""
    reduction(call)
    value = call.value("beta")
    if value is None or call.literal("beta") in (1, 1.0):
        return
    if not is_plain(value):
        no_counterpart(call, "beta")
    how = reduced(call)
    if not how:
        no_counterpart(call, "reduction")
    beta, zero = literally(operand(value)), call.literal("beta") in (0, 0.0)
    call.drop("beta")
    if zero:
        call.rewrite(f"paddle.nn.functional.l1_loss({{input}}, {{label}}, reduction={how!r})")
        return
    call.rewrite(f"paddle.nn.functional.smooth_l1_loss({{input}}, {{label}}, reduction={how!r}, delta={beta}) / {beta}")


@hook("smooth_l1", to="torch")
def smooth_l1_to_torch(call: BoundCall) -> None:
    """Paddle's loss is Huber's, unless it is told otherwise."""
    huber = call.value("is_huber") is None or call.literal("is_huber") is True
    if call.value("is_huber") is not None and call.literal("is_huber") is ...:
        no_counterpart(call, "is_huber")
    call.drop("is_huber")
    if call.value("delta") is not None and call.literal("delta") not in (1, 1.0) and huber:
        call.rewrite("torch.nn.functional.huber_loss({input}, {target}{reduction:, reduction=%}, delta={beta})")


@hook("kl_div", to="paddle")
def kl_div(call: BoundCall) -> None:
    """Paddle gives the target no gradient: unless it is detached in sight, the formula is written out.

    Paddle 2.6 has no ``log_target``: the target's exponential says the same.
    """
    how = reduced(call)
    reduction(call)
    asked = call.literal("log_target") if call.value("log_target") is not None else False
    if asked is ...:
        no_counterpart(call, "log_target")
    call.drop("log_target")
    ends = {"none": "", "mean": ".mean()", "sum": ".sum()", "batchmean": ".sum() / {input}.shape[0]"}
    if is_call_of(call.origin("target"), "detach") or how not in ends:
        if how not in ends:
            call.report("AGD203", what="Paddle gives the target no gradient")
        if asked:
            call.wrap("target", "paddle.exp(", ")")
        return
    logarithm = "paddle.log(paddle.where({label} > 0, {label}, paddle.ones_like({label})))"
    each = "paddle.exp({label}) * ({label} - {input})" if asked else f"{{label}} * ({logarithm} - {{input}})"
    text = f"({each}){ends[how]}" if ends[how] else each
    call.drop("reduction")
    twice = {"label": "target"} | ({"input": "input"} if how == "batchmean" else {})
    rewrite_once(call, text, **dict(sorted(twice.items())))


@hook("weighted_cross_entropy", to="paddle")
def weighted_cross_entropy_to_paddle(call: BoundCall) -> None:
    """Flags for the reduction, and a target that has a gradient in torch only."""
    reduction(call)
    if is_computed(call, "target"):
        call.rewrite("torch_soft_binary_cross_entropy({input}, {label}{weight:, weight=%}{reduction:, reduction=%})")


def is_computed(call: BoundCall, name: str) -> bool:
    """Whether the argument comes of a network's outputs, so that it has gradients that nothing cuts off."""
    value = call.origin(name) or call.value(name)
    if value is None or is_call_of(value, "detach"):
        return False
    calls = [n for n in ast.walk(value) if isinstance(n, ast.Call)]
    return any(is_call_of(n, one) for n in calls for one in ("softmax", "sigmoid"))


def _detached(call: BoundCall, name: str) -> None:
    """Cut the argument off from gradients, which Paddle does not give it."""
    atomic = isinstance(call.value(name), ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    call.wrap(name, "" if atomic else "(", ".detach()" if atomic else ").detach()")


@hook("kl_div", to="torch")
def kl_div_to_torch(call: BoundCall) -> None:
    """The target of Paddle's has no gradient."""
    if not is_call_of(call.origin("label"), "detach"):
        _detached(call, "label")


@hook("kl_div_call", to="paddle")
def kl_div_call_to_paddle(call: BoundCall) -> None:
    """As the function: unless the target is detached in sight, a function that gives it its gradient."""
    if not is_call_of(call.origin("target"), "detach"):
        call.rewrite("torch_kl_div_loss({self}, {input}, {label})")


@hook("kl_div_call", to="torch")
def kl_div_call(call: BoundCall) -> None:
    """As the function."""
    if not is_call_of(call.origin("label"), "detach"):
        call.rewrite("{self}({input}, {target}.detach())")


@hook("label_smooth", to="torch")
def label_smooth(call: BoundCall) -> None:
    """The formula reads the labels twice, so labels that are computed there go through a function."""
    if not is_pure(call.value("label")) or is_given(call, "prior_dist"):
        call.rewrite("paddle_label_smooth({label}{prior_dist:, prior_dist=%}{epsilon:, epsilon=%})")


@hook("weighted_cross_entropy", to="torch")
def weighted_cross_entropy_to_torch(call: BoundCall) -> None:
    """Paddle's loss has a gradient for its weights, where torch's raises an error, and none for its target."""
    if is_computed(call, "label"):
        _detached(call, "label")
    kind = reduced(call)
    weight = call.value("weight")
    if not kind or weight is None or not is_given(call, "weight"):
        return
    computed = isinstance(call.origin("weight") or weight, ast.Call | ast.BinOp | ast.Subscript)
    if not computed and not call.is_tensor("weight"):
        return  # it may be None; torch raises where it needs a gradient
    function = "binary_cross_entropy" if call.value("input") is not None else "binary_cross_entropy_with_logits"
    more = "{pos_weight:, pos_weight=%}" if function.endswith("logits") else ""
    product = f"torch.nn.functional.{function}({{input}}, {{target}}, reduction='none'{more}) * {{weight}}"
    call.rewrite({"mean": f"({product}).mean()", "sum": f"({product}).sum()"}.get(kind, f"({product})"))


@hook("binary_cross_entropy_with_logits", to="torch")
def binary_cross_entropy_with_logits_to_torch(call: BoundCall) -> None:
    """As the loss of probabilities."""
    weighted_cross_entropy_to_torch(call)


@hook("binary_cross_entropy_with_logits", to="paddle")
def binary_cross_entropy_with_logits(call: BoundCall) -> None:
    """Paddle 2.6 weighs one term of the formula only, and no release gives the target a gradient."""
    how = reduced(call)
    reduction(call)
    if is_computed(call, "target"):
        if how and is_pure(call.value("input")) and not any(is_given(call, name) for name in ("weight", "pos_weight")):
            call.drop("reduction")
            end = "" if how == "none" else f".{how}()"
            each = "paddle.nn.functional.softplus({logit}) - {logit} * {label}"
            call.rewrite(f"({each}){end}" if end else each)
            return
        more = "{weight:, weight=%}{reduction:, reduction=%}{pos_weight:, pos_weight=%}"
        call.rewrite(f"torch_soft_binary_cross_entropy_with_logits({{logit}}, {{label}}{more})")
    if is_given(call, "pos_weight"):
        call.report("NNF203", difference="Paddle 2.6 is wrong where pos_weight meets a negative logit; 3.3 is right")


@hook("binary_cross_entropy_call", to="paddle")
def binary_cross_entropy_call_to_paddle(call: BoundCall, function: str) -> None:
    """As the functions: a target that a network computes has a gradient in torch only."""
    if not is_computed(call, "target"):
        return
    logits = function.endswith("logits")
    input = "logit" if logits else "input"
    more = ", {self}.weight, {self}.reduction" + (", {self}.pos_weight" if logits else "")
    rewrite_once(call, f"torch_soft_{function}({{{input}}}, {{label}}{more})", self="self")


@hook("binary_cross_entropy_call", to="torch")
def binary_cross_entropy_call_to_torch(call: BoundCall, function: str) -> None:
    """The target of Paddle's has no gradient."""
    del function
    if is_computed(call, "label"):
        call.rewrite("{self}({input}, {target}.detach())")


@hook("ctc_loss", to="paddle")
def ctc_loss_to_paddle(call: BoundCall) -> None:
    """Paddle takes logits, targets of int32, and lengths in tensors only."""
    if call.value("zero_infinity") is not None and call.literal("zero_infinity") is False:
        call.drop("zero_infinity")
    call.wrap("targets", "paddle.cast(", ", 'int32')")
    for lengths in ("input_lengths", "target_lengths"):
        if isinstance(call.value(lengths), ast.Tuple | ast.List) or call.types(lengths) == {"sequence"}:
            call.wrap(lengths, "paddle.to_tensor(", ")")


@hook("ctc_loss", to="torch")
def ctc_loss_to_torch(call: BoundCall) -> None:
    """torch wants log-probabilities, Paddle takes logits."""
    value = call.value("log_probs")
    if not (isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] == "log_softmax"):
        call.wrap("log_probs", "torch.nn.functional.log_softmax(", ", dim=-1)")


@hook("gaussian_nll", to="paddle")
def gaussian_nll(call: BoundCall) -> None:
    """Both raise the variance to epsilon at least; torch keeps its gradient then, Paddle cuts the variance off."""
    if not is_call_of(call.origin("var"), "detach"):
        call.report("AGD203", what="Paddle gives the variance no gradient")


@hook("loss_base", to="paddle")
def loss_base(call: BoundCall) -> None:
    """torch's base of losses keeps its reduction; Paddle's base of layers keeps nothing."""
    function = call.node.func
    if not (isinstance(function, ast.Attribute) and is_call_of(function.value, "super")):
        call.refuse("only super().__init__(...) of a loss can be followed by what it sets")
    how = reduced(call)
    call.drop("reduction")
    call.surround("", f".reduction = {how!r}" if how else ".reduction = {reduction}")


def has_no_constructor(statement: ast.ClassDef, target: Framework) -> bool:
    """Whether objects of the class get what only the base's own constructor sets."""
    return not any(isinstance(s, ast.FunctionDef) and s.name == "__init__" for s in statement.body)


CLASS_CHECKS: dict[str, Callable[[ast.ClassDef, Framework], bool]] = {"nn.modules.loss._Loss": has_no_constructor}
"""See ``hooks.class_check``."""
