"""Calls with ``*args`` or ``**kwargs`` whose contents are unknown."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from paddletorch_rules import Form, ParameterPair, Row, Signature
from paddletorch_rules.facts import facts

from paddletorch.model import Ask
from paddletorch.plan.model.refusals import Refused, UnseenArguments
from paddletorch.plan.model.view import FileView


def same_parameters(view: FileView, row: Row, form: Form) -> bool:
    """Whether both sides have the same parameters in the same order, so that unknown arguments mean the same."""
    return view.settings.cached("same parameters", (row, form), lambda: _same_parameters(view, row, form))


def _same_parameters(view: FileView, row: Row, form: Form) -> bool:
    target = view.settings.emitted(row)
    source_signature = form.signature(view.settings.source_releases.newest)
    target_signature = target.signature(view.settings.target_releases.newest) if target is not None else None
    if target is None or target.template is not None or source_signature is None or target_signature is None:
        return not row.parameters
    pairs = {p.name(view.settings.source): p for p in row.parameters}
    taken = [p for p in source_signature.parameters if not p.variadic]
    for parameter, other in zip(taken, target_signature.parameters, strict=False):
        pair = pairs.get(parameter.name)
        same = pair is not None and pair.values is None and parameter.name == other.name == pair.name(view.target)
        if not same or parameter.default != other.default:
            return False
    return len(taken) <= len(target_signature.parameters)


def refuse_silent_change(
    view: FileView, row: Row, form: Form, what: str, position: int | None, given: Iterable[str] = ()
) -> None:
    """Refuse unknown arguments to which the target could silently give another meaning.

    A name that the target does not have raises an error at run time, so it is no silent change.

    ``position`` is the first position that ``*args`` fills, None for ``**kwargs``; ``given`` are the keywords that the
    call gives beside them.

    Raises:
        Refused: an argument may mean something else to the target without an error.
    """
    if row.ignores_arguments:
        return
    target = view.settings.emitted(row)
    ours, theirs = _signatures(view, row, form)
    known = row.kind == "class" and row.code.startswith(_OF_CLASSES[view.target])
    if not known or view.settings.shim_wraps_calls:  # hooks of functions decide by what is not given
        raise Refused(UnseenArguments(what))
    if target is None or target.template is not None or ours is None or theirs is None:
        raise Refused(UnseenArguments(what))
    if any(p.variadic for p in (*ours.parameters, *theirs.parameters)):
        raise Refused(UnseenArguments(what))
    same = _same_names(view, row)
    if position is None:
        names = {p.name for p in ours.parameters} - set(given) - same
        silent = any(theirs.get(name) is not None for name in names)
    else:
        pairs = zip(ours.positional[position:], theirs.positional[position:], strict=False)
        silent = any(one.name != other.name or one.name not in same for one, other in pairs)
    if silent:
        raise Refused(UnseenArguments(what))


def _signatures(view: FileView, row: Row, form: Form) -> tuple[Signature | None, Signature | None]:
    """What the source and the target take, in their newest releases."""
    target = view.settings.emitted(row)
    ours = form.signature(view.settings.source_releases.newest)
    return ours, target.signature(view.settings.target_releases.newest) if target is not None else None


def _same_names(view: FileView, row: Row) -> frozenset[str | None]:
    """The parameters that both sides call alike and read alike."""
    return frozenset(
        p.name(view.settings.source) for p in row.parameters if p.torch == p.paddle and _same_values(view, p)
    )


def are_understood(view: FileView, row: Row, form: Form, names: Iterable[str]) -> bool:
    """Whether the target takes keywords of these names as the source does, or they are left out as inert."""
    return _same_names(view, row).union(without_inert_names(view, row, form, ())).issuperset(names)


_OF_CLASSES = {"torch": ("NN", "DAT"), "paddle": ("NNL", "DAT")}
"""Areas whose classes take unknown arguments."""


def _same_values(view: FileView, pair: ParameterPair) -> bool:
    """Whether all values but None are the same on both sides."""
    if pair.values is None:
        return True
    values = view.settings.table.values[pair.values]
    wrap = values.to_paddle if view.target == "paddle" else values.to_torch
    return wrap is None and not values.refuse and all("None" in one or one[0] == one[1] for one in values.pairs)


def recorded_keys(view: FileView, row: Row, form: Form, node: ast.expr, given: Iterable[str]) -> frozenset[str] | None:
    """The keys that recorded runs saw in ``**node``, if each means the same on both sides under the same name.

    So the dict may stay as it is: a key that no run had has the same meaning, or raises an error in the target. None
    if no run came here, a key has to be converted, or another one could silently mean something else.
    """
    keys = _seen_keys(view, node)
    ours, theirs = _signatures(view, row, form)
    if keys is None or ours is None or theirs is None:
        return None
    if row.hook is not None and (keys or row.kind != "class"):
        return None  # hooks of functions decide by what is not given
    same = _same_names(view, row)
    names = {p.name for p in ours.parameters} - set(given) - same
    return keys if keys <= same and all(theirs.get(name) is None for name in names) else None


def spread_keys(view: FileView, call: ast.Call) -> frozenset[str] | None:
    """All keys that recorded runs saw in the ``**`` of a call; None where no run tells, or ``*`` gives more."""
    found = [_seen_keys(view, k.value) for k in call.keywords if k.arg is None]
    known = [keys for keys in found if keys is not None]
    if not found or len(known) < len(found) or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    return frozenset().union(*known)


def _seen_keys(view: FileView, node: ast.expr) -> frozenset[str] | None:
    seen = view.seen(Ask.KEYS, node)
    keys = frozenset(key for keys in seen for key in keys.split(",") if key)
    return keys if seen and all(map(str.isidentifier, keys)) else None


def without_inert_names(view: FileView, row: Row, form: Form, given: Iterable[str]) -> list[str]:
    """What unknown keywords may hold that has no influence, and that the target would refuse: ``pin_memory``."""
    ours, theirs = _signatures(view, row, form)
    if ours is None or theirs is None:
        return []
    names = [p.name for p in ours.parameters if p.name in facts().inert_parameters]
    return [name for name in names if theirs.get(name) is None and name not in set(given)]


def refuse_defaults(what: Iterable[str], written: Iterable[str]) -> None:
    """Refuse to write out a default for a parameter that the unknown arguments may give.

    Raises:
        Refused: there is one.
    """
    if any(written):
        raise Refused(UnseenArguments(", ".join(what)))
