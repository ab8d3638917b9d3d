"""How many axes the tensors of one file have, by the file itself or by what recorded runs saw."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.model import Ask
from paddletorch.plan.inference.called_values import CalledValues
from paddletorch.plan.model.view import FileView
from paddletorch.resolve.facts.flow import Held
from paddletorch.resolve.facts.ranks import Absent, Extent, Fact, Number, RankRules


class Ranks:
    """The numbers of axes of one file's tensors."""

    def __init__(self, view: FileView) -> None:
        self._view = view
        recorded = view.evidence is not None and bool(view.evidence.seen)
        self._flow = RankRules(view.evaluator, self._seen if recorded else None).flow

    def of(self, node: ast.expr) -> frozenset[int]:
        """The numbers of axes that the tensor ``node`` can have; empty if they are not known, or it is no tensor."""
        found: set[int] = set()
        for one in self._flow.of(node):
            if isinstance(one, Absent):
                continue
            if not isinstance(one, Extent) or one.sizes is None:
                return frozenset()
            found.add(len(one.sizes))
        return frozenset(found)

    def have_several_elements(self, node: ast.expr) -> bool:
        """Whether the tensor certainly has more than one element; False if that is unknown."""
        return all(isinstance(one, Extent) and one.has_several for one in self._flow.of(node))

    def axis_counts(self, node: ast.expr) -> frozenset[int]:
        """How many axes a number, a sequence or None names; empty if that is not known."""
        found = {_count(one) for one in self._flow.of(node)}
        return frozenset() if None in found else frozenset(one for one in found if one is not None)

    def _seen(self, node: ast.expr) -> frozenset[int]:
        seen = self._view.seen(Ask.RANK, node)
        return frozenset(map(int, seen)) if all(answer.isdigit() for answer in seen) else frozenset()


def _count(fact: Extent | Number | Absent | Held[Fact]) -> int | None:
    if isinstance(fact, Held):
        return len(fact.parts) or None
    return {Number: 1, Absent: 0}.get(type(fact))


def inputs_of_calls(view: FileView, made: ast.Call, place: int = 0) -> Iterator[ast.expr]:
    """What the file's calls of the object that ``made`` makes pass at a place: ``x`` of ``self.loss(x, y)``."""
    api = view.qualified(made.func)
    for call in view.provide(CalledValues).of_object(made, api) if api is not None else ():
        named = (k.value for k in call.keywords if k.arg in _NAMES[place])
        given = call.args[place] if len(call.args) > place else next(named, None)
        if given is not None and not any(isinstance(a, ast.Starred) for a in call.args[: place + 1]):
            yield given


_NAMES = (frozenset({"input", "x"}), frozenset({"target", "label"}))
"""What both frameworks call the first parameters of a layer's call."""
