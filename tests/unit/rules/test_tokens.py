"""The quick look at a file's bytes: looking for parts that tokens share finds the same files."""

from __future__ import annotations

import pytest
from paddletorch.engine.engine import Engine
from paddletorch.model import Framework, Options


@pytest.mark.parametrize("to", ["paddle", "torch"])
@pytest.mark.parametrize("select", [(), ("AMP",)])
def test_each_token_is_found_alone_and_no_part_of_it(to: Framework, select: tuple[str, ...]) -> None:
    tokens = Engine(Options(to, select=select)).tokens
    assert sorted(token for _, some in tokens.by_part for token in some) == sorted(tokens.plain)
    for part, some in tokens.by_part:
        assert all(part in token and tokens.hit(b"x " + token + b" y") for token in some)
        assert tokens.hit(b"x " + part + b" y") == (part in tokens.plain)
    for gate, some in tokens.gated:
        assert all(tokens.hit(opening + b"\n" + token) for opening in gate for token in some)
        assert not any(tokens.hit(token) for token in some if not any(plain in token for plain in tokens.plain))
