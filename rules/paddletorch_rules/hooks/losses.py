"""Losses: where the classes stand, what a mean divides by, and the reductions of old torch code."""

from __future__ import annotations

import ast
from collections.abc import Callable

from paddletorch_rules.facts import facts
from paddletorch_rules.hooks.arguments import (
    is_call_of,
    is_plain,
    is_pure,
    literally,
    no_counterpart,
    operand,
    rewrite_once,
)
from paddletorch_rules.hooks.protocol import BoundCall, Step, hook
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


def _reduced(call: BoundCall, default: str = "mean") -> str:
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


def _given(call: BoundCall, name: str) -> bool:
    node = call.value(name)
    return node is not None and not (isinstance(node, ast.Constant) and node.value is None)


DEFAULT_IGNORED = -100
"""The label that torch's losses ignore unless they are told otherwise."""


@hook("cross_entropy", to="paddle")
def cross_entropy_to_paddle(call: BoundCall) -> None:
    """torch has the classes in dimension 1, Paddle in the last."""
    how = _reduced(call)
    reduction(call)
    smoothing = call.value("label_smoothing")
    smooth = smoothing is not None and call.literal("label_smoothing") not in (0, 0.0)
    if _is_float(call.dtype("target")):
        call.force("axis", "1")
        _soft_labels(call, how)
    elif smooth:
        _smoothed(call, how)
    else:
        call.force("axis", "1")
        if how == "mean" and not _given(call, "weight"):
            _mean_of_counted(call)


def _mean_of_counted(call: BoundCall) -> None:
    """Paddle 3 divides by all labels if the ignored one is negative, torch by those that count."""
    ignored = call.value("ignore_index")
    if ignored is None and not call.file_has(DEFAULT_IGNORED):
        call.report("NNF203", difference=_COUNTED)
        return
    index = ignored_label(call)
    if (isinstance(index, int) and index >= 0) or (ignored is not None and not is_plain(ignored)):
        return
    text = str(DEFAULT_IGNORED) if ignored is None else literally(ast.unparse(ignored))
    given = f"ignore_index={text}, " if ignored is not None else ""
    call.drop("ignore_index")
    template = (
        f"paddle.nn.functional.cross_entropy({{input}}, {{label}}, {given}reduction='sum', "
        f"axis=1) / paddle.sum(paddle.cast({{label}} != {text}, 'float32'))"
    )
    if _may_repeat(call.value("target")):
        call.rewrite(template)
    else:
        rewrite_once(call, template, input="input", label="target")


def _may_repeat(node: ast.expr | None) -> bool:
    """Whether the expression, or what is viewed in another shape, may be evaluated twice: ``targets.view(-1)``."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in facts().pure:
        if node.keywords or not all(is_pure(argument) for argument in node.args):
            return False
        node = node.func.value
    return is_pure(node)


_COUNTED = "labels of -100 count in the mean on Paddle 3, not in torch's"


def ignored_label(call: BoundCall) -> object:
    """The label that is ignored, also behind a variable with one assignment; ``...`` if it is not seen."""
    node = call.origin("ignore_index")
    if node is None:
        return DEFAULT_IGNORED
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        return ...


def _smoothed(call: BoundCall, how: str) -> None:
    """Paddle smooths over the last dimension, whatever the axis of the classes: they are moved there."""
    for other in ("weight", "ignore_index"):
        if _given(call, other):
            no_counterpart(call, other, "... with label_smoothing")
    if not how:
        no_counterpart(call, "reduction")
    if _has_two_dimensions(call.origin("input")) and how != "none":
        call.force("axis", "1")
        return
    call.drop("reduction")
    given = "" if how == "mean" else f", reduction={how!r}"
    call.rewrite(
        f"paddle.nn.functional.cross_entropy(paddle.moveaxis({{input}}, 1, -1), {{label}}{given}, "
        "label_smoothing={label_smoothing})" + (".squeeze(-1)" if how == "none" else "")
    )


def _has_two_dimensions(node: ast.expr | None) -> bool:
    """Whether the expression shows that it is a matrix: ``x.view(-1, classes)``."""
    if not (is_call_of(node, "view") or is_call_of(node, "reshape")):
        return False
    assert isinstance(node, ast.Call)
    return len(node.args) == 2 and not any(isinstance(a, ast.Starred) for a in node.args)


@hook("layer_cross_entropy", to="paddle")
def layer_cross_entropy_to_paddle(call: BoundCall) -> None:
    """Label smoothing gives other values beside weights or ignored labels, and another shape without reduction."""
    how = _reduced(call)
    reduction(call)
    weighted = _given(call, "weight")
    if call.value("label_smoothing") is not None and call.literal("label_smoothing") not in (0, 0.0):
        if weighted or call.value("ignore_index") is not None:
            call.stop("NNL201", difference="label_smoothing beside weight or ignore_index gives other values")
        if how not in ("mean", "sum"):
            call.stop("NNL201", difference="label_smoothing without reduction gives [N, 1] in Paddle, [N] in torch")
        call.report("NNF203", difference="Paddle smooths over the last axis, right for [N, classes] and not for images")
    elif how == "mean" and not weighted:
        _mean_of_counted_by_layer(call)


def _mean_of_counted_by_layer(call: BoundCall) -> None:
    """As ``_mean_of_counted``: a hook on the layer divides its sum."""
    if call.value("ignore_index") is None and not call.file_has(DEFAULT_IGNORED):
        call.report("NNF203", difference=_COUNTED)
        return
    index = ignored_label(call)
    if isinstance(index, int) and index >= 0:
        return
    if not isinstance(index, int):
        call.report("NNF203", difference="a negative ignore_index counts in the mean on Paddle 3, not in torch's")
        return
    call.drop("reduction")
    call.force("reduction", "'sum'")
    counted = f"paddle.cast(inputs[1] != {index}, loss.dtype)"
    divide = f"{{object}}.register_forward_post_hook(lambda _, inputs, loss: loss / {counted}.sum())"
    call.afterwards(Step((("", divide),)))


def _is_float(dtype: str | None) -> bool:
    return dtype is not None and dtype.startswith(("float", "bfloat"))


def _soft_labels(call: BoundCall, how: str) -> None:
    """Floating-point targets are probabilities; Paddle's losses keep the dimension of the classes."""
    for other in ("weight", "ignore_index"):
        if _given(call, other):
            no_counterpart(call, other, "... with probabilities as target")
    if not how:
        no_counterpart(call, "reduction")
    call.drop("reduction")
    call.rewrite(
        "paddle.nn.functional.cross_entropy({input}, {label}, soft_label=True, axis=1"
        "{label_smoothing:, label_smoothing=%}, reduction='none').squeeze(1)" + ("" if how == "none" else f".{how}()")
    )


@hook("cross_entropy", to="torch")
def cross_entropy_to_torch(call: BoundCall) -> None:
    """Paddle has the classes in the last dimension, and its labels may keep a dimension of 1 there."""
    axis = call.literal("axis") if call.value("axis") is not None else -1
    soft = call.literal("soft_label") if call.value("soft_label") is not None else False
    if axis not in (1, -1):
        no_counterpart(call, "axis")
    if soft not in (True, False):
        no_counterpart(call, "soft_label")
    if call.value("use_softmax") is not None and call.literal("use_softmax") is not True:
        no_counterpart(call, "use_softmax")
    if _given(call, "weight") and (soft or call.literal("label_smoothing") not in (..., None, 0, 0.0)):
        no_counterpart(call, "weight")
    how = _reduced(call)
    if not how:
        no_counterpart(call, "reduction")
    for name in ("axis", "soft_label", "use_softmax"):
        call.drop(name)
    smooth = call.value("label_smoothing") is not None and call.literal("label_smoothing") not in (0, 0.0)
    kept = how == "none" and (soft or smooth)  # Paddle's loss has a dimension of 1 where the classes stood
    counted = how == "mean" and not soft and not _given(call, "weight") and _is_negative(call, "ignore_index")
    column = axis == 1 and not soft and is_call_of(call.origin("label"), "unsqueeze")
    if axis == 1 and not soft and not kept and not counted and not column:
        return
    moved = "{input}.movedim(-1, 1)" if axis == -1 else "{input}"
    target = "{target}.reshape({input}.shape[:-1])" if axis == -1 else "{target}"
    if column:
        target = "{target}.squeeze(1)"
    if soft:
        target = "{target}.movedim(-1, 1)" if axis == -1 else "{target}"
    end = f".unsqueeze({axis})" if kept else ".reshape({target}.shape)" if how == "none" else ""
    if counted:  # Paddle 3 divides by all labels if the ignored one is negative
        call.force("reduction", "'sum'")
        end = " / {target}.numel()"
    text = (
        f"torch.nn.functional.cross_entropy({moved}, {target}{{weight:, weight=%}}"
        f"{{ignore_index:, ignore_index=%}}{{reduction:, reduction=%}}{{label_smoothing:, label_smoothing=%}}){end}"
    )
    repeated = {hole: name for hole, name in (("input", "input"), ("target", "label")) if text.count(f"{{{hole}}}") > 1}
    rewrite_once(call, text, **repeated) if repeated else call.rewrite(text)


@hook("layer_cross_entropy_call", to="torch")
def cross_entropy_call(call: BoundCall) -> None:
    """Paddle's classes are on the last axis, and labels may keep an axis of 1 there."""
    made = call.origin("self")
    if not is_call_of(made, "CrossEntropyLoss") or not isinstance(made, ast.Call):
        return
    names = ("weight", "ignore_index", "reduction", "soft_label", "axis")
    given = {k.arg: k.value for k in made.keywords} | dict(zip(names, made.args, strict=False))
    how = ast.unparse(given["reduction"]).strip("'\"") if "reduction" in given else "mean"
    plain = all(ast.unparse(given[n]) == usual for n, usual in (("soft_label", "False"), ("axis", "-1")) if n in given)
    if None in given or not plain or how not in ("mean", "sum", "none"):
        return
    flat = "{self}({input}.flatten(0, -2), {target}.flatten())"
    ignored = given.get("ignore_index")
    if how == "none":
        rewrite_once(call, f"{flat}.reshape({{target}}.shape)", target="label")
    elif how == "mean" and ignored is not None and "weight" not in given and _is_minus(ignored):
        share = f"({{target}} != {ast.unparse(ignored)}).float().mean()"  # Paddle 3 divides by all labels
        rewrite_once(call, f"{flat} * {share}", target="label")
    elif not _is_flat(call.origin("label")):
        call.rewrite(flat)


def _is_flat(label: ast.expr | None) -> bool:
    """Whether labels are given without an axis for the classes: ``y.flatten()``, ``y.reshape([-1])``."""
    if is_call_of(label, "reshape") and isinstance(label, ast.Call) and label.args:
        return ast.unparse(label.args[-1]) in ("[-1]", "(-1,)", "-1")
    return is_call_of(label, "flatten") or is_call_of(label, "squeeze")


def _is_negative(call: BoundCall, name: str) -> bool:
    """Whether an argument is a negative number, as far as the file shows it."""
    return _is_minus(call.origin(name))


def _is_minus(value: ast.expr | None) -> bool:
    number = value.operand if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub) else None
    return isinstance(number, ast.Constant)


@hook("softmax_with_cross_entropy", to="torch")
def softmax_with_cross_entropy(call: BoundCall) -> None:
    """Paddle's loss keeps the dimension of the classes."""
    if call.value("return_softmax") is not None and call.literal("return_softmax") is not False:
        no_counterpart(call, "return_softmax")
    axis = call.literal("axis") if call.value("axis") is not None else -1
    soft = call.literal("soft_label") if call.value("soft_label") is not None else False
    if axis not in (1, -1) or soft not in (True, False):
        no_counterpart(call, "axis" if axis not in (1, -1) else "soft_label")
    for name in ("axis", "soft_label", "return_softmax", "numeric_stable_mode"):
        call.drop(name)
    if soft:
        call.drop("ignore_index")
        call.rewrite(
            f"torch.sum({{target}} * -torch.nn.functional.log_softmax({{input}}, dim={axis}), dim={axis}, keepdim=True)"
        )
        return
    moved = "{input}.movedim(-1, 1)" if axis == -1 else "{input}"
    kept = "{input}.shape[:-1]" if axis == -1 else "{input}.shape[:1] + {input}.shape[2:]"
    text = (
        f"torch.nn.functional.cross_entropy({moved}, {{target}}.reshape({kept}){{ignore_index:, ignore_index=%}}, "
        f"reduction='none').unsqueeze({axis})"
    )
    rewrite_once(call, text, input="logits", target="label")


@hook("smooth_l1", to="paddle")
def smooth_l1_to_paddle(call: BoundCall) -> None:
    """torch divides by ``beta``, Paddle does not: alike at 1 only."""
    reduction(call)
    value = call.value("beta")
    if value is None or call.literal("beta") in (1, 1.0):
        return
    if not is_plain(value):
        no_counterpart(call, "beta")
    how = _reduced(call)
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
    how = _reduced(call)
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


@hook("binary_cross_entropy_with_logits", to="paddle")
def binary_cross_entropy_with_logits(call: BoundCall) -> None:
    """Paddle 2.6 weighs one term of the formula only."""
    reduction(call)
    if _given(call, "pos_weight"):
        call.report("NNF203", difference="Paddle 2.6 is wrong where pos_weight meets a negative logit; 3.3 is right")


@hook("ctc_loss", to="paddle")
def ctc_loss_to_paddle(call: BoundCall) -> None:
    """Paddle takes logits, and targets of int32."""
    if call.value("zero_infinity") is not None and call.literal("zero_infinity") is False:
        call.drop("zero_infinity")
    call.wrap("targets", "paddle.cast(", ", 'int32')")


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


@hook("sigmoid_focal_loss", to="torch")
def sigmoid_focal_loss(call: BoundCall) -> None:
    """Written out; the alternating weights are those of Paddle's documentation."""
    how = _reduced(call, "sum")
    if not how:
        no_counterpart(call, "reduction")
    text = (
        "(lambda _x, _y, _p: torch.nn.functional.binary_cross_entropy_with_logits(_x, _y, reduction='none')"
        " * ({alpha} * _y + (1 - {alpha}) * (1 - _y)) * (1 - (_p * _y + (1 - _p) * (1 - _y))) ** {gamma}"
    )
    given = call.value("normalizer") is not None and call.literal("normalizer") is not None
    text += ")({logit}, {label}, torch.sigmoid({logit}))" + (" / {normalizer}" if given else "")
    call.drop("reduction")
    if not given:
        call.drop("normalizer")
    call.rewrite(text if how == "none" else f"torch.{how}({text})")


@hook("loss_base", to="paddle")
def loss_base(call: BoundCall) -> None:
    """torch's base of losses keeps its reduction; Paddle's base of layers keeps nothing."""
    function = call.node.func
    if not (isinstance(function, ast.Attribute) and is_call_of(function.value, "super")):
        call.refuse("only super().__init__(...) of a loss can be followed by what it sets")
    how = _reduced(call)
    call.drop("reduction")
    call.surround("", f".reduction = {how!r}" if how else ".reduction = {reduction}")


def has_no_constructor(statement: ast.ClassDef, target: Framework) -> bool:
    """Whether objects of the class get what only the base's own constructor sets."""
    return not any(isinstance(s, ast.FunctionDef) and s.name == "__init__" for s in statement.body)


CLASS_CHECKS: dict[str, Callable[[ast.ClassDef, Framework], bool]] = {"nn.modules.loss._Loss": has_no_constructor}
"""See ``hooks.class_checks``."""
