"""Random numbers: dtypes that Paddle's kernels do not make, generators, and names that are Python keywords."""

from __future__ import annotations

import ast

from paddletorch_rules.facts import facts
from paddletorch_rules.hooks.arguments import is_pure, rewrite_once
from paddletorch_rules.hooks.creation import factory_to_paddle, place
from paddletorch_rules.hooks.protocol import BoundCall, hook

_MADE = ("torch.int64", "torch.long", "torch.int32", "torch.int")


@hook("randint", to="paddle")
def randint_to_paddle(call: BoundCall) -> None:
    """Paddle's kernel makes int32 and int64: any other dtype is a cast."""
    dtype = call.value("dtype")
    cast = dtype is not None and call.literal("dtype") is not None and call.qualified("dtype") not in _MADE
    if cast or dtype is None:
        call.drop("dtype")
    place(call, "", ".astype({dtype})" if cast else "")


@hook("randint", to="torch")
def randint_to_torch(call: BoundCall) -> None:
    """Paddle's ``high`` may be left out: ``low`` is the end then."""
    dtype = "{dtype:, dtype=%}"
    shape = "{size}" if call.value("shape") is not None else "(1,)"
    if call.value("high") is None or call.literal("high") is None:
        low = "{low}" if call.value("low") is not None else "0"
        call.rewrite(f"torch.randint(0, {low}, {shape}{dtype})")


@hook("randint_like", to="paddle")
def randint_like_to_paddle(call: BoundCall) -> None:
    """As ``factory``."""
    factory_to_paddle(call)


@hook("randint_like", to="torch")
def randint_like_to_torch(call: BoundCall) -> None:
    """Paddle's ``high`` may be left out: ``low`` is the end then."""
    if call.value("high") is None or call.literal("high") is None:
        call.rewrite("torch.randint_like({input}, 0, {low}{dtype:, dtype=%})")


_MOVES = frozenset({"byte", "cpu", "to", "type"})
"""Methods that bring torch's state, a tensor of bytes, to where it is set."""


@hook("rng_state", to="paddle")
def rng_state(call: BoundCall) -> None:
    """Paddle's state is a list, which has no device and no dtype."""
    state = given = call.value("new_state")
    while isinstance(state, ast.Call) and isinstance(state.func, ast.Attribute) and state.func.attr in _MOVES:
        state = state.func.value
    if state is not None and state is not given:
        call.rewrite("paddle.set_rng_state({state})", parts={"state": state})


@hook("normal", to="paddle")
def normal_to_paddle(call: BoundCall) -> None:
    """A dtype of its own is a cast in Paddle."""
    cast = call.value("dtype") is not None and call.literal("dtype") is not None
    call.drop("dtype")
    place(call, "", ".astype({dtype})" if cast else "")


@hook("normal", to="torch")
def normal_to_torch(call: BoundCall) -> None:
    """torch has a default for ``std`` only beside a tensor."""
    if call.value("std") is None:
        call.force("std", "1.0")  # torch has this default only beside a tensor


@hook("random_like", to="paddle")
def random_like(call: BoundCall, function: str, tensor: str) -> None:
    """The shape of a tensor, and its dtype unless another is given; ``tensor`` is Paddle's name of it."""
    if call.value("dtype") is not None and call.literal("dtype") is not None:
        call.rewrite(f"{function}({{{tensor}}}.shape, dtype={{dtype}})")
    else:
        template = f"{function}({{{tensor}}}.shape, dtype={{{tensor}}}.dtype)"
        rewrite_once(call, template, **{tensor: "input"})
    place(call)


@hook("uniform_", to="paddle")
def uniform_in_place(call: BoundCall) -> None:
    """torch's first parameter is called ``from`` and goes by position; Paddle's default was -1 before 3.3.

    Paddle raises for bounds that are equal, with which word vectors begin at zero.
    """
    bounds = [call.literal(name) if call.value(name) is not None else None for name in ("from_", "to")]
    if bounds[0] == bounds[1] and isinstance(bounds[0], int | float):
        call.rewrite("{self}.fill_({min})")
        return
    if call.value("from_") is None:
        call.force("min", "0.0")


def _is_fresh(node: ast.expr | None) -> bool:
    """Whether nothing else holds the tensor: a call that makes it."""
    if not isinstance(node, ast.Call):
        return False
    name = ast.unparse(node.func).rpartition(".")[2]
    return name in facts().fresh["torch"] or name == "Tensor"  # torch.Tensor(2, 3)


@hook("bernoulli_", to="paddle")
def bernoulli_in_place(call: BoundCall) -> None:
    """A tensor made on the spot need not be written into."""
    if _is_fresh(call.value("self")):
        call.rewrite("paddle.bernoulli(paddle.full_like({self}, {p}))")


@hook("random_", to="paddle")
def random_in_place(call: BoundCall) -> None:
    """A tensor made on the spot need not be written into."""
    if _is_fresh(call.value("self")):
        low = "{from_}" if call.value("from_") is not None else "0"
        call.rewrite(f"paddle.randint_like({{self}}, {low}, {{to}})")


@hook("seed", to="paddle")
def seed(call: BoundCall) -> None:
    """Paddle takes no negative seed."""
    value = call.literal("seed")
    if isinstance(value, int) and value < 0:
        call.refuse(f"seed={value}: Paddle takes no negative seed")


@hook("number_as_tensor", to="paddle")
def number_as_tensor(call: BoundCall) -> None:
    """Paddle makes a batch of one of a number, torch one distribution."""
    for name in ("rate", "probs"):
        if call.value(name) is not None and isinstance(call.literal(name), int | float):
            call.wrap(name, "paddle.to_tensor(", ", dtype='float32')")


_PARAMETERS = ("df", "loc", "scale", "low", "high", "concentration1", "concentration0", "probs")


@hook("distribution_parameters", to="paddle")
def distribution_parameters(call: BoundCall, of: str) -> None:
    """A number beside a tensor: Paddle takes all parameters as tensors or all as numbers."""
    names = [name for name in _PARAMETERS if call.value(name) is not None]
    numbers = [name for name in names if _is_number(call, name)]
    if len(names) != 2 or len(numbers) != 1:
        return
    (number,), (other,) = numbers, [name for name in names if name not in numbers]
    given = ", ".join(f"paddle.full_like({{{other}}}, {{{number}}})" if n == number else f"{{{n}}}" for n in names)
    if call.is_tensor(other) and is_pure(call.value(other)):
        call.rewrite(f"paddle.distribution.{of}({given})")
    else:
        call.rewrite(f"paddle.distribution.{of}(*torch_distribution_parameters({{{names[0]}}}, {{{names[1]}}}))")


@hook("gradient_of_parameters", to="paddle")
def gradient_of_parameters(call: BoundCall, together: bool = False, read: str = "") -> None:
    """Paddle broadcasts the parameters, and at times the value, by an operation that can end the process.

    Args:
        together: only the parameters are broadcast, so that it is well where all of them take a gradient.
        read: the one method that does so.
    """
    names = [n for n in _PARAMETERS if call.value(n) is not None]
    numbers = [n for n in names if _is_number(call, n)]
    trained = any(map(call.file_reads, ("backward", "grad", "Module", "Parameter", "parameters")))
    if not trained or len(numbers) == len(names) or (together and not numbers):
        return
    if read and not call.file_reads(read):
        return
    call.report("AGD203", what="backward ends the process where a parameter or the value takes none (3.3.1, on a CPU)")


def _is_number(call: BoundCall, name: str) -> bool:
    return isinstance(call.literal(name), int | float) or bool(call.types(name) & {"int", "float"})
