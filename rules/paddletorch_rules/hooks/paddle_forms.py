"""To torch: forms of arguments that Paddle takes and torch does not."""

from __future__ import annotations

import ast

from paddletorch_rules.hooks.arguments import no_counterpart, rewrite_once
from paddletorch_rules.hooks.protocol import BoundCall, hook


@hook("tensordot", to="torch")
def tensordot(call: BoundCall) -> None:
    """One list of axes is for both tensors, and the shorter of two goes on as the longer does."""
    node = call.value("axes")
    if not isinstance(node, ast.List | ast.Tuple):
        return
    try:
        axes = [ast.literal_eval(e) for e in node.elts]
    except ValueError:
        return
    if all(isinstance(a, int) for a in axes):
        axes = [axes]
    if not all(isinstance(a, list | tuple) for a in axes):
        return
    first, second = [*axes, axes[0], axes[0]][:2] if len(axes) == 1 else axes[:2]
    longer = max(first, second, key=len)
    both = [[*a, *longer[len(a) :]] for a in (first, second)]
    if both != [list(a) for a in axes]:
        call.drop("axes")
        call.force("dims" if call.value("self") is None else "axes", repr(both))


def _is_short(call: BoundCall, name: str) -> bool:
    """Whether the file shows that the indices are no int64."""
    return call.dtype(name) in ("int32", "integers")


@hook("long_index", to="torch")
def long_index(call: BoundCall) -> None:
    """torch wants int64 here."""
    if _is_short(call, "index"):
        call.wrap("index", "", ".long()")


@hook("take", to="torch")
def take(call: BoundCall) -> None:
    """Indices out of range: wrapped around or moved to the ends."""
    mode = call.literal("mode") if call.value("mode") is not None else "raise"
    call.drop("mode")
    operand = "{self}" if call.value("self") is not None else "{input}"
    names = {"self": "self"} if call.value("self") is not None else {"input": "x"}
    if mode == "wrap":
        text = f"torch.take({operand}, torch.remainder({{index}}, {operand}.numel()).long())"
        rewrite_once(call, text, **names)
    elif mode == "clip":
        text = f"torch.take({operand}, torch.clamp({{index}}, 0, {operand}.numel() - 1).long())"
        rewrite_once(call, text, **names)
    elif mode != "raise":
        no_counterpart(call, "mode")
    else:
        long_index(call)


@hook("log_normal", to="torch")
def log_normal(call: BoundCall) -> None:
    """Without a shape the mean or the deviation is a tensor."""
    if call.value("shape") is None or call.literal("shape") is None:
        call.drop("shape")
        call.rewrite("torch.exp(torch.normal({mean}, {std}))")


@hook("diag", to="torch")
def diag(call: BoundCall) -> None:
    """What is beside the diagonal of a new matrix."""
    if call.value("padding_value") is None:
        return
    call.drop("padding_value")
    if call.literal("padding_value") in (0, 0.0):
        return
    if not isinstance(call.literal("padding_value"), int | float):
        no_counterpart(call, "padding_value")
    padding = ast.unparse(call.value("padding_value") or ast.Constant(0))
    method = call.value("self") is not None
    operand, offset = "{self}" if method else "{input}", "{diagonal:, diagonal=%}"
    # a matrix gives its diagonal, whatever the padding: the mask is true all along it
    mask = f"torch.diag(torch.ones_like({operand}){offset}) != 0"
    text = f"torch.where({mask}, torch.diag({operand}{offset}), {padding})"
    rewrite_once(call, text, **({"self": "self"} if method else {"input": "x"}))


@hook("range", to="torch")
def range_(call: BoundCall) -> None:
    """One number is the end."""
    if call.value("end") is None or call.literal("end") is None:
        call.drop("end")
        call.rewrite("torch.range(0, {start}{step:, step=%}{dtype:, dtype=%})")


@hook("distribution_parameters", to="torch")
def distribution_parameters(call: BoundCall, of: str) -> None:
    """Paddle's distributions take lists of numbers."""
    for name in ("loc", "scale", "low", "high"):
        if isinstance(call.value(name), ast.List | ast.Tuple):
            call.wrap(name, "torch.tensor(", ")")


@hook("kl_divergence", to="paddle")
def kl_divergence(call: BoundCall) -> None:
    """Of two geometric distributions Paddle gives another number (3.3.1), of two categorical ones another shape."""
    if not call.types("p").isdisjoint(("geometric", "categorical")):
        call.stop("TRN201")


@hook("kl_divergence", to="torch")
def kl_divergence_to_torch(call: BoundCall) -> None:
    """A written class, such as that of Paddle's Categorical, has the method, and is none of torch's distributions."""
    made = call.types("p")
    if "geometric" in made:
        call.stop("TRN201")
    if made and made <= _OF_NO_FRAMEWORK:
        call.rewrite("{p}.kl_divergence({q})")
    elif not made or made & _OF_NO_FRAMEWORK:
        call.rewrite("paddle_kl_divergence({p}, {q})")


_OF_NO_FRAMEWORK = frozenset({"bool", "float", "int", "number", "sequence", "str"})
"""What an object can be that is none of the framework's, as those of written classes are."""


@hook("categorical", to="paddle")
def categorical(call: BoundCall) -> None:
    """Probabilities become their logarithms, of which Paddle's ``entropy()`` and ``sample()`` take the softmax."""
    if call.value("probs") is None or call.literal("probs") is None:
        call.drop("probs")
        return
    if call.value("logits") is not None and call.literal("logits") is not None:
        call.stop("TRN201")
    call.drop("logits")
    logarithm = "paddle.log(paddle.clip({probs}, min=1.1920929e-07))"  # as torch does
    call.rewrite(f"paddle.distribution.Categorical(paddle.nn.functional.log_softmax({logarithm}, axis=-1))")


@hook("categorical_sample", to="paddle")
def categorical_sample(call: BoundCall) -> None:
    """Paddle's adds a list to the shape of the batch."""
    if call.value("sample_shape") is not None:
        given = call.value("sample_shape")
        is_display = isinstance(given, ast.List)
        call.rewrite("{self}.sample({shape})" if is_display else "{self}.sample(list({shape}))")
