"""Whoever says that an API has no counterpart is held against what the installed frameworks have."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any, get_args

import pytest
from paddletorch.model import Options
from paddletorch_rules import Framework, load
from paddletorch_rules.fates import is_reported
from paddletorch_rules.namesakes import named, namesake
from paddletorch_rules.releases import other_framework

from ..fixture_files import engine_for

TABLE = load()
SIDES: tuple[Framework, ...] = get_args(Framework)


def _found(name: str) -> Any:
    """The object of that name in the installed frameworks; None if there is none, or a module, which is no counterpart.

    Whether a package has a module as an attribute depends on what else was imported.
    """
    root, *parts = name.split(".")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = import_module(root)
        for part in parts:
            value = getattr(value, part, None)
    return None if isinstance(value, ModuleType) else value


def _claims(side: Framework) -> Iterator[str]:
    """Each API of ``side`` of which a finding says that there is nothing, and whose row does not say why."""
    for row in TABLE.rows:
        message = TABLE.diagnostics[row.report].message if row.report else ""
        if not is_reported(row) or row.reason or not ("no counterpart" in message or "nothing" in message):
            continue
        for form in row.torch if side == "torch" else row.paddle:
            for name in form.names:
                if row.receiver == "tensor":
                    yield f"tensor.{name}"
                elif row.receiver is None and name.startswith(f"{side}.") and "*" not in name:
                    yield name


def _same_name(side: Framework, name: str) -> str:
    root, _, rest = name.partition(".")
    return f"{other_framework(side)}.{'Tensor.' if root == 'tensor' else ''}{rest}"


@pytest.mark.parametrize("side", SIDES)
def test_a_claim_without_a_reason_has_no_namesake(side: Framework) -> None:
    """Where the other framework has the name, the row says why it is not the same, or ``namesakes.toml`` does."""
    claims = set(_claims(side))
    assert len(claims) > 80
    untold = {name for name in claims if _found(_same_name(side, name)) is not None} - named(side)
    assert untold == set()


@pytest.mark.parametrize("side", SIDES)
def test_every_namesake_is_there_and_is_needed(side: Framework) -> None:
    claims = set(_claims(side))
    for name in named(side):
        found = namesake(side, name)
        assert found is not None and found.name == _same_name(side, name)
        assert _found(found.name) is not None, name
        assert name in claims, f"{name} is reported by no row without a reason"


@pytest.mark.parametrize(
    ("target", "source", "message"),
    [
        ("paddle", "import torch\nm = torch.jit.load('m')\n", "torch.jit.load is not paddle.jit.load: each reads "),
        (
            "paddle",
            "import torch\nf = torch.cuda.mem_get_info()\n",
            "torch.cuda.mem_get_info and paddle.cuda.mem_get_info have not ",
        ),
        (
            "torch",
            "import paddle\npaddle.onnx.export(paddle.nn.Linear(2, 3), 'm')\n",
            "paddle.onnx.export is not torch.onnx.export: ",
        ),
        ("paddle", "import torch\nw = torch.optim.ASGD([])\n", "torch.optim.ASGD has no counterpart in paddle"),
    ],
)
def test_the_finding_names_what_has_the_name(target: Framework, source: str, message: str) -> None:
    result = engine_for(Options(target)).convert(source.encode(), "a.py")
    assert [one.message[: len(message)] for one in result.diagnostics if one.fate][:1] == [message]
