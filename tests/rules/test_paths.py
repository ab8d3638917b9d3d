"""Other names of Paddle's API are the same objects in the installed release."""

from __future__ import annotations

from functools import reduce
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest
from paddletorch_rules import load
from paddletorch_rules.paths import MODULES, NAMES, offered

paddle = pytest.importorskip("paddle")


def _object(name: str) -> Any:
    return reduce(getattr, name.split(".")[1:], paddle)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_second_spelling_is_the_same_object(name: str) -> None:
    assert _object(name) is _object(NAMES[name])


@pytest.mark.parametrize("module", sorted(MODULES))
def test_a_module_holds_what_another_offers(module: str) -> None:
    last = [n.rpartition(".")[2] for n in load().names("paddle") if n.rpartition(".")[0] == MODULES[module]]
    defines, offers = _module(module), _module(MODULES[module])
    held = [n for n in last if hasattr(defines, n) and hasattr(offers, n)]
    held = [n for n in held if not isinstance(getattr(defines, n), ModuleType)]
    names = {n: (_called(defines, n), _called(offers, n)) for n in held}
    assert held
    assert not {n: pair for n, pair in names.items() if pair[0] != pair[1]}


def _module(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError:  # an attribute that leads to a module of another name
        return _object(name)


def _called(module: ModuleType, name: str) -> str:
    """Paddle 3.3 wraps some functions where it offers them; they keep their name, but for an underscore."""
    found = getattr(module, name)
    return getattr(found, "__name__", type(found).__name__).removeprefix("_")


def test_the_tables_know_what_the_paths_lead_to() -> None:
    assert not [name for name in NAMES.values() if load().lookup("paddle", name) is None]
    assert offered("paddle.tensor.math.add") == "paddle.add"
    assert offered("paddle.add") is None
