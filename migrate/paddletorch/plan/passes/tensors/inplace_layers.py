"""Layers that write into their input, ``nn.ReLU(inplace=True)``: Paddle's make a new tensor.

That is the same unless the input is read again, as in ``self.res(x) + x`` where ``res`` begins with such a layer. There
the call writes into the input. Behind another layer, whose result nothing else holds, nothing needs to be done, unless
a hook keeps it: that is reported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from paddletorch_rules.facts import facts

from paddletorch.model import Edit
from paddletorch.plan.calls.fill_template import fill
from paddletorch.plan.inference.aliasing import Aliasing
from paddletorch.plan.inference.in_place_calls import asks_in_place, is_in_place
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.findings import finding, refused
from paddletorch.plan.model.refusals import Refused
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.spelling import spelled
from paddletorch.resolve.scopes.bindings import Scope

_CODE = "NNL101"
_REPORTED = "NNL211"

_WRITTEN: Mapping[str, str] = {"ReLU": "paddle.nn.functional.relu_({x})"}
"""Calls that do what the layer does, for those that have no settings."""

_ANY = "paddle.assign({layer}({x}.clone()), {x})"
"""What any layer does in place; of a copy, so that its gradients do not need what is overwritten."""

_REPEATABLE = frozenset({"ReLU"})
"""Layers that change their own result no more, so that it may be given to them again."""


def plan_inplace_layers(view: FileView, planned: Planned) -> Changes:
    """Write into the input of layers that do so in torch, where it is read again."""
    if not any(map(asks_in_place, view.tree.calls)):
        return NOTHING
    aliases = planned.naming.aliases
    calls = [_plan_call(view, aliases, call) for call in view.tree.calls if len(call.args) == 1]
    return joined([*calls, _kept_by_hooks(view)])


def _kept_by_hooks(view: FileView) -> Changes:
    """Report what forward hooks keep of a layer: in torch the layer behind it may write into that."""
    if not view.tree.method_calls("register_forward_hook"):
        return NOTHING
    made = next((call for call in view.tree.calls if is_in_place(call) and _is_layer(view, call)), None)
    if made is None:
        return NOTHING
    kept = [name for hook in _hooks(view) for name in _reads_of_last(hook) if _is_kept(view, name)]
    return Changes(findings=tuple(finding(_REPORTED, one, view.text(made.func), input=view.text(one)) for one in kept))


def _hooks(view: FileView) -> Iterator[ast.FunctionDef | ast.Lambda]:
    """Functions of a module, what it gets and what it gives, that are passed on."""
    called = {call.func for call in view.tree.calls}
    passed = {node.id for node in view.tree.of_kind(ast.Name) if node not in called}
    passed |= {node.attr for node in view.tree.of_kind(ast.Attribute) if node not in called}
    functions: list[ast.FunctionDef | ast.Lambda] = [*view.tree.of_kind(ast.Lambda)]
    functions += [one for one in view.tree.of_kind(ast.FunctionDef) if one.name in passed]
    for function in functions:
        given = [one.arg for one in function.args.args]
        if len(given[1:] if given[:1] == ["self"] else given) == 3:
            yield function


def _reads_of_last(function: ast.FunctionDef | ast.Lambda) -> list[ast.Name]:
    """Where the function names its last parameter."""
    name = function.args.args[-1].arg
    return [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == name]


def _is_kept(view: FileView, node: ast.Name) -> bool:
    """Whether the value or a view of it is put into an attribute, an element or a list."""
    outer, parent = view.provide(Aliasing).shared_memory.outermost_view(node)
    if isinstance(parent, ast.Assign) and parent.value is outer:
        return any(isinstance(target, ast.Attribute | ast.Subscript) for target in parent.targets)
    if not isinstance(parent, ast.Call) or not isinstance(parent.func, ast.Attribute):
        return False
    return parent.func.attr == "append" and outer in parent.args


def _is_layer(view: FileView, call: ast.Call) -> bool:
    return _name(view, call) in facts().inplace_modules["torch"]


def _plan_call(view: FileView, aliases: Mapping[str, str], call: ast.Call) -> Changes:
    """Plan one call of a layer, ``self.relu(x)``."""
    given = call.args[0]
    if not isinstance(given, ast.Name | ast.Attribute) or call.keywords:
        return NOTHING
    layer = view.provide(_Layers).called(call.func)
    if layer is None or not view.provide(Aliasing).is_read_again(given, call, by_caller=layer.literal):
        return NOTHING
    template = _template(view, call, layer)
    certain = layer.literal and layer.is_only and view.provide(Aliasing).reaches(given, call)
    if template is None or not certain or view.is_deselected(_CODE, call):
        name = view.text(layer.made.func)
        return Changes(findings=(finding(_REPORTED, call, name, input=view.text(given)),))
    node, text = template
    try:
        edit = Edit(view.source.span(node), "", _CODE, tuple(fill(view, text, {"layer": call.func, "x": given}, node)))
        changes = spelled(view, aliases, node, (edit,), "torch.nn.Module")
    except Refused as stop:
        return Changes(findings=(refused(stop.refusal, call, view.text(layer.made.func)),))
    return changes._replace(conversions=(view.conversion(_CODE, call, "layer in place", text),))


class _Layer(NamedTuple):
    """A layer that a call may call and that may write into its input."""

    made: ast.Call
    """What makes the layer, or the first one in a ``Sequential`` that is called."""
    literal: bool
    """Whether literals say that it writes, and all others that may be called too."""
    is_only: bool
    """Whether nothing else may be called."""
    is_whole: bool
    """Whether it is what is called, not the first layer of that."""


class _Layers:
    """The layers in place that the calls of one file may call; those of one attribute of a class are found once."""

    def __init__(self, view: FileView) -> None:
        self._view = view
        self._found: dict[tuple[str, Scope | None], _Layer | None] = {}

    def called(self, function: ast.expr) -> _Layer | None:
        """The first layer that may write into its input, of those that ``function`` may be."""
        constructors = self._view.provide(Aliasing).shared_memory.constructors
        if not isinstance(function, ast.Attribute):
            return self._first_writing(constructors(function))
        key = function.attr, self._view.tree.scopes[function].enclosing_class()
        if key not in self._found:
            self._found[key] = self._first_writing(constructors(function))
        return self._found[key]

    def _first_writing(self, constructors: Sequence[ast.Call]) -> _Layer | None:
        layers = [first for made in constructors if (first := _first(self._view, made))]
        writing = next((layer for layer in layers if asks_in_place(layer)), None)
        if writing is None:
            return None
        literal = all(is_in_place(layer) for layer in layers)
        return _Layer(writing, literal, len(layers) == 1, any(writing is made for made in constructors))


def _template(view: FileView, call: ast.Call, layer: _Layer) -> tuple[ast.expr, str] | None:
    """What is replaced, the call or its argument, and the template for it; None if there is none that is the same."""
    name = _name(view, layer.made)
    if layer.is_whole:
        return call, _WRITTEN.get(name, _ANY)
    return (call.args[0], _WRITTEN[name]) if name in _REPEATABLE else None


def _first(view: FileView, made: ast.Call) -> ast.Call | None:
    """The call that makes the layer which gets the input: that of ``nn.Sequential`` is its first one's."""
    name = _name(view, made)
    if name == "Sequential":
        first = made.args[0] if made.args else None
        return _first(view, first) if isinstance(first, ast.Call) else None
    return made if name in facts().inplace_modules["torch"] else None


def _name(view: FileView, made: ast.Call) -> str:
    """The name of the class of torch's that a call makes an object of."""
    name = view.qualified(made.func) or ""
    return name.rpartition(".")[2] if name.startswith("torch.nn.") else ""
