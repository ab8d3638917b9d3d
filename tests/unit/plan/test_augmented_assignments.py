"""Augmented assignments on the way to torch: nothing else that holds the tensor changes, and numbers stay."""

from __future__ import annotations

from typing import Any

import pytest
from paddletorch.engine.engine import Engine
from paddletorch.model import Options
from paddletorch.proof.compare import difference

ENGINE = Engine(Options(target="torch"))

PROGRAMS = {
    "the caller's tensor": """
import paddle

def shift(v):
    v += 1
    return v

x = paddle.ones([3])
result = [shift(x), x, shift(2)]
""",
    "another name": """
import paddle

x = paddle.ones([3])
short = x
x *= paddle.full([3], 2.0) + 1
result = [x, short]
""",
    "results that the backward pass needs": """
import paddle

w = paddle.to_tensor([0.5, -1.0], stop_gradient=False)
x = paddle.exp(w)
x += 1
y = paddle.nn.functional.sigmoid(x)
y **= 2
y -= x
y /= 3 if w is not None else 4
y.sum().backward()
result = [x, y, w.grad]
""",
    "leaves": """
import paddle

w = paddle.to_tensor([0.5, -1.0], stop_gradient=False)
x = w
x -= 3
x.sum().backward()
result = [x, w, w.grad]
""",
    "operands that enlarge": """
import paddle

x = paddle.ones([1, 3])
x += paddle.ones([2, 3])
total = 0
for row in x:
    total += row
result = [x, total]
""",
    "parts": """
import paddle

x = paddle.arange(6, dtype="float32").reshape([2, 3])
a, b = paddle.chunk(x, 2)
a -= b
x[0] += 1
result = [x, a, b]
""",
    "attributes and elements": """
import paddle

class Meter:
    def __init__(self, first):
        self.total = paddle.zeros([2])
        self.start = self.total
        self.parts = {"a": first}
        self.steps = 0

    def update(self, x):
        self.total += x
        self.parts["a"] *= x
        self.steps += 1

first = paddle.full([2], 3.0)
meter = Meter(first)
for i in range(3):
    meter.update(paddle.full([2], 2.0))
result = [meter.total, meter.start, meter.parts["a"], first, meter.steps]
""",
    "integers and bits": """
import paddle

x = paddle.to_tensor([5, 6, 7])
kept = [x]
x //= 2
x %= paddle.to_tensor([3, 2, 2])
x &= 1 * paddle.ones([3], dtype="int64")
x |= paddle.to_tensor([2, 2, 4])
x ^= paddle.to_tensor([1, 1, 1])
result = [x, kept]
""",
}


GRADIENTS = {
    "asked of computed tensors": """
import paddle

def penalty(real, fake):
    mixed = 0.25 * real + 0.75 * fake
    mixed.stop_gradient = False
    return given(mixed), mixed

def given(x):
    x.stop_gradient = False
    return (x ** 3).sum()

w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
value, mixed = penalty(w * 2, paddle.ones([2]))
value.backward()
alone = paddle.ones([2]) * 3
alone.stop_gradient = False
given(alone).backward()
result = [value, w.grad, alone.grad, mixed.stop_gradient]
""",
    "of what is reshaped in place": """
import paddle

w = paddle.arange(6, dtype="float32").reshape([2, 3])
w.stop_gradient = False
x = w.transpose([1, 0]).reshape_([6])
y = (w * 2).reshape_([3, -1])
(x * y.flatten()).sum().backward()
result = [x, y, w, w.grad]
""",
}


@pytest.mark.parametrize("program", GRADIENTS)
def test_gradients_are_asked_as_torch_allows(program: str) -> None:
    code = GRADIENTS[program]
    converted = ENGINE.convert(code.encode(), "gradients.py")
    assert [d.code for d in converted.diagnostics] == []
    assert difference(_result(code), _result(converted.output.decode())) is None


@pytest.mark.parametrize("program", PROGRAMS)
def test_gives_what_paddle_gives(program: str) -> None:
    code = PROGRAMS[program]
    converted = ENGINE.convert(code.encode(), "augmented.py")
    assert [d.code for d in converted.diagnostics] == []
    assert difference(_result(code), _result(converted.output.decode())) is None
    assert ENGINE.convert(converted.output, "augmented.py").output == converted.output


@pytest.mark.parametrize(
    ("statement", "written"),
    [
        ("x += y", "x = x + y"),
        ("x -= a - b", "x = x - (a - b)"),
        ("x *= (a + b)", "x = x * (a + b)"),
        ("x /= (a +\n    b)", "x = x / (a +\n    b)"),
        ("x //= \\\n    y", "x = x // \\\n    y"),
        ("x **= -y", "x = x ** -y"),
        ("x <<= y | a", "x = x << (y | a)"),
        ("x += a if b else y  # half", "x = x + (a if b else y)  # half"),
        ("(x) += y", "x = x + y"),
        ("x @= y", "x @= y"),
    ],
)
def test_keeps_the_order_of_evaluation(statement: str, written: str) -> None:
    head = "import {}\n\nx = {}.zeros([2], dtype='int32')\n"
    code = head.format("paddle", "paddle") + statement + "\n"
    output = ENGINE.convert(code.encode(), "augmented.py").output.decode()
    assert output.splitlines()[3:] == (written).splitlines()


@pytest.mark.parametrize(
    "lines",
    [
        "i = 0\ni += 1",
        "n = len(given)\nn -= step",
        "name = 'a'\nname += suffix",
        "found = []\nfound += more",
        "image = np.asarray(given)\nimage -= mean",
        "given += [1]",
        "given -= np.ones(3)",
        "cv2.imwrite('a.png', given)\ngiven /= 255.0",
        "x = paddle.ones([3])\nx[0] += 1",
        "p.data -= step",
        "self.count = 0\nself.count += 1",
    ],
)
def test_leaves_what_is_no_tensor(lines: str) -> None:
    body = "".join(f"    {line}\n" for line in lines.splitlines())
    code = f"import cv2\nimport numpy as np\nimport paddle\n\ndef f(self, given, more, mean, suffix, step, p):\n{body}"
    output = ENGINE.convert(code.encode(), "augmented.py").output.decode()
    assert body.splitlines()[-1] == output.splitlines()[-1]


def test_a_target_with_an_effect_is_reported() -> None:
    code = "import paddle\n\nparts = [paddle.zeros([2])]\nparts[next(numbers)] += 1\n"
    assert [d.code for d in ENGINE.convert(code.encode(), "augmented.py").diagnostics] == ["API222"]


def _result(code: str) -> Any:
    names: dict[str, Any] = {}
    exec(compile(code, "<augmented>", "exec"), names)
    return names["result"]
