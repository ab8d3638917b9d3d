"""Text that ``eval`` reads: ``eval("nn.layer.activation.{}()".format(name))``, ``eval(norm_layer)(width)``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from paddletorch_rules import Form, Row

from paddletorch.model import Edit
from paddletorch.plan.calls.bind import bind
from paddletorch.plan.calls.convert_call import Callee, convert_bound_call
from paddletorch.plan.model.changes import Changes, Planned, joined
from paddletorch.plan.model.findings import Finding, finding
from paddletorch.plan.model.refusals import Refused
from paddletorch.plan.model.target_forms import target_form, target_name
from paddletorch.plan.model.view import FileView

_PATH = re.compile(r"([A-Za-z_]\w*)((?:\.[A-Za-z_]\w*)+)")
"""A dotted name at the beginning of the text."""


def plan_evaluated_text(view: FileView, planned: Planned) -> Changes:
    """Write the target's module where the text names one, and report text that names an API of the source."""
    texts: dict[ast.Constant, list[ast.Call]] = {}
    for call in _evaluations(view):
        for text in _texts(view, call):
            texts.setdefault(text, []).append(call)
    constructed = _constructors(view, planned, texts)
    left = ((text, calls) for text, calls in texts.items() if text not in constructed.texts)
    unseen = Changes(findings=tuple(_of_unseen_text(view)))
    return joined([constructed.changes, *(_planned(view, planned, calls[0], text) for text, calls in left), unseen])


def _of_unseen_text(view: FileView) -> Iterator[Finding]:
    """What ``eval`` calls by a name from elsewhere, a configuration: ``m = eval(m)``, ``m(*args)``.

    Only where a module of the source has a name that such text can use; code for Paddle names its own classes so.
    """
    if view.target != "paddle":
        return
    modules = [
        name
        for name, bindings in view.tree.scope.bindings.items()
        if any(b.qualified is not None and view.settings.is_of_source(b.qualified) for b in bindings)
    ]
    for call in _evaluations(view):
        given = call.args[0]
        unseen = isinstance(given, ast.Name | ast.Subscript | ast.Attribute) and not any(_texts(view, call))
        if modules and unseen and _is_called(view, call):
            what, names = view.text(call), " and ".join(sorted(modules)[:2])
            yield finding("API205", call, names, what=what, replacement="the target's name, in the text")


def _is_called(view: FileView, evaluation: ast.Call) -> bool:
    """Whether the result is called, there or by the variable that holds it."""
    outer = view.parent(evaluation)
    if isinstance(outer, ast.IfExp):
        outer = view.parent(outer)
    if isinstance(outer, ast.Call):
        return outer.func is evaluation
    names = {t.id for t in outer.targets if isinstance(t, ast.Name)} if isinstance(outer, ast.Assign) else set()
    return any(isinstance(call.func, ast.Name) for call in view.tree.calls_of(*names))


class _Constructed(NamedTuple):
    """The texts that name layers which calls construct, ``eval(norm_layer)(width)``, and the changes for them."""

    texts: frozenset[ast.Constant]
    changes: Changes


class _Layer(NamedTuple):
    """The layer that a text names."""

    api: str
    row: Row
    own: Form
    written: str
    """The text that names it in the target."""


def _constructors(view: FileView, planned: Planned, texts: Mapping[ast.Constant, Sequence[ast.Call]]) -> _Constructed:
    """Convert the calls of layers that texts name, and the names, where each call has one layer in all its texts."""
    layers = {text: _layer(view, planned, calls[0], text) for text, calls in texts.items()}
    calls = {call: {layers[text] for text in texts if call in texts[text]} for each in texts.values() for call in each}
    converted = {call: _construction(view, call, found) for call, found in calls.items()}
    while True:  # a text that several calls evaluate is written for all of them, or for none
        sound = [t for t in texts if layers[t] is not None and all(converted[c] is not None for c in texts[t])]
        left = {c for t in texts if t not in sound for c in texts[t] if converted[c] is not None}
        if not left:
            break
        converted |= dict.fromkeys(left)
    names = [_renamed(view, text, layers[text]) for text in sound]
    return _Constructed(frozenset(sound), joined([*names, *(made for made in converted.values() if made is not None)]))


def _layer(view: FileView, planned: Planned, call: ast.Call, text: ast.Constant) -> _Layer | None:
    """The layer that the text names; None if it is none, or its module stays."""
    found = _PATH.fullmatch(str(text.value))
    bindings = view.tree.scopes[call.func].lookup(found[1]) if found is not None else ()
    qualified = bindings[0].qualified if len(bindings) == 1 else None
    group = planned.naming.groups.get(id(bindings))
    if found is None or qualified is None or group is None or group.target is None:
        return None
    named = view.settings.overloads(qualified + found[2])
    if len(named) != 1 or named[0][0].kind != "class" or not named[0][0].forms(view.target):
        return None
    row, own = named[0]
    name = target_name(row, view)
    if target_form(row, view).template is not None or not name.startswith(f"{group.target}."):
        return None
    return _Layer(qualified + found[2], row, own, found[1] + name.removeprefix(group.target))


def _construction(view: FileView, evaluation: ast.Call, layers: Iterable[_Layer | None]) -> Changes | None:
    """The changes of the call's arguments; None if they are not the same for all the layers that it may make."""
    made = [_changes(view, evaluation, layer) for layer in layers]
    alike = [one for one in made if one is not None and made[0] is not None and one.edits == made[0].edits]
    if not alike or len(alike) != len(made):
        return None
    found = dict.fromkeys(f for one in alike for f in one.findings)
    return Changes(alike[0].edits, findings=tuple(found), handled=alike[0].handled)


def _changes(view: FileView, evaluation: ast.Call, layer: _Layer | None) -> Changes | None:
    """The changes for one layer; None if it is not called at once, or not by a plain call."""
    call = view.parent(evaluation)
    if layer is None or not isinstance(call, ast.Call) or call.func is not evaluation:
        return None
    row = layer.row
    if view.is_deselected(row.code, call):
        return None
    try:
        binding = bind(view, call, row, layer.own, layer.api)
        made = convert_bound_call(binding, target_form(row, view), Callee.NAMED)
    except Refused:
        return None
    if made.whole is not None or made.template is not None:
        return None
    warned = (finding(row.warn[view.target], call, layer.api, row),) if view.target in row.warn else ()
    return Changes(made.edits, findings=(*warned, *made.findings), handled=frozenset({call}))


def _renamed(view: FileView, text: ast.Constant, layer: _Layer | None) -> Changes:
    """The name of the target's layer in the text, as it is written in the file."""
    assert layer is not None
    span, old = view.source.span(text), str(text.value)
    before = view.source.slice(span)
    if old == layer.written or old not in before:
        return Changes()
    edit = Edit(span, before.replace(old, layer.written, 1), layer.row.code)
    return Changes((edit,), (view.conversion(layer.row.code, text, layer.api, layer.written, layer.row.id),))


def _evaluations(view: FileView) -> Iterator[ast.Call]:
    """The calls of the builtin ``eval``."""
    for call in view.tree.calls_of("eval"):
        named = isinstance(call.func, ast.Name) and bool(call.args)
        if named and not view.tree.scopes[call.func].lookup("eval"):
            yield call


def _texts(view: FileView, call: ast.Call) -> Iterator[ast.Constant]:
    """The strings that the call may evaluate, as far as the file shows them: also what a parameter gets."""
    node = call.args[0]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        node = node.func.value
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        node = node.left
    values: list[ast.expr] = [node]
    if isinstance(node, ast.Name) and node in view.tree.scopes:
        values = [b.value for b in view.tree.scopes[node].lookup(node.id) if b.value is not None]
        values += [k.value for one in view.tree.calls for k in one.keywords if k.arg == node.id]
    yield from (v for v in values if isinstance(v, ast.Constant) and isinstance(v.value, str))


def _planned(view: FileView, planned: Planned, call: ast.Call, text: ast.Constant) -> Changes:
    """The edit of one text, or the finding that it names an API of the source."""
    found = _PATH.match(str(text.value))
    bindings = view.tree.scopes[call.func].lookup(found[1]) if found is not None else ()
    qualified = bindings[0].qualified if len(bindings) == 1 else None
    if found is None or qualified is None or not view.settings.is_of_source(qualified):
        return Changes()
    path = qualified + found[2]
    known = view.settings.lookup(f"{path}.__dict__")
    group = planned.naming.groups.get(id(bindings))
    if known is None or group is None or group.target is None:
        named = view.settings.lookup(path)
        replacement = "the target's name" if named is None else target_name(named[0], view)
        return Changes(findings=(finding("API206", text, path, named and named[0], replacement=replacement),))
    row = known[0]
    written = target_name(row, view).removesuffix(".__dict__").removeprefix(group.target + ".")
    span = view.source.span(text)
    before = view.source.slice(span)
    if view.is_deselected(row.code, text) or found[0] not in before:
        return Changes()
    edit = Edit(span, before.replace(found[0], f"{found[1]}.{written}", 1), row.code)
    return Changes((edit,), (view.conversion(row.code, text, path, f"{group.target}.{written}", row.id),))
