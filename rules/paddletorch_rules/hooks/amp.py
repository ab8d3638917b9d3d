"""Mixed precision: devices, dtypes and parameters by meaning."""

from __future__ import annotations

import ast

from paddletorch_rules.facts import facts
from paddletorch_rules.hooks.arguments import PURE, as_list, no_counterpart
from paddletorch_rules.hooks.protocol import BoundCall, hook

_SHORT_INTERVAL = 100
"""Good steps per doubling below which 112 doublings, from 65536 to infinity, are a short run."""

_EMPTY = (ast.List, ast.Tuple, ast.Set, ast.Dict)


@hook("scaler", to="paddle")
def scaler(call: BoundCall) -> None:
    """Device by meaning; a growth interval so short that Paddle's scale could reach infinity."""
    for name, wrong in (("device", (bool, int, float)), ("enabled", (str,)), ("init_scale", (str, bool))):
        if name not in call.fixed and isinstance(call.literal(name), wrong):
            call.refuse(f"{name}={call.literal(name)!r} is no {name}")
    _device(call, "device")
    interval = call.literal("growth_interval")
    if isinstance(interval, int) and not isinstance(interval, bool) and 0 < interval < _SHORT_INTERVAL:
        call.report("AMP242", parameter="growth_interval", value=str(interval))


@hook("scaler", to="torch")
def scaler_to_torch(call: BoundCall) -> None:
    """A scale that stays, or may stay: torch has no switch for that, but takes factors next to 1."""
    name = "use_dynamic_loss_scaling"
    value = call.value(name)
    if value is None or call.literal(name) is True:
        return
    call.drop(name)
    call.report("AMP212", value=ast.unparse(value))
    call.surround("paddle_loss_scaling(", f", {{{name}}})")


@hook("scale_factor", to="paddle")
def scale_factor(call: BoundCall, side: str) -> None:
    """torch's setters take any factor; Paddle's assert that one grows and the other shrinks."""
    factor = call.literal("new_factor")
    wrong = isinstance(factor, int | float) and (factor <= 1 if side == "above" else factor >= 1)
    if wrong:
        no_counterpart(call, "new_factor")


@hook("autocast")
def autocast(call: BoundCall) -> None:
    """Device, dtype and level by meaning: a switched-off region needs neither dtype nor device."""
    if call.target == "paddle":
        _autocast_to_paddle(call)
    else:
        _auto_cast_to_torch(call)
        _alias_to_torch(call)
    for name in ("custom_white_list", "custom_black_list"):
        value = call.value(name)
        empty = isinstance(value, _EMPTY) and not ast.unparse(value).strip("[](){} ")
        if empty or (isinstance(value, ast.Call) and not value.args and ast.unparse(value.func) in ("set", "list")):
            call.drop(name)


def _autocast_to_paddle(call: BoundCall) -> None:
    for name, wrong in (("device_type", (bool, int, float)), ("enabled", (str,))):
        if name not in call.fixed and isinstance(call.literal(name), wrong):
            call.refuse(f"{name}={call.literal(name)!r} is no {name}")
    if call.literal("enabled") is False:
        call.drop("dtype")  # ignored by torch; Paddle would remember it and switch a scaler off
        if call.value("device_type") is not None and _is_pure(call.value("device_type")):
            call.drop("device_type")
        return
    _device(call, "device_type")
    if call.qualified("dtype") in ("torch.float32", "torch.float", "torch.float64", "torch.double"):
        call.drop("dtype")  # torch warns and switches autocast off
        call.force("enable", "False")
    elif (
        call.literal("device_type") == "cpu"
        and call.literal("dtype") in (..., None)
        and (call.value("dtype") is None or call.literal("dtype") is None)
    ):
        call.drop("dtype")
        call.force("dtype", "'bfloat16'")


def _alias_to_torch(call: BoundCall) -> None:
    """Paddle's torch-style autocast is float16 on every device; torch's default is bfloat16 on a CPU."""
    device = call.literal("device_type")
    if device is not ... and not isinstance(device, str):
        call.refuse(f"device_type={device!r} is no device_type")
    if "device_type" in call.fixed or call.value("device_type") is None:
        return
    if call.value("dtype") is None and call.literal("device_type") not in ("cuda", "gpu"):
        call.force("dtype", "torch.float16")


def _auto_cast_to_torch(call: BoundCall) -> None:
    if call.literal("level") == "O0":
        call.drop("level")
        call.force("enabled", "False")
    enable = call.literal("enable")
    if isinstance(enable, str):
        call.report("AMP239", value=repr(enable))
        call.force("enabled", str(bool(enable)))
    if enable is False:
        call.drop("dtype")
        call.drop("level")
        call.drop("custom_white_list")
        call.drop("custom_black_list")


def _device(call: BoundCall, name: str) -> None:
    """Drop a device that means CUDA, or an expression that says only which device is in use."""
    if name in call.fixed:
        return
    value = call.value(name)
    if value is None:
        return
    literal = call.literal(name)
    if isinstance(literal, str):
        if literal.partition(":")[0] in ("cuda", "gpu"):
            call.drop(name)
    elif _is_pure(value) and not (_strings(value) & facts().other_devices):
        call.drop(name)


def _strings(node: ast.expr) -> set[str]:
    return {
        n.value.partition(":")[0] for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)
    }


def _is_pure(node: ast.expr | None) -> bool:
    """Whether evaluating the expression has no effect, so that it may be dropped."""
    return node is not None and all(isinstance(n, PURE) or _is_text_call(n) for n in ast.walk(node))


def _is_text_call(node: ast.AST) -> bool:
    """``str(device)``, ``device.split(":")``."""
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute):
        return node.func.attr in ("split", "lower", "partition", "strip")
    return isinstance(node.func, ast.Name) and node.func.id == "str"


@hook("parameters", to="paddle")
def parameters(call: BoundCall) -> None:
    """Paddle's clipping walks its parameters twice: what can be walked once only becomes a list.

    Measured on Paddle 2.5.1, 2.6.2 and 3.3.1: with a generator the norm is returned and nothing is clipped.
    """
    norm_type = call.literal("norm_type")
    if norm_type is not ... and norm_type not in (float("inf"), 0, 1, 2):
        call.refuse(f"norm_type={norm_type!r}: Paddle takes inf, 0, 1 and 2 only")
    as_list(call, "parameters")
