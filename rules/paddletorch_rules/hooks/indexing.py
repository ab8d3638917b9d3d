"""Indexing: broadcast indices, scalars beside tensors, and writing in place where Paddle 2.6 cannot."""

from __future__ import annotations

import ast
import math

from paddletorch_rules.hooks.arguments import bind_names, is_pure, is_unshared, no_counterpart, rewrite_once
from paddletorch_rules.hooks.protocol import BoundCall, hook
from paddletorch_rules.hooks.shape import receiver

_WITHOUT_GRADIENT = frozenset({"bool", "int8", "uint8", "int16", "int32", "int64"})


def _in_place(call: BoundCall, computed: str, **names: str) -> None:
    """Write ``computed`` into the receiver; one that nothing else holds may as well be left behind.

    ``names`` are the holes that stand in ``computed`` more than once, as for ``rewrite_once``. It has
    ``{self}.clone()`` where the gradient needs the tensor as it was: what is saved for it is not written to.

    ``paddle.assign(value, output=x)`` reaches every view of x; measured on 2.6.2 and 3.3.1, where ``set_value``,
    ``masked_fill_`` and others lose what they write to a view with gaps.
    """
    if is_unshared(call.value("self")) or call.dtype("self") in _WITHOUT_GRADIENT:
        computed = computed.replace("{self}.clone()", "{self}")
    if is_unshared(call.value("self")):
        rewrite_once(call, computed, **names)
    else:
        rewrite_once(call, f"paddle.assign({bind_names(call, computed, **names)}, {{self}})", self="self")


@hook("scatter_", to="paddle")
def scatter_(call: BoundCall) -> None:
    """In place; 2.6's ``put_along_axis_`` broadcasts its indices and keeps no ``include_self``."""
    reduce = ", {reduce}" if call.value("reduce") is not None else ""
    if call.value("include_self") is not None:
        reduce += ", include_self={include_self}"
    if call.dtype("self") == "bool":
        values = _as_integers(call)
        computed = f"{{self}}.astype('int64').put_along_axis({{indices}}, {values}, {{axis}}{reduce}, broadcast=False)"
        _in_place(call, computed + ".astype('bool')")
        return
    _in_place(call, f"{{self}}.clone().put_along_axis({{indices}}, {{values}}, {{axis}}{reduce}, broadcast=False)")


@hook("scatter", to="paddle")
def scatter(call: BoundCall) -> None:
    """Paddle scatters no booleans on a CPU."""
    hole, source = receiver(call, "arr")
    if call.dtype(source) == "bool":
        values = _as_integers(call)
        reduce = ", {reduce}" if call.value("reduce") is not None else ""
        call.rewrite(
            f"paddle.put_along_axis({{{hole}}}.astype('int64'), {{indices}}, {values}, {{axis}}{reduce}, "
            "broadcast=False).astype('bool')"
        )


def _as_integers(call: BoundCall) -> str:
    """The values to scatter, where they are a tensor of booleans or a number."""
    name = "src" if call.value("src") is not None else "value"
    return (
        "int({values})"
        if call.literal(name) in (True, False)
        else ("{values}" if is_scalar(call, name) else "{values}.astype('int64')")
    )


@hook("scatter_add_", to="paddle")
def scatter_add_(call: BoundCall) -> None:
    """Added in place; Paddle 2.6 broadcasts its indices."""
    _in_place(call, "{self}.clone().put_along_axis({indices}, {values}, {axis}, 'add', broadcast=False)")


@hook("masked_scatter_", to="paddle")
def masked_scatter_(call: BoundCall) -> None:
    """In place; Paddle has it from 3.0."""
    mask = "{mask}.expand_as({self})"
    computed = f"paddle.index_put({{self}}, ({mask},), {{value}}.flatten()[:int({mask}.sum())])"
    _in_place(call, computed, mask="mask", self="self")


@hook("masked_fill", to="paddle")
def masked_fill(call: BoundCall) -> None:
    """Paddle's gives a tensor that is filled in no gradient."""
    if call.is_tensor("value"):
        hole, _ = receiver(call, "x")
        call.rewrite(f"torch_masked_fill({{{hole}}}, {{mask}}, {{value}})")


@hook("view_write", to="paddle")
def view_write(call: BoundCall) -> None:
    """What Paddle writes in place to a view with gaps is lost: such a receiver is assigned to."""
    if call.value("mask") is not None and call.is_tensor("value"):
        _in_place(call, "torch_masked_fill({self}.clone(), {mask}, {value})")
        return
    if not isinstance(call.value("self"), ast.Subscript):
        return
    if call.value("mask") is not None:
        _in_place(call, "{self}.masked_fill({mask}, {value})")


@hook("take_along", to="torch")
def take_along(call: BoundCall) -> None:
    """Paddle broadcasts its indices unless told otherwise."""
    broadcast = call.literal("broadcast") if call.value("broadcast") is not None else True
    if not isinstance(broadcast, bool):
        no_counterpart(call, "broadcast")
    call.drop("broadcast")
    hole, _ = receiver(call, "input")
    if not broadcast:
        call.rewrite(f"torch.gather({{{hole}}}, {{dim}}, {{index}})")


_REDUCTIONS = {"add": "sum", "mul": "prod", "multiply": "prod", "mean": "mean", "amax": "amax", "amin": "amin"}


@hook("put_along", to="torch")
def put_along(call: BoundCall) -> None:
    """``put_along_axis`` broadcasts indices and values; torch's scatter takes them as they are."""
    reduce = call.literal("reduce") if call.value("reduce") is not None else "assign"
    broadcast = call.literal("broadcast") if call.value("broadcast") is not None else True
    if not isinstance(broadcast, bool) or (reduce != "assign" and reduce not in _REDUCTIONS):
        no_counterpart(call, "reduce" if isinstance(broadcast, bool) else "broadcast")
    hole, source = receiver(call, "input")
    tensor = f"{{{hole}}}"
    values = call.value("values")
    number = values is not None and is_scalar(call, "values")
    index, src, twice = "{index}", "{src}", {hole: source}
    if broadcast:
        index = f"{{index}}.expand_as({tensor}.narrow({{dim}}, 0, {{index}}.shape[{{dim}}]))"
        twice |= {"index": "indices", "dim": "axis"}
        src = "{src}" if number else f"torch.as_tensor({{src}}).expand_as({index})"
    elif not number and reduce != "assign":
        src = "{src}"
    suffix = "_" if call.fixed.get("inplace") == "True" else ""
    if reduce == "assign":
        text = f"torch.scatter({tensor}, {{dim}}, {index}, {src})"
        method = f"{tensor}.scatter_({{dim}}, {index}, {src})"
    else:
        if number:
            src = f"torch.full_like({index}, {{src}}, dtype={tensor}.dtype)"
            twice |= {"index": "indices"}
        kept = ", include_self={include_self}" if call.value("include_self") is not None else ""
        rest = f"{{dim}}, {index}, {src}, {_REDUCTIONS[str(reduce)]!r}{kept})"
        text = f"torch.scatter_reduce({tensor}, {rest}"
        method = f"{tensor}.scatter_reduce_({rest}"
    for name in ("reduce", "broadcast"):
        call.drop(name)
    template = method if suffix else text
    repeated = {h: n for h, n in twice.items() if template.count("{" + h + "}") > 1 and not is_pure(call.value(n))}
    rewrite_once(call, template, **repeated)


@hook("multiplex", to="torch")
def multiplex(call: BoundCall) -> None:
    """Rows of several tensors by their numbers."""
    template = "torch.stack({inputs})[{index}.flatten().long(), torch.arange({index}.shape[0])]"
    rewrite_once(call, template, index="index")


@hook("gather", to="torch")
def gather(call: BoundCall) -> None:
    """Paddle's gather selects along the first dimension unless told otherwise, also by ``nonzero``'s one column."""
    ranks = call.ranks("index")
    if ranks not in ({0}, {1}):
        call.wrap("index", "", ".flatten()")
    first = call.value("axis") is None or call.literal("axis") is None
    if first:
        call.drop("axis")
    if first or ranks == {0}:
        hole, _ = receiver(call, "input")
        axis = "0" if first else "{dim}"
        squeezed = f".squeeze({axis})" if ranks == {0} else ""  # one number leaves no axis behind
        call.rewrite(f"torch.index_select({{{hole}}}, {axis}, {{index}}){squeezed}")


@hook("scatter_rows", to="torch")
def scatter_rows(call: BoundCall) -> None:
    """Rows replaced; without ``overwrite`` they are emptied and then added to."""
    overwrite = call.literal("overwrite") if call.value("overwrite") is not None else True
    if not isinstance(overwrite, bool):
        no_counterpart(call, "overwrite")
    call.drop("overwrite")
    if not overwrite:
        hole, _ = receiver(call, "input")
        suffix = "_" if call.fixed.get("inplace") == "True" else ""
        template = f"{{{hole}}}.index_fill{suffix}(0, {{index}}, 0).index_add{suffix}(0, {{index}}, {{source}})"
        rewrite_once(call, template, index="index")


@hook("index_fill_", to="paddle")
def index_fill_(call: BoundCall) -> None:
    """2.6 fills nothing along a dimension other than the first."""
    _index_of_one(call)
    if call.literal("dim") != 0:
        _in_place(call, "{self}.index_fill({index}, {axis}, {value})")


def _index_of_one(call: BoundCall) -> None:
    """``torch.tensor(1)`` and ``x.argmax()`` fill one row in torch; Paddle wants a list of rows."""
    made = call.origin("index")
    given = made.args[0] if isinstance(made, ast.Call) and made.args else None
    is_number = isinstance(given, ast.Constant) and call.is_tensor("index")
    if is_number or not call.ranks("index") or 0 in call.ranks("index"):
        call.wrap("index", "", ".flatten()")


@hook("long_index", to="paddle")
def index_fill(call: BoundCall) -> None:
    """As in place."""
    _index_of_one(call)


@hook("index_select", to="paddle")
def index_select(call: BoundCall) -> None:
    """An index that is seen to be one number is a list of it."""
    if 0 in call.ranks("index"):
        call.wrap("index", "", ".flatten()")


@hook("index_copy", to="paddle")
def index_copy(call: BoundCall) -> None:
    """Rows are scattered; along another dimension the tensor is turned first."""
    if call.literal("dim") != 0:
        hole, _ = receiver(call, "x")
        turned = f"paddle.scatter({{{hole}}}.moveaxis({{axis}}, 0), {{index}}, {{updates}}.moveaxis({{axis}}, 0))"
        rewrite_once(call, f"{turned}.moveaxis(0, {{axis}})", axis="dim")


@hook("index_copy_", to="paddle")
def index_copy_(call: BoundCall) -> None:
    """As ``index_copy``, in place."""
    if call.literal("dim") != 0:
        turned = "paddle.scatter({self}.moveaxis({axis}, 0), {index}, {updates}.moveaxis({axis}, 0))"
        _in_place(call, f"{turned}.moveaxis(0, {{axis}})", axis="dim")


def is_scalar(call: BoundCall, name: str) -> bool:
    """Whether the argument is a plain number by its form."""
    node = call.value(name)
    if isinstance(call.literal(name), bool | int | float):
        return True
    while isinstance(node, ast.UnaryOp):
        node = node.operand
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in ("float", "int")
    qualified = ast.unparse(node) if isinstance(node, ast.Attribute) else ""
    finfo = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call) and "finfo" in qualified
    return finfo or qualified in ("math.inf", "torch.inf", "np.inf", "numpy.inf", "math.nan", "float.inf")


@hook("where", to="paddle")
def where(call: BoundCall) -> None:
    """A number beside a tensor: Paddle gives it a dtype of its own (2.6: float64; an integer never fits a float)."""
    first = "self" if call.value("self") is not None else "input"
    x = "{self}" if first == "self" else "{x}"
    numbers = [first != "self" and is_scalar(call, first), is_scalar(call, "other")]
    if numbers == [True, True]:
        values = [call.literal(first), call.literal("other")]
        if all(isinstance(v, bool) for v in values):
            call.rewrite("paddle.where({condition}, paddle.to_tensor({x}), paddle.to_tensor({y}))")
            return
        if all(call.types(name) - {"number"} == {"int"} for name in (first, "other")):
            return
        shown = [repr(float(v)) if isinstance(v, int | float) else "" for v in values]
        left, right = (t or f"float({{{h}}})" for t, h in zip(shown, ("x", "y"), strict=True))
        call.rewrite(f"paddle.where({{condition}}, paddle.to_tensor({left}), paddle.to_tensor({right}))")
    elif numbers == [True, False]:
        call.rewrite(f"{{y}}{_cast_for(call, 'other', first)}.masked_fill({{condition}}, {{x}})")
    elif numbers == [False, True]:
        call.rewrite(f"{x}{_cast_for(call, first, 'other')}.masked_fill(paddle.logical_not({{condition}}), {{y}})")


def _cast_for(call: BoundCall, tensor: str, number: str) -> str:
    """The cast of a tensor of integers beside a fraction, which torch promotes."""
    if isinstance(call.literal(number), int) or call.types(number) - {"number"} == {"int"}:
        return ""
    dtype, value = call.dtype(tensor), call.literal(number)
    if dtype is None and isinstance(value, float) and math.isfinite(value) and value != int(value):
        call.report(
            "NNF203", difference=f"beside integers {value} makes the result float32 in torch, and is cut in Paddle"
        )
    return f".astype({call.default_dtype})" if (dtype or "").startswith(("int", "uint", "bool")) else ""


@hook("nonzero", to="paddle")
def nonzero_to_paddle(call: BoundCall) -> None:
    """As a tuple Paddle 2.6 gives columns of one element, torch vectors."""
    if call.value("as_tuple") is None:
        return
    as_tuple = call.literal("as_tuple")
    if as_tuple is False:
        call.drop("as_tuple")
        return
    if as_tuple is not True:
        no_counterpart(call, "as_tuple")
    call.drop("as_tuple")
    hole, _ = receiver(call, "x")
    call.rewrite(f"tuple(paddle.unbind(paddle.nonzero({{{hole}}}), axis=1))")


@hook("nonzero", to="torch")
def nonzero_to_torch(call: BoundCall) -> None:
    """``as_tuple=False`` is torch's default."""
    if call.value("as_tuple") is None:
        return
    as_tuple = call.literal("as_tuple")
    if as_tuple is False:
        call.drop("as_tuple")


@hook("one_hot", to="paddle")
def one_hot(call: BoundCall) -> None:
    """The number of classes: torch finds it by itself, Paddle only from 3.3."""
    if call.value("num_classes") is None or call.literal("num_classes") == -1:
        call.drop("num_classes")
        template = "paddle.nn.functional.one_hot({x}, int({x}.max()) + 1).astype('int64')"
        source = "input" if is_pure(call.value("input")) or call.value("input") is not None else "tensor"
        rewrite_once(call, template, x=source)


@hook("take_flat", to="paddle")
def take_flat(call: BoundCall) -> None:
    """Without a dimension torch takes from the flat tensor."""
    if call.value("dim") is None or call.literal("dim") is None:
        call.drop("dim")
        hole, _ = receiver(call, "arr")
        call.rewrite(f"paddle.take_along_axis({{{hole}}}.flatten(), {{indices}}.flatten(), 0)")
