"""What every step of the evaluation knows of a file, and the steps that each may ask for."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from paddletorch.model import Framework
from paddletorch.resolve.evaluator.call_index import CallIndex
from paddletorch.resolve.evaluator.expressions import TENSOR, plain
from paddletorch.resolve.evaluator.narrowing import Guards
from paddletorch.resolve.evaluator.protocols import Outside, Types
from paddletorch.resolve.evaluator.worklist import Worklist
from paddletorch.resolve.scopes.bindings import Binding
from paddletorch.resolve.scopes.scopes import ScopeTree
from paddletorch.resolve.values import NOTHING, UNKNOWN, Instance, Qualified, Value, Values, container, tuple_of


class Facts(Worklist):
    """The file, the tables' types and the other files; ``Evaluator`` is all the steps together."""

    def __init__(
        self,
        tree: ScopeTree,
        roots: Sequence[Framework],
        types: Types,
        bare: Mapping[str, frozenset[str]],
        outside: Outside | None = None,
        *,
        closed: bool = True,
    ) -> None:
        """``roots``: the framework that the file is written for, and the other one.

        ``closed``: what calls in this file pass to a parameter says what it is; else others may pass more."""
        super().__init__()
        self.tree = tree
        self.bare = bare
        self._outside = outside
        self._closed = closed
        self._roots = frozenset(roots)
        self._home = roots[0]
        self._types = types
        self._makes = types.makes
        self._known: dict[ast.expr, Values] = {}
        self._reaching: dict[ast.Name, Sequence[Binding]] = {}
        self._guards = Guards(tree)
        self._handing: set[ast.AST] = set()
        """Functions whose results are being read for one call."""
        self.calls = CallIndex(tree)

    def _evaluate(self, node: ast.expr) -> Values:
        """What is known so far of what ``node`` can be."""
        raise NotImplementedError

    def _called(self, callee: Value, node: ast.Call | None) -> Values:
        """What calling ``callee`` gives; ``node`` is the call if it stands in this file."""
        raise NotImplementedError

    def _bound(self, bindings: Iterable[Binding]) -> Values:
        """What is known so far of what the bindings stand for."""
        raise NotImplementedError

    def _union(self, nodes: Iterable[ast.expr]) -> Values:
        found: Values = NOTHING
        for node in nodes:
            found |= self._evaluate(node)
        return found

    def _iterable(self, node: ast.expr) -> Values:
        """What is iterated over; a name such as ``train_loader`` tells where nothing else does."""
        found = self._evaluate(node)
        name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
        if found == UNKNOWN and self._closed and self._types.suggests("loader", name):
            return frozenset({Instance("loader", name)})
        return found


@lru_cache(maxsize=10_000)
def imported(name: str) -> Values:
    return frozenset({Qualified(name)})


def result_of(kind: str | None, api: str) -> Values:
    """What the tables mean by making ``kind``: an instance, tensors in a container, a number."""
    if kind == "tensors":
        return container(frozenset({Instance(TENSOR, api)}))
    if kind == "named_tensors":
        return container(tuple_of([plain("str"), frozenset({Instance(TENSOR, api)})]))
    if kind in ("int", "bool"):
        return plain(kind)
    return frozenset({Instance(kind, api)}) if kind else UNKNOWN
