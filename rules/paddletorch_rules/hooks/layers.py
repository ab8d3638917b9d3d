"""Layers: what padding and attributes of parameters mean on the other side."""

from __future__ import annotations

import ast

from paddletorch_rules.hooks.arguments import elements_of, is_plain, is_pure
from paddletorch_rules.hooks.attributes import attributes
from paddletorch_rules.hooks.cross_entropy import DEFAULT_IGNORED, counts_ignored, ignored_label
from paddletorch_rules.hooks.losses import is_given, reduced
from paddletorch_rules.hooks.protocol import BoundCall, Step, hook

_PAD_CLASSES = {"reflect": "ReflectionPad", "replicate": "ReplicationPad", "circular": "CircularPad"}


@hook("layer", to="paddle")
def layer_to_paddle(call: BoundCall) -> None:
    """torch's layers take a device and a dtype; Paddle's are moved once they are made."""
    placed(call)


@hook("layer", to="torch")
def layer_to_torch(call: BoundCall) -> None:
    """An initializer of the weight or the bias is applied to the layer once it is made."""
    attributes(call, {"weight_attr": "weight", "bias_attr": "bias"})


@hook("embedding_layer", to="paddle")
def embedding_to_paddle(call: BoundCall) -> None:
    """As ``layer``; what ``padding_idx`` gives is another row."""
    _report_padding(call)
    layer_to_paddle(call)


def _report_padding(call: BoundCall) -> None:
    """Measured on 3.3.1: after ``ones_(weight)`` Paddle gives zeros for ``padding_idx``, torch ones."""
    if call.value("padding_idx") is not None and call.literal("padding_idx") is not None:
        difference = "for padding_idx Paddle gives zeros, torch the weight's row, which may be filled later"
        call.report("NNL202", difference=difference)


@hook("embedding_layer", to="torch")
def embedding_to_torch(call: BoundCall) -> None:
    """Most of torch's optimizers raise for sparse gradients; dense ones are the same values."""
    if call.value("sparse") is not None and call.literal("sparse") is not False:
        call.report(
            "NNL202", difference="its gradient becomes dense; for a sparse one Paddle's Adam takes smaller steps"
        )
    call.drop("sparse")
    _report_padding(call)
    layer_to_torch(call)


@hook("layer_placed", to="paddle")
def layer_placed(call: BoundCall) -> None:
    """Layers made of layers: only the place can be carried over."""
    placed(call)


@hook("layer_placed", to="torch")
def layer_of_one_dropout(call: BoundCall) -> None:
    """torch's layers have one rate of dropout for all: Paddle's others may say the same."""
    rate = call.value("dropout") or ast.Constant(0.1)
    number = 0.1 if call.value("dropout") is None else call.literal("dropout")
    for name in ("attn_dropout", "act_dropout"):
        other = call.value(name)
        if other is None or not is_pure(other):
            continue
        if ast.unparse(other) == ast.unparse(rate) or (number is not ... and call.literal(name) == number):
            call.drop(name)


def placed(call: BoundCall, first: tuple[Step, ...] = ()) -> None:
    """torch's layers take a device and a dtype; Paddle's are moved once they are made, and ``first`` is done."""
    given = []
    for name, other in (("device", "dtype"), ("dtype", "device")):
        if call.types(name) == {other}:
            call.refuse(f"{name} is given a {other}")
        if call.value(name) is not None:
            call.drop(name)
            if call.literal(name) is not None:
                given.append(f"{name}={{{name}}}")
    moved = f".to({', '.join(given)})"
    if first:
        call.afterwards(*first, *([Step((("", f"{{object}}{moved}"),))] if given else []))
    elif given:
        call.surround("", moved)


@hook("layer_conv", to="paddle")
def layer_conv_to_paddle(call: BoundCall, dimensions: int) -> None:
    """Paddle ignores the dilation under 'same' padding, and takes a number alone beside a padding mode."""
    layer_to_paddle(call)
    mode = call.value("padding_mode")
    if mode is None or call.literal("padding_mode") == "zeros":
        _same_to_paddle(call)
    else:
        _one_padding(call)


@hook("layer_conv", to="torch")
def layer_conv_to_torch(call: BoundCall, dimensions: int) -> None:
    """torch pads both sides alike, and to the same size at stride 1 only."""
    layer_to_torch(call)
    _padding_to_torch(call, dimensions)


def _same_to_paddle(call: BoundCall) -> None:
    """Paddle ignores the dilation under 'same' (measured on 2.6.2 and 3.3.1): the padding is written out."""
    if call.literal("padding") != "same" or call.value("dilation") is None:
        return
    dilations, sizes = _numbers(call.value("dilation")), _numbers(call.value("kernel_size"))
    if dilations is not None and set(dilations) == {1}:
        return
    if dilations is None or sizes is None:
        call.stop("NNL201", difference="Paddle ignores the dilation under padding='same'")
    count = max(len(dilations), len(sizes))
    dilations, sizes = dilations * (count // len(dilations)), sizes * (count // len(sizes))
    totals = [d * (k - 1) for d, k in zip(dilations, sizes, strict=True)]
    if any(total % 2 for total in totals):
        call.stop("NNL201", difference="Paddle ignores the dilation under padding='same', and the padding is uneven")
    halves = [total // 2 for total in totals]
    call.force("padding", str(halves[0] if len(set(halves)) == 1 else halves))


def _one_padding(call: BoundCall) -> None:
    """Beside 'reflect', 'replicate' and 'circular' Paddle takes one number for all axes (measured on 3.3.1)."""
    padding, text = call.value("padding"), call.literal("padding")
    difference = "beside a padding_mode Paddle takes one number as the padding of all axes"
    if text == "valid":
        call.force("padding", "0")
    elif text == "same":
        dilations = [1] if call.value("dilation") is None else _numbers(call.value("dilation"))
        sizes = _numbers(call.value("kernel_size"))
        totals = {d * (k - 1) for d in dilations or () for k in sizes or ()}
        if len(totals) != 1 or (total := totals.pop()) % 2:
            call.stop("NNL201", difference=difference)
        call.force("padding", str(total // 2))
    elif elements := elements_of(padding):
        written = {ast.unparse(element) for element in elements}
        if len(written) == 1 and is_plain(elements[0]):
            call.force("padding", written.pop())
        elif call.literal("padding_mode") is not ...:
            call.stop("NNL201", difference=difference)
    elif "sequence" in call.types("padding") and call.literal("padding_mode") is not ...:
        call.stop("NNL201", difference=difference)


def _numbers(node: ast.expr | None) -> list[int] | None:
    """The integers of a constant or a list of constants."""
    items = node.elts if isinstance(node, ast.List | ast.Tuple) else [node]
    found = [n.value for n in items if isinstance(n, ast.Constant) and type(n.value) is int]
    return found if len(found) == len(items) else None


def _padding_to_torch(call: BoundCall, dimensions: int) -> None:
    padding = call.value("padding")
    text = call.literal("padding")
    if isinstance(text, str):
        strides = [1] if call.value("stride") is None else _numbers(call.value("stride"))
        dilations = [1] if call.value("dilation") is None else _numbers(call.value("dilation"))
        if text.upper() == "VALID":
            call.force("padding", "0")
        elif strides is None or dilations is None or set(strides) | set(dilations) != {1}:
            call.stop("NNL201", difference="torch pads to the same size at stride 1 only; Paddle ignores the dilation")
        else:
            call.force("padding", "'same'")
        return
    if not isinstance(padding, ast.List | ast.Tuple) or not padding.elts:
        return
    if isinstance(padding.elts[0], ast.List | ast.Tuple):  # [[0, 0], [0, 0], [1, 1], [1, 1]]
        sides = [_numbers(element) for element in padding.elts[2:]]
        pairs = [s for s in sides if s is not None and len(s) == 2 and s[0] == s[1]]
        if len(pairs) != len(sides) or not pairs:
            call.stop("NNL201", difference="torch pads both sides of an axis alike")
        call.force("padding", str([p[0] for p in pairs]))
    elif len(padding.elts) == 2 * dimensions:
        numbers = _numbers(padding)
        if numbers is None or numbers[::2] != numbers[1::2]:
            call.stop("NNL201", difference="torch pads both sides of an axis alike")
        call.force("padding", str(numbers[::2]))


def on_output(call: BoundCall, result: str, **values: str) -> None:
    """A forward hook that gives ``result``, of the layer ``m`` and its output ``out``."""
    defaults = "".join(f", {name}={value}" for name, value in values.items())
    call.afterwards(Step((("", f"{{object}}.register_forward_hook(lambda m, given, out{defaults}: {result})"),)))


@hook("layer_dropout", to="torch")
def dropout(call: BoundCall) -> None:
    """What Paddle scales in inference, ``downscale_in_infer``, is scaled back in training and scaled in inference.

    With a rate of None Paddle's layer raises an error where it is called, torch's where it is made.
    """
    rate = call.value("p")
    if rate is not None and call.literal("p") is None:
        call.drop("p")
        call.force("p", "0.0")
    elif isinstance(rate, ast.Name | ast.Attribute) and call.may_be_none("p"):
        call.wrap("p", "", " or 0.0")
    if call.value("mode") is not None and call.literal("mode") == "downscale_in_infer":
        call.drop("mode")
        on_output(call, "out * (1 - m.p)")


@hook("layer_softmax", to="paddle")
def softmax(call: BoundCall) -> None:
    """torch chooses an axis by the number of dimensions if none is given."""
    if call.value("dim") is None or call.literal("dim") is None:
        call.stop("NNL201", difference="without dim torch takes axis 0 or 1 by the number of axes, Paddle the last")


@hook("layer_threshold", to="paddle")
def threshold(call: BoundCall) -> None:
    """Paddle 2.6 puts 0 for what is not above the threshold, and has no other value."""
    if call.literal("value") in (0, 0.0):
        call.drop("value")


@hook("layer_pad", to="torch")
def layer_pad(call: BoundCall, dimensions: int) -> None:
    """Paddle has one padding layer with modes, torch a class for each."""
    mode = "constant" if call.value("mode") is None else call.literal("mode")
    if mode in _PAD_CLASSES:
        call.drop("mode")
        call.drop("value")
        call.rewrite(f"torch.nn.{_PAD_CLASSES[mode]}{dimensions}d({{padding}})")
    elif mode != "constant":
        node = call.value("mode")
        call.stop("API221", parameter="mode", value=ast.unparse(node) if node is not None else "?")
    else:
        call.drop("mode")
        if call.value("value") is None:
            call.force("value", "0.0")


@hook("layer_upsample", to="paddle")
def upsample_to_paddle(call: BoundCall) -> None:
    """Paddle wants a size for each axis, and the layout where it is not NCHW."""
    mode = call.literal("mode") if call.value("mode") is not None else "nearest"
    dimensions = {"linear": 1, "trilinear": 3}.get(mode if isinstance(mode, str) else "", 2)
    if isinstance(size := call.literal("size"), int):
        call.force("size", str([size] * dimensions))
    if call.literal("align_corners") is None:
        call.drop("align_corners")
    layout = {"linear": "'NCW'", "trilinear": "'NCDHW'"}.get(mode if isinstance(mode, str) else "")
    if layout is not None:
        call.force("data_format", layout)


@hook("layer_upsample", to="torch")
def upsample_to_torch(call: BoundCall) -> None:
    """torch knows the layout by the number of axes, and takes no ``align_mode``."""
    mode = call.literal("mode") if call.value("mode") is not None else "nearest"
    layouts = {"linear": ("NCW", "NCL"), "trilinear": ("NCDHW",)}.get(str(mode), ("NCHW", "NCDHW"))
    if call.literal("data_format") in layouts:
        call.drop("data_format")
    if call.value("align_mode") is not None and mode == "nearest":
        call.drop("align_mode")


@hook("layer_triplet", to="paddle")
def triplet_to_paddle(call: BoundCall) -> None:
    """Paddle's class takes a distance function and ignores it (2.6.2 and 3.3.1)."""
    if call.literal("distance_function") is None or call.value("distance_function") is None:
        return
    call.stop("NNL201", difference="Paddle's class ignores distance_function; its function does not")


@hook("layer_triplet", to="torch")
def triplet_to_torch(call: BoundCall) -> None:
    """Paddle's class ignores its distance function (2.6.2 and 3.3.1), so torch's gets none."""
    if call.literal("distance_function") is None or call.value("distance_function") is None:
        return
    call.drop("distance_function")


@hook("layer_cross_entropy", to="torch")
def cross_entropy_to_torch(call: BoundCall) -> None:
    """Soft labels need no word in torch; its classes are on axis 1, Paddle's on the last."""
    if call.literal("soft_label") is True:
        if call.literal("reduction") == "none":
            call.stop("NNL201", difference="soft labels without reduction give [N, 1] in Paddle, [N] in torch")
        call.drop("soft_label")
    if call.value("axis") is None or call.literal("axis") == -1:
        call.drop("axis")
        if call.input_ranks() != {2}:
            call.report("NNL202", difference=_OTHER_AXIS)
    if call.literal("soft_label") is True or is_given(call, "weight") or reduced(call) not in ("mean", ""):
        return
    if not counts_ignored(call, call.targets_may_hold(DEFAULT_IGNORED), "NNL202") and ignored_label(call) is ...:
        call.report("NNF203", difference="Paddle's mean counts ignored labels where ignore_index is negative")


_OTHER_AXIS = "torch has the classes on axis 1, Paddle on the last: the same for two axes"


@hook("layer_sequential", to="paddle")
def sequential_to_paddle(call: BoundCall) -> None:
    """Layers with names are pairs in Paddle (2.6 takes nothing else)."""
    if _is_ordered(call.origin("args")):
        call.wrap("args", "*", ".items()")


@hook("layer_sequential", to="torch")
def sequential_to_torch(call: BoundCall) -> None:
    """Layers with names are an OrderedDict in torch."""
    first = call.value("layers")
    if not isinstance(first, ast.Starred):
        return
    if _are_named(call, first):
        call.wrap("layers", "collections.OrderedDict([", "])")


@hook("layer_named", to="torch")
def named(call: BoundCall) -> None:
    """Names and layers as pairs; nothing, or a list that is unpacked, is no such pair."""
    first = call.value("layers")
    if first is None:
        call.rewrite("torch.nn.Sequential()")
    elif isinstance(first, ast.Starred) and not _are_named(call, first):
        call.rewrite("torch.nn.Sequential({args})")


def _are_named(call: BoundCall, layers: ast.Starred) -> bool:
    """Whether the list that is unpacked holds names and layers, as far as its elements are seen."""
    written = call.elements("layers")
    pairs = bool(written) and all(isinstance(pair, ast.Tuple) and len(pair.elts) == 2 for pair in written)
    return pairs or ast.unparse(layers.value).endswith(".items()")


def _is_ordered(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "OrderedDict"
