"""Reaching definitions: which bindings of a name can be the one that a use reads."""

from __future__ import annotations

import ast
from textwrap import indent

import pytest
from paddletorch.resolve.scopes.reaching import ReachingDefinitions
from paddletorch.resolve.scopes.scopes import ScopeTree


def reached(body: str) -> list[int]:
    """The lines of the bindings of ``p`` that its last read can mean, from 1 in ``body``."""
    tree = ScopeTree(ast.parse("def f(m, x):\n" + indent(body, "    ")))
    load = max(tree.names["p"], key=lambda one: one.lineno)
    found = ReachingDefinitions(tree).of(load, tree.scopes[load].lookup("p"))
    return [one.node.lineno - 1 for one in found]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("p = 1\nwith m:\n    p = 2\nreturn p", [3]),
        ("p = 1\nwith m, x as y:\n    with x:\n        p = 2\nreturn p", [4]),
        ("p = 1\nwith m as p:\n    x()\nreturn p", [2]),
        ("for p in m:\n    pass\nwith x:\n    p = 2\nreturn p", [4]),
        ("p = 1\nwith suppress(ValueError):\n    p = 2\nreturn p", [1, 3]),
        ("p = 1\nwith m:\n    if x:\n        p = 2\nreturn p", [1, 4]),
        ("p = 1\nif x:\n    with m:\n        p = 2\nreturn p", [1, 4]),
        ("p = 1\nfor y in x:\n    with m:\n        p = 2\nreturn p", [1, 4]),
        ("p = 1\ntry:\n    with m:\n        p = 2\nexcept ValueError:\n    pass\nreturn p", [1, 4]),
    ],
)
def test_what_stands_in_a_with_statement_has_run_behind_it(body: str, lines: list[int]) -> None:
    assert reached(body) == lines
