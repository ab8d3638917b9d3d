"""Random numbers: dtypes that Paddle's kernels do not make, generators, and names that are Python keywords."""

from __future__ import annotations

import ast
import re

from paddletorch_rules.hooks.arguments import bind_names
from paddletorch_rules.hooks.creation import factory, place
from paddletorch_rules.hooks.protocol import BoundCall, hook

_MADE = ("torch.int64", "torch.long", "torch.int32", "torch.int")


@hook("randint")
def randint(call: BoundCall) -> None:
    """Paddle's kernel makes int32 and int64; its ``high`` may be left out."""
    if call.target == "torch":
        _randint_to_torch(call)
        return
    dtype = call.value("dtype")
    cast = dtype is not None and call.literal("dtype") is not None and call.qualified("dtype") not in _MADE
    if cast or dtype is None:
        call.drop("dtype")
    place(call, "", ".astype({dtype})" if cast else "")


def _randint_to_torch(call: BoundCall) -> None:
    dtype = "{dtype:, dtype=%}"
    shape = "{size}" if call.value("shape") is not None else "(1,)"
    if call.value("high") is None or call.literal("high") is None:
        low = "{low}" if call.value("low") is not None else "0"
        call.rewrite(f"torch.randint(0, {low}, {shape}{dtype})")


@hook("randint_like")
def randint_like(call: BoundCall) -> None:
    """Paddle's ``high`` may be left out."""
    if call.target == "paddle":
        factory(call)
    elif call.value("high") is None or call.literal("high") is None:
        call.rewrite("torch.randint_like({input}, 0, {low}{dtype:, dtype=%})")


@hook("normal")
def normal(call: BoundCall) -> None:
    """A dtype of its own is a cast in Paddle."""
    if call.target == "torch":
        if call.value("std") is None:
            call.force("std", "1.0")  # torch has this default only beside a tensor
        return
    cast = call.value("dtype") is not None and call.literal("dtype") is not None
    call.drop("dtype")
    place(call, "", ".astype({dtype})" if cast else "")


@hook("random_like")
def random_like(call: BoundCall, function: str, tensor: str) -> None:
    """The shape of a tensor, and its dtype unless another is given; ``tensor`` is Paddle's name of it."""
    if call.target == "torch":
        return
    if call.value("dtype") is not None and call.literal("dtype") is not None:
        call.rewrite(f"{function}({{{tensor}}}.shape, dtype={{dtype}})")
    else:
        template = f"{function}({{{tensor}}}.shape, dtype={{{tensor}}}.dtype)"
        call.rewrite(bind_names(call, template, **{tensor: "input"}))
    place(call)


@hook("uniform_")
def uniform_in_place(call: BoundCall) -> None:
    """torch's first parameter is called ``from`` and goes by position; Paddle's default was -1 before 3.3."""
    if call.target == "paddle" and call.value("from_") is None:
        call.force("min", "0.0")


_FRESH = re.compile(r"(empty|zeros|ones|rand|randn|full|clone|tensor|Tensor)(_like)?$")


def _is_fresh(node: ast.expr | None) -> bool:
    """Whether nothing else holds the tensor: a call that makes it."""
    if not isinstance(node, ast.Call):
        return False
    return _FRESH.search(ast.unparse(node.func).rpartition(".")[2].removeprefix("new_")) is not None


@hook("bernoulli_")
def bernoulli_in_place(call: BoundCall) -> None:
    """A tensor made on the spot need not be written into."""
    if call.target == "paddle" and _is_fresh(call.value("self")):
        call.rewrite("paddle.bernoulli(paddle.full_like({self}, {p}))")


@hook("random_")
def random_in_place(call: BoundCall) -> None:
    """A tensor made on the spot need not be written into."""
    if _is_fresh(call.value("self")):
        low = "{from_}" if call.value("from_") is not None else "0"
        call.rewrite(f"paddle.randint_like({{self}}, {low}, {{to}})")


@hook("seed")
def seed(call: BoundCall) -> None:
    """Paddle takes no negative seed."""
    value = call.literal("seed")
    if call.target == "paddle" and isinstance(value, int) and value < 0:
        call.refuse(f"seed={value}: Paddle takes no negative seed")


@hook("number_as_tensor")
def number_as_tensor(call: BoundCall) -> None:
    """Paddle makes a batch of one of a number, torch one distribution."""
    for name in ("rate", "probs"):
        if call.target == "paddle" and call.value(name) is not None and isinstance(call.literal(name), int | float):
            call.wrap(name, "paddle.to_tensor(", ", dtype='float32')")
