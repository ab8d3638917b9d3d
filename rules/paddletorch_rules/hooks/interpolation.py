"""Resizing and sampling of images by functions: sizes, modes, corners and layouts."""

from __future__ import annotations

import ast

from paddletorch_rules.hooks.arguments import is_plain, is_pure, no_counterpart, only, operand
from paddletorch_rules.hooks.protocol import BoundCall, hook

_NO_CORNERS = ("nearest", "area", "nearest-exact")


@hook("interpolate", to="torch")
def interpolate_to_torch(call: BoundCall) -> None:
    """torch takes sizes as numbers, ``align_corners`` with some modes only, and no other layout."""
    mode = call.literal("mode") if call.value("mode") is not None else "nearest"
    if isinstance(mode, str) and not mode.islower():
        mode = mode.lower()
        call.drop("mode")
        call.force("mode", repr(mode))
    _shape_as_size(call)
    if call.value("align_corners") is not None:
        if mode in _NO_CORNERS:
            call.drop("align_corners")  # torch refuses it there
        elif mode is ... and is_pure(call.value("mode")):
            text = ast.unparse(call.value("mode") or ast.Constant(0))
            call.wrap("align_corners", "", f" if {text} not in ('nearest', 'area') else None")
    elif mode is ...:
        call.drop("align_corners")
    if call.value("data_format") is not None:
        if call.literal("data_format") is ...:
            only(call, "data_format", "NCHW", "NCW", "NCDHW")
        elif call.literal("data_format") not in ("NCHW", "NCW", "NCDHW", "NCL", None):
            no_counterpart(call, "data_format")
        call.drop("data_format")
    if call.literal("align_corners") is True or mode in _NO_CORNERS:
        call.drop("align_mode")


def _shape_as_size(call: BoundCall) -> None:
    """``paddle.shape(x)[2:]`` is a tensor; torch wants numbers."""
    size = call.value("size")
    by_name = ast.unparse(call.node.func).endswith(("interpolate", "upsample"))  # and not of a partial object
    variable = _sliced_shape(size) if by_name else ""
    if isinstance(size, ast.Subscript) and variable:
        call.replace(size.value, f"{variable}.shape")
    elif size is not None and "paddle.shape(" in ast.unparse(size) and not isinstance(size, ast.List | ast.Tuple):
        atomic = isinstance(size, ast.Call | ast.Subscript)
        call.wrap("size", "" if atomic else "(", ".tolist()" if atomic else ").tolist()")


def _sliced_shape(size: ast.expr | None) -> str:
    """The variable of ``paddle.shape(x)[2:]``, which are the numbers ``x.shape[2:]``; empty for other sizes."""
    if not isinstance(size, ast.Subscript) or not isinstance(size.slice, ast.Slice):
        return ""
    read = size.value
    if not isinstance(read, ast.Call) or ast.unparse(read.func) != "paddle.shape" or read.keywords:
        return ""
    variable = read.args[0] if len(read.args) == 1 else None
    element = isinstance(variable, ast.Subscript) and isinstance(variable.slice, ast.Constant | ast.UnaryOp | ast.Name)
    name = variable.value if isinstance(variable, ast.Subscript) and element else variable
    return ast.unparse(variable) if variable is not None and isinstance(name, ast.Name) else ""


@hook("interpolate", to="paddle")
def interpolate_to_paddle(call: BoundCall) -> None:
    """Sizes and layouts by mode: Paddle wants a size for each dimension, and the layout unless it is of images."""
    mode = call.literal("mode") if call.value("mode") is not None else "nearest"
    if mode == "nearest-exact":
        no_counterpart(call, "mode")
    if mode == "area" and call.value("scale_factor") is not None:
        no_counterpart(call, "scale_factor", "... with mode='area'")
    for name in ("recompute_scale_factor", "antialias"):
        if call.value(name) is not None and call.literal(name) in (False, None):
            call.drop(name)
    smooth = call.value("antialias") is not None and call.literal("antialias") not in (False, None)
    if smooth and call.value("recompute_scale_factor") is None:
        given = "".join(f"{{{name}:, {name}=%}}" for name in ("size", "scale_factor", "mode", "align_corners"))
        call.rewrite(f"torch_antialiased({{x}}{given}, antialias={{antialias}})")
        return
    layout = {"linear": "'NCW'", "trilinear": "'NCDHW'"}.get(str(mode))
    if layout is not None:
        call.force("data_format", layout)
    if mode == "nearest" and _is_sequence(call):
        _as_images(call)
        return
    size, image = call.literal("size"), call.value("input")
    if isinstance(size, int) and not isinstance(size, bool):
        axes = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}.get(str(mode))
        if axes is not None:
            call.force("size", repr([size] * axes))
        elif len(ranks := call.ranks("input")) == 1:
            call.force("size", repr([size] * (min(ranks) - 2)))
        elif is_pure(image) and image is not None:
            call.force("size", f"[{size}] * ({operand(image)}.ndim - 2)")
        else:
            no_counterpart(call, "size", f"{size}: Paddle takes one for each dimension")


def _is_sequence(call: BoundCall) -> bool:
    """Whether the input is seen to have one axis to resize: by its rank, or by a list of one size."""
    given = (call.value("size"), call.value("scale_factor"))
    return call.ranks("input") == {3} or any(isinstance(g, ast.List | ast.Tuple) and len(g.elts) == 1 for g in given)


def _as_images(call: BoundCall) -> None:
    """Resize sequences as images of one column: Paddle's nearest takes images and volumes only."""
    for name in ("size", "scale_factor"):
        node = call.value(name)
        if isinstance(node, ast.List | ast.Tuple):
            node = node.elts[0] if len(node.elts) == 1 and not isinstance(node.elts[0], ast.Starred) else None
        if node is not None and is_plain(node):
            call.force(name, f"[{ast.unparse(node)}, 1]")
        elif call.value(name) is not None:
            no_counterpart(call, name, "... of a sequence with mode='nearest'")
    atomic = isinstance(call.value("input"), ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    call.wrap("input", "" if atomic else "(", ".unsqueeze(-1)" if atomic else ").unsqueeze(-1)")
    call.surround("", ".squeeze(-1)")


@hook("grid_sample", to="paddle")
def grid_sample(call: BoundCall) -> None:
    """Paddle has no cubic sampling, and its gradient of the grid needs one of the image."""
    if call.literal("mode") == "bicubic":
        no_counterpart(call, "mode")
    given = [name for name in ("mode", "padding_mode", "align_corners") if call.value(name) is not None]
    call.rewrite(f"torch_grid_sample({{x}}, {{grid}}{''.join(f', {one}={{{one}}}' for one in given)})")
