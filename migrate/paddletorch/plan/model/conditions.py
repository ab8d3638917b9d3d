"""When a pass has anything to do at all: asked before its module is imported."""

from __future__ import annotations

from paddletorch_rules.adapters import adapters

from paddletorch.model import Framework
from paddletorch.plan.model.changes import Condition, Planned
from paddletorch.plan.model.view import FileView


def to(target: Framework) -> Condition:
    """It is for one direction."""
    return lambda view, _: view.target == target


def holds(*words: bytes) -> Condition:
    """The file's text has one of the words."""
    return lambda view, _: any(word in view.source.body for word in words)


def either(*conditions: Condition) -> Condition:
    """One of the conditions holds."""
    return lambda view, planned: any(condition(view, planned) for condition in conditions)


def is_whole_run(view: FileView, _: Planned) -> bool:
    """Nothing is selected, so that whatever is left counts."""
    return not view.settings.options.select


def converts(_: FileView, planned: Planned) -> bool:
    """A use converts."""
    return bool(planned.uses.converted)


def leaves(_: FileView, planned: Planned) -> bool:
    """A use stays."""
    return len(planned.uses.converted) < len(planned.uses.items)


def hands_on(_: FileView, planned: Planned) -> bool:
    """An API is used in another way than by name where it stands, so that an object may be made of it elsewhere."""
    return not planned.uses.by_role.keys() <= _IN_PLACE


_IN_PLACE = frozenset({"call", "base", "annotation", "check"})


def has_called_layers(view: FileView, _: Planned) -> bool:
    """A row that is asked for says how calls of its layer differ."""
    return view.settings.has_called_layers


def derives(_: FileView, planned: Planned) -> bool:
    """A class has an API as its base."""
    return "base" in planned.uses.by_role


def keeps_calls(view: FileView, planned: Planned) -> bool:
    """A use is of a layer that has an adapter whose calls are the source's."""
    known = adapters(view.target)
    names = {view.settings.adapted_name(use.site.name) for use in planned.uses}
    return any(known[name].keeps_calls for name in names & known.keys())


def makes(*types: str) -> Condition:
    """A use is of an API that gives an object of one of these tracked types."""
    return lambda _, planned: not planned.uses.by_instance.keys().isdisjoint(types)


def uses(*rows: str) -> Condition:
    """A use is of one of these rows, by their ids."""
    return lambda _, planned: not planned.uses.rows.isdisjoint(rows)
