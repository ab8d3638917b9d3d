"""On which paths a name is bound where it is read, held against what Python does where it can be run."""

from __future__ import annotations

import ast
import textwrap

import pytest
from paddletorch.resolve.scopes.definite_assignment import DefiniteAssignment
from paddletorch.resolve.scopes.flow import Bound
from paddletorch.resolve.scopes.scopes import ScopeTree


def bound(code: str, name: str = "m") -> Bound:
    """On which paths the last ``name`` that the code reads is bound."""
    tree = ScopeTree(ast.parse(textwrap.dedent(code)))
    load = max((n for n in tree.loads if n.id == name), key=lambda n: (n.lineno, n.col_offset))
    return DefiniteAssignment(tree, ("installed",)).of(load)


ALWAYS = {
    "above": "import m\nm.a",
    "in a function": "import m\ndef f():\n    return m.a",
    "below a function": "def f():\n    return m.a\nimport m\nf()",
    "a call that leads elsewhere": "def g(): pass\ndef f():\n    return m.a\ng()\nimport m",
    "a parameter": "def f(m):\n    return m.a",
    "a default": "import m\ndef f(x=m.a): pass",
    "a decorator": "import m\n@m.a\ndef f(): pass",
    "in a class": "import m\nclass A:\n    x = m.a",
    "in a method": "import m\nclass A:\n    def f(self):\n        return m.a",
    "of a class, or of the module": "import m\nclass A:\n    if x:\n        m = 1\n    y = m",
    "in all branches": "if a:\n    import m\nelse:\n    m = None\nm.a",
    "in the only branch that goes on": "if a:\n    import m\nelse:\n    raise ValueError\nm.a",
    "an end of the program": "import sys\nif a:\n    import m\nelse:\n    sys.exit(1)\nm.a",
    "an installed module": "try:\n    import installed.m as m\nexcept ImportError:\n    pass\nm.a",
    "an installed module, first": "try:\n    from installed import m\n    import n\nexcept ImportError:\n    pass\nm.a",
    "a fallback": "try:\n    import m\nexcept ImportError:\n    m = None\nm.a",
    "a handler that raises": "try:\n    import m\nexcept ImportError:\n    raise\nm.a",
    "finally": "try:\n    a\nfinally:\n    import m\nm.a",
    "in the handler itself": "try:\n    a\nexcept ValueError as m:\n    m.a",
    "a loop variable in the loop": "for m in a:\n    m.a",
    "an endless loop": "while True:\n    import m\n    if a:\n        break\nm.a",
    "else of a loop": "for x in a:\n    x\nelse:\n    import m\nm.a",
    "both ends of a loop": "for x in a:\n    import m\n    break\nelse:\n    import m\nm.a",
    "with": "with a as m:\n    m.a",
    "a walrus above": "if (m := a):\n    m.a",
    "a walrus in the statement": "x = (m := a) and m.a",
    "a comprehension": "x = [m for m in a]",
    "a lambda": "import m\nf = lambda: m.a",
    "a lambda's parameter": "f = lambda m: m.a",
    "a closure": "def f():\n    import m\n    def g():\n        return m.a",
    "global": "def f():\n    global m\n    import m\n    m.a",
    "another's variable of its name": "def g():\n    f = 1\n    return g(f)\ndef f():\n    m.a\ng()\nimport m",
    "never run": "if 0:\n    m.a\nimport m",
    "match": "match a:\n    case 1:\n        import m\n    case _:\n        m = 1\nm.a",
    "a pattern": "match a:\n    case [m]:\n        m.a",
}

SOMETIMES = {
    "one branch": "if a:\n    import m\nm.a",
    "a module that may be missing": "try:\n    import m\nexcept ImportError:\n    pass\nm.a",
    "below what may fail": "try:\n    import n\n    import installed.m as m\nexcept ImportError:\n    pass\nm.a",
    "suppress": "with suppress(ImportError):\n    import m\nm.a",
    "a loop": "for x in a:\n    import m\nm.a",
    "a loop that may end before": "while True:\n    if a:\n        break\n    import m\nm.a",
    "else of a loop that may be left": "for x in a:\n    if x:\n        break\nelse:\n    import m\nm.a",
    "main": "if __name__ == '__main__':\n    import m\ndef f():\n    return m.a",
    "called before": "def f():\n    return m.a\nf()\nimport m",
    "called before by another": "def f():\n    return m.a\ndef g():\n    f()\ng()\nimport m",
    "made before": "class A:\n    def __init__(self):\n        m.a\nA()\nimport m",
    "global elsewhere": "def f():\n    global m\n    import m\ndef g():\n    m.a",
    "a match that may not match": "match a:\n    case 1:\n        import m\nm.a",
    "deleted in a branch": "import m\nif a:\n    del m\nm.a",
    "deleted in a loop": "import m\nfor x in a:\n    m.a\n    del m",
}

NEVER = {
    "below": "m.a\nimport m",
    "for type checkers": "if TYPE_CHECKING:\n    import m\nm.a",
    "for type checkers, by module": "if typing.TYPE_CHECKING:\n    import m\nm.a",
    "if 0": "if 0:\n    import m\nm.a",
    "nowhere": "m.a",
    "deleted": "import m\ndel m\nm.a",
    "after its handler": "try:\n    a\nexcept ValueError as m:\n    raise\nm.a",
    "by an augmented assignment, which reads it": "while True:\n    m.a\n    m += 1",
    "local, below": "import m\ndef f():\n    m.a\n    import m",
    "elsewhere": "def f():\n    import m\ndef g():\n    m.a",
}


@pytest.mark.parametrize("case", ALWAYS)
def test_always_bound(case: str) -> None:
    assert bound(ALWAYS[case]) is Bound.ALWAYS


@pytest.mark.parametrize("case", SOMETIMES)
def test_bound_on_some_paths(case: str) -> None:
    assert bound(SOMETIMES[case]) is Bound.SOMETIMES


@pytest.mark.parametrize("case", NEVER)
def test_never_bound(case: str) -> None:
    assert bound(NEVER[case]) is Bound.NEVER
