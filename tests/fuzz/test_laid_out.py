"""How a program is laid out changes nothing of what it becomes: each fixture in brackets, and with comments."""

from __future__ import annotations

import ast

import pytest

from ..fixture_files import Fixture, with_fixtures
from .laid_out import commented, in_brackets
from .promises import judge

LEFT = {
    "brackets": {
        "to_paddle/compiled_functions": "a decorator in brackets stays, and its function with it",
        "to_paddle/nnm201_loading": "a decorator in brackets stays, and its function with it",
        "to_paddle/opt110_parameter_groups": "a group's pair in brackets is reported",
        "to_paddle/packed_sequences": "a length in brackets is reported",
        "to_paddle/tracing_helpers": "a decorator in brackets stays, and its function with it",
        "to_paddle/uncertain_values": "one more .contiguous(), which changes nothing",
        "to_torch/compiled_functions": "a decorator in brackets stays, and its function with it",
        "to_torch/default_device_loaders": "a loader's class in brackets is reported",
        "to_torch/distributed_start": "a loader's class in brackets is reported",
        "to_torch/dst101_start": "a loader's class in brackets is reported",
        "to_torch/many_programs": "a loader's class in brackets is reported",
        "to_torch/nnl201_layers": "a decorator in brackets stays, and its function with it",
        "to_torch/numbers_of_autograd_functions": "static methods in brackets are reported",
        "to_torch/opt110_parameter_groups": "a group's pair in brackets is reported",
    },
    "comments": {
        "to_paddle/api212_unknown_receiver_unsafe": "what is guessed of a name is guessed of its text",
        "to_paddle/bitwise_with_numbers": "one more .astype(), which changes nothing",
        "to_paddle/compiled_functions": "a decorator with comments stays, and its function with it",
        "to_paddle/evidence_of_use": "evidence of other bytes does not count",
        "to_paddle/packed_sequences": "a length with comments is reported",
        "to_paddle/tracing_helpers": "a decorator with comments stays, and its function with it",
        "to_paddle/written_parts": "a part with comments is not written twice: it is reported",
        "to_torch/compiled_functions": "a decorator with comments stays, and its function with it",
        "to_torch/lrs101_schedulers": "a scheduler with comments is left alone",
        "to_torch/statements_on_one_line": "a statement with comments is left alone",
    },
}
"""Fixtures of which less is converted in another layout, or more than it needs; nothing broken and nothing silent."""
LAYOUTS = {"brackets": in_brackets, "comments": commented}


@pytest.mark.parametrize("layout", LAYOUTS)
@with_fixtures()
def test_another_layout_becomes_the_same(fixture: Fixture, layout: str) -> None:
    try:
        text = fixture.source.decode("utf-8-sig")
        other = LAYOUTS[layout](text)
    except (UnicodeDecodeError, SyntaxError):
        pytest.skip("not this Python's")
    if ast.dump(ast.parse(other)) != ast.dump(ast.parse(text)):
        pytest.skip("it would mean something else")
    verdict = judge(other.encode(), fixture.options)
    assert verdict.result is not None, verdict.violations
    ast.parse(verdict.result.output)
    if fixture.name in LEFT[layout]:
        return
    assert not verdict.violations
    assert ast.unparse(ast.parse(verdict.result.output)) == ast.unparse(ast.parse(fixture.result.output))
