"""Where else a variable holds what a recorded run saw at one of its uses."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from paddletorch.model.questions import Ask, Evidence, Question, place_of
from paddletorch.resolve.scopes.bindings import Binding, Scope
from paddletorch.resolve.scopes.certain_evaluation import evaluated_always
from paddletorch.resolve.scopes.reaching import ReachingDefinitions
from paddletorch.resolve.scopes.scopes import ScopeTree

_SIMPLE = (ast.Expr, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Raise, ast.Assert)


class RecordedVariables:
    """Carries a type from one use of a local variable to those that run only after it, with the same value."""

    def __init__(self, tree: ScopeTree, reaching: ReachingDefinitions, evidence: Evidence) -> None:
        self._tree = tree
        self._reaching = reaching
        self._evidence = evidence

    def types(self, load: ast.Name) -> frozenset[str]:
        """The answers about earlier uses of the value, of which every path to ``load`` has one; empty without."""
        scope = self._tree.scopes.get(load)
        others = self._answered.get((scope, load.id)) if scope is not None else None
        binding = self._binding(load) if others else None
        if not others or binding is None:
            return frozenset()
        answered = {
            other: types for other, types in others.items() if other is not load and self._binding(other) is binding
        }
        for statements in self._before(load):
            if evaluated_always(statements, answered.__contains__, or_left=True):
                return frozenset().union(*answered.values())
        own = self._tree.statement(load)
        first = {other: types for other, types in answered.items() if _ends_before(other, load)}
        if isinstance(own, _SIMPLE) and evaluated_always([own], first.__contains__):
            return frozenset().union(*first.values())
        return frozenset()

    @cached_property
    def _answered(self) -> dict[tuple[Scope, str], dict[ast.Name, frozenset[str]]]:
        """The uses with answers, by the scope and name of the variable."""
        found: dict[tuple[Scope, str], dict[ast.Name, frozenset[str]]] = {}
        for load in self._tree.loads if self._evidence.seen else ():
            if types := self._evidence.answers(Question(Ask.TYPE, place_of(load))):
                found.setdefault((self._tree.scopes[load], load.id), {})[load] = types
        return found

    def _binding(self, load: ast.Name) -> Binding | None:
        scope = self._tree.scopes.get(load)
        bindings = scope.lookup(load.id) if scope is not None else ()
        if len(bindings) < 2:
            return bindings[0] if bindings else None
        if any(binding.kind == "augment" for binding in bindings):
            return None  # a number may become a tensor
        return self._reaching.of(load, bindings).only()

    def _before(self, node: ast.AST) -> Iterator[list[ast.stmt]]:
        """The statements before the one that holds ``node``, in each block around it that the function has."""
        current: ast.AST | None = self._tree.statement(node)
        while current is not None and not isinstance(current, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            parent = self._tree.parents.get(current)
            for _, block in ast.iter_fields(parent) if parent is not None else ():
                if isinstance(block, list) and current in block:
                    yield block[: block.index(current)]
            current = parent


def _ends_before(one: ast.Name, other: ast.Name) -> bool:
    return (one.end_lineno, one.end_col_offset) <= (other.lineno, other.col_offset)
