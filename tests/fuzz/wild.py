"""Bytes that need not be Python, and files that are very long or very deep."""

from __future__ import annotations

from hypothesis import strategies as st
from paddletorch.model import Framework

from .programs import uses
from .stored import all_codecs, with_cookie

_PIECES = (
    b"import torch\n",
    b"import paddle\n",
    b"import torch as t, paddle as p\n",
    b"torch.zeros(3)",
    b"paddle.zeros([3])",
    b"GradScaler",
    b"scaler.scale(loss).backward()\n",
    b"# paddletorch: ignore",
    b"# paddletorch: ignore[AMP, NOPE001]\n",
    b"# paddletorch: skip-file\n",
    b"x = x.view(-1)\n",
    b"def f(x):\n",
    b"    ",
    b"\t",
    b"\n",
    b"\r",
    b"\r\n",
    b"\f",
    b"\0",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xfe\xff",
    b"\xed\xa0\x80",
    b"\x85",
    b"\xe2\x80\xa8",
    b"\\\n",
    b"'''",
    b'"',
    b"(",
    b")",
    b"f'{",
    b"}'",
    b"#",
    "from 𝓽𝓸𝓻𝓬𝓱 import zeros\n".encode(),
    "ｔｏｒｃｈ.zeros(3)\n".encode(),
    "import ｐａｄｄｌｅ\n".encode(),
    b"lambda: ",
    b"await ",
    b"yield ",
    b"match x:\n    case torch.nn: pass\n",
    b"type X = torch.Tensor\n",
    b"%matplotlib inline\n",
    b"!pip install torch\n",
    b">>> import torch\n",
    b"<<<<<<< HEAD\n",
    b"print 'python 2'\n",
    b"0777 ",
    b"1_000.e5j ",
)
_FRAMEWORKS: tuple[Framework, ...] = ("torch", "paddle")


@st.composite
def wild(draw: st.DrawFn) -> tuple[Framework, bytes]:
    """A framework, and bytes: random ones, pieces of programs, coding cookies of every codec."""
    source: Framework = draw(st.sampled_from(_FRAMEWORKS))
    piece = st.sampled_from(_PIECES) | st.binary(max_size=12) | st.sampled_from(uses(source)).map(str.encode)
    body = b"".join(draw(st.lists(piece, max_size=20)))
    kind = draw(st.integers(0, 5))
    if kind == 0:
        return source, body
    if kind == 1:
        codec = draw(st.sampled_from(all_codecs()))
        head = draw(st.sampled_from(("# coding: {}\n", "#!/bin/x\n# vim: set fileencoding={} :\n", "\n# coding={}\n")))
        return source, head.format(codec).encode() + f"import {source}\n".encode() + body
    if kind == 2:
        text = f"import {source}\nx = {draw(st.sampled_from(uses(source)))}\n"
        return source, draw(with_cookie(text, draw(st.sampled_from(("\n", "\r\n", "\r")))))
    return source, f"import {source}\n".encode() + body


@st.composite
def extremes(draw: st.DrawFn) -> tuple[Framework, bytes]:
    """A framework, and a program of which one thing is very long or very deep."""
    source: Framework = draw(st.sampled_from(_FRAMEWORKS))
    use = draw(st.sampled_from(uses(source)))
    root, n = source, draw(st.sampled_from((20, 95, 180, 400, 800)))
    few = min(n, 95)  # the blocks that Python allows in each other
    layer = "nn.Module" if root == "torch" else "nn.Layer"
    bodies = (
        "\n".join(f"class C{i}(C{i - 1}): pass" for i in range(1, n)).replace("(C0)", f"({root}.{layer})"),
        "\n".join(
            f"class C{i}(C{i - 1}):\n  def forward(self, x): return super().forward({use})" for i in range(1, n // 4)
        ),
        "\n".join(" " * i + "if x:" for i in range(few)) + "\n" + " " * few + f"y = {use}",
        "\n".join(" " * i + f"def f{i}(x):" for i in range(few)) + "\n" + " " * few + f"return {use}",
        "y = " + "(" * n + use + ")" * n,
        "y = " + "[" * n + use + "]" * n,
        "y = " + " + ".join([use] * n),
        "y = " + "x" + ".view(-1)" * n,
        "y = " + "f(" * n + use + ")" * n,
        "y = " + "not " * n + use,
        "y = " + "-" * n + use,
        "y = " + "lambda: " * n + use,
        "y = " + " if x else ".join([use] * n),
        "y = [" + ", ".join([use] * n) + "]",
        "y = '" + "é" * 50 * n + f"'; z = {use}",
        f"y = {use}  # " + "é" * 50 * n,
        "\n".join(f"x = x.view({i}, -1)" for i in range(n // 4)),
        "\n".join(f"x{i} = {use}" for i in range(n // 4)),
        "if a: pass\n" + "\n".join(f"elif a == {i}: x = {use}" for i in range(n // 4)),
        "try: pass\n" + "\n".join(f"except E{i}: x = {use}" for i in range(n // 4)),
        "with " + ", ".join(f"f({use}) as x{i}" for i in range(n // 8)) + ": pass",
        "".join(f"@f({use})\n" for _ in range(n // 4)) + "def g(x): return x",
        "match x:\n" + "\n".join(f"  case {i}: y = {use}" for i in range(n // 4)),
        "f(" + ", ".join(f"a{i}={use}" for i in range(n // 4)) + ")",
        "y = f'" + "{x!r:>{w}}" * n + f"'\nz = {use}",
        "x = " + " = ".join(f"y{i}" for i in range(n)) + f" = {use}",
        "global " + ", ".join(f"y{i}" for i in range(n)) + f"\nz = {use}",
        f"import {root} as " + f"\nimport {root} as ".join(f"t{i}" for i in range(n)) + f"\nz = {use}",
        "\n".join(f"def f{i}(x): return f{i + 1}({use})" for i in range(n // 4)) + "\nf0(x)",
        "x = x" + ".x" * n + f"\nz = {use}",
        f"x = {use}" + "\\\n" * n + ".sum()",
        f"x = {use}" + "\n" * 20 * n + "y = x",
        f"x = {use}" + "\f\n" * n + "y = x",
    )
    body = draw(st.sampled_from(bodies))
    return source, f"import {root}\nimport {root}.nn as nn\nimport {root}.nn.functional as F\n{body}\n".encode()
