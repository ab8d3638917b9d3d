"""Layers whose calls stay as the source's: masks that mean something else, batches in another place, other results.

Where a call of ``nn.MultiheadAttention`` cannot become one of Paddle's own layer, or only as a function around it, the
layer becomes an adapter that has the source's ``forward``, and so do all that the same call may call. A subclass has
the adapter as its base in any case, for its objects may be called in files that do not show what this one needs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace

from paddletorch_rules.adapters import Adapter, adapters

from paddletorch.plan.inference.called_values import CalledValues
from paddletorch.plan.model.changes import NOTHING, Changes, Planned
from paddletorch.plan.model.refusals import Refused, UnseenArguments
from paddletorch.plan.model.use import Use
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.dotted_path import path_of
from paddletorch.plan.uses.adapters import CODE, HANDED_ON, adapted, has_source_calls, positional, takes
from paddletorch.plan.uses.instance_calls import calls_of_instances, converted_call
from paddletorch.plan.uses.layer_calls import lost_parameters
from paddletorch.plan.uses.runtime_calls import CODE as AT_RUN_TIME
from paddletorch.resolve import Instance, NoneValue, Unknown, Value
from paddletorch.resolve.values import Local

_OBJECTS = (ast.Name, ast.Attribute, ast.Call)
"""Expressions that may be a layer."""

_MEANING = "NNL202"
"""The code for a call that means the same only for some values."""


def plan_source_calls(view: FileView, planned: Planned) -> Changes:
    """Give adapters to the layers whose arguments or calls need them."""
    layers: dict[str, list[Use]] = {}
    bases: list[Use] = []
    for use in planned.uses:
        site = use.site
        if use.converts and has_source_calls(view, site.name) and (site.role == "base" or _is_of_member(view, use)):
            bases.append(use)
        alone = site.call is not None and site.other is None and len(site.candidates) == 1
        if site.role == "call" and alone and has_source_calls(view, site.name):
            layers.setdefault(view.settings.adapted_name(site.name), []).append(use)
    if not (layers or bases):
        return NOTHING
    objects = _Objects(view, layers)
    own = {name for name in layers if adapters(view.target)[name].escapes}
    needed = {*_called_otherwise(view, objects), *_with_members(view, objects)}
    called = {*(one for one in needed if objects.name(one) not in own), *_escaping(view, objects, own)}
    called |= {one for node in _given_away(view) if layers for one in objects.of(view.evaluator.values(node))}
    revised = [adapted(view, use, None) or use.refuse(UnseenArguments(use.site.name)) for use in bases]
    for group in objects.groups():
        adapter = adapters(view.target)[objects.name(group[0])]
        uses = [objects.uses[one] for one in group]
        if not called.isdisjoint(group) or any(_is_needed(adapter, use) for use in uses):
            revised += _all_adapted(view, adapter, uses)
    return Changes(uses=tuple(revised))


class _Objects:
    """The layers of a file by the calls that make them, and which of them one call may call."""

    def __init__(self, view: FileView, layers: Mapping[str, Sequence[Use]]) -> None:
        self._view = view
        self.layers = layers
        self.uses = {use.site.call: use for uses in layers.values() for use in uses if use.site.call is not None}
        self.calls = view.provide(CalledValues).of(Instance) if layers else []

    def name(self, made: ast.Call) -> str:
        """The name of the layer's class as the adapters have it."""
        return self._view.settings.adapted_name(self.uses[made].site.name)

    def of(self, values: Iterable[Value]) -> set[ast.Call]:
        """The calls that make the layers among the values; all of a class where nothing shows which one is meant."""
        found: set[ast.Call] = set()
        for value in values:
            if not isinstance(value, Instance) or value.type == "tensor":
                continue
            if value.call is not None:
                found |= {value.call} & self.uses.keys()
            else:
                found |= self.of_class(self._view.settings.adapted_name(value.api))
        return found

    def of_class(self, name: str) -> set[ast.Call]:
        """The calls that make layers of a class."""
        return {use.site.call for use in self.layers.get(name, ()) if use.site.call is not None}

    def groups(self) -> list[list[ast.Call]]:
        """The layers of each class, together with those that the same calls may call."""
        group = {one: [one] for one in self.uses}
        for call in self.calls:
            met: dict[str, list[ast.Call]] = {}
            for made in self.of(self._view.evaluator.values(call.func)):
                together, others = met.setdefault(self.name(made), group[made]), group[made]
                if together is not others:
                    together += others
                    group.update((one, together) for one in others)
        return list({id(one): one for one in group.values()}.values())


def _is_of_member(view: FileView, use: Use) -> bool:
    """Whether the use is the class in ``nn.MultiHeadAttention.Cache``, which the target's own class lacks."""
    around = view.parent(use.site.node)
    known = adapters(view.target)[view.settings.adapted_name(use.site.name)]
    return isinstance(around, ast.Attribute) and around.attr in known.members


def _with_members(view: FileView, objects: _Objects) -> Iterator[ast.Call]:
    """The layers of which the file reads a member that the target's own class lacks, and those of their parts."""
    known = adapters(view.target)
    for name in objects.layers:
        for node in (n for member in known[name].members for n in view.tree.members.get(member, ())):
            made = _owners(view, objects, node) & objects.of_class(name)
            yield from made
            for part in objects.layers if made else ():
                if known[part].name in known[name].needs:
                    yield from objects.of_class(part)


def _owners(view: FileView, objects: _Objects, node: ast.Attribute) -> set[ast.Call]:
    """The layers of which the attribute may be; of an unknown object it may be any, unless the program has its own."""
    values = view.evaluator.values(node.value)
    found = objects.of(values)
    if not any(isinstance(value, Unknown) for value in values) or view.evaluator.stores_of(node):
        return found
    return found if node.attr in view.tree.class_members else set(objects.uses)


def _called_otherwise(view: FileView, objects: _Objects) -> Iterator[ast.Call]:
    """The layers of which a call has what the target lacks, would need a function around it, or fits some values."""
    for call in objects.calls:
        for made in objects.of(view.evaluator.values(call.func)):
            rows = view.settings.overloads(objects.name(made))
            if any(row.forward and any(lost_parameters(view, call, row)) for row, _ in rows):
                yield made
    for call, instances, options in calls_of_instances(view):
        layers = objects.of(instances)
        if not layers:
            continue
        try:
            _, converted = converted_call(view, call, options)
        except Refused:
            yield from layers
            continue
        unnamed = any("lambda" in edit.written for edit in converted.every_edit)
        if unnamed or any(found.code == _MEANING for found in converted.findings):
            yield from layers


def _escaping(view: FileView, objects: _Objects, names: Set[str]) -> Iterator[ast.Call]:
    """The layers of these classes that go where their calls are not seen, or may be called beside something else."""
    layers = {one for name in names for one in objects.of_class(name)}
    called: set[ast.Call] = set()
    for call in objects.calls if layers else ():
        values = view.evaluator.values(call.func)
        found = objects.of(values) & layers
        called |= found
        if any(not isinstance(v, NoneValue) and not objects.of([v]) for v in values):
            yield from found
    yield from layers - called
    for node in _kept_elsewhere(view) if layers else ():
        if isinstance(node, _OBJECTS):
            yield from objects.of(view.evaluator.values(node)) & layers


def _given_away(view: FileView) -> Iterator[ast.expr]:
    """What is given to classes that this file does not show: their methods call it as the source's."""
    for call in view.tree.calls:
        made = [one for one in (*call.args, *(k.value for k in call.keywords)) if isinstance(one, _OBJECTS)]
        name = path_of(call.func).rpartition(".")[2]
        if made and name[:1].isupper() and not (view.qualified(call.func) or "").startswith(f"{view.settings.source}."):
            shown = all(isinstance(value, Local) for value in view.evaluator.values(call.func))
            yield from () if shown else made


def _kept_elsewhere(view: FileView) -> Iterator[ast.expr]:
    """What is given to functions of the program, given back, or put into a list or dict."""
    for call in view.tree.calls:
        if not (view.qualified(call.func) or "").startswith(f"{view.settings.source}."):
            yield from (*call.args, *(keyword.value for keyword in call.keywords))
    for node in ast.walk(view.tree.module):
        if isinstance(node, ast.Return) and node.value is not None:
            yield node.value
        elif isinstance(node, ast.List | ast.Tuple | ast.Set):
            yield from node.elts
        elif isinstance(node, ast.Dict):
            yield from node.values


def _is_needed(adapter: Adapter, use: Use) -> bool:
    """Whether the arguments of a layer are what its adapter takes, and the target's own layer does not."""
    if any(isinstance(one.refusal, UnseenArguments) or one.code in (HANDED_ON, AT_RUN_TIME) for one in use.findings):
        return True
    call = use.site.call
    given = [(k.arg, k.value) for k in call.keywords] if call is not None else []
    given += positional(adapter, call).items() if call is not None else ()
    if any(name in adapter.objects and isinstance(value, ast.Call | ast.Lambda) for name, value in given):
        return True
    codes = {found.code for found in use.findings}
    return not codes.isdisjoint(adapter.answers) if use.converts else bool(codes) and codes <= set(adapter.answers)


def _all_adapted(view: FileView, adapter: Adapter, uses: Sequence[Use]) -> Sequence[Use]:
    """The uses with adapters; none if one that converts as it is has none."""
    if any(view.suppressed(use.row.code, use.site.call or use.site.node) for use in uses):
        return ()  # one that is to stay as it is
    found: list[Use] = []
    for use in uses:
        new = _adapted(view, adapter, use) if use.converts or _is_needed(adapter, use) else None
        if new is not None:
            found.append(new)
        elif use.converts:
            return ()
    return found


def _adapted(view: FileView, adapter: Adapter, use: Use) -> Use | None:
    """The use with an adapter; None if its arguments would mean something else."""
    call = use.site.call
    assert call is not None
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return adapted(view, use, call)
    found = adapted(view, use, call) if takes(view, adapter, call) else None
    if found is None:
        return None
    answered = (CODE, _MEANING) if adapter.escapes else (CODE,)
    return replace(found, findings=tuple(f for f in found.findings if f.code not in answered))
