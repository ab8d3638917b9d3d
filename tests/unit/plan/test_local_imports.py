"""An import that stays goes into the functions that use it, where the module then loads without the source."""

from __future__ import annotations

import pytest
from paddletorch.engine.engine import Engine
from paddletorch.model import Options

ENGINE = Engine(Options(target="torch"))
START = "import paddle\nfrom paddle.geometric import unknown_sum\n\n\nx = paddle.zeros([2])\n"

BODIES = {
    "the branch that uses it": (
        "def f(flag):\n    if flag:\n        y = 1\n        return unknown_sum(y)\n    return 2\n",
        "def f(flag):\n    if flag:\n        y = 1\n        from paddle.geometric import unknown_sum\n"
        "        return unknown_sum(y)\n    return 2\n",
    ),
    "two of three branches": (
        "def f(flag):\n    if flag:\n        y = unknown_sum(1)\n    elif flag is None:\n        y = 1\n"
        "    else:\n        y = unknown_sum(2)\n",
        "def f(flag):\n    if flag:\n        from paddle.geometric import unknown_sum\n        y = unknown_sum(1)\n"
        "    elif flag is None:\n        y = 1\n"
        "    else:\n        from paddle.geometric import unknown_sum\n        y = unknown_sum(2)\n",
    ),
    "above all branches, once": (
        "def f(flag):\n    y = 1\n    if flag:\n        y = unknown_sum(y)\n    elif flag is None:\n"
        "        y = unknown_sum(2)\n    else:\n        y = unknown_sum(3)\n",
        "def f(flag):\n    y = 1\n    from paddle.geometric import unknown_sum\n"
        "    if flag:\n        y = unknown_sum(y)\n    elif flag is None:\n"
        "        y = unknown_sum(2)\n    else:\n        y = unknown_sum(3)\n",
    ),
    "in a branch of a loop": (
        "def f(rows):\n    for row in rows:\n        if row:\n            row = unknown_sum(row)\n",
        "def f(rows):\n    for row in rows:\n        if row:\n            from paddle.geometric import unknown_sum\n"
        "            row = unknown_sum(row)\n",
    ),
    "above the outermost loop": (
        "def f(rows):\n    y = 1\n    for row in rows:\n        while row:\n            y += unknown_sum(row)\n"
        "    return y\n",
        "def f(rows):\n    y = 1\n    from paddle.geometric import unknown_sum\n    for row in rows:\n"
        "        while row:\n            y += unknown_sum(row)\n    return y\n",
    ),
    "above a branch that uses it too": (
        "def f(flag):\n    y = unknown_sum(1)\n    if flag:\n        y = unknown_sum(y)\n    return y\n",
        "def f(flag):\n    from paddle.geometric import unknown_sum\n"
        "    y = unknown_sum(1)\n    if flag:\n        y = unknown_sum(y)\n    return y\n",
    ),
    "above many branches": (
        "def f(n):\n" + "".join(f"    if n == {n}:\n        n = unknown_sum(n)\n" for n in range(4)),
        "def f(n):\n    from paddle.geometric import unknown_sum\n"
        + "".join(f"    if n == {n}:\n        n = unknown_sum(n)\n" for n in range(4)),
    ),
    "above an elif": (
        "def f(flag):\n    if flag:\n        y = 1\n    elif unknown_sum(flag):\n        y = 2\n",
        "def f(flag):\n    from paddle.geometric import unknown_sum\n"
        "    if flag:\n        y = 1\n    elif unknown_sum(flag):\n        y = 2\n",
    ),
    "in an elif": (
        "def f(flag):\n    if flag:\n        y = 1\n    elif flag is None:\n        y = unknown_sum(2)\n",
        "def f(flag):\n    if flag:\n        y = 1\n    elif flag is None:\n"
        "        from paddle.geometric import unknown_sum\n        y = unknown_sum(2)\n",
    ),
    "each function, also one in another": (
        "def f():\n    def g():\n        return unknown_sum(1)\n    return g, [unknown_sum(n) for n in range(2)]\n",
        "def f():\n    def g():\n        from paddle.geometric import unknown_sum\n        return unknown_sum(1)\n"
        "    from paddle.geometric import unknown_sum\n    return g, [unknown_sum(n) for n in range(2)]\n",
    ),
    "above a class in a function": (
        "def f():\n    class A(unknown_sum):\n        pass\n    return A\n",
        "def f():\n    from paddle.geometric import unknown_sum\n"
        "    class A(unknown_sum):\n        pass\n    return A\n",
    ),
    "a branch of the module": (
        "if x.any():\n    y = unknown_sum(1)\n",
        "if x.any():\n    from paddle.geometric import unknown_sum\n    y = unknown_sum(1)\n",
    ),
    "one line": (
        "def f(): return unknown_sum(1)\n",
        "def f(): from paddle.geometric import unknown_sum; return unknown_sum(1)\n",
    ),
    "decorator": (
        "def f():\n    @unknown_sum\n    def g():\n        return 1\n    return g\n",
        "def f():\n    from paddle.geometric import unknown_sum\n    @unknown_sum\n    def g():\n        return 1\n"
        "    return g\n",
    ),
}

KEPT = {
    "default": "def f(g=unknown_sum):\n    return g(unknown_sum(1))\n",
    "table": "TABLE = {1: [unknown_sum]}\n",
    "dict": "TABLE = dict(total=unknown_sum)\n\n\ndef f():\n    return unknown_sum(1)\n",
}

STAYS = {
    "default of a call": "def f(g=unknown_sum(1)):\n    return g(unknown_sum(1))\n",
    "class": "class A:\n    total = unknown_sum\n\n    def f(self):\n        return unknown_sum(1)\n",
    "decorator": "@unknown_sum\ndef f():\n    return unknown_sum(1)\n",
    "module": "y = unknown_sum(1)\n",
    "exported": '__all__ = ["unknown_sum"]\n\n\ndef f():\n    return unknown_sum(1)\n',
}


@pytest.mark.parametrize(("body", "wanted"), BODIES.values(), ids=BODIES.keys())
def test_the_import_moves_to(body: str, wanted: str) -> None:
    first = ENGINE.convert((START + body).encode(), "a.py").output.decode()
    assert first == "import torch\n\n\nx = torch.zeros([2])\n" + wanted
    assert ENGINE.convert(first.encode(), "a.py").output.decode() == first
    compile(first, "a.py", "exec")


@pytest.mark.parametrize("body", STAYS.values(), ids=STAYS.keys())
def test_the_import_stays(body: str) -> None:
    assert (
        "\nfrom paddle.geometric import unknown_sum\n"
        in ENGINE.convert((START + body).encode(), "a.py").output.decode()
    )


def test_it_moves_where_nothing_converts_too() -> None:
    code = b"from paddle import inference\n\n\ndef f():\n    return inference.Config()\n"
    wanted = "\n\ndef f():\n    from paddle import inference\n    return inference.Config()\n"
    assert ENGINE.convert(code, "a.py").output.decode() == wanted


def test_a_name_that_is_imported_twice_moves_once() -> None:
    code = "import torch\nfrom torch import nn\nfrom torch import nn, Tensor\n\n\n"
    code += "def f(x: Tensor):\n    return nn.FractionalMaxPool3d(2)(x)\n"
    wanted = "import paddle\nfrom paddle import Tensor\n\n\ndef f(x: Tensor):\n    from torch import nn\n"
    wanted += "    return nn.FractionalMaxPool3d(2)(x)\n"
    assert Engine(Options("paddle")).convert(code.encode(), "a.py").output.decode() == wanted


def test_it_moves_where_the_tables_know_no_use() -> None:
    code = b"from paddle.geometric import unknown_sum\n\n\ndef f():\n    return unknown_sum(1)\n"
    wanted = "\n\ndef f():\n    from paddle.geometric import unknown_sum\n    return unknown_sum(1)\n"
    assert ENGINE.convert(code, "a.py").output.decode() == wanted


@pytest.mark.parametrize("other", ["x = unknown_max(2)", "class A(unknown_max): pass", ""])
def test_nothing_moves_without_use_where_another_import_stays(other: str) -> None:
    code = "from paddle.geometric import unknown_max, unknown_sum\n\n\ndef f():\n    return unknown_sum(1)\n" + other
    assert ENGINE.convert(code.encode(), "a.py").output.decode() == code


def test_a_fallback_with_another_name_stays() -> None:
    code = START + "try:\n    import paddle.a as a\nexcept ImportError:\n    a = None\n\n\ndef f():\n    return a.b()\n"
    assert "\ntry:\n    import paddle.a as a\n" in ENGINE.convert(code.encode(), "a.py").output.decode()


@pytest.mark.parametrize("body", KEPT.values(), ids=KEPT.keys())
def test_what_is_only_kept_is_imported_under_try(body: str) -> None:
    first = ENGINE.convert((START + body).encode(), "a.py").output.decode()
    guard = "try:\n    from paddle.geometric import unknown_sum\nexcept ImportError:\n\n"
    guard += "    def unknown_sum(*args, **kwargs):\n"
    assert guard + "        raise ImportError('needs paddle.geometric.unknown_sum')\n" in first
    assert first.endswith(body)
    assert ENGINE.convert(first.encode(), "a.py").output.decode() == first
    compile(first, "a.py", "exec")


def test_with_mixed_precision_alone_the_imports_stay_on_top() -> None:
    code = "import paddle\n\n\ndef f():\n    return paddle.amp.GradScaler(), paddle.zeros([2])\n"
    output = Engine(Options(target="torch", select=("AMP",))).convert(code.encode(), "a.py").output.decode()
    assert output.startswith("import paddle\nimport torch\n")
    assert output.count("import paddle\n") == 1
