"""``nn.functional``: layouts, paddings, sizes and in-place variants that a parameter map cannot say."""

from __future__ import annotations

import ast

from paddletorch_rules.hooks.arguments import is_plain, is_pure, literally, no_counterpart, only, operand, rewrite_once
from paddletorch_rules.hooks.functional_pools import even_padding
from paddletorch_rules.hooks.protocol import BoundCall, hook

_LINEAR = frozenset({"torch.nn.Linear", "paddle.nn.Linear"})
_NO_CORNERS = ("nearest", "area", "nearest-exact")


@hook("inplace", to="paddle")
def inplace(call: BoundCall, twin: str = "") -> None:
    """``inplace=True`` is the function with an underscore where Paddle has one, else a new tensor."""
    if call.value("inplace") is None:
        return
    asked = call.literal("inplace")
    call.drop("inplace")
    if asked is True and twin:
        call.rewrite(twin)
    elif asked is True and call.is_statement and isinstance(given := call.value("input"), ast.Name):
        if not call.row_template:
            call.wrap("input", "", ".clone()")  # what the gradient needs is not written to
        call.surround("paddle.assign(", f", {given.id})")
    elif asked is not False and not isinstance(call.value("input"), ast.Call):
        call.report("NNF201")


@hook("slope_at_zero")
def slope_at_zero(call: BoundCall, twin: str = "") -> None:
    """Where the input is zero, the gradient is that of the other side of the kink; ``twin`` as in ``inplace``."""
    if twin and call.target == "paddle":
        inplace(call, twin)
    call.report("NNF203", difference="where the input is zero, its slope is negative_slope in torch, 1 in Paddle")


@hook("channel_dropout", to="paddle")
def channel_dropout(call: BoundCall) -> None:
    """A mask for whole channels: as ``inplace``, and with the axes of the mask where the rank asks for others."""
    inplace(call)
    axes = _mask_axes(call.row_template, call.ranks("input"))
    if axes:
        call.rewrite(f"paddle.nn.functional.dropout({{x}}{{p:, p=%}}, axis={axes}{{training:, training=%}})")


@hook("layer_channel_dropout", to="paddle")
def layer_channel_dropout(call: BoundCall) -> None:
    """As ``channel_dropout``, for the layer."""
    axes = _mask_axes(call.row_template, call.input_ranks())
    if axes:
        call.rewrite(f"paddle.nn.Dropout({{p}}, axis={axes})")


def _mask_axes(template: str, ranks: frozenset[int]) -> str:
    """The axes of the mask for tensors of these ranks; empty where the row's own form does the same.

    torch's dropout1d takes two axes for one sample, its dropout2d masks the first two of any tensor. Paddle's
    dropout2d raises for other than four axes.
    """
    if template:
        return "0" if ranks == {2} else ""
    return "[0, 1]" if ranks and ranks != {4} else ""


@hook("functional_dropout", to="paddle")
def dropout_to_paddle(call: BoundCall) -> None:
    """As ``inplace``."""
    inplace(call)


@hook("functional_dropout", to="torch")
def dropout_to_torch(call: BoundCall) -> None:
    """Paddle's ``downscale_in_infer`` scales in inference, where torch scales in training: it is written out."""
    if call.value("mode") is not None and call.literal("mode") == "downscale_in_infer":
        call.drop("mode")
        scaled = "(1 - {p})" if call.value("p") is not None else "0.5"
        call.rewrite(f"torch.nn.functional.dropout({{input}}{{p:, p=%}}{{training:, training=%}}) * {scaled}")


@hook("softmax_dim", to="paddle")
def softmax_dim(call: BoundCall) -> None:
    """torch chooses the dimension by the rank if none is named."""
    if call.value("dim") is None or call.literal("dim") is None:
        call.drop("dim")
        ranks = call.ranks("input")
        if ranks and (ranks <= _FIRST_AXIS or ranks.isdisjoint(_FIRST_AXIS)):
            call.force("axis", "0" if ranks <= _FIRST_AXIS else "1")
            return
        if not is_pure(call.value("input")):
            no_counterpart(call, "dim", "None")
        call.force("axis", f"0 if {operand(call.value('input') or ast.Constant(0))}.ndim in (0, 1, 3) else 1")


_FIRST_AXIS = frozenset({0, 1, 3})
"""The numbers of axes for which torch takes the first one if none is named; else it takes the second."""


@hook("hardsigmoid", to="paddle")
def hardsigmoid_to_paddle(call: BoundCall) -> None:
    """As ``inplace``."""
    inplace(call)


@hook("hardsigmoid", to="torch")
def hardsigmoid_to_torch(call: BoundCall) -> None:
    """torch's slope is 1/6; any other is written out."""
    slope, offset = call.literal("slope"), call.literal("offset")
    usual = call.value("slope") is None or (isinstance(slope, float) and abs(slope - 1 / 6) < 1e-6)
    if not usual or (call.value("offset") is not None and offset != 0.5):
        given = {name: node for name in ("slope", "offset") if (node := call.value(name)) is not None}
        factor = "{slope}" if "slope" in given else "0.1666667"
        added = "{offset}" if "offset" in given else "0.5"
        call.rewrite(f"torch.clamp({{input}} * {factor} + {added}, 0.0, 1.0)", parts=given)
    call.drop("slope")
    call.drop("offset")


@hook("linear")
def linear(call: BoundCall) -> None:
    """The weight of a layer is transposed already: the layer's is ``[in, out]`` in Paddle, ``[out, in]`` in torch."""
    weight, owners = call.value("weight"), call.owners("weight")
    if owners & _LINEAR:
        name = "paddle.nn.functional.linear({x}" if call.target == "paddle" else "torch.nn.functional.linear({input}"
        call.rewrite(name + ", {weight}{bias:, bias=%})")
    elif weight is not None and any(_may_be_layers(call, node) for node in _parts(call, weight)):
        call.report("NNF202", difference="if the weight is an nn.Linear's, it is transposed already: take the .t() out")


def _parts(call: BoundCall, weight: ast.expr) -> list[ast.AST]:
    """The parts of a weight and of what it is made of: ``scaled = self.weight * 2``, ``self.weight = fc.weight``."""
    found: list[ast.AST] = []
    pending: list[ast.AST] = [weight]
    while pending:
        node = pending.pop()
        if node in found:
            continue  # a variable of a loop is made of itself
        found.append(node)
        pending += ast.iter_child_nodes(node)
        if isinstance(node, ast.Name):
            pending.append(call.origin_of(node))
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self":
            found += [one for one in call.stored(node) if isinstance(one, ast.Attribute) or _is_looked_up(one)]
    return found


def _may_be_layers(call: BoundCall, node: ast.AST) -> bool:
    """Whether it is the weight of an object of a class that is not seen: its layout is not known, nor transposed."""
    if isinstance(node, ast.Subscript):
        return _may_be_parameters(call, node.value)
    if _is_looked_up(node):
        return True
    if not isinstance(node, ast.Attribute) or node.attr != "weight":
        return False
    return call.owners_of(node) <= {"torch.nn.Module", "paddle.nn.Layer"}


def _is_looked_up(node: ast.AST) -> bool:
    """Whether it is the weight of an object by its name: ``getattr(layer, "weight")``."""
    if not isinstance(node, ast.Call) or len(node.args) < 2 or ast.unparse(node.func) != "getattr":
        return False
    return isinstance(node.args[1], ast.Constant) and node.args[1].value == "weight"


def _may_be_parameters(call: BoundCall, held: ast.expr) -> bool:
    """Whether it may hold the parameters of a model with linear layers: handed over, or collected in this file."""
    walked = any(call.file_reads(name) for name in ("named_parameters", "parameters", "state_dict"))
    return isinstance(held, ast.Name) and (walked or call.file_reads("Linear")) and not call.owners("weight")


@hook("convolution", to="paddle")
def convolution_to_paddle(call: BoundCall, dimensions: int, transposed: bool = False) -> None:
    """Paddle's padding by the name "same" forgets the dilation."""
    padding = call.literal("padding")
    if isinstance(padding, str):
        same = padding.upper() == "SAME"
        ones = (1, [1] * dimensions, (1,) * dimensions)
        if same and call.value("dilation") is not None and call.literal("dilation") not in ones:
            no_counterpart(call, "padding", f"{padding!r} with dilation")


@hook("convolution", to="torch")
def convolution_to_torch(call: BoundCall, dimensions: int, transposed: bool = False) -> None:
    """torch's padding by the name "same" takes no stride, and its padding by numbers is the same on both sides."""
    padding = call.literal("padding")
    ones = (1, [1] * dimensions, (1,) * dimensions)
    if isinstance(padding, str):
        same = padding.upper() == "SAME"
        for other in ("stride", "dilation"):
            if same and call.value(other) is not None and call.literal(other) not in ones:
                no_counterpart(call, "padding", f"{padding!r} with {other}")
        call.force("padding", repr(padding.lower()))
        return
    even_padding(call, dimensions)
    strided = call.value("stride") is not None and call.literal("stride") not in ones
    if strided and not transposed and isinstance(call.value("weight"), ast.Name):  # of any size
        call.report(
            "NNF202",
            difference="where the kernel is larger than the input by less than the stride, Paddle computes one element"
            " as if zeros followed the input; torch raises",
        )


def elements_of(node: ast.expr | None) -> list[ast.expr] | None:
    """The elements of a display of a list or tuple, if it is one without stars."""
    if isinstance(node, ast.List | ast.Tuple) and not any(isinstance(e, ast.Starred) for e in node.elts):
        return node.elts
    return None


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


@hook("embedding", to="torch")
def embedding_to_torch(call: BoundCall) -> None:
    """As ``embedding_to_paddle``; ``sparse`` only says how the gradient is kept."""
    _embedding(call, "paddle_padded_embedding({input}, {weight}, {padding_idx})")


@hook("embedding", to="paddle")
def embedding_to_paddle(call: BoundCall) -> None:
    """Paddle's lookup gives zeros for the padding index; torch's gives the row, which gets no gradient."""
    _embedding(call, "torch_embedding({x}, {weight}, {padding_idx})")


def _embedding(call: BoundCall, written: str) -> None:
    if call.value("max_norm") is None or call.literal("max_norm") is None:
        call.drop("max_norm")
        call.drop("norm_type")
    if call.value("scale_grad_by_freq") is None or call.literal("scale_grad_by_freq") is False:
        call.drop("scale_grad_by_freq")
    if call.value("padding_idx") is None or call.literal("padding_idx") is None:
        return
    options = {"max_norm": None, "scale_grad_by_freq": False, "sparse": False}
    if all(call.value(name) is None or call.literal(name) is usual for name, usual in options.items()):
        for name in (*options, "norm_type"):
            call.drop(name)
        call.rewrite(written)
    else:
        call.report("NNF202", difference="for padding_idx Paddle gives zeros, torch the row of the weight")


@hook("normalize", to="paddle")
def normalize(call: BoundCall) -> None:
    """Paddle takes one dimension: over several, or all, the norm is written out."""
    node = call.value("dim")
    several = isinstance(node, ast.List | ast.Tuple)
    if node is None or not (several or ast.unparse(node) == "None"):
        return
    power = call.literal("p") if call.value("p") is not None else 2.0
    smallest = call.literal("eps") if call.value("eps") is not None else 1e-12
    if power not in (1, 2) or not isinstance(smallest, float | int):
        no_counterpart(call, "dim")
    over = f"axis={ast.unparse(node)}, keepdim=True" if several and is_plain(node) else ""
    if several and not over:
        no_counterpart(call, "dim")
    norm = f"paddle.clip(paddle.sum(paddle.abs({{x}}){', ' if over else ''}{over}), min={smallest!r})"
    if power == 2:
        norm = f"paddle.clip(paddle.sum({{x}} * {{x}}{', ' if over else ''}{over}), min={smallest**2!r}).sqrt()"
    for name in ("dim", "p", "eps"):
        call.drop(name)
    rewrite_once(call, f"{{x}} / {norm}", x="input")


@hook("group_norm", to="paddle")
def group_norm(call: BoundCall) -> None:
    """Without a weight Paddle's own has a wrong gradient (3.3.1); that of groups seen as instances is right."""
    if call.literal("weight") not in (None, ...) or call.value("weight") is not None:
        return
    call.rewrite("torch_group_norm({x}, {num_groups}{bias:, bias=%}{epsilon:, eps=%})")


@hook("flash_attention", to="torch")
def flash_attention(call: BoundCall) -> None:
    """Gives the output and the softmax, which is None unless asked for."""
    if call.value("return_softmax") is not None and call.literal("return_softmax") is not False:
        no_counterpart(call, "return_softmax")
    _training(call, "dropout")


def _training(call: BoundCall, rate_name: str) -> None:
    """torch has no ``training``: without it the rate is 0."""
    if call.value("training") is None or call.literal("training") is True:
        call.drop("training")
        return
    rate = call.value(rate_name)
    if call.literal("training") is not False and rate is not None and is_plain(rate):
        test = operand(call.value("training") or ast.Constant(True))
        call.force("dropout_p", f"{ast.unparse(rate)} if {test} else 0.0")
    else:
        call.drop(rate_name)
    call.drop("training")


@hook("attention", to="paddle")
def attention_to_paddle(call: BoundCall) -> None:
    """Paddle's takes heads after positions, and before 3.3 neither a scale nor groups of queries."""
    text = "torch_attention({query}, {key}, {value}{attn_mask:, attn_mask=%}{dropout_p:, dropout_p=%}"
    text += "{is_causal:, is_causal=%}"
    parts: dict[str, ast.expr] = {}
    for name, default in (("scale", None), ("enable_gqa", False)):
        value = call.value(name)
        if value is not None and call.literal(name) is not default:
            text += f", {name}={{{name}}}"
            parts[name] = value
        call.drop(name)
    call.rewrite(text + ")", parts=parts)


@hook("attention", to="torch")
def attention_to_torch(call: BoundCall) -> None:
    """torch has no ``training``: without it the rate of dropout is 0."""
    _training(call, "dropout_p")


@hook("batch_norm", to="paddle")
def batch_norm_to_paddle(call: BoundCall) -> None:
    """In training torch keeps the unbiased variance, Paddle the biased one; the output is the same."""
    absent = [name for name in ("running_mean", "running_var") if call.literal(name) is None]
    if len(absent) == 2 and call.literal("training") is True:
        call.rewrite("torch_batch_norm({x}{weight:, weight=%}{bias:, bias=%}{epsilon:, epsilon=%})")
        for name in (*absent, "training", "momentum"):
            call.drop(name)
        return
    for name in absent:
        no_counterpart(call, name)
    if call.value("training") is not None and call.literal("training") is not False:
        call.report("NNF203", difference="running_var takes in the unbiased variance in torch, the biased in Paddle")


@hook("batch_norm", to="torch")
def batch_norm_to_torch(call: BoundCall) -> None:
    """In training torch keeps the unbiased variance, Paddle the biased one; the output is the same."""
    if call.value("training") is not None and call.literal("training") is not False:
        call.report("NNF203", difference="running_var takes in the unbiased variance in torch, the biased in Paddle")


@hook("instance_norm", to="paddle")
def instance_norm(call: BoundCall) -> None:
    """Paddle always normalises by the input's own statistics."""
    own = call.value("use_input_stats") is None or call.literal("use_input_stats") is True
    if not own:
        no_counterpart(call, "use_input_stats")


@hook("swiglu", to="torch")
def swiglu(call: BoundCall) -> None:
    """Without a second tensor the first one is halved."""
    if call.value("y") is None or call.literal("y") is None:
        call.drop("y")
        call.rewrite("(lambda _a, _b: torch.nn.functional.silu(_a) * _b)(*{input}.chunk(2, -1))")


@hook("sequence_mask", to="torch")
def sequence_mask(call: BoundCall) -> None:
    """Without ``maxlen`` the mask is as long as the longest sequence."""
    if call.value("maxlen") is None or call.literal("maxlen") is None:
        call.drop("maxlen")
        text = "(torch.arange(int({lengths}.max()), device={lengths}.device) < {lengths}.unsqueeze(-1)).to({dtype})"
        rewrite_once(call, text, lengths="x")


@hook("rms_norm", to="paddle")
def rms_norm(call: BoundCall) -> None:
    """Paddle's kernel runs on a GPU only, so the norm is written out; torch's default eps is the dtype's own."""
    shape, eps = call.value("normalized_shape"), call.value("eps")
    elements = elements_of(shape)
    if shape is None or (elements is None and not is_pure(shape)):
        no_counterpart(call, "normalized_shape")
    if elements is not None:
        axes = repr([-i for i in range(len(elements), 0, -1)]) if len(elements) > 1 else "-1"
    else:
        axes = f"list(range(-len({ast.unparse(shape or ast.Constant(0))}), 0))"
    if eps is None or call.literal("eps") is None:
        added = "paddle.finfo({input}.dtype).eps"
    elif is_plain(eps):
        added = literally(operand(eps))
    else:
        no_counterpart(call, "eps")
    text = f"{{input}} * paddle.rsqrt(paddle.mean({{input}} * {{input}}, axis={axes}, keepdim=True) + {added})"
    weight = call.value("weight")
    call.drop("normalized_shape")
    call.drop("eps")
    if weight is None or call.literal("weight") is None:
        call.drop("weight")
        rewrite_once(call, text, input="input")
    else:
        rewrite_once(call, text + " * {weight}", input="input")
