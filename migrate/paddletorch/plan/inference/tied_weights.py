"""Statements that tie a linear layer's weight to an embedding's: ``self.head.weight = self.embed.weight``.

The two have the same layout in torch, ``[out, in]``. In Paddle a linear layer's is ``[in, out]``.
"""

from __future__ import annotations

import ast
from functools import cached_property
from typing import NamedTuple

from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.dotted_path import path_of
from paddletorch.plan.syntax.side_effects import is_pure
from paddletorch.resolve import Instance, NoneValue, Unknown
from paddletorch.resolve.values import Values


class Tie(NamedTuple):
    """One such statement: the layers, and whether the linear layer's weight is the one that both have from then on."""

    statement: ast.Assign
    linear: ast.expr
    embedding: ast.expr
    from_linear: bool
    has_bias: bool


class TiedWeights:
    """The statements of one file that tie the weight of a linear layer."""

    def __init__(self, view: FileView) -> None:
        self._view = view

    @cached_property
    def ties(self) -> tuple[Tie, ...]:
        """Each such statement."""
        stores = (n for n in self._view.tree.members.get("weight", ()) if isinstance(n.ctx, ast.Store))
        return tuple(tie for store in stores if (tie := self._tie(store)) is not None)

    def holds(self, layer: ast.expr) -> bool:
        """Whether the weight of the layer that a variable or an attribute holds is tied somewhere in the file."""
        return any(self._is_one(tie.linear, layer) for tie in self.ties)

    def _is_one(self, tied: ast.expr, layer: ast.expr) -> bool:
        if isinstance(tied, ast.Attribute) and isinstance(layer, ast.Attribute):
            return tied in self._view.evaluator.same_attribute(layer)
        if not isinstance(tied, ast.Name) or not isinstance(layer, ast.Name):
            return False
        return not set(self._view.evaluator.reaching(tied)).isdisjoint(self._view.evaluator.reaching(layer))

    def _tie(self, store: ast.Attribute) -> Tie | None:
        statement = self._view.parent(store)
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        value = statement.value
        if not isinstance(value, ast.Attribute) or value.attr != "weight":
            return None
        left, right = store.value, value.value
        if not (is_pure(left) and is_pure(right)):
            return None
        if self._is_linear(left) and self._is_embedding(right):
            return Tie(statement, left, right, False, self._has_bias(left))
        if self._is_linear(right) and self._is_embedding(left):
            return Tie(statement, right, left, True, self._has_bias(right))
        return None

    def _values(self, node: ast.expr) -> Values:
        return frozenset(v for v in self._view.evaluator.objects(node) if not isinstance(v, NoneValue))

    def _is_linear(self, node: ast.expr) -> bool:
        values = self._values(node)
        return bool(values) and all(
            isinstance(v, Instance) and v.type == "linear" and "forward" not in v.overrides for v in values
        )

    def _is_embedding(self, node: ast.expr) -> bool:
        """Whether it is an embedding; one that the file does not show has the usual name of one."""
        values = self._values(node)
        if values and all(isinstance(v, Instance) and v.type == "embedding" for v in values):
            return True
        unknown = all(isinstance(v, Unknown) or (isinstance(v, Instance) and v.type == "module") for v in values)
        return unknown and self._view.settings.table.suggests("embedding", path_of(node).rpartition(".")[2])

    def _has_bias(self, node: ast.expr) -> bool:
        """Whether the layer may have a bias, as far as the calls show that make it."""
        made = [s.value for s in self._view.evaluator.stores_of(node)] if isinstance(node, ast.Attribute) else []
        return not made or not all(isinstance(m, ast.Call) and _without_bias(m) for m in made)


def _without_bias(call: ast.Call) -> bool:
    given = [k.value for k in call.keywords if k.arg == "bias"] or call.args[2:3]
    return bool(given) and isinstance(given[0], ast.Constant) and given[0].value is False
