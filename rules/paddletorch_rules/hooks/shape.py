"""Shapes: sizes of 0, parts by size or by number, slices that Paddle writes as functions."""

from __future__ import annotations

import ast

from paddletorch_rules.hooks.arguments import is_plain, is_pure, no_counterpart, rewrite_once
from paddletorch_rules.hooks.protocol import BoundCall, hook

_DISPLAY = (ast.List, ast.Tuple)
_END = "2147483647"


def receiver(call: BoundCall, parameter: str) -> tuple[str, str]:
    """Target's hole and source's name of the tensor: ``self`` of a method, else the first parameter's."""
    return ("self", "self") if call.value("self") is not None else (parameter, _source(call, parameter))


def _source(call: BoundCall, parameter: str) -> str:
    names = (parameter, "x", "input", "tensor")
    return next((n for n in names if call.value(n) is not None), parameter)


def elements(call: BoundCall, name: str) -> list[str] | None:
    """The texts of a list display's elements; None if it is none, or an element may itself convert."""
    node = call.value(name)
    if not isinstance(node, _DISPLAY) or not all(is_plain(e) for e in node.elts):
        return None
    return [ast.unparse(e) for e in node.elts]


def whole_numbers(call: BoundCall, name: str) -> list[int] | None:
    """The elements of a list display of whole numbers; None if it is no such thing."""
    node = call.value(name)
    try:
        found = ast.literal_eval(node) if isinstance(node, _DISPLAY) else None
    except ValueError:
        return None
    return list(found) if found and all(isinstance(n, int) for n in found) else None


@hook("reshape")
def reshape(call: BoundCall) -> None:
    """A size of 0 means "as it is" to Paddle and an empty dimension to torch."""
    name = next((n for n in ("shape", "shape_or_dtype", "size") if call.value(n) is not None), "shape")
    node = call.value(name)
    if not isinstance(node, _DISPLAY):
        return
    zeros = [k for k, e in enumerate(node.elts) if isinstance(e, ast.Constant) and repr(e.value) == "0"]
    if not zeros:
        return
    if call.target == "paddle":
        no_counterpart(call, "reshape", name)
    hole, source = receiver(call, "input")
    if is_pure(call.value(source)):
        for k in zeros:
            call.replace(node.elts[k], f"{{{source}}}.shape[{k}]")
        return
    call.rewrite(f"paddle_reshape({{{hole}}}, {{shape}})")


@hook("reshape_back", to="torch")
def reshape_back(call: BoundCall) -> None:
    """In place, which only a result under the same name says without a counterpart, or one that nothing else holds."""
    name = "self" if call.value("self") is not None else "x"
    parent, given = call.parent, call.value(name)
    own = isinstance(parent, ast.Assign) and [ast.unparse(t) for t in parent.targets] == [ast.unparse(given or parent)]
    if not (own and isinstance(given, ast.Name)) and not _is_new(given):
        call.stop("API221", parameter=name, value=ast.unparse(given) if given is not None else "?")
    reshape(call)


def _is_new(node: ast.expr | None) -> bool:
    """Whether only this expression has the object, though it may be a view: ``x.transpose([1, 0])``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        in_place = node.func.attr.endswith("_")
        return not in_place or _is_new(node.func.value)
    return isinstance(node, ast.BinOp)


@hook("squeeze", to="paddle")
def squeeze(call: BoundCall) -> None:
    """Of no dimensions torch removes none, Paddle all."""
    node = call.value("dim")
    if isinstance(node, _DISPLAY) and not node.elts:
        call.drop("dim")
        call.rewrite("{self}" if call.value("self") is not None else "{x}")


@hook("unsqueeze", to="torch")
def unsqueeze(call: BoundCall) -> None:
    """Paddle adds several dimensions, one after the other."""
    axes = elements(call, "axis")
    if axes is None:
        node = call.origin("axis")
        if isinstance(node, ast.BinOp) and any(isinstance(side, _DISPLAY) for side in (node.left, node.right)):
            no_counterpart(call, "axis")  # as many dimensions as the program finds
        return
    hole, _ = receiver(call, "input")
    call.rewrite(f"{{{hole}}}" + "".join(f".unsqueeze({axis})" for axis in axes))


@hook("split", to="paddle")
def split_to_paddle(call: BoundCall) -> None:
    """A number is the size of a part to torch and the number of parts to Paddle."""
    size = next((n for n in ("split_size_or_sections", "split_size") if call.value(n) is not None), "split_size")
    node, literal = call.origin(size), call.literal(size)
    if node is None:  # whether it is a number decides what the call becomes
        call.unseen_in("a partial object")
    if isinstance(node, (*_DISPLAY, ast.ListComp)):
        return
    hole, source = receiver(call, "x")
    axis = "{axis}" if call.value("dim") is not None else "0"
    length = f"{{{hole}}}.shape[{axis}]"
    twice = {hole: source} | ({"axis": "dim"} if axis == "{axis}" else {})
    count = _unpacked_into(call.parent)
    part = "{num_or_sections}"
    is_number = isinstance(literal, int) or _is_number(call, node, size)
    if literal == 1 and all(is_pure(call.value(one)) for one in twice.values()):
        call.rewrite(f"paddle.split({{{hole}}}, {length}, axis={axis})")
    elif count > 1 and is_number and literal != 1:  # torch gives as many parts only if all but the last have the size
        sections = f"[{', '.join([part] * (count - 1))}, -1]"
        repeated = {"num_or_sections": size} if count > 2 else {}
        rewrite_once(call, f"paddle.split({{{hole}}}, {sections}, axis={axis})", **repeated)
    else:
        call.rewrite(f"torch_split({{{hole}}}, {part}{{axis:, %}})")


def _unpacked_into(parent: ast.AST | None) -> int:
    """Into how many variables a call is unpacked; 0 if it is not, or into a number that is not seen."""
    target = parent.targets[0] if isinstance(parent, ast.Assign) and len(parent.targets) == 1 else None
    if not isinstance(target, ast.Tuple | ast.List) or any(isinstance(e, ast.Starred) for e in target.elts):
        return 0
    return len(target.elts)


@hook("split", to="torch")
def split_to_torch(call: BoundCall) -> None:
    """A number is the number of parts to Paddle, which torch calls chunks; -1 is what is left over."""
    node, literal = call.origin("num_or_sections"), call.literal("num_or_sections")
    if node is None:  # whether it is a number decides what the call becomes
        call.unseen_in("a partial object")
    hole, source = receiver(call, "tensor")
    dim = "{dim}" if call.value("axis") is not None else "0"
    if isinstance(node, _DISPLAY):
        sizes = elements(call, "num_or_sections") if node is call.value("num_or_sections") else None
        if not any(ast.unparse(e) == "-1" for e in node.elts):
            return
        if sizes is None or node is None:
            no_counterpart(call, "split", "num_or_sections")
            return
        rest = "".join(f" - {_bracketed(s)}" for s in sizes if s != "-1")
        shown = [f"{{{hole}}}.shape[{dim}]{rest}" if s == "-1" else s for s in sizes]
        rewrite_once(call, f"torch.split({{{hole}}}, [{', '.join(shown)}], dim={dim})", **{hole: source})
        return
    if isinstance(node, ast.ListComp):
        return
    part = "{split_size}" if hole == "self" else "{split_size_or_sections}"
    if isinstance(literal, int) or _is_number(call, node, "num_or_sections"):
        call.rewrite(f"torch.chunk({{{hole}}}, {part}, dim={dim})")
        return
    call.rewrite(f"paddle_split({{{hole}}}, {part}, {dim})")


def _is_number(call: BoundCall, node: ast.expr, name: str) -> bool:
    """Whether the argument is a number by its form: arithmetic, or an element of a shape."""
    if isinstance(node, ast.BinOp):
        return not any(isinstance(n, _DISPLAY) for n in ast.walk(node))
    origin = call.origin(name)
    return isinstance(origin, ast.Constant) or (
        isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
    )


def _bracketed(text: str) -> str:
    return text if text.replace("_", "").replace(".", "").isalnum() else f"({text})"


@hook("sizes_in_tuples", to="paddle")
def sizes_in_tuples(call: BoundCall) -> None:
    """torch takes a number for a shape of one size, Paddle shapes only."""
    for name in ("x_shape", "y_shape", "first", "second", "third"):
        if call.types(name) == {"int"} or isinstance(call.literal(name), int):
            call.wrap(name, "(", ",)")


@hook("tensor_split", to="paddle")
def tensor_split(call: BoundCall) -> None:
    """torch cuts at indices, Paddle's split takes sizes; an old Paddle has nothing else."""
    hole, _ = receiver(call, "x")
    axis = "{axis}" if call.value("dim") is not None else "0"
    call.rewrite(f"paddle.split({{{hole}}}, {_sizes_between_cuts(call)}, axis={axis})")


@hook("split_at", to="paddle")
def split_at(call: BoundCall) -> None:
    """torch's ``vsplit`` and its like cut at indices, Paddle's split takes sizes; the row's template has the axis."""
    call.rewrite(call.row_template.replace("{num_or_indices}", _sizes_between_cuts(call)))


def _sizes_between_cuts(call: BoundCall) -> str:
    """The sizes of the parts, as a list that is written out."""
    cuts = whole_numbers(call, "indices")
    if cuts is None or cuts != sorted(cuts) or min(cuts) < 0:
        no_counterpart(call, "indices")
    sizes = [str(b - a) for a, b in zip([0, *cuts[:-1]], cuts, strict=True)]
    return f"[{', '.join(sizes)}, -1]"


@hook("write_back_transpose", to="paddle")
def transpose_in_place(call: BoundCall) -> None:
    """Paddle's method takes a permutation."""
    if not is_pure(call.value("self")):
        no_counterpart(call, "transpose_", "self")
    turned = f"{{self}}.{_MOVED}" if _are_apart(call, "dim0", "dim1") else "torch_transpose({self}, {dim0}, {dim1})"
    call.rewrite(f"paddle.assign({turned}, {{self}})")


_MOVED = "moveaxis([{dim0}, {dim1}], [{dim1}, {dim0}])"


@hook("swap_axes", to="paddle")
def swap_axes(call: BoundCall, first: str, second: str) -> None:
    """Paddle's moveaxis refuses an axis that moves to itself, as in ``transpose(1, -1)`` of a matrix."""
    if "moveaxis" in call.row_template and not _are_apart(call, first, second):
        tensor = "{x}" if call.value("self") is None else "{self}"
        call.rewrite(f"torch_transpose({tensor}, {{{first}}}, {{{second}}})")


def _are_apart(call: BoundCall, first: str, second: str) -> bool:
    """Whether two axes are seen to be different ones, whatever the tensor."""
    one, other = call.literal(first), call.literal(second)
    return isinstance(one, int) and isinstance(other, int) and one != other and (one < 0) == (other < 0)


@hook("counts", to="paddle")
def counts(call: BoundCall) -> None:
    """Each number as often as it says."""
    template = "paddle.repeat_interleave(paddle.arange({repeats}.shape[0]), {repeats})"
    rewrite_once(call, template, repeats="repeats")


@hook("tile", to="torch")
def tile(call: BoundCall) -> None:
    """Paddle's function takes a number, torch's a tuple only."""
    if isinstance(call.literal("repeat_times"), int):
        call.wrap("repeat_times", "(", ",)")


@hook("narrow", to="paddle")
def narrow(call: BoundCall) -> None:
    """A start counted from the end may end at the end."""
    start, length = call.literal("start"), call.literal("length")
    if not isinstance(start, int):
        return
    hole, _ = receiver(call, "input")
    end = f"{start} + {{length}}" if not isinstance(length, int) else str(start + length)
    if start < 0:
        if not isinstance(length, int):
            no_counterpart(call, "narrow", "start")
        end = _END if end == "0" else end
    call.rewrite(f"paddle.slice({{{hole}}}, [{{dim}}], [{{start}}], [{end}])")


@hook("select", to="paddle")
def select(call: BoundCall) -> None:
    """One index of one dimension, as a subscript where the dimension is known."""
    dim = call.literal("dim")
    if not isinstance(dim, int) or not -4 <= dim <= 4:
        return
    hole, _ = receiver(call, "input")
    before = ":, " * dim if dim >= 0 else "..., "
    call.rewrite(f"{{{hole}}}[{before}{{index}}{', :' * (-dim - 1)}]")


@hook("slice", to="torch")
def slice_function(call: BoundCall) -> None:
    """``slice`` and ``strided_slice`` are subscripts where the dimensions are written out."""
    axes = whole_numbers(call, "axes")
    bounds = [elements(call, n) for n in ("starts", "ends")]
    steps = elements(call, "strides") if call.value("strides") is not None else ["1"] * len(bounds[0] or ())
    if axes is None or None in (*bounds, steps) or any(s.startswith("-") for s in steps or ()):
        no_counterpart(call, "slice", "axes")
        return
    starts, ends, strides = bounds[0] or [], bounds[1] or [], steps or []
    if not len(axes) == len(starts) == len(ends) == len(strides) or len({a >= 0 for a in axes}) != 1:
        no_counterpart(call, "slice", "axes")
        return
    parts = {a: _slice(*p) for a, *p in zip(axes, starts, ends, strides, strict=True)}
    if axes[0] >= 0:
        shown = [parts.get(k, ":") for k in range(max(axes) + 1)]
    else:
        shown = ["...", *(parts.get(k, ":") for k in range(min(axes), 0))]
    hole, _ = receiver(call, "input")
    call.rewrite(f"{{{hole}}}[{', '.join(shown)}]")


def _slice(start: str, end: str, step: str) -> str:
    start = "" if start == "0" else start
    end = "" if end == _END else end
    return f"{start}:{end}" if step == "1" else f"{start}:{end}:{step}"


@hook("crop", to="torch")
def crop(call: BoundCall) -> None:
    """A cropped part is a subscript where its place is written out."""
    shape, offsets = elements(call, "shape"), elements(call, "offsets")
    if call.value("offsets") is None and shape is not None:
        offsets = ["0"] * len(shape)
    if shape is None or offsets is None or len(shape) != len(offsets):
        no_counterpart(call, "crop", "shape")
        return
    parts = []
    for size, offset in zip(shape, offsets, strict=True):
        end = "" if size == "-1" else size if offset == "0" else _sum(offset, size)
        parts.append(f"{'' if offset == '0' else offset}:{end}")
    call.rewrite(f"{{input}}[{', '.join(parts)}]")


def _sum(left: str, right: str) -> str:
    return str(int(left) + int(right)) if left.isdigit() and right.isdigit() else f"{left} + {right}"


_WHOLE = 2**31 - 1
"""Larger numbers stay as they are: not every dtype of integers holds them."""


def _number(call: BoundCall, name: str) -> str:
    """The hole of a factor, or a whole number without its point: Paddle keeps the dtype of integers."""
    value = call.literal(name)
    if not isinstance(value, float) or not value.is_integer() or abs(value) > _WHOLE:
        return f"{{{name}}}"
    call.drop(name)
    return str(int(value))


@hook("scale_tensor", to="torch")
def scale_tensor(call: BoundCall) -> None:
    """A scaled tensor is arithmetic."""
    if call.value("act") is not None and call.literal("act") is not None:
        no_counterpart(call, "scale", "act")
        return
    after = call.literal("bias_after_scale") if call.value("bias_after_scale") is not None else True
    if not isinstance(after, bool):
        no_counterpart(call, "scale", "bias_after_scale")
        return
    for name in ("act", "bias_after_scale"):
        call.drop(name)
    hole, _ = receiver(call, "input")
    factor = f" * {_number(call, 'scale')}" if call.value("scale") is not None else ""
    bias = f" + {_number(call, 'bias')}" if call.value("bias") is not None and call.literal("bias") != 0 else ""
    text = f"{{{hole}}}{factor}{bias}" if after or not bias else f"({{{hole}}}{bias}){factor}"
    call.rewrite(f"({text})")


@hook("increment", to="torch")
def increment(call: BoundCall) -> None:
    """torch adds no fraction to integers in place: a whole number is written as one."""
    value = call.literal("value") if call.value("value") is not None else 1.0
    if isinstance(value, float) and value.is_integer():
        call.drop("value")
        call.rewrite(f"{{input}}.add_({int(value)})")


@hook("chunk", to="paddle")
def chunk(call: BoundCall) -> None:
    """The last of torch's chunks may be smaller; Paddle raises then. Halves and parts with a name each are even."""
    chunks = call.literal("chunks")
    if not isinstance(chunks, int) or (chunks > 2 and _unpacked_into(call.parent) != chunks):
        call.rewrite(f"torch_chunk({{{receiver(call, 'x')[0]}}}, {{chunks}}{{axis:, %}})")
    elif chunks > 1:
        call.report("TEN217", chunks=str(chunks))
