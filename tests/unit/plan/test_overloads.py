"""``plan/inference/overloads.py``: which form of an API a call is, by its arguments."""

from __future__ import annotations

import pytest
from paddletorch.model import Options

from ...fixture_files import engine_for


@pytest.mark.parametrize(
    ("call", "written"),
    [
        ("paddle.randn(shape=xt.shape, dtype=xt.dtype)", b"torch.randn(xt.shape, dtype="),
        ("paddle.zeros(shape, dtype=xt.dtype)", b"torch.zeros(shape, dtype="),
        ("paddle.ones(xt.shape, xt.dtype)", b"torch.ones(xt.shape, dtype="),
        ("paddle.zeros(n, m, 3)", b"torch.zeros(n, m, 3)"),
        ("paddle.rand(n)", b"torch.rand(n)"),
    ],
)
def test_one_shape_or_several_sizes(call: str, written: bytes) -> None:
    source = f"import paddle\ndef f(xt, shape, n, m):\n    return {call}\n"
    result = engine_for(Options(target="torch")).convert(source.encode(), "f.py")
    assert written in result.output and not result.diagnostics
