"""Private members of the frameworks' layers, which subclasses read: the tables know those that the other side lacks."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Iterator
from typing import Any

import paddle
import pytest
import torch
from paddletorch_rules import Framework, load, other_framework

BASES: dict[Framework, type] = {"torch": torch.nn.Module, "paddle": paddle.nn.Layer}
PLACES = {"torch": "torch.nn.modules.", "paddle": "paddle.nn.layer."}
OF_CONTAINERS = {"_get_abs_string_index", "_get_item_by_idx", "_get_abs_idx", "_key_to_attr", "_keys", "_size"}
"""How containers find what they hold; nothing but the containers asks."""
NAMES = {"_name"}
"""Only handed on to functions, whose parameter of that name is left out."""
WRITTEN = {"_dropout_state"}
"""Converted code sets it for Paddle, which reads it without making it; torch's layers have no use for it."""
CHECKS = {"_check_input_dim", "_require_tuple_int"}
"""Of what a call is given, such as the number of axes: paddle's class raises by itself."""


def layers(side: Framework) -> dict[str, type]:
    found = {}
    for name, module in list(sys.modules.items()):
        if name.startswith(PLACES[side]):
            for one in vars(module).values():
                if inspect.isclass(one) and issubclass(one, BASES[side]) and one.__module__ == name:
                    found[one.__name__] = one
    return found


def assigned(kind: type) -> Iterator[str]:
    """What a class sets on ``self``."""
    for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(kind)))):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self":
            yield node.attr


def private_members(kind: type) -> set[str]:
    names: set[str] = set()
    for one in kind.__mro__[:-1]:
        names |= {*vars(one), *getattr(one, "__annotations__", {}), *assigned(one)}
    return {name for name in names if name.startswith("_") and not name.startswith("__")}


def pairs(side: Framework) -> Iterator[tuple[type, type]]:
    """The layers of a framework with their counterparts, by the tables."""
    here, there = layers(side), layers(other_framework(side))
    for row in load().rows:
        forms: Any = {"torch": row.torch, "paddle": row.paddle}
        names = {
            one: {n.rpartition(".")[2] for form in forms[one] for n in form.names if n.startswith(f"{one}.nn.")}
            for one in ("torch", "paddle")
        }
        yield from (
            (here[a], there[b]) for a in names[side] & set(here) for b in names[other_framework(side)] & set(there)
        )


@pytest.mark.parametrize("side", ["torch", "paddle"])
def test_private_members_that_the_counterpart_lacks_are_known(side: Framework) -> None:
    table, other = load(), other_framework(side)
    kept = set(vars(BASES[other]())) | OF_CONTAINERS | CHECKS | NAMES | WRITTEN
    found = list(pairs(side))
    assert len(found) > 100
    unknown = {
        name: kind.__name__
        for kind, counterpart in found
        for name in private_members(kind) - private_members(counterpart) - kept
        if not table.members(side, name)
    }
    assert unknown == {}
