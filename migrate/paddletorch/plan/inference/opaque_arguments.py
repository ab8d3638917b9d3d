"""Calls with ``*args`` or ``**kwargs`` whose contents are unknown."""

from __future__ import annotations

from collections.abc import Iterable

from paddletorch_rules import Form, ParameterPair, Row
from paddletorch_rules.facts import facts

from paddletorch.plan.model.refusals import Refused, UnseenArguments
from paddletorch.plan.model.view import FileView


def same_parameters(view: FileView, row: Row, form: Form) -> bool:
    """Whether both sides have the same parameters in the same order, so that unknown arguments mean the same."""
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
    target = view.settings.emitted(row)
    ours = form.signature(view.settings.source_releases.newest)
    theirs = target.signature(view.settings.target_releases.newest) if target is not None else None
    known = row.kind == "class" and row.code.startswith(_OF_CLASSES[view.target])
    if not known or view.settings.shim_wraps_calls:  # hooks of functions decide by what is not given
        raise Refused(UnseenArguments(what))
    if target is None or target.template is not None or ours is None or theirs is None:
        raise Refused(UnseenArguments(what))
    if any(p.variadic for p in (*ours.parameters, *theirs.parameters)):
        raise Refused(UnseenArguments(what))
    same = _alike(view, row)
    if position is None:
        names = {p.name for p in ours.parameters} - set(given) - same
        silent = any(theirs.get(name) is not None for name in names)
    else:
        pairs = zip(ours.positional[position:], theirs.positional[position:], strict=False)
        silent = any(one.name != other.name or one.name not in same for one, other in pairs)
    if silent:
        raise Refused(UnseenArguments(what))


def _alike(view: FileView, row: Row) -> set[str | None]:
    """The parameters that have one name and the same values on both sides."""
    return {p.name(view.settings.source) for p in row.parameters if p.torch == p.paddle and _same_values(view, p)}


def are_understood(view: FileView, row: Row, form: Form, names: Iterable[str]) -> bool:
    """Whether the target takes keywords of these names as the source does, or they are left out as inert."""
    return _alike(view, row).union(without_inert_names(view, row, form, ())).issuperset(names)


_OF_CLASSES = {"torch": ("NN", "DAT"), "paddle": ("NNL", "DAT")}
"""Areas whose classes take unknown arguments."""


def _same_values(view: FileView, pair: ParameterPair) -> bool:
    """Whether all values but None are the same on both sides."""
    if pair.values is None:
        return True
    values = view.settings.table.values[pair.values]
    wrap = values.to_paddle if view.target == "paddle" else values.to_torch
    return wrap is None and not values.refuse and all("None" in one or one[0] == one[1] for one in values.pairs)


def without_inert_names(view: FileView, row: Row, form: Form, given: Iterable[str]) -> list[str]:
    """What unknown keywords may hold that has no influence, and that the target would refuse: ``pin_memory``."""
    target = view.settings.emitted(row)
    ours = form.signature(view.settings.source_releases.newest)
    theirs = target.signature(view.settings.target_releases.newest) if target is not None else None
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
