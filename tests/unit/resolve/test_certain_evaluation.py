"""What every path below a statement evaluates, held against what Python does on the path without the name."""

from __future__ import annotations

import ast
import textwrap
from contextlib import suppress

import pytest
from paddletorch.resolve import ScopeTree, evaluated_below

READ = {
    "returned": "return m, 1",
    "after another call": "g()\nreturn m",
    "in a condition": "if m: pass",
    "in both branches": "if g():\n    m.a\nelse:\n    return m",
    "in a loop": "for i in [1]:\n    for j in [1]:\n        m.a",
    "after a loop that ends early": "for i in [1]:\n    break\nm.a",
    "in a block": "with open('/dev/null'):\n    m.a",
    "interrupted": "try:\n    m.a\nexcept KeyboardInterrupt:\n    pass",
    "in the end": "try:\n    g()\nfinally:\n    m.a",
    "in the handler too": "try:\n    m.a\nexcept Exception:\n    m.b",
    "in every case": "match g():\n    case 1:\n        m.a\n    case _:\n        m.b",
    "of a decorator": "@m\ndef h(): pass",
    "over it": "[i for i in m]",
}
NOT_READ = {
    "nothing": "g()",
    "one branch": "if g():\n    m.a",
    "returned before": "if not g():\n    return\nm.a",
    "an error before": "if not g():\n    raise KeyError\nm.a",
    "the program's end before": "import sys\nif not g():\n    sys.exit()\nm.a",
    "a function": "def h():\n    return m.a",
    "a lambda": "h = lambda: m.a",
    "another operand": "g() and m.a",
    "one value": "m.a if g() else 1",
    "an element": "[m.a for i in ()]",
    "caught": "try:\n    m.a\nexcept Exception:\n    pass",
    "one case": "match g():\n    case 1:\n        m.a",
    "a break": "for i in [1]:\n    if not g():\n        break\n    m.a",
}


def function(body: str) -> str:
    """A function in which ``m`` is bound on one path."""
    return f"def f(c=False):\n    if c:\n        m = 1\n{textwrap.indent(body, '    ')}\n"


def read_below(code: str) -> bool:
    tree = ScopeTree(ast.parse(code))
    binding = next(s for s in ast.walk(tree.module) if isinstance(s, ast.If))
    return evaluated_below(tree.parents, binding, lambda node: isinstance(node, ast.Name) and node.id == "m")


@pytest.mark.parametrize("body", READ.values(), ids=READ)
def test_what_is_read_on_every_path_fails_without_the_name(body: str) -> None:
    code = function(body)
    assert read_below(code)
    names: dict[str, object] = {"g": lambda: False}
    exec(code, names)
    with pytest.raises(UnboundLocalError):
        names["f"]()  # type: ignore[operator]


@pytest.mark.parametrize("body", NOT_READ.values(), ids=NOT_READ)
def test_what_some_path_does_not_read_goes_on_without_the_name(body: str) -> None:
    code = function(body)
    assert not read_below(code)
    names: dict[str, object] = {"g": lambda: False}
    exec(code, names)
    with suppress(KeyError, SystemExit):
        names["f"]()  # type: ignore[operator]


def test_the_block_goes_on_around_a_with_but_not_around_a_try() -> None:
    body = "\n        if c:\n            m = 1\n"
    assert read_below(f"def f(c, d):\n    with d:{body}    m.a\n")
    assert not read_below(f"def f(c, d):\n    try:{body}    except ValueError:\n        raise\n    m.a\n")
