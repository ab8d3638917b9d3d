"""Names in new text are bound before they are read, on every path; what was no better before is no fault."""

from __future__ import annotations

import pytest
from paddletorch.gate.suspects import suspects

from .broken_edits import converted, found, said

USE = ("torch.zeros(3)", "paddle.zeros([3])")
IMPORT = ("import torch", "import paddle")


def unbound(*problems: tuple[str, str, set[int]]) -> list[tuple[str, str, set[int]]]:
    return [("SRC013", f"'{name}' is not bound {where}", lines) for name, where, lines in problems]


BROKEN = {
    "no import": ("import torch\nx = torch.zeros(3)\n", [USE], ("paddle", "there", {2})),
    "below": ("import torch\nx = torch.zeros(3)\nimport paddle\n", [USE], ("paddle", "there", {2})),
    "alias below": (
        "import torch\nx = torch.zeros(3)\nimport paddle as pd\n",
        [("torch.zeros(3)", "pd.zeros([3])")],
        ("pd", "there", {2}),
    ),
    "beside a name that is unbound anyway": (
        "import torch\nx = torch.add(nowhere, 1)\n",
        [("import torch\n", ""), ("torch.add(nowhere, 1)", "paddle.add(nowhere, 1)")],
        ("paddle", "there", {2}),
    ),
    "a name of new text beside one that is unbound anyway": (
        "import torch\nx = torch.chunk(nowhere, 1)\n",
        [IMPORT, ("torch.chunk(nowhere, 1)", "torch_chunk(nowhere, 1)")],
        ("torch_chunk", "there", {2}),
    ),
    "in try": (
        "import torch\ntry:\n    import a, paddle\nexcept ImportError:\n    pass\nx = torch.zeros(3)\n",
        [USE],
        ("paddle", "on every path", {6}),
    ),
    "for type checkers": (
        "import torch\nif TYPE_CHECKING:\n    import paddle\nx = torch.zeros(3)\n",
        [USE],
        ("paddle", "there", {4}),
    ),
    "if 0": ("import torch\nif 0:\n    import paddle\nx = torch.zeros(3)\n", [USE], ("paddle", "there", {4})),
    "main": (
        "import torch\nif __name__ == '__main__':\n    import paddle\ndef f():\n    return torch.zeros(3)\n",
        [USE],
        ("paddle", "on every path", {5}),
    ),
    "called before the import": (
        "import torch\ndef f():\n    return torch.zeros(3)\nf()\nimport paddle\n",
        [USE],
        ("paddle", "on every path", {3}),
    ),
    "local, below": (
        "import torch\ndef f():\n    x = torch.zeros(3)\n    import paddle\n",
        [("import torch", "import paddle"), USE],
        ("paddle", "there", {3}),
    ),
    "deleted": ("import torch\nimport paddle\ndel paddle\nx = torch.zeros(3)\n", [USE], ("paddle", "there", {4})),
    "imported in another branch": (
        "import torch\ndef f(c):\n    if c:\n        a = 1\n        torch.f()\n    torch.g()\n",
        [IMPORT, ("a = 1\n", "import torch\n")],
        ("torch", "on every path", {1}),
    ),
    "imported below": (
        "import torch\ndef f():\n    torch.f()\n    a = 1\n    torch.g()\n",
        [IMPORT, ("a = 1\n", "import torch\n")],
        ("torch", "there", {1}),
    ),
    "imported in a branch of an inner function": (
        "import torch\ndef f():\n    a = 1\n    def g(c):\n        if c:\n            b = 2\n        torch.g()\n",
        [IMPORT, ("a = 1\n", "import torch\n"), ("b = 2\n", "import torch\n")],
        ("torch", "on every path", {1}),
    ),
    "no framework at all": (
        "def f(a):\n    return a.max(dim=1)[0]\n",
        [("a.max(dim=1)[0]", "paddle.max(a, axis=1)")],
        ("paddle", "there", {2}),
    ),
    "another package": (
        "import torch\ny = 'nearest'\n",
        [("'nearest'", "torchvision.transforms.InterpolationMode.NEAREST")],
        ("torchvision", "there", {2}),
    ),
    "an import that is still needed": (
        "import torch\nx = torch.zeros(3)\ny = torch.foo\n",
        [IMPORT, USE],
        ("torch", "there", {1}),
    ),
    "a removed assignment": (
        "s = make()\nf(s)\n",
        [("s = make()", "pass")],
        ("s", "there", {1}),
    ),
    "a removed assignment, on one path": (
        "s = make()\nif a:\n    s = 1\nf(s)\n",
        [("s = make()", "pass")],
        ("s", "on every path", {1}),
    ),
    "an import that moves": (
        "import torch\ntry:\n    import a\nexcept ImportError:\n    pass\nx = torch.zeros(3)\n",
        [("import torch\n", ""), ("import a", "import a\n    import paddle"), USE],
        ("paddle", "on every path", {6}),
    ),
    "a decorator": (
        "import torch\n@torch.no_grad()\ndef f(): pass\n",
        [("torch.no", "paddle.no")],
        ("paddle", "there", {2}),
    ),
    "a default": (
        "import torch\ndef f(x=torch.zeros(3)):\n    pass\n",
        [USE],
        ("paddle", "there", {2}),
    ),
    "nothing in place of an import that fails": (
        "import a\nx = 1\ny = a.f()\n",
        [("import a", "try:\n    import a\nexcept ImportError:\n    pass")],
        ("a", "on every path", {1}),
    ),
    "something in place of an import, below": (
        "import a\nx = a.f()\ny = 2\n",
        [("import a", "pass"), ("y = 2", "try:\n    import a\nexcept ImportError:\n    a = None\ny = 2")],
        ("a", "there", {1}),
    ),
    "a class, below": (
        "x = str()\ny = 2\n",
        [("str()", "Made()"), ("y = 2", "class Made:\n    pass\ny = 2")],
        ("Made", "there", {1}),
    ),
    "a class above the import of its base": (
        "import paddle\nx = 1\n",
        [("", "class Made(paddle.nn.Layer):\n    def f(self):\n        return self\n\n")],
        ("paddle", "there", {1}),
    ),
    "a variable of a written function": (
        "x = 1\n",
        [("", "def made(c):\n    if c:\n        y = 1\n    return y\n\n")],
        ("y", "on every path", {1}),
    ),
    "a function in a class": (
        "class C:\n    k = 2\n    z = str(k)\n",
        [("str(k)", "list(map(lambda i: i + k, (1, 2)))")],
        ("k", "there", {3}),
    ),
}

SOUND = {
    "imported above in its function": (
        "import torch\ndef f(c):\n    a = 1\n    if c:\n        torch.f()\n    return [torch.g(x) for x in c]\n",
        [IMPORT, ("a = 1\n", "import torch\n")],
    ),
    "the import": ("import torch\nx = torch.zeros(3)\n", [IMPORT, USE]),
    "in a function": ("import torch\ndef f():\n    return torch.zeros(3)\n", [IMPORT, USE]),
    "a function above the import": ("def f():\n    return torch.zeros(3)\nimport torch\n", [IMPORT, USE]),
    "optional before and after": (
        "try:\n    import torch\nexcept ImportError:\n    pass\nx = torch.zeros(3)\n",
        [IMPORT, USE],
    ),
    "optional, beside another": (
        "try:\n    import a, torch\nexcept ImportError:\n    pass\nx = torch.zeros(3)\n",
        [("torch\nexcept", "paddle\nexcept"), USE],
    ),
    "unbound before": ("x = torch.zeros(3)\nimport torch\n", [IMPORT, USE]),
    "of a snippet": ("x = torch.zeros(3)\n", [USE]),
    "a star": ("from all import *\nx = torch.zeros(3)\n", [USE]),
    "a builtin": ("import torch\nx = torch.zeros(3)\n", [("torch.zeros(3)", "list(map(str, range(3)))")]),
    "a parameter": ("def f(a, b):\n    return a.to(b)\n", [("a.to(b)", "b.cast(a)")]),
    "a variable of new text": ("import torch\nx = torch.zeros(3)\n", [("torch.zeros(3)", "[k for k in (1, 2)]")]),
    "a lambda of new text": ("import torch\nx = torch.zeros(3)\n", [("torch.zeros(3)", "(lambda k: k + 1)(2)")]),
    "a keyword": ("import torch\nx = f(dim=1)\n", [("dim", "axis")]),
    "a name in a string": ("x = f()\n", [("f()", "'paddle'")]),
    "an annotation that is not evaluated": (
        "from __future__ import annotations\nif TYPE_CHECKING:\n    import torch\ndef f(x: torch.Tensor): pass\n",
        [IMPORT, ("torch.Tensor", "paddle.Tensor")],
    ),
    "a comment that names a codec": (
        "# coding: latin-1\nimport torch\nx = torch.zeros(3)\ns = '\u00e9'; y = 1\n",
        [IMPORT, USE],
    ),
    "no edits": ("x = nowhere\n", []),
}

AT_HAND = {
    "the body of a function that an import may stand for": (
        "import paddle\nfrom a import g\ndef g(x):\n    return torch.zeros(3)\ny = g(1)\n",
        [USE],
    ),
    "something in place of an import that fails": (
        "import a\nclass C(a.B): pass\n",
        [("import a", "try:\n    import a\nexcept ImportError:\n    a = None")],
    ),
    "something in place of an import, below others": (
        "import a\nimport b\nclass C(a.B): pass\n",
        [("import a\n", ""), ("class", "try:\n    import a\nexcept ImportError:\n    a = None\nclass")],
    ),
    "a class below imports": (
        "import torch\nx = torch.zeros(3)\n",
        [("import torch\n", "import paddle\nclass Made:\n    pass\n"), ("torch.zeros(3)", "Made(paddle.zeros([3]))")],
    ),
    "a class with a constructor": (
        "x = str(3)\n",
        [("", "class Made:\n    def __init__(self, size):\n        self.size = size\n\n"), ("str(3)", "Made(3)")],
    ),
    "a function in a method": (
        "class C:\n    def f(self, k):\n        return g(k)\n",
        [("g(k)", "list(map(lambda i: i + k, (1, 2)))")],
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_an_unbound_name_is_found(case: str) -> None:
    code, replaced, problem = BROKEN[case]
    assert said(code, *replaced) == unbound(problem)


@pytest.mark.parametrize("case", SOUND)
def test_what_is_bound_passes(case: str) -> None:
    code, replaced = SOUND[case]
    assert found(code, *replaced) == []


@pytest.mark.parametrize("case", AT_HAND)
def test_what_is_bound_at_hand_needs_no_scopes_of_the_new_text(case: str) -> None:
    code, replaced = AT_HAND[case]
    assert suspects(converted(code, *replaced)) == frozenset()
    assert found(code, *replaced) == []


def test_a_long_name_is_imported_before_more_on_its_line() -> None:
    """Whoever splits the name at any of its letters, to see whether the line could end there, is never done."""
    name = "a" * 200
    replaced = (("torch.f()", f"import paddle.{name}; paddle.g()"), ("torch.zeros(3)", "paddle.zeros([3])"))
    assert found("def f():\n    torch.f()\n    return torch.zeros(3)\n", *replaced) == []
