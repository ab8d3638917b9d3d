"""That the promises' checks see what they are for: results that no engine made, each with one fault."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from paddletorch.model import Conversion, Diagnostic, FileResult, Options, Severity, Status

from . import reduce
from .campaign import Found, Tally
from .promises import PROMISES, Verdict, Violation, check_codec

USED = "import torch\n\nx = torch.zeros(3)\n"
WRONG: dict[str, tuple[str, str, str]] = {
    "used below a branch that ends": (
        "pyflakes knows every name",
        "import torch\nif a: raise b\nx = torch.zeros(3)\n",
        "if a: raise b\n\nx = paddle.zeros([3])\nimport paddle\n",
    ),
    "used below a loop that ends": (
        "pyflakes knows every name",
        "import torch\nwhile True: break\nx = torch.zeros(3)\n",
        "while True: break\n\nx = paddle.zeros([3])\nimport paddle\n",
    ),
    "imported twice for nothing": (
        "no import is for nothing",
        "import torch\nimport paddle\nx = torch.zeros(3), paddle.zeros([3])\n",
        "import paddle\nimport paddle.amp as amp\nx = paddle.zeros([3]), paddle.zeros([3])\n",
    ),
    "used before a late import": (
        "pyflakes knows every name",
        "import torch\nx = torch.zeros(3)\nimport paddle\n",
        "x = paddle.zeros([3])\nimport paddle\n",
    ),
    "used before a guarded import": (
        "names are bound on every path",
        "import torch\nx = torch.zeros(3)\ntry:\n    import paddle\nexcept ImportError:\n    pass\n",
        "x = paddle.zeros([3])\ntry:\n    import paddle\nexcept ImportError:\n    pass\n",
    ),
    "imported for type checkers only": (
        "names are bound on every path",
        "import torch\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import paddle\nx = torch.zeros(3)\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import paddle\nx = paddle.zeros([3])\n",
    ),
    "imported in the script only": (
        "names are bound on every path",
        "import torch\nif __name__ == '__main__':\n    import paddle\ndef f():\n    return torch.zeros(3)\n",
        "if __name__ == '__main__':\n    import paddle\ndef f():\n    return paddle.zeros([3])\n",
    ),
    "imported where the import before it fails": (
        "names are bound on every path",
        "try:\n    import torch\nexcept ImportError:\n    pass\nx = torch.zeros(3)\n",
        "try:\n    import torch\n    import paddle\nexcept ImportError:\n    pass\nx = paddle.zeros([3])\n",
    ),
    "called before its import": (
        "names are bound on every path",
        "import torch\ndef f():\n    return torch.zeros(3)\nf()\nimport paddle\n",
        "def f():\n    return paddle.zeros([3])\nf()\nimport paddle\n",
    ),
    "in a class that does not see the class around it": (
        "names are bound on every path",
        "import torch\nclass A:\n    class B:\n        x = torch.zeros(3)\n",
        "class A:\n    import paddle\n    class B:\n        x = paddle.zeros([3])\n",
    ),
    "a value moved below another branch": (
        "names are bound on every path",
        "import paddle\ns = S()\nif a:\n    o = A(s)\nelif b:\n    o = B(s)\n",
        "import torch\nif a:\n    o = A()\nelif b:\n    o = B(s)\ns = S(o)\n",
    ),
    "no import at all": (
        "pyflakes knows every name",
        "def f(a):\n    return a.max(dim=1)[0]\n",
        "def f(a):\n    return paddle.max(a, axis=1)\n",
    ),
    "deleted above a lambda that is called at once": (
        "pyflakes knows every name",
        "import torch\ndef f(x):\n    y = torch.max(x)\n    del x\n",
        "import paddle\ndef f(x):\n    del x; y = (lambda a: a + x)(1)\n",
    ),
    "deleted below a lambda that is called later": (
        "pyflakes knows every name",
        "import torch\ndef f(x):\n    y = torch.max(x)\n    del x\n",
        "import paddle\ndef f(x):\n    y = lambda a: a + x\n    del x\n",
    ),
    "a star that is gone": (
        "names are bound on every path",
        "from torch import *\nx = zeros(3)\ny = ones(3)\n",
        "import paddle\nx = paddle.zeros([3])\ny = ones(3)\n",
    ),
    "an import that is idle now": (
        "no import is for nothing",
        USED,
        "import torch\nimport paddle\nx = paddle.zeros([3])\n",
    ),
    "a hole as a set": ("no hole of a template is left", USED, "import paddle\nx = [1] * ({x}.ndim - 2)\n"),
    "a hole in a text": ("no hole of a template is left", USED, "import paddle\nx = paddle.zeros('{shape}')\n"),
    "a decorator that is left": (
        "decorators stay with their functions",
        "import torch\n@torch.jit.script\ndef f(x):\n    return torch.max(x)\n",
        "import paddle\nimport torch\n@torch.jit.script\ndef f(x):\n    return paddle.max(x)\n",
    ),
    "a pass beside a statement": ("no pass for nothing", USED, "import paddle\npass\nx = paddle.zeros([3])\n"),
    "a line of nobody": ("bytes outside edits stay", USED + "y = 1  # é\n", "import paddle\n\nx = 1\ny = 1  # e\n"),
    "a statement that is gone": ("statements outside edits stay", USED + "f(1)\n", "import paddle\n\nx = 1\n"),
    "what does not compile": ("the output compiles", USED, "import paddle\nx = paddle.zeros([3]\n"),
    "another line end": ("the layout stays", USED, "import paddle\r\nx = paddle.zeros([3])\n"),
    "a second run that finds more": ("a second run changes nothing", USED, "import torch\nx = torch.ones(3)\n"),
}
RIGHT = {
    "plain": (USED, "import paddle\n\nx = paddle.zeros([3])\n"),
    "guarded": (
        "try:\n    import torch\nexcept ImportError:\n    torch = None\nif torch:\n    x = torch.zeros(3)\n",
        "try:\n    import paddle\nexcept ImportError:\n    paddle = None\nif paddle:\n    x = paddle.zeros([3])\n",
    ),
    "in a function": (
        "def f():\n    import torch\n    return torch.zeros(3)\n",
        "def f():\n    import paddle\n    return paddle.zeros([3])\n",
    ),
    "in code that no path reaches": (
        "import torch\nraise SystemExit\nx = torch.zeros(3)\n",
        "raise SystemExit\n\nx = pd.zeros([3])\nimport paddle as pd\n",
    ),
    "below a loop without end": (
        "import torch\nwhile True: a()\nx = torch.zeros(3)\n",
        "while True: a()\n\nx = pd.zeros([3])\nimport paddle as pd\n",
    ),
    "in a function that imports it below": (
        "def f():\n    import torch as t\n    x = torch.zeros(3)\n    import torch\nimport torch\n",
        "def f():\n\n    x = paddle.zeros([3])\n    import paddle\n",
    ),
    "a star of which nothing is used": (
        "from torch.cuda import *\n\nscaler = GradScaler()\n",
        "from torch.cuda import *\nfrom paddle.amp import GradScaler\nscaler = GradScaler()\n",
    ),
    "a star that Python refuses binds no builtin": (
        "import torch\ndef f(): from paddle import *\nx = torch.zeros(3)\n",
        "import paddle\ndef f(): from paddle import *\nx = paddle.zeros([abs(3)])\n",
    ),
    "an import of the target that a nearer one hides": (
        "if a: import paddle\ndef f():\n    import torch; x = torch.zeros(3), paddle\n",
        "if a: import paddle\ndef f():\n    import paddle; x = paddle.zeros([3]), paddle\n",
    ),
    "an import of a module that another one gives a name": (
        "import torch\nimport os, torch as t\nx = t.zeros(3)\n",
        "import paddle\nimport paddle as t\nx = t.zeros([3])\n",
    ),
    "in a method, imported below": (
        "class C:\n    def f(self):\n        return torch.zeros(3)\nimport torch\n",
        "class C:\n    def f(self):\n        return paddle.zeros([3])\nimport paddle\n",
    ),
    "in a class that imports it too": (
        "import torch\nclass C:\n    x = torch.zeros(3)\n    import torch\n",
        "import paddle\nclass C:\n    x = paddle.zeros([3])\n    import paddle\n",
    ),
    "a lambda that only a loop makes": (
        "for a in b:\n    import torch\n    f = partial(torch.zeros, 3)\n",
        "for a in b:\n    import paddle\n    f = lambda: paddle.zeros([3])\n",
    ),
    "a lambda in a class that only a loop makes": (
        "for a in b:\n    import torch\n    class C: f = lambda self: torch.zeros(3)\n",
        "for a in b:\n    import paddle\n    class C: f = lambda self: paddle.zeros([3])\n",
    ),
    "a lambda that is called at once, above a deletion": (
        "import torch\ndef f(x):\n    y = torch.max(x)\n    del x\n",
        "import paddle\ndef f(x):\n    y = (lambda a: (lambda b: b + x)(a))(paddle.max(x))\n    del x\n",
    ),
    "a name that a function deletes without having it": (
        "import torch\nx = torch.zeros(3)\ndef f():\n  if TYPE_CHECKING:\n    del torch\n    torch()\n",
        "import paddle\nx = paddle.zeros([3])\ndef f():\n  if TYPE_CHECKING:\n    del torch\n    torch()\n",
    ),
    "a function that a written one calls by the name of its own parameter": (
        "import torch\ndef f(): return torch.zeros(x)\ng(f)\nx = 3\n",
        "import paddle\ndef h(f): return f()\ndef f(): return paddle.zeros([x])\nh(f)\nx = 3\n",
    ),
    "a class that reads what was unbound above it": (
        "import torch\nmodel = torch.as_tensor(model)\nclass G: loss = torch.abs(model)\n",
        "import paddle\n\nclass G: loss = paddle.abs(model)\n",
    ),
    "a comprehension in a function that is called": (
        "import torch\ndef f(n):\n    return torch.zeros(3)\nf(1)\n",
        "import paddle\ndef f(n):\n    return [paddle.zeros([i]) for i in n]\nf(1)\n",
    ),
    "a return outside of a function": (
        "import torch\n\nclass C: return torch.zeros(3)\n",
        "import paddle\n\nclass C: return paddle.zeros([3])\n",
    ),
    "a star": ("from torch import *\n\nx = zeros(3)\nprint(y)\n", "import paddle\n\nx = paddle.zeros([3])\nprint(y)\n"),
}


def made_up(source: str, output: str) -> FileResult:
    """A result that says that line 3 was converted."""
    conversion = Conversion("TEN101", "torch.zeros", "paddle.zeros", 3, 1)
    return FileResult("a.py", Status.CONVERTED, source.encode(), output.encode(), (conversion,))


def broken(result: FileResult, target: str = "paddle") -> set[str]:
    """The promises that a result breaks."""
    found = set()
    for promise, holds in PROMISES[result.status]:
        try:
            holds(result, Options("torch" if target == "torch" else "paddle"))
        except AssertionError:
            found.add(promise)
    return found


@pytest.mark.parametrize(("promise", "source", "output"), WRONG.values(), ids=WRONG)
def test_a_fault_is_seen(promise: str, source: str, output: str) -> None:
    target = "torch" if source.startswith("import paddle") else "paddle"
    assert promise in broken(made_up(source, output), target)


@pytest.mark.parametrize(("source", "output"), RIGHT.values(), ids=RIGHT)
def test_what_is_right_breaks_nothing(source: str, output: str) -> None:
    assert not broken(made_up(source, output))


def test_a_codec_that_does_not_give_back_its_bytes() -> None:
    source = b"# coding: utf-7\nimport torch\nx = torch.zeros(3)  # +AGEAYg-\n"
    result = replace(made_up("", ""), source=source, output=source.replace(b"torch", b"paddle"))
    with pytest.raises(AssertionError, match="utf-7 does not round-trip"):
        check_codec(result, Options("paddle"))


def test_a_refusal_that_is_not_true() -> None:
    refusal = Diagnostic("SRC002", "cannot be decoded", 0, 1, 0, 1, Severity.ERROR)
    result = replace(made_up(USED, USED), status=Status.FAILED, conversions=(), diagnostics=(refusal,))
    assert broken(result) == {"a refusal is true"}


def test_a_case_is_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    def judged(data: bytes, options: Options) -> Verdict:
        return Verdict(None, (Violation("it", "is there"),) if b"needle(" in data else ())

    monkeypatch.setattr(reduce, "judge", judged)
    around = [b"y%d = %d\n" % (i, i) for i in range(40)]
    source = b"".join([*around, b"def f():\n    if x:\n        z = needle(1, 2)\n", *around])
    small = reduce.reduced(source, Options("paddle", unsafe=True, select=("AMP",)), "it")
    assert small == (b"needle(", Options("paddle"), "is there")


def test_the_time_for_making_cases_small_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    def judged(data: bytes, options: Options) -> Verdict:
        time.sleep(0.05)
        return Verdict(None, (Violation("it", "is there"),) if b"needle" in data else ())

    monkeypatch.setattr(reduce, "judge", judged)
    source = b"".join(b"needle%d = %d\n" % (i, i) for i in range(400))
    tally = Tally(found=[Found("it", "is there", source + b"#" * n, Options("paddle")) for n in range(3)])
    began = time.perf_counter()
    assert b"needle" in tally.shown(seconds=1.0).encode()
    assert time.perf_counter() - began < 5
