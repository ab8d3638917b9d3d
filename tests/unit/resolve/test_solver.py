"""The fixpoint solver by itself: variables by hand, whose rules read each other."""

from __future__ import annotations

import ast
from collections.abc import Callable

from paddletorch.resolve.evaluator.solver import Solver
from paddletorch.resolve.values import NOTHING, UNKNOWN, Value, Values, foreign, qualified

Rules = dict[str, Callable[[], Values]]


def solver_of(rules: Rules, computed: list[str]) -> Solver[Value]:
    """A solver for names: the value of a name is that of its rule; ``computed`` collects the names in order."""

    def compute(node: ast.expr) -> Values:
        assert isinstance(node, ast.Name)
        computed.append(node.id)
        return solver.variable(node.id, rules[node.id])

    solver: Solver[Value] = Solver({}, UNKNOWN, compute)
    return solver


def names(*identifiers: str) -> list[ast.Name]:
    return [ast.Name(identifier, ast.Load()) for identifier in identifiers]


def test_variables_that_read_each_other_have_all_values_of_both() -> None:
    a, b = names("a", "b")
    rules: Rules = {
        "a": lambda: solver.evaluate(b) | qualified("torch.nn"),
        "b": lambda: solver.evaluate(a) | qualified("torch.optim"),
    }
    solver = solver_of(rules, [])
    assert solver.solved(a) == solver.solved(b) == qualified("torch.nn") | qualified("torch.optim")


def test_a_variable_of_nothing_but_itself_is_unknown() -> None:
    (a,) = names("a")
    solver = solver_of({"a": lambda: solver.evaluate(a)}, [])
    assert solver.evaluate(a) == NOTHING
    assert solver.solved(a) == UNKNOWN


def test_a_variable_that_changes_without_end_is_unknown() -> None:
    (a,) = names("a")
    count = iter(range(10_000))

    def rule() -> Values:
        solver.evaluate(a)
        return foreign(str(next(count)))

    solver = solver_of({"a": rule}, [])
    assert solver.solved(a) == UNKNOWN
    assert next(count) < 100


def test_what_cannot_change_any_more_is_computed_once() -> None:
    computed: list[str] = []
    a, b = names("a", "b")
    rules: Rules = {"a": lambda: solver.evaluate(b), "b": lambda: qualified("torch.nn")}
    solver = solver_of(rules, computed)
    assert solver.solved(a) == qualified("torch.nn")
    computed.clear()
    for _ in range(3):
        assert solver.solved(a) == solver.solved(b) == qualified("torch.nn")
    assert computed == ["b"]
