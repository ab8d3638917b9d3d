"""Tensors: moving, casting, gradients and copying in place."""

from __future__ import annotations

import ast

from paddletorch_rules.facts import facts
from paddletorch_rules.hooks.arguments import is_fresh, is_long, is_pure, no_counterpart, rewrite_once
from paddletorch_rules.hooks.protocol import BoundCall, hook


@hook("to_copy", to="paddle")
def to_copy(call: BoundCall) -> None:
    """``copy=True`` asks for memory of its own; without it Paddle's ``to`` may give the tensor itself too.

    ``astype(None)`` makes float64 of any tensor, ``to(dtype=None)`` leaves its dtype.
    """
    copy = call.literal("copy") if call.value("copy") is not None else False
    if isinstance(call.literal("dtype"), bool):
        call.refuse("a bool is no dtype")
    call.drop("copy")
    may_be_none = call.may_be_none("dtype")
    if copy is False and not may_be_none:
        return
    if not isinstance(copy, bool):
        no_counterpart(call, "Tensor.to", "copy")
    moved = ".to({device})" if call.value("device") is not None else ""
    cast = ".astype({dtype})" if call.value("dtype") is not None else ""
    if call.value("other") is not None:
        moved, cast = "", ".astype({other}.dtype)"
    elif may_be_none:
        moved, cast = "", ".to({device}, {dtype})" if moved else ".to(dtype={dtype})"
    call.rewrite(f"{{self}}{moved}{cast}{'.clone()' if copy else ''}")


@hook("size", to="paddle")
def size(call: BoundCall) -> None:
    """torch.Size is a tuple, Paddle's shape is none."""
    if call.used_as("tuple"):
        call.rewrite("tuple({self}.shape)")


@hook("type_name", to="paddle")
def type_name(call: BoundCall) -> None:
    """A tensor class, or its name, stands for a dtype."""
    literal = call.literal("dtype")
    name = literal if isinstance(literal, str) else call.qualified("dtype") or ""
    dtype = facts().tensor_classes.get(name.rpartition(".")[2])
    if dtype is not None:
        call.drop("dtype")
        moved = ".cuda()" if ".cuda." in name else ""
        call.rewrite(f"{{self}}.astype('{dtype}'){moved}")
    elif isinstance(literal, str):
        no_counterpart(call, "Tensor.type", "dtype")


@hook("type_read", to="paddle")
def type_read(call: BoundCall) -> None:
    """The name of a tensor's class is compared or shown; given to ``type`` it stands for a dtype."""
    parent = call.parent
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.func.attr == "type":
        call.rewrite("{self}.dtype")
    elif not isinstance(parent, ast.Compare | ast.FormattedValue):
        call.refuse("the name of the tensor's class is kept, and may stand for a dtype")


@hook("cuda", to="paddle")
def cuda(call: BoundCall) -> None:
    """Paddle takes the number of a GPU only."""
    if "device" in call.types("device") or isinstance(call.literal("device"), str):
        value = call.value("device")
        text = call.literal("device")
        if isinstance(text, str) and text in ("cuda", "gpu"):
            call.drop("device")
        elif isinstance(text, str) and text.partition(":")[2].isdigit():
            call.drop("device")
            call.force("device_id", text.partition(":")[2])
        elif value is not None:
            call.rewrite("{self}.to({device_id})")


@hook("numpy", to="torch")
def numpy(call: BoundCall) -> None:
    """torch refuses what needs a gradient or lives on a GPU, and shares memory where Paddle copies."""
    node, called = call.value("self"), set()
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        called.add(node.func.attr)
        node = node.func.value
    detached = "" if "detach" in called else ".detach()"
    moved = "" if "cpu" in called else ".cpu()"
    copied = "" if _is_read(call.parent) else ".copy()"
    call.rewrite(f"{{self}}{detached}{moved}.numpy(){copied}")


def _is_read(parent: ast.AST | None) -> bool:
    """Whether the array is used up where it stands."""
    if isinstance(parent, ast.Attribute):
        return parent.attr in facts().array_reads
    if isinstance(parent, ast.Call):
        return isinstance(parent.func, ast.Name) and parent.func.id in ("float", "int", "bool", "str", "print", "len")
    return isinstance(parent, ast.BinOp | ast.UnaryOp | ast.Compare | ast.FormattedValue)


@hook("requires_grad_", to="paddle")
def requires_grad_(call: BoundCall) -> None:
    """Paddle has the attribute only before 3.3: a statement assigns it, a value is made anew or set on the way.

    Modules have a method of this name, too, which is about their parameters.
    """
    if not call.is_tensor("self") and not is_fresh(call.value("self")):
        call.rewrite("torch_requires_grad_of({self}{requires_grad:, %})")
        return
    given = call.value("requires_grad")
    asked = call.literal("requires_grad") if given is not None else True
    stop = str(not asked) if isinstance(asked, bool) else "not {requires_grad}"
    if call.is_statement:
        call.rewrite(f"{{self}}.stop_gradient = {stop}")
    elif is_fresh(call.value("self")):
        call.rewrite(f"paddle.to_tensor({{self}}, stop_gradient={stop})")
    else:
        call.rewrite("torch_requires_grad({self}{requires_grad:, %})")


@hook("clear_gradient", to="torch")
def clear_gradient(call: BoundCall) -> None:
    """Emptied, or set to zero where there is one."""
    to_zero = call.literal("set_to_zero") if call.value("set_to_zero") is not None else True
    if not isinstance(to_zero, bool):
        no_counterpart(call, "clear_gradient", "set_to_zero")
    call.drop("set_to_zero")
    if not to_zero:
        call.rewrite("{self}.grad = None" if call.is_statement else "setattr({self}, 'grad', None)")


@hook("copy_", to="paddle")
def copy_(call: BoundCall) -> None:
    """torch casts and broadcasts what it copies; ``paddle.assign`` reaches views that ``set_value`` loses in 2.6."""
    source = "{src}.astype({self}.dtype).expand_as({self})"
    if is_fresh(call.value("self")):
        rewrite_once(call, source, self="self")
    elif not is_pure(call.value("self")) or is_long(call, f"paddle.assign({source}, {{self}})", self="self", src="src"):
        call.rewrite("torch_copy_({self}, {src})")


@hook("set_value", to="torch")
def set_value(call: BoundCall) -> None:
    """Paddle takes arrays of NumPy too."""
    if call.is_tensor("value"):
        call.rewrite("{self}.data.copy_({value})")


@hook("fill_", to="paddle")
def fill_(call: BoundCall) -> None:
    """Paddle fills with numbers only."""
    if call.is_tensor("value"):
        call.wrap("value", "float(", ")")


@hook("resize_as_new", to="paddle")
def resize_as_new(call: BoundCall) -> None:
    """Only a tensor that is made on the spot, ``x.new().resize_as_(y)``, may become another one."""
    made = call.value("self")
    is_new = isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) and made.func.attr == "new"
    if not is_new and not is_fresh(made):
        call.stop("TEN211")
