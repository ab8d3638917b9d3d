"""Modules: lists where torch has generators, methods that give nothing back in Paddle 2.6, and the axis of a norm."""

from __future__ import annotations

import ast
import re

from paddletorch_rules.facts import facts
from paddletorch_rules.hooks.arguments import as_list
from paddletorch_rules.hooks.protocol import BoundCall, hook

_TAKE_ANY = frozenset(
    "list tuple set frozenset sum enumerate zip filter map iter sorted any all max min extend".split()
)
"""Calls of Python's that take a generator as well as a list."""

_TRANSPOSED = frozenset({"linear"})


@hook("module_list", to="torch")
def module_list(call: BoundCall) -> None:
    """``parameters()`` gives a list in Paddle; code may add, index and count it, or walk it twice."""
    if not _walked_once(call):
        call.surround("list(", ")")


@hook("module_list", to="paddle")
def module_iterator(call: BoundCall) -> None:
    """What is an iterator in torch is a list in Paddle, which ``next`` does not take."""
    parent = call.parent
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "next":
        call.surround("iter(", ")")


def _walked_once(call: BoundCall) -> bool:
    parent = call.parent
    if isinstance(parent, ast.For | ast.AsyncFor | ast.comprehension | ast.Starred | ast.YieldFrom):
        return True
    if isinstance(parent, ast.keyword):
        return parent.arg in ("parameters", "params")
    if isinstance(parent, ast.Call):
        name = parent.func.attr if isinstance(parent.func, ast.Attribute) else getattr(parent.func, "id", "")
        return name in _TAKE_ANY or name in facts().parameter_walks["torch"]
    return False


@hook("sublayers", to="torch")
def sublayers(call: BoundCall) -> None:
    """With or without the module itself; a list in Paddle."""
    given = call.literal("include_self") if call.value("include_self") is not None else False
    if given is True:
        call.rewrite("list({self}.modules())")
    elif given is False:
        call.drop("include_self")
    else:
        call.rewrite("list({self}.modules())[0 if {include_self} else 1:]")


@hook("named_sublayers", to="torch")
def named_sublayers(call: BoundCall) -> None:
    """With or without the module itself."""
    given = call.literal("include_self") if call.value("include_self") is not None else False
    if given is True:
        call.rewrite("{self}.named_modules({prefix:prefix=%})")
    elif given is False:
        call.drop("include_self")
    else:
        call.rewrite("list({self}.named_modules({prefix:prefix=%}))[0 if {include_self} else 1:]")


@hook("added", to="torch")
def added(call: BoundCall) -> None:
    """Paddle gives back what is added, torch nothing, and takes no name with a dot."""
    is_layer = call.value("sublayer") is not None
    name, added = call.value("name"), call.value("sublayer" if is_layer else "parameter")
    if name is None or added is None:
        return  # both are in a mapping
    if call.is_statement and not (is_layer and _has_dot(name)):
        return
    holes = ["name={name}", "sublayer={module}" if is_layer else "parameter={param}"]
    if (added.lineno, added.col_offset) < (name.lineno, name.col_offset):
        holes.reverse()  # evaluated in the order of the source
    else:
        holes = [hole.partition("=")[2] for hole in holes]
    call.rewrite(f"paddle_add_{'sublayer' if is_layer else 'parameter'}({{self}}, {', '.join(holes)})")


def _has_dot(name: ast.expr) -> bool:
    """Whether a literal part of the text has a dot, outside of what is formatted."""
    texts = [n.value for n in ast.walk(name) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return any("." in re.sub(r"\{[^}]*\}|%[\d.]+", "", text) for text in texts)


@hook("load_state_dict", to="torch")
def load_state_dict(call: BoundCall) -> None:
    """Paddle takes arrays of NumPy's too."""
    state, origin = call.value("state_dict"), call.origin("state_dict")
    unseen = origin is state and isinstance(state, ast.Name)  # a function's argument may hold either
    if state is not None and (unseen or _holds_arrays(origin or state)):
        call.wrap("state_dict", "{name: torch.as_tensor(value) for name, value in ", ".items()}")


def _holds_arrays(state: ast.expr) -> bool:
    """Whether the values of a mapping are seen to be arrays: each one's ``numpy()``, or a file of NumPy's."""
    made = [state.value] if isinstance(state, ast.DictComp) else [state]
    if isinstance(state, ast.Dict):
        made = state.values
    called = [ast.unparse(n.func) for one in made for n in ast.walk(one) if isinstance(n, ast.Call)]
    return any(re.search(r"\.numpy$|^(np|numpy)\.(load|asarray|array|ones|zeros)", name) for name in called)


@hook("train", to="paddle")
def train(call: BoundCall) -> None:
    """Paddle 2.6 has no ``mode``, and gives nothing back."""
    if call.value("mode") is None and call.is_statement:
        call.drop("mode")
        return
    mode = call.literal("mode") if call.value("mode") is not None else True
    if mode in (True, False):
        call.drop("mode")
        _mode(call, "train" if mode else "eval")
    else:
        call.rewrite("torch_train({self}, {mode})")


@hook("eval", to="paddle")
def evaluate_to_paddle(call: BoundCall) -> None:
    """Paddle 2.6 gives nothing back."""
    _mode(call, "eval")


@hook("eval", to="torch")
def evaluate_to_torch(call: BoundCall) -> None:
    """torch's ``eval`` calls ``train``, which a class may override to call ``eval``: ``train(False)`` does not."""
    if isinstance(call.node.func, ast.Attribute) and ast.unparse(call.node.func.value) == "super()":
        call.rewrite("{self}.train(False)")


def _mode(call: BoundCall, method: str) -> None:
    call.rewrite(f"{{self}}.{method}()" if call.is_statement else f"torch_{method}({{self}})")


@hook("module_cuda", to="paddle")
def module_cuda(call: BoundCall) -> None:
    """A number of a device, or none."""
    number = call.literal("device") if call.value("device") is not None else None
    if number is None:
        call.drop("device")
    elif isinstance(number, int):
        call.drop("device")
        call.rewrite(f"{{self}}.to('gpu:{number}')")
    else:
        call.rewrite("{self}.to('gpu:' + str({device}))")


@hook("full_name", to="torch")
def full_name(call: BoundCall) -> None:
    """A name that no other layer has: Paddle counts the layers of each class, torch has no such count."""
    call.report("NNL202", difference="a layer's number is its id(), not the count of layers of its class")


@hook("compiled", to="paddle")
def compiled(call: BoundCall) -> None:
    """A compiled module computes what the module computes."""
    if call.value("model") is None:
        call.stop("NNM204")


@hook("parameters_as_list", to="paddle")
def parameters_as_list(call: BoundCall, only_argument: bool = False) -> None:
    """Paddle walks the parameters twice: a generator becomes a list."""
    as_list(call, "parameters", only_argument=only_argument)


@hook("weight_norm")
def weight_norm(call: BoundCall) -> None:
    """The axis that keeps its norms is the output's: the other one in Paddle's Linear, whose weight is transposed."""
    name = "module" if call.target == "paddle" else "layer"
    kinds = call.types(name)
    dim = call.literal("dim") if call.value("dim") is not None else 0
    if dim is None:
        return
    if kinds & _TRANSPOSED:
        if dim not in (0, 1, -1, -2):
            call.stop("NNL201", difference="the axis of the norms is the other one in Paddle's Linear")
        call.force("dim", str(1 - int(dim) % 2))
    elif "conv" not in kinds:
        call.report("NNL202", difference="if this is a Linear, dim must be the other axis: its weight is transposed")
