"""Devices: names, numbers and objects become strings for Paddle and torch.device objects for torch."""

from __future__ import annotations

import ast
import re

from paddletorch_rules.guesses import suggests
from paddletorch_rules.hooks.protocol import BoundCall, hook


@hook("device", to="paddle")
def device(call: BoundCall) -> None:
    """``torch.device(x)``: a name, a number of a GPU, or a device already."""
    value, kinds = call.literal("device"), call.types("device")
    node = call.value("device")
    if isinstance(value, str):
        call.rewrite(repr(_name(value)))
    elif isinstance(value, int) and not isinstance(value, bool):
        call.rewrite(f"'gpu:{value}'")
    elif "device" in kinds or _has_names(node) or call.at_origin("device"):
        call.rewrite("{device}")
    elif kinds == {"int"} or (node is not None and suggests("device_number", ast.unparse(node))):
        call.rewrite("'gpu:' + str({device})")
    else:
        call.rewrite("str({device}).replace('cuda', 'gpu')")


def _has_names(node: ast.expr | None) -> bool:
    """Whether the device is chosen among literal names, each of which is mapped where it stands."""
    if isinstance(node, ast.IfExp):
        return _has_names(node.body) and _has_names(node.orelse)
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _name(text: str) -> str:
    return "cpu" if text.startswith("cpu") else text.replace("cuda", "gpu")


@hook("device_index", to="paddle")
def device_index(call: BoundCall) -> None:
    """``torch.device('cuda', 0)``."""
    kind, index = call.literal("type"), call.literal("index")
    if isinstance(kind, str) and kind.startswith("cpu"):
        call.rewrite("'cpu'")
    elif isinstance(kind, str) and isinstance(index, int):
        call.rewrite(f"'{_name(kind)}:{index}'")
    elif isinstance(kind, str):
        call.rewrite(f"'{_name(kind)}:' + str({{index}})")
    else:
        call.rewrite("{type}.replace('cuda', 'gpu') + ':' + str({index})")


@hook("cuda_set_device", to="paddle")
def cuda_set_device(call: BoundCall) -> None:
    """``torch.cuda.set_device``: a number, a name or a device."""
    value, kinds = call.literal("device"), call.types("device")
    node = call.value("device")
    if isinstance(value, str):
        call.rewrite(f"paddle.device.set_device({_name(value)!r})")
    elif isinstance(value, int):
        call.rewrite(f"paddle.device.set_device('gpu:{value}')")
    elif "device" in kinds or (
        node is not None and re.search(r"(?i)device$", ast.unparse(node)) and "int" not in kinds
    ):
        call.rewrite("paddle.device.set_device({device})")


@hook("set_device", to="paddle")
def set_device_to_paddle(call: BoundCall) -> None:
    """torch takes None for what it starts with, the CPU."""
    if call.value("device") is not None and call.literal("device") is None:
        call.rewrite("paddle.set_device('cpu')")


@hook("set_device", to="torch")
def set_device(call: BoundCall) -> None:
    """``paddle.set_device`` gives the device; ``torch.set_default_device`` gives nothing."""
    if not call.is_statement:
        call.rewrite("(torch.set_default_device({device}), torch.get_default_device())[1]")
