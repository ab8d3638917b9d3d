"""``model.set_state_dict(state)`` of what may be a layer, an optimizer or a scheduler of Paddle's.

The file gets a function that asks the object what it is: torch's modules take part of a state only if they are told.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.model import Edit
from paddletorch.plan.inference.receivers import Certainty, Receivers
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.refusals import Refused
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.spelling import spelled
from paddletorch.plan.syntax.dotted_path import path_of
from paddletorch.resolve import Instance

_CODE = "NNM101"
_FUNCTION = "paddle_set_state_dict"
_METHODS = ("set_state_dict", "set_dict", "load_dict")
_OWNERS = ("module", "optimizer", "scheduler", "scaler")
_NOBODY = ("", "self", "cls")


def plan_states_of_unseen_objects(view: FileView, planned: Planned) -> Changes:
    """Give the states that unseen objects are to take to a function that all of them suit."""
    return joined(_by_function(view, planned, member, call) for member, call in _calls(view))


def _calls(view: FileView) -> Iterator[tuple[ast.Attribute, ast.Call]]:
    """Each call with one argument whose receiver's type is not seen."""
    receivers = view.provide(Receivers)
    for method in [one for one in _METHODS if one == "set_state_dict" or one not in view.tree.class_members]:
        for member in view.tree.members.get(method, ()):
            call = view.parent(member)
            if not isinstance(call, ast.Call) or call.func is not member or len(call.args) != 1 or call.keywords:
                continue
            if view.qualified(member.value) is not None or not view.is_sources(member.value):
                continue  # a class, whose own use says what becomes of the call
            found = {receivers.certainty(member.value, one) for one in _OWNERS}
            maybe = Certainty.MAYBE in found or method == "set_state_dict"  # which is Paddle's own word
            known = Certainty.YES in found or path_of(member.value) in _NOBODY
            seen = all(isinstance(value, Instance) for value in view.evaluator.objects(member.value) or [None])
            if maybe and not known and (Certainty.MAYBE in found or not seen) and view.is_located(call):
                yield member, call


def _by_function(view: FileView, planned: Planned, member: ast.Attribute, call: ast.Call) -> Changes:
    if view.is_deselected(_CODE, call) or isinstance(call.args[0], ast.Starred):
        return NOTHING
    source = view.source
    parts = (f"{_FUNCTION}(", source.span(member.value), ", ", source.span(call.args[0]), ")")
    try:
        changes = spelled(
            view, planned.naming.aliases, call, (Edit(source.span(call), "", _CODE, parts),), f"module.{member.attr}"
        )
    except Refused:
        return NOTHING
    written = view.conversion(_CODE, call, f"module.{member.attr}", _FUNCTION, "Module.load_state_dict")
    return changes._replace(conversions=(written,), handled=frozenset({member}))
