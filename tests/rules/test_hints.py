"""Ways out that findings name are done as they say, on both frameworks, and give what the original gives."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from paddletorch import convert
from paddletorch_rules import packages
from paddletorch_rules.releases import other_framework

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HINTS = tomllib.loads(Path(__file__).with_name("hints.toml").read_text(encoding="utf-8"))["hint"]


def _result(program: str) -> list[np.ndarray]:
    names: dict[str, Any] = {}
    exec(compile(program, "<way out>", "exec"), names)
    found = names["result"]
    values = found if isinstance(found, list) else [found]
    return [np.asarray(value.detach().numpy() if hasattr(value, "detach") else value) for value in values]


def _hints(program: dict[str, str]) -> list[str]:
    if "package" in program:
        found = packages.packages(other_framework(program["to"])).of(program["package"])  # type: ignore[arg-type]
        return [found.instead] if found else []
    return [one.hint for one in convert(program["source"], to=program["to"]).findings]  # type: ignore[arg-type]


@pytest.mark.parametrize("program", HINTS, ids=lambda program: program["name"])
def test_the_way_out_is_said(program: dict[str, str]) -> None:
    hints = [" ".join(hint.split()) for hint in _hints(program)]
    assert any(program["says"] in hint for hint in hints), hints


@pytest.mark.parametrize("program", HINTS, ids=lambda program: program["name"])
def test_it_does_what_the_original_does(program: dict[str, str]) -> None:
    other = program.get("by_hand", "")
    if "rewritten" in program:
        converted = convert(program["rewritten"], to=program["to"])  # type: ignore[arg-type]
        assert converted.fates.left == 0, [one.message for one in converted.findings]
        other = converted.output
        assert f"import {other_framework(program['to'])}" not in other  # type: ignore[arg-type]
    expected, given = _result(program["source"]), _result(other)
    assert len(expected) == len(given)
    for one, two in zip(expected, given, strict=True):
        np.testing.assert_allclose(two.reshape(one.shape), one, rtol=1e-5, atol=1e-6)
