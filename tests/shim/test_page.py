"""The code on the shim's page runs, and its table is complete."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import paddle
import pytest
from paddletorch_shim.parity.known import KNOWN

PAGE = (Path(__file__).parents[2] / "docs" / "shim.md").read_text()
# The block for torchrun needs its processes: test_distributed has them.
BLOCKS = [b for b in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL) if "torchrun" not in b]


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_block(block: str) -> None:
    exec(compile(block, "docs/shim.md", "exec"), {"__name__": "page"})


def test_the_layer_on_the_page_doubles() -> None:
    names: dict[str, Any] = {}
    exec(next(block for block in BLOCKS if "class Double" in block), names)
    x = paddle.to_tensor([1.0], stop_gradient=False)
    names["Double"].apply(x).backward()
    assert x.grad.item() == 2.0


def test_the_table_of_known_differences_is_complete() -> None:
    assert [entry.code for entry in KNOWN] == re.findall(r"^\| (S\d+) \|", PAGE, flags=re.MULTILINE)
