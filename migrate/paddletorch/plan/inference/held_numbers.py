"""Negative integers that may be among the elements of a tensor: labels of -100, which losses ignore."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Binding, Instance
from paddletorch.resolve.facts.flow import Flow, Held
from paddletorch.resolve.values import Local

_Facts = frozenset["int | Held[int]"]
_NO_NUMBERS: frozenset[int] = frozenset()


class HeldNumbers:
    """A fact of values: the negative integers that the program writes into them, as far as it is seen.

    Nothing known is 0, which no program ignores in silence.
    """

    unknown = 0
    integer = 0

    def __init__(self, view: FileView) -> None:
        self._view = view
        self._flow: Flow[int] = Flow(view.evaluator, self, recorded=True)

    def may_be_in(self, node: ast.expr, number: int) -> bool:
        """Whether the number is seen to come into the tensor."""
        return number in _numbers(self._flow.of(node))

    # the rules of the fact ---------------------------------------------------------------------------

    def constant(self, _node: ast.Constant) -> frozenset[int]:
        return _NO_NUMBERS

    def operator(self, node: ast.BinOp | ast.UnaryOp | ast.Compare) -> frozenset[int]:
        if isinstance(node, ast.Compare):
            return _NO_NUMBERS
        if isinstance(node, ast.BinOp):
            return self._of((node.left, node.right))
        number = node.operand.value if isinstance(node.operand, ast.Constant) else None
        if isinstance(node.op, ast.USub) and type(number) is int:
            return frozenset({-number})
        return self._of((node.operand,))

    def call(self, node: ast.Call) -> _Facts | None:
        """Of a framework's function: what is in the object and the arguments is in the result."""
        if any(isinstance(value, Local) for value in self._view.evaluator.values(node.func)):
            return None
        owner = (node.func.value,) if isinstance(node.func, ast.Attribute) else ()
        found: _Facts = self._of((*owner, *node.args, *(keyword.value for keyword in node.keywords)))
        return found

    def attribute(self, node: ast.Attribute) -> _Facts | None:
        evaluator = self._view.evaluator
        stored = evaluator.class_of_self(node) is not None or any(
            isinstance(value, Instance) and value.node is not None for value in evaluator.values(node.value)
        )
        return None if stored else frozenset(self._of((node.value,)))

    def augmented(self, before: _Facts, node: ast.AugAssign) -> frozenset[int]:
        return _numbers(before) | self._of((node.value,))

    def subscript(self, _node: ast.Subscript, fact: int) -> frozenset[int]:
        return frozenset({fact})

    def element(self, fact: int) -> frozenset[int]:
        return frozenset({fact})

    def annotated(self, _annotation: ast.expr) -> frozenset[int]:
        return _NO_NUMBERS

    def seen(self, node: ast.expr, found: _Facts) -> _Facts:
        """With what is written into a variable: ``labels[hidden] = -100``, ``labels.masked_fill_(hidden, -100)``."""
        if not isinstance(node, ast.Name):
            return found
        written = (value for b in self._view.evaluator.reaching(node) for value in self._written.get(b, ()))
        return found | self._of(written)

    def _of(self, nodes: Iterable[ast.expr]) -> frozenset[int]:
        return frozenset(number for node in nodes for number in _numbers(self._flow.evaluate(node)))

    @property
    def _written(self) -> dict[Binding, list[ast.expr]]:
        return self._view.provide(_written_values)


def _written_values(view: FileView) -> dict[Binding, list[ast.expr]]:
    """What is written into the tensors that variables hold, by the binding."""
    found: dict[Binding, list[ast.expr]] = {}
    for name, values in _writes(view):
        for binding in view.evaluator.reaching(name):
            found.setdefault(binding, []).extend(values)
    return found


def _writes(view: FileView) -> Iterator[tuple[ast.Name, list[ast.expr]]]:
    for node in view.tree.subscripts:
        statement = view.parent(node)
        if isinstance(node.value, ast.Name) and isinstance(node.ctx, ast.Store) and isinstance(statement, ast.Assign):
            yield node.value, [statement.value]
    for call in view.tree.calls_of(*(name for name in view.tree.calls_by_name if name.endswith("_"))):
        if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
            yield call.func.value, [*call.args, *(keyword.value for keyword in call.keywords)]


def _numbers(facts: Iterable[int | Held[int]]) -> frozenset[int]:
    found: set[int] = set()
    for one in facts:
        found |= _numbers(one.elements) if isinstance(one, Held) else {one}
    return frozenset(found)
