"""How many axes the tensors of one file have, by the file itself or by what recorded runs saw."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.model import Ask
from paddletorch.plan.inference.called_values import CalledValues
from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Instance
from paddletorch.resolve.facts.ranks import Absent, Extent, RankRules


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

    def _seen(self, node: ast.expr) -> frozenset[int]:
        seen = self._view.seen(Ask.RANK, node)
        return frozenset(map(int, seen)) if all(answer.isdigit() for answer in seen) else frozenset()


def inputs_of_calls(view: FileView, api: str) -> Iterator[ast.expr]:
    """What the file's calls of objects that ``api`` makes pass first: ``x`` of ``self.loss(x, y)``."""
    for call in view.provide(CalledValues).of(Instance):
        if any(isinstance(v, Instance) and v.api == api for v in view.evaluator.values(call.func)):
            first = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg in _FIRST), None)
            if first is not None and not isinstance(first, ast.Starred):
                yield first


_FIRST = frozenset({"input", "x"})
"""What both frameworks call the first parameter of a layer's call."""
