"""Cross entropy: where the classes stand, what the mean divides by, and targets that are probabilities."""

from __future__ import annotations

import ast

from paddletorch_rules.facts import facts
from paddletorch_rules.hooks.arguments import (
    is_call_of,
    is_long,
    is_plain,
    is_pure,
    literally,
    no_counterpart,
    rewrite_once,
)
from paddletorch_rules.hooks.losses import is_computed, is_given, reduced, reduction
from paddletorch_rules.hooks.protocol import BoundCall, Step, hook

DEFAULT_IGNORED = -100
"""The label that torch's losses ignore unless they are told otherwise."""


@hook("cross_entropy", to="paddle")
def cross_entropy_to_paddle(call: BoundCall) -> None:
    """torch has the classes in dimension 1, Paddle in the last."""
    how = reduced(call)
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
        if how == "mean" and not is_given(call, "weight"):
            _mean_of_counted(call)


def _mean_of_counted(call: BoundCall) -> None:
    """Paddle 3 divides by all labels if the ignored one is negative, torch by those that count."""
    ignored = call.value("ignore_index")
    if ignored is None and not call.may_hold("target", DEFAULT_IGNORED):
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


_SMOOTHED = "Paddle smooths over the last axis, right for [N, classes] and not for images"

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


_WRITTEN = (
    "torch_cross_entropy({input}, {label}{weight:, weight=%}{ignore_index:, ignore_index=%}{reduction:, reduction=%}"
    "{label_smoothing:, label_smoothing=%})"
)


def _smoothed(call: BoundCall, how: str) -> None:
    """Paddle smooths over the last dimension, whatever the axis of the classes: they are moved there."""
    if is_given(call, "weight") or is_given(call, "ignore_index") or not how:
        call.rewrite(_WRITTEN)
        return
    if call.ranks("input") == {2} and how != "none":
        call.force("axis", "1")
        return
    call.drop("reduction")
    given = "" if how == "mean" else f", reduction={how!r}"
    call.rewrite(
        f"paddle.nn.functional.cross_entropy(paddle.moveaxis({{input}}, 1, -1), {{label}}{given}, "
        "label_smoothing={label_smoothing})" + (".squeeze(-1)" if how == "none" else "")
    )


@hook("layer_cross_entropy", to="paddle")
def layer_cross_entropy_to_paddle(call: BoundCall) -> None:
    """Label smoothing gives other values beside weights or ignored labels, and another shape without reduction."""
    how = reduced(call)
    reduction(call)
    weighted = is_given(call, "weight")
    if call.value("label_smoothing") is not None and call.literal("label_smoothing") not in (0, 0.0):
        if weighted or call.value("ignore_index") is not None:
            call.stop("NNL201", difference="label_smoothing beside weight or ignore_index gives other values")
        if how not in ("mean", "sum"):
            call.stop("NNL201", difference="label_smoothing without reduction gives [N, 1] in Paddle, [N] in torch")
        if call.input_ranks() != {2}:
            call.report("NNF203", difference=_SMOOTHED)
    elif how == "mean" and not weighted:
        _mean_of_counted_by_layer(call)


def _mean_of_counted_by_layer(call: BoundCall) -> None:
    """As ``_mean_of_counted``: a hook on the layer divides its sum."""
    if call.value("ignore_index") is None and not call.targets_may_hold(DEFAULT_IGNORED):
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
    if is_given(call, "weight") or is_given(call, "ignore_index") or not how:
        call.rewrite(_WRITTEN)
        return
    call.drop("reduction")
    end = "" if how == "none" else f".{how}()"
    if call.value("label_smoothing") is None:  # Paddle gives it no gradient, and takes it to sum to one
        call.rewrite(f"(-paddle.nn.functional.log_softmax({{input}}, axis=1) * {{label}}).sum(axis=1){end}")
        return
    call.rewrite(
        "paddle.nn.functional.cross_entropy({input}, {label}, soft_label=True, axis=1"
        "{label_smoothing:, label_smoothing=%}, reduction='none').squeeze(1)" + end
    )


@hook("cross_entropy", to="torch")
def cross_entropy_to_torch(call: BoundCall) -> None:
    """Paddle has the classes in the last dimension, and its labels may keep a dimension of 1 there."""
    axis = call.literal("axis") if call.value("axis") is not None else -1
    soft = call.literal("soft_label") if call.value("soft_label") is not None else False
    smooth = call.value("label_smoothing") is not None and call.literal("label_smoothing") not in (0, 0.0)
    how = reduced(call)
    unclear = {
        "axis": axis not in (1, -1),
        "soft_label": soft not in (True, False),
        "use_softmax": call.value("use_softmax") is not None and call.literal("use_softmax") is not True,
        "weight": is_given(call, "weight") and bool(soft or smooth),
        "reduction": not how,
    }
    if any(unclear.values()):
        _as_paddle(call)
        return
    plain = how == "mean" and not soft and not is_given(call, "weight")
    if (plain and ignored_label(call) is ...) or (how == "mean" and not soft and _may_be_plain(call)):
        _as_paddle(call)
        return
    for name in ("axis", "soft_label", "use_softmax"):
        call.drop(name)
    kept = how == "none" and (soft or smooth)  # Paddle's loss has a dimension of 1 where the classes stood
    counted = plain and counts_ignored(call, call.may_hold("label", DEFAULT_IGNORED))
    column = axis == 1 and not soft and is_call_of(call.origin("label"), "unsqueeze")
    plain_column = column and ast.unparse(call.origin("label") or call.node).endswith("unsqueeze(1)")
    if axis == 1 and not soft and not kept and not counted and not column:
        return
    moved = "{input}.movedim(-1, 1)" if axis == -1 else "{input}"
    target = "{target}.reshape({input}.shape[:-1])" if axis == -1 else "{target}"
    if column:
        target = "{target}.squeeze(1)" if plain_column else "{target}.reshape({input}.shape[:1] + {input}.shape[2:])"
    if soft:
        target = "{target}.detach()" if is_computed(call, "label") else "{target}"  # Paddle gives it no gradient
        target += ".movedim(-1, 1)" if axis == -1 else ""
    end = f".unsqueeze({axis})" if kept else ".reshape({target}.shape)" if how == "none" else ""
    if counted:  # Paddle 3 divides by all labels if the ignored one is negative
        call.force("reduction", "'sum'")
        end = " / {target}.numel()"
    text = (
        f"torch.nn.functional.cross_entropy({moved}, {target}{{weight:, weight=%}}"
        f"{{ignore_index:, ignore_index=%}}{{reduction:, reduction=%}}{{label_smoothing:, label_smoothing=%}}){end}"
    )
    holes = {"input": "input", "target": "label"}
    if axis == -1 and not soft and not smooth and not counted and is_long(call, text, **holes):
        call.drop("label_smoothing")
        call.rewrite(
            "paddle_hard_cross_entropy({input}, {target}{weight:, weight=%}{ignore_index:, ignore_index=%}"
            "{reduction:, reduction=%})"
        )
        return
    repeated = {hole: name for hole, name in holes.items() if text.count(f"{{{hole}}}") > 1}
    rewrite_once(call, text, **repeated) if repeated else call.rewrite(text)


def _may_be_plain(call: BoundCall) -> bool:
    """Whether the weight may be None, and labels that may be ignored then count in the mean."""
    if not is_given(call, "weight") or not isinstance(call.origin("weight") or call.value("weight"), ast.Attribute):
        return False
    index = ignored_label(call)
    return call.value("ignore_index") is not None and not (isinstance(index, int) and index >= 0)


def counts_ignored(call: BoundCall, are_seen: bool, code: str = "NNF203") -> bool:
    """Whether the mean divides by ignored labels too, as Paddle 3 does if their number is negative.

    Where that is the default and no such label is seen to come into the targets, it is reported.
    """
    index = ignored_label(call)
    if call.value("ignore_index") is None and not are_seen:
        call.report(code, difference=_COUNTED)
        return False
    return isinstance(index, int) and index < 0


def _as_paddle(call: BoundCall) -> None:
    """A written function takes what torch has no parameter for, or what only the program knows."""
    names = "soft_label", "axis", "use_softmax", "label_smoothing"
    own = {name: value for name in names if (value := call.value(name)) is not None}
    given = "".join(f", {name}={{{name}}}" for name in own)
    for name in names:
        call.drop(name)
    call.rewrite(
        "paddle_cross_entropy({input}, {target}{weight:, weight=%}{ignore_index:, ignore_index=%}"
        f"{{reduction:, reduction=%}}{given})",
        parts=own,
    )


@hook("layer_cross_entropy_call", to="torch")
def cross_entropy_call(call: BoundCall) -> None:
    """Paddle's classes are on the last axis, and labels may keep an axis of 1 there."""
    made = call.origin("self")
    if not is_call_of(made, "CrossEntropyLoss") or not isinstance(made, ast.Call):
        return
    names = ("weight", "ignore_index", "reduction", "soft_label", "axis")
    given = {k.arg: k.value for k in made.keywords} | dict(zip(names, made.args, strict=False))
    how = ast.unparse(given["reduction"]).strip("'\"") if "reduction" in given else "mean"
    axis = ast.unparse(given["axis"]) if "axis" in given else "-1"
    plain = axis in ("-1", "1") and ("soft_label" not in given or ast.unparse(given["soft_label"]) == "False")
    if None in given or not plain or how not in ("mean", "sum", "none"):
        return
    flat, shaped = "{self}({input}.flatten(0, -2), {target}.flatten())", {}
    if axis == "1":
        if how == "none":
            return
        is_column = is_call_of(call.origin("label"), "unsqueeze")
        kept = "{target}.squeeze(1)" if is_column else "{target}.reshape({input}.shape[:1] + {input}.shape[2:])"
        flat = f"{{self}}({{input}}, {kept})"
        shaped = {} if is_column else {"input": "input"}
    default = ast.Constant(DEFAULT_IGNORED) if call.may_hold("label", DEFAULT_IGNORED) else None
    ignored = given.get("ignore_index", default)
    if how == "none":
        rewrite_once(call, f"{flat}.reshape({{target}}.shape)", target="label")
    elif how == "mean" and ignored is not None and "weight" not in given and _is_minus(ignored):
        share = f"({{target}} != {ast.unparse(ignored)}).float().mean()"  # Paddle 3 divides by all labels
        rewrite_once(call, f"{flat} * {share}", target="label", **shaped)
    elif axis == "1":
        rewrite_once(call, flat, **shaped)
    elif not _is_flat(call.origin("label")):
        call.rewrite(flat)


def _is_flat(label: ast.expr | None) -> bool:
    """Whether labels are given without an axis for the classes: ``y.flatten()``, ``y.reshape([-1])``."""
    if is_call_of(label, "reshape") and isinstance(label, ast.Call) and label.args:
        return ast.unparse(label.args[-1]) in ("[-1]", "(-1,)", "-1")
    return is_call_of(label, "flatten") or is_call_of(label, "squeeze")


def _is_minus(value: ast.expr) -> bool:
    """Whether the expression is a negative number."""
    return ast.unparse(value).startswith("-") and ast.unparse(value)[1:].isdigit()


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
