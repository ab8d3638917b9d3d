"""Packed sequences: Paddle's recurrent layers take the padded ones, and their lengths as ``sequence_length``.

Where one function packs, runs a layer and pads again, the layer gets the lengths, and what it returns is cut to the
longest sequence. A packed sequence that goes elsewhere is left.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from paddletorch.model import Edit, Span
from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.refusals import Refused
from paddletorch.plan.model.use import Use, Uses
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.spelling import helper_modules
from paddletorch.plan.syntax.dotted_path import path_of
from paddletorch.plan.syntax.statements import remove_statement
from paddletorch.resolve import Binding, Instance
from paddletorch.text.call_spans import keyword_name

_CODE = "NNM104"
_MODULE = "torch.nn.utils.rnn."
_PACK, _PAD = f"{_MODULE}pack_padded_sequence", f"{_MODULE}pad_packed_sequence"
_LAYERS = frozenset({"torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN"})
_CONVERSIONS = frozenset({"cpu", "to", "tolist", "long", "int", "numpy", "detach"})
"""Methods that do not change which numbers the lengths are."""


class _Run(NamedTuple):
    """One packed sequence: the call that packs, the layer's call, and the calls that pad its result."""

    pack: Use
    layer: ast.Call
    pads: tuple[Use, ...]
    lengths: str


def plan_packed_sequences(view: FileView, planned: Planned) -> Changes:
    """Give the lengths to the layer wherever the whole way of a packed sequence is seen."""
    packs = [use for use in planned.uses if use.site.name == _PACK and use.site.call is not None]
    pads = {use.site.call: use for use in planned.uses if use.site.name == _PAD and use.site.call is not None}
    uses: list[Use] = []
    for pack in packs:
        found = _run(view, planned.uses, pack, pads)
        if found is not None and not view.is_deselected(pack.row.code, pack.site.node):
            uses += _written(view, found)
    return Changes(uses=tuple(uses))


def _run(view: FileView, uses: Uses, pack: Use, pads: Mapping[ast.Call, Use]) -> _Run | None:
    call = pack.site.call
    assert call is not None
    given = _arguments(call, ("input", "lengths", "batch_first", "enforce_sorted"))
    layer = _layer(view, call) if given.keys() >= {"input", "lengths"} else None
    if layer is None or not _is_layer(view, uses, layer) or not _takes_more(view, layer):
        return None
    lengths = _lengths(view, given["lengths"])
    outputs = _first_target(view, layer)
    if lengths is None or outputs is None:
        return None
    readers = [view.parent(load) for load in _loads(view, outputs)]
    found = [pads[one] for one in readers if isinstance(one, ast.Call) and one in pads]
    later = [layer, *(one.site.call for one in found)]
    if len(found) < len(readers) or _is_rebound(view, given["lengths"], call, [one for one in later if one]):
        return None
    return _Run(pack, layer, tuple(found), lengths)


def _arguments(call: ast.Call, names: Sequence[str]) -> dict[str, ast.expr]:
    """The arguments by parameter; none if one is unpacked."""
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg not in names for k in call.keywords):
        return {}
    return {**dict(zip(names, call.args, strict=False)), **{k.arg: k.value for k in call.keywords if k.arg}}


def _layer(view: FileView, pack: ast.Call) -> ast.Call | None:
    """The one call that takes the packed sequence, as its first argument: where it is packed, or by a variable."""
    around = view.parent(pack)
    if isinstance(around, ast.Call):
        return around if around.args[:1] == [pack] else None
    packed = _target(view, pack)
    return _only_reader(view, packed) if packed is not None else None


def _target(view: FileView, call: ast.Call) -> Binding | None:
    """The local variable that the statement assigns the call to, and nothing else."""
    statement = view.parent(call)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    return _bound(view, target) if isinstance(target, ast.Name) else None


def _first_target(view: FileView, call: ast.Call) -> Binding | None:
    """The local variable that gets the first of a layer's two results."""
    statement = view.parent(call)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    if not isinstance(target, ast.Tuple) or len(target.elts) != 2 or not isinstance(target.elts[0], ast.Name):
        return None
    return _bound(view, target.elts[0])


def _bound(view: FileView, name: ast.Name) -> Binding | None:
    """The assignment of a local variable; None of a module's or a class's."""
    scope = view.tree.scopes[name]
    bindings = scope.bindings.get(name.id, ()) if scope.kind == "function" else ()
    return next((binding for binding in bindings if binding.node is name), None)


def _loads(view: FileView, binding: Binding) -> list[ast.Name]:
    """Where the variable may be read with this value."""
    loads = (load for load in view.tree.loads if load.id == binding.name)
    return [load for load in loads if binding in view.evaluator.reaching(load)]


def _only_reader(view: FileView, packed: Binding) -> ast.Call | None:
    """The one call that takes the packed sequence, as its first argument."""
    loads = _loads(view, packed)
    call = view.parent(loads[0]) if len(loads) == 1 else None
    if not isinstance(call, ast.Call) or not call.args or call.args[0] is not loads[0]:
        return None
    return call if len(view.evaluator.reaching(loads[0])) == 1 else None


def _is_layer(view: FileView, uses: Uses, call: ast.Call) -> bool:
    """Whether what is called is certainly a recurrent layer that becomes Paddle's, with its own ``forward``."""
    values = view.evaluator.values(call.func)
    return bool(values) and all(
        isinstance(v, Instance) and v.api in _LAYERS and "forward" not in v.overrides and not uses.leave(v)
        for v in values
    )


def _takes_more(view: FileView, call: ast.Call) -> bool:
    """Whether an argument can be written behind the last one."""
    last = max(view.source.span(one).end for one in (*call.args, *(k.value for k in call.keywords)))
    rest = view.source.slice(Span(last, view.source.span(call).end))
    return "".join(rest.split()) in (")", ",)") and all(k.arg == "hx" for k in call.keywords)


def _lengths(view: FileView, node: ast.expr) -> str | None:
    """The lengths as a tensor: ``lengths`` of ``lengths.cpu()``, which no list has; None if the call computes them."""
    is_tensor = False
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CONVERSIONS:
        node, is_tensor = node.func.value, True
    path = path_of(node) if isinstance(node, ast.Name | ast.Attribute) else ""
    if not path:
        return None
    return path if is_tensor else f"torch_lengths({path})"


def _is_rebound(view: FileView, lengths: ast.expr, pack: ast.Call, calls: Sequence[ast.Call]) -> bool:
    """Whether the variable with the lengths may be another one where they are used again."""
    roots = [node for node in ast.walk(lengths) if isinstance(node, ast.Name)]
    last = max(call.lineno for call in calls)
    if view.statement(pack) in {view.statement(call) for call in calls if view.parent(pack) is not call}:
        return True
    for root in roots:
        for binding in view.tree.scopes[root].lookup(root.id):
            line = getattr(binding.node, "lineno", 0)
            if pack.lineno <= line < last and view.statement(binding.node) is not view.statement(pack):
                return True
    return False


def _written(view: FileView, run: _Run) -> Iterator[Use]:
    """The uses as they are written; none if the functions that they call cannot be."""
    pack, layer = run.pack.site.call, run.layer
    assert pack is not None
    last = max(view.source.span(one).end for one in (*layer.args, *(k.value for k in layer.keywords)))
    edits = [Edit(keyword_name(view.source, k), "initial_states", _CODE) for k in layer.keywords]
    edits.append(Edit(Span(last, last), f", sequence_length={run.lengths}", _CODE))
    uses = [replace(_pack(view, run.pack), edits=tuple(edits)), *(_pad(view, one, run.lengths) for one in run.pads)]
    try:
        for use in uses:
            for edit in use.every_edit:
                helper_modules(view, edit, view.tree.scopes.get(use.site.node, view.tree.scope), use.site.name)
    except Refused:
        return
    yield from uses


def _pack(view: FileView, use: Use) -> Use:
    """``packed = x`` for ``packed = pack_padded_sequence(x, lengths)``; nothing where both are called ``x``.

    Where the call is the layer's argument, ``x`` is.
    """
    call = use.site.call
    assert call is not None
    value = _arguments(call, ("input", "lengths", "batch_first", "enforce_sorted"))["input"]
    statement = view.parent(call)
    name = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if isinstance(value, ast.Name) and isinstance(name, ast.Name) and value.id == name.id:
        assert isinstance(statement, ast.stmt)
        return use.removed_by(remove_statement(view, statement)._replace(code=_CODE))
    whole = Edit(view.source.span(call), "", _CODE, (view.source.span(value),))
    return Use(use.site, use.row, "x", whole=whole, writes_name=True)


def _pad(view: FileView, use: Use, lengths: str) -> Use:
    """The call of a written function that cuts the padded sequences to the longest, as torch does."""
    call = use.site.call
    assert call is not None
    names = ("sequence", "batch_first", "padding_value", "total_length")
    given = _arguments(call, names)
    parts: list[str | Span] = ["torch_padded(", view.source.span(given["sequence"]), f", {lengths}"]
    for name in names[1:]:
        if name in given:
            parts += [f", {name}=", view.source.span(given[name])]
    whole = Edit(view.source.span(call), "", _CODE, (*parts, ")"))
    return Use(use.site, use.row, "torch_padded(x, lengths)", whole=whole, writes_name=True)
