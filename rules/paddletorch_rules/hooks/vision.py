"""``paddle.vision``: fillings, pretrained weights and resizing of tensors."""

from __future__ import annotations

import ast

from paddletorch_rules.facts import facts
from paddletorch_rules.hooks.protocol import BoundCall, hook


@hook("resize", to="paddle")
def resize_to_paddle(call: BoundCall) -> None:
    """torchvision smooths tensors when it shrinks them; PIL images come out alike."""
    if call.value("antialias") is not None and call.literal("antialias") is False:
        return
    call.report("VIS202")


@hook("resize", to="torch")
def resize_to_torch(call: BoundCall) -> None:
    """torchvision smooths tensors when it shrinks them and takes no arrays; PIL images come out alike."""
    _leave_arrays(call)
    call.report("VIS202")


@hook("picture", to="torch")
def picture(call: BoundCall) -> None:
    """torchvision takes no arrays of NumPy."""
    _leave_arrays(call)
    if "" in call.libraries("img"):
        call.report("VIS204", image=ast.unparse(call.value("img") or call.node))


def _leave_arrays(call: BoundCall) -> None:
    if call.libraries("img") & facts().array_makers:
        call.stop("VIS204", image=ast.unparse(call.value("img") or call.node))


@hook("normalize_images", to="torch")
def normalize_images(call: BoundCall) -> None:
    """torchvision's takes tensors alone: what ``ToTensor`` makes in the same list. Paddle's takes images too."""
    around = call.parent
    steps = around.elts if isinstance(around, ast.List | ast.Tuple) else []
    before = steps[: steps.index(call.node)] if call.node in steps else []
    made = any(isinstance(one, ast.Call) and ast.unparse(one.func).endswith("ToTensor") for one in before)
    channels_first = call.value("data_format") is None or call.literal("data_format") == "CHW"
    if made and channels_first and call.value("to_rgb") is None:
        call.drop("data_format")
    else:
        call.rewrite("PaddleNormalize({mean}, {std}{data_format:, data_format=%}{to_rgb:, to_rgb=%})")


@hook("vision_fill")
def fill(call: BoundCall) -> None:
    """A number fills every channel in torchvision, the first one of a PIL image in Paddle."""
    if call.target == "torch":
        picture(call)
    if call.value("fill") is not None and call.literal("fill") != 0 and not isinstance(call.literal("fill"), tuple):
        call.stop("API221", parameter="fill", value=ast.unparse(call.value("fill") or ast.Constant(None)))


@hook("jitter", to="paddle")
def jitter(call: BoundCall) -> None:
    """Paddle takes how far a factor may be from 1, and no range of factors."""
    for name in ("brightness", "contrast", "saturation", "hue"):
        value = call.origin(name)
        if isinstance(value, ast.Tuple | ast.List):
            call.stop("API221", parameter=name, value=ast.unparse(value))


@hook("vision_model")
def model(call: BoundCall) -> None:
    """Pretrained weights are each library's own."""
    for name in ("weights", "pretrained"):
        if call.value(name) is not None and call.literal(name) not in (None, False):
            whose = "torchvision's" if call.target == "paddle" else "Paddle's"
            given = ast.unparse(call.value(name) or ast.Constant(None))
            call.stop("API221", parameter=name, value=f"{given}, {whose} weights")
