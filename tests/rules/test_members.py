"""``members.toml``: what it calls the same member has one value, or does the same, in both installed frameworks."""

from __future__ import annotations

import ast
import inspect
from typing import Any

import pytest
from paddletorch.api.convert import convert
from paddletorch.proof.names import leftovers, members
from paddletorch_rules import load
from paddletorch_rules.check import resolve
from paddletorch_rules.fates import Fate, said_of
from paddletorch_rules.members import ClassMembers, class_members

_EXAMPLES = [
    pytest.param(one, text, id=f"{one.torch}-{n}") for one in class_members() for n, text in enumerate(one.example)
]


@pytest.mark.parametrize(("one", "example"), _EXAMPLES)
def test_a_member_is_the_same_on_both_sides(one: ClassMembers, example: str) -> None:
    text = f"import torch\n\n{example.strip()}\n"
    written = f"import paddle\n\n{one.paddle_example}" if one.paddle_example else _converted(text)
    here, there = _run(text), _run(written)
    assert here["last"] == there["last"]
    for name in sorted(set(one.same) - set(members(example))):
        assert _seen(getattr(here["m"], name)) == _seen(getattr(there["m"], name)), name


@pytest.mark.parametrize("one", [one for one in class_members() if one.unproven], ids=lambda one: one.torch)
def test_a_member_without_example_is_there_at_least(one: ClassMembers) -> None:
    for side in ("torch", "paddle"):
        kind: Any = resolve(one.owner(side))
        known = {*dir(kind), *inspect.signature(kind).parameters}
        assert set(one.same) <= known


def test_a_same_member_needs_no_row() -> None:
    said = said_of(load(), "torch", "torch.nn.AvgPool2d.padding")
    assert (said.fate, said.same_as) == (Fate.SAME, "paddle.nn.AvgPool2D.padding")
    assert said_of(load(), "torch", "torch.nn.AvgPool2d.nothing").fate is Fate.OPEN


def _converted(text: str) -> str:
    output = convert(text, to="paddle", source_version="installed", target_version="installed").output
    assert not list(leftovers(output, "torch")), output
    return output


def _run(text: str) -> dict[str, Any]:
    """The names that the text binds, and ``last``: the value of its last line, if that is an expression."""
    tree, names = ast.parse(text), dict[str, Any]()
    if isinstance(tree.body[-1], ast.Expr):
        tree.body[-1] = ast.parse(f"last = {ast.unparse(tree.body[-1])}").body[0]
    exec(compile(ast.unparse(tree), "<example>", "exec"), names)
    return {"last": None, **names}


def _seen(value: Any) -> Any:
    """What is compared: a tensor's shape, and its elements if they are few; of an object that it is one."""
    kind = type(value)
    if hasattr(value, "stop_gradient") or (hasattr(value, "requires_grad") and hasattr(value, "shape")):
        few = value.numel() < 4
        return [int(n) for n in value.shape], [round(float(v), 6) for v in value.detach().flatten()] if few else None
    if isinstance(value, (list, tuple)):
        return [_seen(item) for item in value]
    return "an object" if kind.__module__.partition(".")[0] in ("torch", "paddle") else value
