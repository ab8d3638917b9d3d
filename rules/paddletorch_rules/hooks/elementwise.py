"""Elementwise arithmetic: numbers as operands, in-place methods that Paddle lacks, signs and roundings."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping

from paddletorch_rules.hooks.arguments import (
    is_pure,
    is_unshared,
    no_counterpart,
    operand,
    rewrite_once,
)
from paddletorch_rules.hooks.protocol import BoundCall, hook

_TENSOR = frozenset({"Tensor"})
_NUMBER = frozenset({"int", "float", "number", "bool"})


def _first(call: BoundCall) -> str:
    """The hole of the left operand."""
    return "{x}" if call.value("self") is None else "{self}"


def _is_tensor(call: BoundCall, name: str) -> bool:
    return call.types(name) == _TENSOR


def _is_number(call: BoundCall, name: str) -> bool:
    return bool(call.types(name) & _NUMBER)


@hook("truth", to="torch")
def truth(call: BoundCall) -> None:
    """Paddle gives a tensor; where only its truth is asked, torch's bool does as well."""
    parent = call.parent
    is_negated = isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
    is_tested = isinstance(parent, ast.If | ast.While | ast.Assert | ast.IfExp) and parent.test is call.node
    if is_negated or is_tested:
        call.rewrite(call.row_template.removeprefix("torch.tensor(").removesuffix(")"))


@hook("operator", to="paddle", arithmetic=True)
def operator(call: BoundCall, sign: str) -> None:
    """Paddle's functions take tensors only, its operators numbers as well."""
    if not _is_tensor(call, "other") or _is_number(call, "input"):
        call.rewrite(f"{_first(call)} {sign} {{y}}")


_OF_NUMBERS = ("tensor", "as_tensor", "scalar_tensor", "to_tensor")
"""What makes a tensor of a number, in Paddle too: an earlier run may have converted the operand."""


@hook("broadcast_number", to="paddle")
def broadcast_number(call: BoundCall, function: str) -> None:
    """Paddle compares tensors of one shape: ``torch.tensor(0.0)`` is broadcast to the other's."""
    made = call.origin("other")
    name = ast.unparse(made.func).rpartition(".")[2] if isinstance(made, ast.Call) else ""
    if not isinstance(made, ast.Call) or name not in _OF_NUMBERS or not made.args:
        return
    number = made.args[0].operand if isinstance(made.args[0], ast.UnaryOp) else made.args[0]
    if isinstance(number, ast.Constant):
        first = _first(call)
        both = f"{first}, {{y}}.expand_as({first})"
        call.rewrite(f"{function}({both}{{rtol:, rtol=%}}{{atol:, atol=%}}{{equal_nan:, equal_nan=%}})")


def _factor(call: BoundCall) -> ast.expr | None:
    """``alpha``, which leaves the call; None if it is 1."""
    node = call.value("alpha")
    if node is None:
        return None
    call.drop("alpha")
    return None if call.literal("alpha") == 1 else node


@hook("scaled_sum", to="paddle", arithmetic=True)
def scaled_sum(call: BoundCall, sign: str) -> None:
    """``add`` and ``sub``: ``alpha`` is a factor of the second operand."""
    factor = _factor(call)
    if factor is not None:
        call.rewrite(f"{_first(call)} {sign} {{y}} * {{factor}}", parts={"factor": factor})
    else:
        operator(call, sign)


def _quotient(call: BoundCall, dividend: str) -> str | None:
    """The expression of ``div`` with a rounding mode, which leaves the call; None if there is none."""
    mode = call.literal("rounding_mode")
    if call.value("rounding_mode") is not None and mode not in (None, "floor", "trunc"):
        no_counterpart(call, "rounding_mode")
    call.drop("rounding_mode")
    if mode == "floor":
        return f"{dividend} // {{y}}"
    if mode == "trunc":  # Paddle's quotient of integers is a float
        cast = "" if isinstance(call.literal("other"), float) else f".astype({dividend}.dtype)"
        return f"paddle.trunc({dividend} / {{y}}){cast}"
    return None


@hook("quotient", to="paddle", arithmetic=True)
def quotient(call: BoundCall) -> None:
    """As ``operator``; Paddle's quotient of truth values holds such, too."""
    first = _first(call)
    dtype = call.dtype("self" if first == "{self}" else "input") or ""
    is_integer = dtype.startswith(("int", "uint")) and call.default_dtype != "'float32'"  # Paddle's quotient is float32
    if dtype == "bool" or is_integer:
        call.rewrite(f"{first}.astype({call.default_dtype}) / {{y}}{_as_float(call, 'other')}")
    else:
        operator(call, "/")


@hook("divide", to="paddle", arithmetic=True)
def divide(call: BoundCall) -> None:
    """Rounding modes are Paddle's from 3.3 only."""
    first = _first(call)
    text = _quotient(call, first)
    if text is None:
        quotient(call)
    elif text.count(_first(call)) > 1 and call.value("self") is None:
        rewrite_once(call, text, x="input", y="other")
    elif text.count(_first(call)) > 1:
        rewrite_once(call, text, self="self", y="other")
    else:
        call.rewrite(text)


def _as_float(call: BoundCall, name: str) -> str:
    """The cast of an operand that is seen to hold integers or truth values."""
    return f".astype({call.default_dtype})" if (call.dtype(name) or "").startswith(("int", "uint", "bool")) else ""


@hook("copysign", to="paddle")
def copysign(call: BoundCall) -> None:
    """Of integers torch's result is one of floating-point numbers, and the sign may be a number."""
    first = _first(call)
    casts = _as_float(call, "self" if first == "{self}" else "input"), _as_float(call, "other")
    if any(casts):
        call.rewrite(f"paddle.copysign({first}{casts[0]}, {{y}}{casts[1]})")


@hook("erfinv", to="paddle")
def erfinv(call: BoundCall) -> None:
    """Outside of -1 to 1 torch gives nan, Paddle an infinity."""
    call.rewrite(f"torch_erfinv({_first(call)})")


_WITHOUT_GRADIENT = frozenset({"bool", "int8", "uint8", "int16", "int32", "int64"})


def _assign_to_receiver(call: BoundCall, expression: str, parts: Mapping[str, ast.expr] | None = None) -> None:
    """Emit an in-place operation as an assignment into the receiver, which it gives back.

    ``expression`` has ``{self}.clone()`` where the gradient needs the tensor as it was, so that this is not written to;
    ``parts`` are the arguments behind its placeholders that are no parameters.
    """
    receiver = call.value("self")
    if is_unshared(receiver) or call.dtype("self") in _WITHOUT_GRADIENT:
        expression = expression.replace("{self}.clone()", "{self}")
    if is_pure(receiver):
        call.rewrite(f"paddle.assign({expression}, {{self}})", parts=parts)
    elif is_unshared(receiver):
        call.rewrite(expression, parts=parts)
    else:
        rest = {f"_{n}": n for n in ("y", "min", "max") if f"{{{n}}}" in expression}
        call.rewrite(f"paddle.assign({expression}, {{self}})", {"_x": "self", **rest}, parts)


@hook("write_back", to="paddle")
def write_back(call: BoundCall) -> None:
    """Write what the row's template gives into the tensor, where Paddle 2.6 has no such method in place."""
    _assign_to_receiver(call, call.row_template)


@hook("logical_in_place", to="paddle")
def logical_in_place(call: BoundCall, function: str) -> None:
    """torch keeps the tensor's type; Paddle makes a bool of it, and takes operands of one type only."""
    if call.dtype("self") not in (None, "bool"):
        operands = "{self}.astype('bool'), {y}.astype('bool')"
        _assign_to_receiver(call, f"paddle.{function}({operands}).astype({{self}}.dtype)")


@hook("logical_not_in_place", to="paddle")
def logical_not_in_place(call: BoundCall) -> None:
    """torch keeps the tensor's type; Paddle makes a bool of it."""
    if call.dtype("self") != "bool":
        _assign_to_receiver(call, "paddle.logical_not({self}).astype({self}.dtype)")


@hook("operator_in_place", to="paddle")
def operator_in_place(call: BoundCall, sign: str) -> None:
    """Paddle's in-place methods take tensors only."""
    if not _is_tensor(call, "other"):
        saved = "{self}.clone()" if sign == "%" else "{self}"
        _assign_to_receiver(call, f"{saved} {sign} {{y}}")


@hook("scaled_sum_in_place", to="paddle")
def scaled_sum_in_place(call: BoundCall, sign: str, method: str) -> None:
    """As ``scaled_sum``, in place: ``method`` is Paddle's."""
    factor = _factor(call)
    if factor is None:
        operator_in_place(call, sign)
    elif _is_number(call, "other"):
        _assign_to_receiver(call, f"{{self}} {sign} {{y}} * {{factor}}", {"factor": factor})
    else:
        call.rewrite(f"{{self}}.{method}({{y}} * {{factor}})", parts={"factor": factor})


@hook("divide_", to="paddle")
def divide_in_place(call: BoundCall) -> None:
    """As ``divide``, in place."""
    text = _quotient(call, "{self}")
    if text is None:
        operator_in_place(call, "/")
    else:
        _assign_to_receiver(call, text)


@hook("power", to="paddle", arithmetic=True)
def power(call: BoundCall) -> None:
    """The base may be a number in torch, in Paddle only of the operator, whose result keeps the dtype of integers."""
    first = _first(call)
    base = call.dtype("input" if first == "{x}" else "self") or ""
    if base.startswith(("int", "uint")) and isinstance(call.literal("exponent"), float):
        call.rewrite(f"{first}.astype({call.default_dtype}) ** {{y}}")
    elif first == "{x}" and not _is_tensor(call, "input") and not _is_number(call, "exponent"):
        call.rewrite("{x} ** {y}")


@hook("float_quotient", to="paddle")
def float_quotient(call: BoundCall) -> None:
    """Paddle's angle of two tensors of integers is one of float64."""
    first = _first(call)
    if (call.dtype("input" if first == "{x}" else "self") or "").startswith(("int", "uint")):
        call.surround("", f".astype({call.default_dtype})")


@hook("float_power", to="paddle")
def float_power(call: BoundCall) -> None:
    """Exponents in a tensor become float64 as well: Paddle does not promote them."""
    if _is_tensor(call, "exponent"):
        call.rewrite(f"paddle.pow({_first(call)}.astype('float64'), {{y}}.astype('float64'))")


@hook("pow_", to="paddle")
def power_in_place(call: BoundCall) -> None:
    """Paddle's method takes a number only."""
    if not _is_number(call, "exponent"):
        _assign_to_receiver(call, "paddle.pow({self}.clone(), {y})")


def _modulus(call: BoundCall) -> str:
    value = call.literal("other")
    if isinstance(value, int | float):
        return repr(abs(value))
    return "paddle.abs({y})" if _is_tensor(call, "other") else "abs({y})"


@hook("fmod", to="paddle")
def fmod(call: BoundCall) -> None:
    """The remainder of the magnitudes, with the sign of the dividend."""
    first = _first(call)
    text = f"paddle.sign({first}) * (paddle.abs({first}) % {_modulus(call)})"
    if "{y}" not in text:
        call.drop("other")
    rest = {"y": "other"} if "{y}" in text else {}
    rewrite_once(call, text, **({"x": "input"} if first == "{x}" else {"self": "self"}), **rest)


@hook("fmod_", to="paddle")
def fmod_in_place(call: BoundCall) -> None:
    """As ``fmod``, in place."""
    text = f"paddle.sign({{self}}) * (paddle.abs({{self}}.clone()) % {_modulus(call)})"
    if "{y}" not in text:
        call.drop("other")
    _assign_to_receiver(call, text)


@hook("round_decimals", to="paddle")
def round_decimals(call: BoundCall) -> None:
    """Paddle rounds to decimals from 3.0 only."""
    node, decimals = call.value("decimals"), call.literal("decimals")
    if node is None:
        return
    if not isinstance(decimals, int):
        no_counterpart(call, "decimals")
    call.drop("decimals")
    if decimals > 0:
        call.rewrite(f"paddle.round({_first(call)} * {10**decimals}) / {10**decimals}")
    elif decimals < 0:
        call.rewrite(f"paddle.round({_first(call)} / {10**-decimals}) * {10**-decimals}")


@hook("bits", to="paddle")
def bits(call: BoundCall) -> None:
    """Paddle's bitwise functions and operators take tensors only."""
    if _is_number(call, "other"):
        first = _first(call)
        name = "input" if first == "{x}" else "self"
        call.wrap("other", "paddle.to_tensor(", f", dtype={operand(call.value(name) or ast.Constant(0))}.dtype)")
        if not is_pure(call.value(name)):
            no_counterpart(call, "other")


def _bounded(call: BoundCall, first: str) -> str | None:
    """``clamp`` by tensors; None if the bounds are numbers, for all that is known."""
    bounds = {n: call.value(n) for n in ("min", "max") if call.value(n) is not None and call.literal(n) is not None}
    if not any(_is_tensor(call, n) for n in bounds):
        return None
    text = first
    for name in bounds:
        function = {"min": "maximum", "max": "minimum"}[name]
        if _is_tensor(call, name):
            text = f"paddle.{function}({text}, {{{name}}})"
        else:
            text = f"paddle.clip({text}, {name}={{{name}}})"
    return text


@hook("clamp", to="paddle")
def clamp(call: BoundCall) -> None:
    """Paddle's bounds are numbers, or tensors of one element."""
    text = _bounded(call, _first(call))
    if text is not None:
        call.rewrite(text)


@hook("clamp", to="torch")
def clip(call: BoundCall) -> None:
    """Without bounds Paddle copies, and torch raises an error."""
    given = [name for name in ("min", "max") if call.value(name) is not None and call.literal(name) is not None]
    if not given and not any(isinstance(one, ast.Starred) for one in call.node.args):
        call.drop("min")
        call.drop("max")
        call.rewrite("{input}.clone()" if call.value("x") is not None else "{self}.clone()")


@hook("clamp_", to="paddle")
def clamp_in_place(call: BoundCall) -> None:
    """As ``clamp``, in place."""
    text = _bounded(call, "{self}.clone()")
    if text is not None:
        _assign_to_receiver(call, text)


@hook("search_side")
def search_side(call: BoundCall) -> None:
    """``side`` says the same as ``right``, and a number is a tensor in Paddle."""
    if call.target == "paddle" and _is_number(call, "input"):
        call.wrap("input", "paddle.to_tensor(", ")")
    side = call.literal("side")
    if call.value("side") is None:
        return
    if side not in (None, "left", "right"):
        no_counterpart(call, "side")
    call.drop("side")
    if side == "right":
        call.drop("right")
        call.force("right", "True")


@hook("scale_", to="torch")
def scale_in_place(call: BoundCall) -> None:
    """Paddle scales and shifts in one step, in either order."""
    scale, bias = (call.value(n) is not None and call.literal(n) not in d for n, d in (("scale", (1,)), ("bias", (0,))))
    after = call.literal("bias_after_scale")
    if call.value("bias_after_scale") is not None and after not in (True, False):
        no_counterpart(call, "bias_after_scale")
    call.drop("bias_after_scale")
    parts = [".mul_({scale})" if scale else "", ".add_({bias})" if bias else ""]
    call.rewrite("{self}" + "".join(reversed(parts) if after is False else parts))


@hook("xlogy", to="paddle")
def xlogy(call: BoundCall) -> None:
    """The tensor stands more than once in the sum; Paddle's logarithm is one of floating-point tensors."""
    first, logarithm = _first(call), "paddle.log({y})"
    name = "input" if first == "{x}" else "self"
    number = call.literal("other")
    if isinstance(number, int | float) and number > 0:
        call.drop("other")
        logarithm = repr(math.log(number))
    elif not _is_tensor(call, "other") and _is_number(call, "other"):
        no_counterpart(call, "other")
    if _is_number(call, name):
        no_counterpart(call, name)
    cast = f".astype({call.default_dtype})" if (call.dtype(name) or "").startswith(("int", "uint")) else ""
    text = f"paddle.where({first} == 0, paddle.zeros_like({first}{cast}), {first}{cast} * {logarithm})"
    names = {"x": "input"} if first == "{x}" else {"self": "self"}
    rewrite_once(call, text, **names, **({"y": "other"} if "{y}" in text else {}))


@hook("lerp", to="paddle")
def lerp(call: BoundCall) -> None:
    """Paddle gives a weight that is a tensor no gradient, and takes no integers."""
    weight, number = call.value("weight"), call.literal("weight")
    if weight is not None and isinstance(number, int):
        call.replace(weight, str(float(number)))
    elif _is_tensor(call, "weight") or "float" not in call.types("weight"):
        call.rewrite(f"torch_lerp({_first(call)}, {{y}}, {{weight}})")


@hook("add_n", to="torch")
def add_n(call: BoundCall) -> None:
    """A sum over a list; a lone tensor is given back."""
    node = call.value("inputs")
    if isinstance(node, ast.List | ast.Tuple | ast.ListComp) or call.types("inputs") == {"sequence"}:
        return
    if _is_tensor(call, "inputs"):
        call.rewrite("{inputs}.clone()")
    else:
        text = "(sum({inputs}) if isinstance({inputs}, (list, tuple)) else {inputs}.clone())"
        rewrite_once(call, text, inputs="inputs")
