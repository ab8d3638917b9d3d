"""Making tensors: devices and gradients that Paddle's functions do not take, dtypes that come from values."""

from __future__ import annotations

import ast
import math
import re
import struct

from paddletorch_rules.guesses import suggests
from paddletorch_rules.hooks.arguments import bind_names, is_call_of, rewrite_once
from paddletorch_rules.hooks.integers import data_is_integer, names_integer
from paddletorch_rules.hooks.protocol import BoundCall, hook

_DATA = (ast.List, ast.Tuple, ast.ListComp, ast.GeneratorExp, ast.Set)


@hook("factory", to="paddle")
def factory_to_paddle(call: BoundCall) -> None:
    """``device=`` and ``requires_grad=`` go around the call: Paddle's functions take them from 3.2 on only."""
    place(call)


@hook("factory", to="torch")
def factory_to_torch(call: BoundCall) -> None:
    """A number that is the whole shape, given by name, is a list of one."""
    shape = call.value("shape")
    if shape is not None and (isinstance(call.literal("shape"), int) or _is_number_by_name(call)):
        call.wrap("shape", "[", "]")  # a number is a size only by position in torch


def _is_number_by_name(call: BoundCall) -> bool:
    """Whether the shape is a number that is given by name, and not as the first argument, which goes by position."""
    named = [keyword.arg for keyword in call.node.keywords]
    return "shape" in named and (bool(call.node.args) or named[0] != "shape") and _is_number(call)


def _is_number(call: BoundCall) -> bool:
    """Whether the shape is one number."""
    kinds, shape = call.types("shape"), call.origin("shape") or call.value("shape")
    if "int" in kinds:
        return not kinds & {"sequence", "shape", "Tensor"}
    if isinstance(shape, ast.Subscript) and isinstance(shape.value, ast.Attribute):
        return shape.value.attr == "shape" and not isinstance(shape.slice, ast.Slice)
    return is_call_of(shape, "len")


def place(call: BoundCall, before: str = "", after: str = "") -> None:
    """Put ``device`` and ``requires_grad`` around the call, next to what the hook itself puts there."""
    device = call.value("device") is not None and call.literal("device") is not None
    grad = call.value("requires_grad") is not None and call.literal("requires_grad") is not False
    for name in ("device", "requires_grad"):
        call.drop(name)
    if grad:
        stop = "False" if call.literal("requires_grad") is True else "not ({requires_grad})"
        where = ", place={device}" if device else ""
        before, after = "paddle.to_tensor(" + before, f"{after}{where}, stop_gradient={stop})"
    elif device:
        after += ".to({device})"
    if before or after:
        call.surround(before, after)


@hook("tensor_data", to="paddle")
def tensor_data_to_paddle(call: BoundCall) -> None:
    """What Paddle does not take as data becomes a list."""
    if _is_no_data(call.origin("data")):
        call.wrap("data", "list(", ")")


_NO_DATA = ("range", "deque", "bytearray", "memoryview")
"""Functions whose results torch takes as data, and Paddle does not or with another dtype."""


def _is_no_data(node: ast.expr | None) -> bool:
    return any(is_call_of(node, name) for name in _NO_DATA)


@hook("tensor_data", to="torch")
def tensor_data_to_torch(call: BoundCall) -> None:
    """Integers have no gradients in torch, which raises where they are asked for."""
    if call.value("stop_gradient") is not None and call.literal("stop_gradient") is False:
        dtype = call.literal("dtype") if call.value("dtype") is not None else None
        name = dtype if isinstance(dtype, str) else call.qualified("dtype") if dtype is ... else None
        if names_integer(name) if dtype is not None else data_is_integer(call.value("data")):
            call.drop("stop_gradient")
    plain = call.value("stop_gradient") is None or call.literal("stop_gradient") is True
    if plain and call.value("place") is None and call.holds_tensors("data"):
        call.drop("stop_gradient")
        call.rewrite("torch.stack({data}){dtype:.to(%)}.detach()")  # torch.tensor takes tensors of one element
    elif _runs_backwards(call.origin("data") or call.value("data")) and "Tensor" not in call.types("data"):
        call.wrap("data", "", ".copy()")  # torch takes no array with negative strides


_REVERSING = re.compile(r"(np|numpy)\.(flip|fliplr|flipud|rot90)")
_VIEWS_OF_ARRAYS = ("transpose", "swapaxes", "squeeze", "view")


def _runs_backwards(node: ast.expr | None) -> bool:
    """Whether the expression is an array that NumPy reads from its end: ``image[:, :, ::-1]``, ``np.flip(image)``."""
    if isinstance(node, ast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return any(_is_negative(part.step) for part in parts if isinstance(part, ast.Slice))
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    name = ast.unparse(node.func)
    if _REVERSING.fullmatch(name):
        return True
    of = node.args[0] if name in ("np.transpose", "numpy.transpose") and node.args else node.func.value
    return node.func.attr in _VIEWS_OF_ARRAYS and _runs_backwards(of)


def _is_negative(node: ast.expr | None) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)


@hook("as_tensor", to="paddle")
def as_tensor_to_paddle(call: BoundCall) -> None:
    """A tensor stays the tensor that it is, and in its graph; anything else is made into one."""
    name = "data" if call.value("data") is not None else "obj"
    if "Tensor" not in call.types(name):
        tensor_data_to_paddle(call)
        return
    template = "{" + name + "}"
    if not call.is_tensor(name):  # to_tensor would copy a tensor, out of its graph
        tensor = f"{template} if isinstance({template}, paddle.Tensor) else paddle.to_tensor({template})"
        template = bind_names(call, f"({tensor})", **{name: name})
    if call.value("dtype") is not None and call.literal("dtype") is not None:
        template += ".to(dtype={dtype})" if call.may_be_none("dtype") else ".astype({dtype})"
    if call.value("device") is not None and call.literal("device") is not None:
        template += ".to({device})"
    call.rewrite(template)


@hook("as_tensor", to="torch")
def as_tensor_to_torch(call: BoundCall) -> None:
    """As ``tensor_data``."""
    tensor_data_to_torch(call)


@hook("full", to="paddle")
def full_to_paddle(call: BoundCall) -> None:
    """Write out the dtype that torch takes from the value."""
    if call.value("dtype") is not None and call.literal("dtype") is not None:
        factory_to_paddle(call)
    else:
        _full_to_paddle(call)
        place(call)


@hook("full", to="torch")
def full_to_torch(call: BoundCall) -> None:
    """Paddle takes the default dtype for any number, torch the number's own: integers become floats."""
    _list_shape(call)
    if call.value("dtype") is None or call.literal("dtype") is None:
        _full_to_torch(call)


def _list_shape(call: BoundCall) -> None:
    """A number as the shape, which Paddle takes too, stands in a list."""
    shape, kinds = call.value("shape"), call.types("shape")
    if isinstance(call.literal("shape"), int) or _is_number(call):
        call.wrap("shape", "[", "]")
    elif not kinds and isinstance(shape, ast.Name | ast.Attribute) and not suggests("sizes", ast.unparse(shape)):
        name = ast.unparse(shape)
        call.wrap("shape", "", f" if isinstance({name}, (list, tuple)) else [{name}]")


def _full_to_paddle(call: BoundCall) -> None:
    value, kinds = call.literal("fill_value"), call.types("fill_value")
    if isinstance(value, float) or _is_quotient(call.value("fill_value")):
        return
    if isinstance(value, bool) or kinds == {"bool"}:
        call.force("dtype", "'bool'")
    elif isinstance(value, int) or (kinds & {"int"} and not kinds & {"float", "Tensor"}):
        call.force("dtype", "'int64'")
    elif value is ... and not is_call_of(call.value("fill_value"), "float") and "float" not in kinds:
        size, fill = "{shape}", "{fill_value}"
        template = f"paddle.full({size}, {fill}, dtype=paddle.to_tensor({fill}).dtype)"
        rewrite_once(call, template, fill_value="fill_value")


def _is_quotient(node: ast.expr | None) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)


def _full_to_torch(call: BoundCall) -> None:
    value = call.literal("fill_value")
    if isinstance(value, bool):
        return  # of truth values both take the dtype
    if isinstance(value, int):
        call.wrap("fill_value", "float(" if abs(value) >= 10**6 else "", ")" if abs(value) >= 10**6 else ".0")
    elif not (isinstance(value, float) or _is_quotient(call.value("fill_value"))) and not is_call_of(
        call.value("fill_value"), "float"
    ):
        call.force("dtype", "torch.get_default_dtype()")


@hook("new_tensor", to="paddle")
def new_tensor(call: BoundCall) -> None:
    """``x.new_zeros``: the dtype given, or the tensor's own."""
    if call.value("dtype") is not None and call.literal("dtype") is not None:
        arguments = next(
            text
            for name, text in (
                ("fill_value", "paddle.full({size}, {fill_value}, dtype={dtype})"),
                ("data", "paddle.to_tensor({data}, dtype={dtype})"),
                ("self", ""),
            )
            if call.value(name) is not None
        )
        call.rewrite(arguments or f"paddle.{_new(call)}({{size}}, dtype={{dtype}})")
    place(call)


def _new(call: BoundCall) -> str:
    function = call.node.func
    return function.attr.removeprefix("new_") if isinstance(function, ast.Attribute) else "zeros"


@hook("legacy_tensor", to="paddle")
def legacy_tensor(call: BoundCall) -> None:
    """``torch.FloatTensor``: a size if numbers are given, else data."""
    _legacy(call, call.fixed["dtype"], ".to('gpu')" if "device" in call.fixed else "")


@hook("legacy_new", to="paddle")
def legacy_new(call: BoundCall) -> None:
    """``x.new``: a size if numbers are given, else data."""
    _legacy(call, "{self}.dtype", "")


def _legacy(call: BoundCall, dtype: str, after: str) -> None:
    arguments = call.node.args
    if not arguments:
        call.rewrite(f"paddle.empty([0], dtype={dtype}){after}")
        return
    kinds = call.types("data")
    first = arguments[0]
    several = len(arguments) > 1 or isinstance(first, ast.Starred) or ("int" in kinds and "sequence" not in kinds)
    of_unseen = isinstance(first, ast.Attribute) and first.attr == "shape" and not call.owners_of(first)
    if of_unseen and not several:
        call.rewrite(f"torch_tensor_of_shape({{data}}, {dtype}){after}")
    elif several or "shape" in kinds or _is_size(first):
        call.rewrite(f"paddle.empty({{data}}, dtype={dtype}){after}")
    elif _is_no_data(call.origin("data")):
        call.rewrite(f"paddle.to_tensor(list({{data}}), dtype={dtype}){after}")
    elif (kinds and "int" not in kinds) or _is_data(first) or _is_data(call.origin("data")):
        call.rewrite(f"paddle.to_tensor({{data}}, dtype={dtype}){after}")
    else:
        call.rewrite(f"torch_typed_tensor({{data}}, {dtype}){after}")


def _is_data(node: ast.expr | None) -> bool:
    """Whether the expression is a display, or an array made by name."""
    if isinstance(node, _DATA) or not isinstance(node, ast.Call):
        return isinstance(node, _DATA)
    module, _, name = ast.unparse(node.func).partition(".")
    return module in ("list", "tuple") or (module in ("np", "numpy") and name.startswith(_ARRAYS))


_ARRAYS = (
    "arange", "array", "asarray", "concatenate", "eye", "full", "linspace", "load", "ones", "random.", "stack", "zeros",
)  # fmt: skip
"""How the names of NumPy's functions begin that give arrays; others may give a number, which is a size."""


def _is_size(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "size"
        and not node.args
        and not node.keywords
    )


@hook("window", to="paddle")
def window(call: BoundCall) -> None:
    """Paddle's windows are float64 unless told otherwise."""
    place(call)
    if call.value("dtype") is not None and call.literal("dtype") is not None:
        kind = call.fixed["window"]
        call.rewrite(
            f"paddle.audio.functional.get_window({kind}, {{window_length}}, fftbins={{periodic}}, dtype={{dtype}})"
        )


@hook("get_window", to="torch")
def get_window(call: BoundCall) -> None:
    """The windows that both sides have, by name."""
    kind = call.literal("window")
    if kind not in ("hann", "hamming", "blackman"):
        node = call.value("window")
        call.stop("API221", parameter="window", value="..." if node is None else ast.unparse(node))
    call.rewrite(f"torch.{kind}_window({{win_length}}, periodic={{fftbins}}, dtype={{dtype}})")


@hook("arange", to="paddle")
def arange_to_paddle(call: BoundCall) -> None:
    """The device goes around the call; say where the length depends on the precision in which it is counted."""
    factory_to_paddle(call)
    _compare_lengths(call)


def _compare_lengths(call: BoundCall) -> None:
    """torch counts the elements in float64, Paddle in float32."""
    names = ("start", "end", "step")
    start, end, step = (call.literal(name) if call.value(name) is not None else None for name in names)
    if end is None:
        start, end = 0, start
    step = 1 if step is None else step
    if not all(isinstance(n, int | float) for n in (start, end, step)) or all(
        isinstance(n, int) for n in (start, end, step)
    ):
        return
    assert isinstance(start, int | float) and isinstance(end, int | float) and isinstance(step, int | float)
    wide = math.ceil((end - start) / step) if step else 0
    low, high, by = (_single(float(n)) for n in (start, end, step))
    narrow = math.ceil(_single(_single(high - low) / by)) if step else 0
    if wide != narrow:
        call.report("TEN201", start=repr(start), end=repr(end), step=repr(step), torch=str(wide), paddle=str(narrow))


@hook("arange", to="torch")
def arange_to_torch(call: BoundCall) -> None:
    """Say where the length depends on the precision in which it is counted."""
    factory_to_torch(call)
    step = call.value("step") is not None and call.literal("step") != 1
    if step and (call.value("end") is None or call.literal("end") is None) and call.value("start") is not None:
        call.rewrite("torch.arange(0, {start}, {step}{dtype:, dtype=%})")
    _compare_lengths(call)


def _single(value: float) -> float:
    """``value`` in float32."""
    return float(struct.unpack("f", struct.pack("f", value))[0])


@hook("eye", to="paddle")
def eye_to_paddle(call: BoundCall) -> None:
    """Paddle makes no identity matrix of booleans: it is cast."""
    if call.qualified("dtype") == "torch.bool":
        call.drop("dtype")
        place(call, "", ".astype('bool')")
    else:
        factory_to_paddle(call)


@hook("eye", to="torch")
def eye_to_torch(call: BoundCall) -> None:
    """As ``factory``."""
    factory_to_torch(call)


@hook("triu_indices", to="paddle")
def triu_indices_to_paddle(call: BoundCall) -> None:
    """As ``factory``."""
    factory_to_paddle(call)


@hook("triu_indices", to="torch")
def triu_indices_to_torch(call: BoundCall) -> None:
    """Paddle's ``col`` may be left out: the matrix is square then."""
    if call.value("col") is None or call.literal("col") is None:
        offset = ", {offset}" if call.value("offset") is not None else ""
        rewrite_once(call, f"torch.triu_indices({{row}}, {{row}}{offset})", row="row")
    else:
        factory_to_torch(call)


@hook("meshgrid", to="paddle")
def meshgrid_to_paddle(call: BoundCall) -> None:
    """Paddle indexes as a matrix does: for ``indexing='xy'`` the first two dimensions are exchanged."""
    if call.literal("indexing") == "xy":
        arguments = call.node.args
        elements = (
            arguments[0].elts if len(arguments) == 1 and isinstance(arguments[0], ast.List | ast.Tuple) else arguments
        )
        if any(isinstance(e, ast.Starred) for e in elements) or len(elements) < 2:
            return
        axes = ", ".join(["1", "0", *map(str, range(2, len(elements)))])
        call.drop("indexing")
        call.surround("[grid.transpose([" + axes + "]) for grid in ", "]")
    elif call.literal("indexing") == "ij":
        call.drop("indexing")
    elif isinstance(call.value("indexing"), ast.Name | ast.Attribute):
        call.drop("indexing")
        swapped = "grid.transpose([*range(grid.ndim)][1::-1] + [*range(2, grid.ndim)])"
        call.surround(f"[{swapped} if {{indexing}} == 'xy' else grid for grid in ", "]")


@hook("meshgrid", to="torch")
def meshgrid_to_torch(call: BoundCall) -> None:
    """Write out ``indexing='ij'``, which is Paddle's only one."""
    call.force("indexing", "'ij'")


@hook("assign", to="torch")
def assign(call: BoundCall) -> None:
    """A copy, or a copy into a tensor that is there."""
    tensor = call.is_tensor("x")
    value = "{x}" if tensor else "torch.as_tensor({x})"
    if call.value("output") is not None and call.literal("output") is not None:
        data = ".data" if call.is_learning("output") else ""  # torch changes no such leaf in place
        call.rewrite("{output}" + data + ".copy_(" + value + ")")
    elif tensor:
        call.rewrite("{x}.clone()")
