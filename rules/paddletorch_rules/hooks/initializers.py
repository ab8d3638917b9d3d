"""Initial values: which fan a weight has in the other layout, and calls whose value is used.

Paddle's initializers give nothing back, torch's functions give the tensor.
"""

from __future__ import annotations

import ast

from paddletorch_rules.hooks.arguments import is_plain
from paddletorch_rules.hooks.attributes import attributes, tensors_of
from paddletorch_rules.hooks.layers import layer_to_paddle
from paddletorch_rules.hooks.protocol import BoundCall, hook

_FANS = {
    # torch's Linear has [out, in], Paddle's [in, out]; a convolution has [out, in, ...] in both
    ("fan_in", "layer"): None,
    ("fan_out", "layer"): "{tensor}.size // {tensor}.shape[1 if {tensor}.ndim > 2 else 0]",
    # a tensor that is no layer's weight keeps its layout: torch counts its second axis as the input
    ("fan_in", "tensor"): "{tensor}.size // {tensor}.shape[0]",
    ("fan_out", "tensor"): "{tensor}.size // {tensor}.shape[1]",
}


@hook("initial_value", to="paddle")
def initial_value(call: BoundCall) -> None:
    """Paddle's initializers give nothing back, torch's functions give the tensor."""
    _emit(call, call.row_template)


def _emit(call: BoundCall, text: str, after: str = "") -> None:
    """Emit a call on the tensor and what is done to it ``after``; where its value is used, one that gives the tensor.

    Paddle's random initializers give the tensor other memory: what it is all of gets them itself, and what is a part
    of another tensor is filled by a function.
    """
    whole = call.whole_tensor("tensor")
    parts = {} if whole is None or whole is call.value("tensor") else {"filled": whole}
    if parts:
        call.drop("tensor")
        text, after = (one.replace("{tensor}", "{filled}") for one in (text, after))
    tensor = "{filled}" if parts else "{tensor}"
    made = text.removesuffix(f"({tensor})")
    is_part = not made.startswith(_IN_PLACE) and call.may_be_part("tensor")
    if is_part or not (call.is_statement or after or tensor in made):
        text = f"torch_initialized({tensor}, {made})"
    steps = [one for one in (text, after) if one]
    if not after and (call.is_statement or text.startswith("torch_initialized")):
        call.rewrite(text, parts=parts)
    elif call.is_statement:
        call.rewrite(f"({', '.join(steps)})", parts=parts)
    else:
        within = ", ".join(one.replace(tensor, "tensor") for one in steps)
        call.rewrite(f"(lambda tensor: ({within}, tensor)[-1])({tensor})", parts=parts)


_IN_PLACE = ("paddle.nn.initializer.Constant", "paddle.nn.initializer.Assign")
"""Initializers that write into the memory that the tensor has."""


@hook("initial_truncated", to="paddle")
def truncated(call: BoundCall) -> None:
    """torch's bounds are values; Paddle 2.6 cuts at two standard deviations, later releases at -2 and 2."""
    bounds = [call.literal(n) if call.value(n) is not None else default for n, default in (("a", -2), ("b", 2))]
    if bounds != [-2, 2]:
        return  # the parameters refuse it for releases without them
    _emit(call, call.row_template)
    call.drop("a")
    call.drop("b")


@hook("initial_xavier", to="paddle")
def initial_xavier_to_paddle(call: BoundCall) -> None:
    """Paddle 2.6 has no gain: the values are scaled afterwards, which is the same."""
    made = call.row_template
    if call.value("gain") is None or call.literal("gain") in (1, 1.0):
        call.drop("gain")
        _emit(call, made)
    else:
        _emit(call, made, "{tensor}.set_value({tensor} * {gain})")


@hook("initial_xavier", to="torch")
def initial_xavier_to_torch(call: BoundCall) -> None:
    """Fans that are given take the place of those that the tensor has."""
    fans = {name: call.value(name) for name in ("fan_in", "fan_out") if call.literal(name) is not None}
    given = {name: value for name, value in fans.items() if value is not None}
    tensor = call.value("tensor")
    one = len(given) == 1 and not (tensor is None or (is_plain(tensor) and _is_layers(call)))
    if one or not all(is_plain(value) for value in given.values()):
        name = next(iter(given))
        call.stop("API221", parameter=name, value=ast.unparse(given[name]))
    if not given:
        if _is_bias(call):  # of a vector, Paddle counts the length as both fans, and torch raises
            bound = "{gain:% * }(3 / {tensor}.numel()) ** 0.5"
            normal = "torch.nn.init.normal_({tensor}, 0.0, {gain:% * }{tensor}.numel() ** -0.5)"
            uniform = f"torch.nn.init.uniform_({{tensor}}, -{bound}, {bound})"
            call.rewrite(uniform if "uniform" in call.row_template else normal)
        return
    numbers = [call.literal(name) for name in given]
    whole = len(numbers) == 2 and all(isinstance(n, int) for n in numbers)
    parts = {} if whole else given
    fan_in = "{fan_in}" if "fan_in" in given else "{tensor}.numel() // {tensor}.shape[0]"
    fan_out = "{fan_out}" if "fan_out" in given else "{tensor}.numel() // {tensor}.shape[1]"
    fans_text = str(sum(n for n in numbers if isinstance(n, int))) if whole else f"({fan_in} + {fan_out})"
    for name in given:
        call.drop(name)
    if "uniform" in call.row_template:
        call.rewrite(
            _within(f"{{gain:% * }}(6 / {fans_text}) ** 0.5", is_short=whole or tensor is not None), parts=parts
        )
    else:
        call.rewrite(f"torch.nn.init.normal_({{tensor}}, 0.0, {{gain:% * }}(2 / {fans_text}) ** 0.5)", parts=parts)


def _within(bound: str, *, is_short: bool) -> str:
    """A uniform distribution within a bound, which stands in the text twice unless a small function draws it."""
    if is_short:
        return f"torch.nn.init.uniform_({{tensor}}, -{bound}, {bound})"
    return f"paddle_uniform_within({{tensor}}, {bound})"


@hook("initial_kaiming", to="torch")
def initial_kaiming_to_torch(call: BoundCall, initializer: str) -> None:
    """A fan that is given: what this table writes for a mode is read back, another one is computed with."""
    fan = call.value("fan_in")
    function = "kaiming_uniform_" if initializer == "KaimingUniform" else "kaiming_normal_"
    if fan is None or call.literal("fan_in") is None:
        call.drop("fan_in")
        if not _is_weight(call):  # Paddle counts the length of a vector as its fans, torch raises
            call.rewrite(call.row_template.replace("{tensor}", "torch.atleast_2d({tensor})"))
        return
    tensor = call.value("tensor")
    for (mode, _), text in _FANS.items():
        if text is not None and tensor is not None and ast.unparse(fan) == text.format(tensor=ast.unparse(tensor)):
            call.drop("fan_in")
            call.rewrite(f"torch.nn.init.{function}({{tensor}}, a={{a}}, mode='{mode}', nonlinearity={{nonlinearity}})")
            return
    if any(isinstance(n, ast.Call) for n in ast.walk(fan)):
        call.stop("API221", parameter="fan_in", value=ast.unparse(fan))
    call.drop("fan_in")
    deviation = "torch.nn.init.calculate_gain({nonlinearity}, {a}) / {fan_in} ** 0.5"
    if initializer == "KaimingUniform":
        call.rewrite(_within(f"3 ** 0.5 * {deviation}", is_short=tensor is not None), parts={"fan_in": fan})
    else:
        call.rewrite(f"torch.nn.init.normal_({{tensor}}, 0.0, {deviation})", parts={"fan_in": fan})


@hook("initial_kaiming", to="paddle")
def initial_kaiming_to_paddle(call: BoundCall, initializer: str) -> None:
    """The fan by the layout: Paddle 2.6 has no mode, and counts the first axis of a matrix as the input."""
    mode = "fan_in" if call.value("mode") is None else call.literal("mode")
    if mode not in ("fan_in", "fan_out"):
        node = call.value("mode")
        call.stop("API221", parameter="mode", value="?" if node is None else ast.unparse(node))
    call.drop("mode")
    fan = _FANS[str(mode), "layer" if _is_layers(call) else "tensor"]
    first = f"fan_in={fan}, " if fan is not None else ""
    plain = call.value("a") is None or call.literal("a") in (0, 0.0)
    usual = call.value("nonlinearity") is None or call.literal("nonlinearity") in ("relu", "leaky_relu")
    gain = "" if plain and usual else "negative_slope={negative_slope}, nonlinearity={nonlinearity}"
    if not gain:
        first = first.rstrip(", ")
    _emit(call, f"paddle.nn.initializer.{initializer}({first}{gain})({{tensor}})")


@hook("fans", to="paddle")
def fans(call: BoundCall) -> None:
    """The fans of a weight: a linear layer's is transposed in Paddle."""
    owners = _owners(call)
    linear = {owner for owner in owners if owner.endswith("nn.Linear")}
    others = {owner for owner in owners - linear if owner.startswith(("torch.", "paddle."))}  # some may be converted
    if linear and not others:
        call.rewrite(call.row_template.replace("{tensor}", "{tensor}.t()"))
    elif linear or (_is_layers(call) and owners <= _BASES):
        call.stop("NNL209")  # perhaps a linear layer's


_BASES = {"torch.nn.Module", "paddle.nn.Layer"}
"""The base of all layers, also where the file's code is converted already."""


def _is_weight(call: BoundCall) -> bool:
    """Whether the initializer is for a weight, as far as the name of what holds it or its tensor says."""
    name = call.held_as.rpartition(".")[2].lower()
    return "weight" in name or "kernel" in name or name == "default_initializer"  # whose hook knows the shape


def _is_bias(call: BoundCall) -> bool:
    return "bias" in call.held_as.rpartition(".")[2].lower()


def _is_layers(call: BoundCall) -> bool:
    """Whether the tensor is the weight of a layer, as far as its name says."""
    owners = _owners(call)
    if any(owner.endswith(("Embedding", "EmbeddingBag")) for owner in owners):
        return False
    if owners & _BASES and not owners <= _BASES:
        return False  # of a class of the file, whose parameters keep their layout
    node = _attribute(call)
    return node is not None and node.attr.startswith("weight")


def _owners(call: BoundCall) -> frozenset[str]:
    """The classes of what has the tensor, also of ``layer.weight.data``."""
    node = _attribute(call)
    return frozenset() if node is None else call.owners_of(node)


def _attribute(call: BoundCall) -> ast.Attribute | None:
    node = call.whole_tensor("tensor")
    return node if isinstance(node, ast.Attribute) else None


@hook("linear_layer", to="paddle")
def linear_to_paddle(call: BoundCall) -> None:
    """As ``layer``."""
    layer_to_paddle(call)


@hook("linear_layer", to="torch")
def linear_to_torch(call: BoundCall) -> None:
    """As ``layer``; torch's weight is transposed, which shows where values are assigned to it."""
    attributes(call, tensors_of("linear_layer", call))


@hook("param_attr", to="torch")
def param_attr(call: BoundCall) -> None:
    """An initializer and whether the parameter learns become a function of the tensor."""
    initializer = call.value("initializer")
    if call.literal("initializer") is None:
        initializer = None
    flag = call.value("trainable")
    if (
        flag is not None and call.literal("trainable") is False
    ):  # no rate and no decay is of a tensor that learns nothing
        call.drop("learning_rate")
        call.drop("regularizer")
    if flag is None or call.literal("trainable") is True:
        call.drop("trainable")
        if initializer is None:
            call.rewrite("None")
        return
    known = call.literal("trainable") is False
    given, learns = ("", "False") if known else (", flag={trainable}", "flag")
    if initializer is None:
        call.rewrite(f"lambda tensor{given}: tensor.requires_grad_({learns})")
    else:
        call.rewrite(f"paddle_prepared({{initializer}}, {False if known else '{trainable}'})")
