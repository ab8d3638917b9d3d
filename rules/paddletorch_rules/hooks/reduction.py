"""Reductions: norms by order and axis, axes that mean the whole tensor, pairs of values and indices."""

from __future__ import annotations

import ast
import math

from paddletorch_rules.facts import facts
from paddletorch_rules.hooks.arguments import is_plain, is_pure, literally, no_counterpart, operand, rewrite_once
from paddletorch_rules.hooks.integers import names_integer
from paddletorch_rules.hooks.protocol import BoundCall, hook


def _first(call: BoundCall) -> str:
    """The hole of the reduced tensor in Paddle."""
    return "{x}" if call.value("self") is None else "{self}"


def _number(call: BoundCall, name: str) -> object:
    """The constant of an order; infinity however it is written."""
    node = call.value(name)
    negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    text = ast.unparse(node.operand if isinstance(node, ast.UnaryOp) else node) if node is not None else ""
    if text in ("float('inf')", "np.inf", "numpy.inf", "math.inf", "torch.inf", "inf"):
        return -math.inf if negative else math.inf
    return -math.inf if text == "float('-inf')" else call.literal(name)


def _given(call: BoundCall, name: str) -> bool:
    return call.value(name) is not None and call.literal(name) is not None


@hook("whole_axis", to="torch")
def whole_axis(call: BoundCall) -> None:
    """Without an axis Paddle works on the flat tensor; torch wants a dimension."""
    if not _given(call, "axis"):
        call.drop("axis")
        _flatten(call, "axis", "dim")


@hook("cumsum", to="paddle")
def cumsum_to_paddle(call: BoundCall) -> None:
    """As ``truth_as_int``: Paddle has no running sum of truth values."""
    truth_as_int(call)


@hook("cumsum", to="torch")
def cumsum_to_torch(call: BoundCall) -> None:
    """As ``whole_axis``."""
    whole_axis(call)


@hook("named_dtype", to="paddle")
def named_dtype(call: BoundCall) -> None:
    """Paddle 2.6's sums and products take the name of a type, and not the type."""
    name = call.qualified("dtype") if call.value("dtype") is not None else None
    short = (name or "").removeprefix("torch.")
    if name is not None and name.startswith("torch."):
        call.drop("dtype")
        call.force("dtype", repr(facts().dtype_aliases.get(short, short)))


@hook("sum_of_small", to="paddle")
def sum_of_small(call: BoundCall) -> None:
    """Paddle adds integers of 8 and 16 bits in their own dtype, torch in int64."""
    named_dtype(call)
    name = "self" if call.value("input") is None else "input"
    if call.value("dtype") is None and call.dtype(name) in ("uint8", "int8", "int16"):
        call.force("dtype", "'int64'")


def truth_as_int(call: BoundCall) -> None:
    """Sums and products of truth values and small integers are of int64 in torch; Paddle wants to be told."""
    named_dtype(call)
    if call.value("dtype") is None:
        name = "self" if call.value("input") is None else "input"
        if _is_small(call.dtype(name)):
            call.force("dtype", "'int64'")


@hook("product_of_unseen", to="paddle")
def product_of_unseen(call: BoundCall) -> None:
    """As ``truth_as_int``, and a word where the dtype cannot be seen: Paddle multiplies int32 as they are."""
    truth_as_int(call)
    name = "self" if call.value("input") is None else "input"
    if call.value("dtype") is None and call.dtype(name) is None:
        call.report("NNF203", difference="of int32 the result is int64 in torch, int32 in Paddle")


@hook("mean_of_integers", to="torch")
def mean_of_integers(call: BoundCall) -> None:
    """torch has no mean of integers; Paddle's is of their dtype, without what is behind the point."""
    name = "self" if call.value("x") is None else "x"
    dtype = call.dtype(name) or ""
    if not names_integer(dtype):
        return
    if dtype != "int64":
        call.refuse("torch has no mean of integers")
    tensor = "{self}" if name == "self" else "{input}"
    call.rewrite(f"torch.mean({tensor}.double(){{dim:, %}}{{keepdim:, keepdim=%}}).long()")


@hook("max_of_truth", to="paddle")
def max_of_truth(call: BoundCall) -> None:
    """Paddle has no extremes of truth values."""
    _extreme_of_truth(call, "any")


@hook("min_of_truth", to="paddle")
def min_of_truth(call: BoundCall) -> None:
    """As ``max_of_truth``."""
    _extreme_of_truth(call, "all")


def _extreme_of_truth(call: BoundCall, name: str) -> None:
    given = "self" if call.value("input") is None else "input"
    if call.dtype(given) == "bool":
        call.rewrite(f"{{self}}.{name}()" if given == "self" else f"paddle.{name}({{x}})")


def _is_small(dtype: str | None) -> bool:
    """Whether these are truth values, or integers narrower than int64."""
    return dtype != "int64" and names_integer(dtype)


@hook("whole_dim", to="paddle")
def whole_dim_to_paddle(call: BoundCall) -> None:
    """As ``product_of_unseen``."""
    product_of_unseen(call)


@hook("whole_dim", to="torch")
def whole_dim_to_torch(call: BoundCall) -> None:
    """As ``whole_axis``, for ``cumprod``, whose axis is called ``dim``."""
    if not _given(call, "dim"):
        call.drop("dim")
        _flatten(call, "dim", "dim")


def _flatten(call: BoundCall, source: str, target: str) -> None:
    name = "self" if call.value("x") is None else "x"
    node = call.value(name)
    if node is None:
        call.unseen_in("a partial object")
    if name == "self":
        call.replace(node, "{self}.flatten()")
    else:
        brackets = not isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
        call.wrap("x", "(" if brackets else "", ").flatten()" if brackets else ".flatten()")
    call.force(target, "0")


@hook("index_dtype", to="torch")
def index_dtype(call: BoundCall) -> None:
    """torch gives int64 indices."""
    if call.value("dtype") is not None:
        if call.literal("dtype") == "int64" or call.qualified("dtype") == "paddle.int64":
            call.drop("dtype")
        else:
            call.drop("dtype")
            call.surround("", ".to({dtype})")


@hook("correction", to="paddle")
def correction(call: BoundCall) -> None:
    """Paddle knows no correction but 0 and 1 before 3.3."""
    value = call.literal("correction")
    if value not in (0, 1):
        no_counterpart(call, "correction")
    call.drop("correction")
    if value == 0:
        call.force("unbiased", "False")


@hook("median", to="paddle")
def median(call: BoundCall) -> None:
    """torch's median is an element: the lower of the two in the middle."""
    first = _first(call)
    text = f"paddle.kthvalue({first}.flatten(), ({first}.size + 1) // 2)[0]"
    rewrite_once(call, text, **_operand(call))


def _operand(call: BoundCall) -> dict[str, str]:
    """The tensor's hole in Paddle, and its name in torch."""
    return {"x": "input"} if call.value("self") is None else {"self": "self"}


def _count(call: BoundCall, name: str) -> int | None:
    """How many axes are named; 0 for none, None if it cannot be seen."""
    counts = call.axis_counts(name)
    return next(iter(counts)) if len(counts) == 1 else None


def _by_elements(call: BoundCall, order: str, node: ast.expr) -> None:
    """A vector norm over several axes: Paddle's norms over two axes are of matrices from 3.3 on."""
    value = _number(call, order)
    first, keep = _first(call), "{keepdim:, keepdim=%}"
    if isinstance(value, bool) or not (isinstance(value, int | float) or is_plain(node)):
        no_counterpart(call, order)
    power = literally(operand(node))
    if value == math.inf:
        text = f"paddle.max(paddle.abs({first}), axis={{axis}}{keep})"
    elif value == -math.inf:
        text = f"paddle.min(paddle.abs({first}), axis={{axis}}{keep})"
    elif value == 0:
        text = f"paddle.sum({first} != 0, axis={{axis}}{keep}).astype({first}.dtype)"
        if not is_pure(call.value(_operand_name(call))):
            no_counterpart(call, order)
    elif value == 1:
        text = f"paddle.sum(paddle.abs({first}), axis={{axis}}{keep})"
    elif value == 2:
        text = f"paddle.sqrt(paddle.sum(paddle.square({first}), axis={{axis}}{keep}))"
    else:
        text = f"paddle.sum(paddle.abs({first}) ** {power}, axis={{axis}}{keep}) ** (1 / {power})"
    call.drop(order)
    call.rewrite(text)


def _operand_name(call: BoundCall) -> str:
    return next(n for n in ("self", "input", "x", "A") if call.value(n) is not None)


def _vector(call: BoundCall, order: str) -> None:
    """A norm of the elements along axes, of any order."""
    node, axes = call.value(order), _count(call, "dim")
    value = _number(call, order)
    euclid = node is None or value in (None, "fro", 2)
    if axes in (0, 1) and isinstance(call.value("dim"), ast.List | ast.Tuple) and axes == 0:
        no_counterpart(call, "dim")
    if axes in (0, 1):
        return
    if axes in (2, None) and euclid:
        call.drop(order)
        call.force("p", "'fro'")
        call.rewrite(f"paddle.norm({_first(call)}, p='fro', axis={{axis}}{{keepdim:, keepdim=%}})")
    elif isinstance(value, str):
        no_counterpart(call, order)
    elif axes is None and (call.types("dim") == {"int"}):
        return
    else:
        assert node is not None or euclid
        _by_elements(call, order, node if node is not None else ast.Constant(2))


@hook("norm", to="paddle")
def norm_to_paddle(call: BoundCall) -> None:
    """``torch.norm`` is of vectors unless the order is a name."""
    _vector(call, "p")


@hook("norm", to="torch")
def norm_to_torch(call: BoundCall) -> None:
    """Over two axes Paddle's is of matrices from 3.3."""
    p, axes = call.literal("p"), _count(call, "axis")
    if axes == 2 and p not in ("fro", "nuc"):
        no_counterpart(call, "p", repr(p) if call.value("p") is not None else "None")


@hook("linalg_norm", to="paddle")
def linalg_norm(call: BoundCall) -> None:
    """Without axes a number as order is of a matrix or of a vector, as the tensor is."""
    axes, order = _count(call, "dim"), call.literal("ord")
    named = call.value("ord") is not None and order is not None
    unclear = axes == 0 and (call.value("dim") is not None or call.ranks("input") != {1})
    if named and order != "fro" and (unclear or (axes not in (0, 1) and call.types("dim") != {"int"})):
        call.rewrite("torch_linalg_norm({x}, {p}{axis:, dim=%}{keepdim:, keepdim=%})")
        return
    if axes in (None, 2) and not named:
        call.drop("ord")
        call.force("p", "'fro'")


@hook("vector_norm", to="paddle")
def vector_norm(call: BoundCall) -> None:
    """Of all elements, or along any axes."""
    _vector(call, "ord")


@hook("matrix_norm", to="paddle")
def matrix_norm(call: BoundCall) -> None:
    """Paddle 2.6 has the Frobenius norm only."""
    if call.value("ord") is not None and call.literal("ord") != "fro":
        call.rewrite("torch_matrix_norm({x}, {p}{axis:, dim=%}{keepdim:, keepdim=%})")
        return
    call.drop("ord")


@hook("unique")
def unique(call: BoundCall, function: str) -> None:
    """The inverse has the shape of the input in torch; in Paddle it is flat."""
    call.drop("sorted")
    if call.target == "paddle" and function == "unique":
        _count_from_first(call)
    axis = "dim" if call.target == "paddle" else "axis"
    asked = call.literal("return_inverse")
    if call.value("return_inverse") is None or asked is False or _given(call, axis):
        return
    if asked is not True:
        no_counterpart(call, "return_inverse")
    if call.value("return_index") is not None and call.literal("return_index") is not False:
        no_counterpart(call, "return_index")
    counts = "{return_counts:, return_counts=%}"
    operand = "{self}" if call.value("self") is not None else _first(call) if call.target == "paddle" else "{input}"
    source = "torch" if call.target == "paddle" else "paddle"
    call.rewrite(f"{source}_{function}({operand}{counts})")


def _count_from_first(call: BoundCall) -> None:
    """Write an axis that counts from the last one as one from the first: Paddle's unique spoils memory for -2."""
    axis, name = call.literal("dim"), "self" if call.value("self") is not None else "input"
    if not isinstance(axis, int) or axis >= 0:
        return
    tensor, ranks = call.value(name), call.ranks(name)
    call.drop("dim")
    if len(ranks) == 1:
        call.force("axis", str(axis + min(ranks)))
    elif tensor is not None and is_pure(tensor):
        call.force("axis", f"{operand(tensor)}.ndim - {-axis}")
    else:
        no_counterpart(call, "dim")


@hook("histogram", to="paddle")
def histogram(call: BoundCall) -> None:
    """torch's counts have the type of the input."""
    first = "{input}" if call.value("self") is None else "{self}"
    name = "input" if call.value("self") is None else "self"
    if not is_pure(call.value(name)):
        pure = all(is_pure(call.value(n)) for n in ("bins", "min", "max") if call.value(n) is not None)
        if not pure:
            no_counterpart(call, name)
        call.rewrite(
            f"paddle.histogram({first}, {{bins}}, {{min}}, {{max}}).astype({first}.dtype)", {"_x": first[1:-1]}
        )


@hook("floats_only", to="paddle")
def floats_only(call: BoundCall) -> None:
    """torch makes floating-point numbers of integers, Paddle's kernel refuses them."""
    for name in ("input", "y", "x"):
        if (call.dtype(name) or "").startswith(("int", "uint")):
            call.wrap(name, "paddle.cast(", ", 'float32')")
