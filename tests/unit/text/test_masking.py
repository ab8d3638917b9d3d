"""Files in syntax newer than the running Python convert all the same; what cannot be read is kept and reported."""

from __future__ import annotations

import sys

import libcst
import pytest
from paddletorch.engine.engine import Engine
from paddletorch.model import FileResult, Options, Status

NEWER = """import torch
from torch.cuda.amp import GradScaler

type Scale = float


class Box[T]:
    pass


def first[T: int](x: T) -> T:
    return x


scaler = GradScaler()
print(f"scale {scaler.get_scale()} {"quotes" + "inside"}")
print(f"{torch.__version__ + "!"}")
"""


def convert(text: str) -> FileResult:
    return Engine(Options(target="paddle")).convert(text.encode(), "newer.py")


def test_what_can_be_read_is_converted_and_the_rest_keeps_its_bytes() -> None:
    result = convert(NEWER)
    assert result.status is Status.CONVERTED
    output = result.output.decode()
    assert "from paddle.amp import GradScaler" in output
    assert "decr_every_n_nan_or_inf=1)" in output
    for line in ("type Scale = float", "class Box[T]:", "def first[T: int](x: T) -> T:", '{"quotes" + "inside"}")'):
        assert line in output
    libcst.parse_module(result.output)
    assert convert(output).output == result.output


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python reads the nested quotes itself")
def test_a_use_inside_an_unreadable_string_is_reported_and_keeps_its_import() -> None:
    result = convert(NEWER)
    assert b"import torch" in result.output
    assert [(d.code, d.line) for d in result.diagnostics] == [("API216", 16), ("API216", 17)]


@pytest.mark.parametrize(
    "text", ["def f(:\n    torch.cuda.amp.GradScaler()\n", "x = [" * 300 + "GradScaler" + "]" * 300]
)
def test_what_nobody_can_read_fails_and_is_left_alone(text: str) -> None:
    result = convert(text)
    assert result.status is Status.FAILED
    assert result.output == text.encode()
    assert result.diagnostics[0].code in ("SRC001", "SRC008")


@pytest.mark.parametrize("feeds", ["\x0c", "\x0c\x0c", "\n\x0c\n", "    if T:\n\x0c    "])
def test_a_form_feed_moves_no_position(feeds: str) -> None:
    text = f"import torch\nclass Box[T]: pass\nif T:\n    pass\n{feeds}    y = torch.zeros(3), f'{{T}}'\n"
    result = convert(text)
    assert result.output.decode() == text.replace("import torch", "import paddle").replace(
        "torch.zeros(3)", "paddle.zeros([3])"
    )
