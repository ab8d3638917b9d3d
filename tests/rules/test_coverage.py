"""Every public name of the installed frameworks is in the tables, or in the list of what is still open."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from paddletorch.engine.engine import Engine
from paddletorch.model import Options
from paddletorch_rules import TableError, load
from paddletorch_rules.fates import Fate, said_of
from paddletorch_rules.loader import read
from paddletorch_rules.releases import Framework


@cache
def _coverage() -> list[dict[str, Any]]:
    """In a process of its own: all modules of both frameworks are imported."""
    command = [sys.executable, "-m", "paddletorch", "rules", "coverage", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout[done.stdout.index("[") :])
    return found


def _names() -> dict[str, dict[str, Any]]:
    return {name["name"]: name for one in _coverage() for name in one["names"]}


def test_no_public_name_is_open() -> None:
    found = sorted(name for name, said in _names().items() if said["fate"] == "open")
    assert found == [], "give each a row, an alias, an entry in members.toml, or a reason in api/no_counterpart.toml"


def test_a_name_without_counterpart_has_a_reason_and_a_way_out() -> None:
    stated = [said for said in _names().values() if said["fate"] == "no counterpart"]
    assert stated
    assert not [said["name"] for said in stated if not (said["reason"] and said["way_out"])]


@pytest.mark.parametrize(
    ("name", "fate", "of"),
    [
        ("torch.gather", "row", None),
        ("torch.Tensor.gather", "row", None),
        ("torch.nn.modules.conv.Conv2d", "alias", "torch.nn.Conv2d"),
        ("torch.fft.fft", "row", None),
        ("paddle.Tensor.astype", "row", None),
        ("paddle.tensor.add", "alias", "paddle.add"),
        ("torch.nn.utils.prune", "no counterpart", None),
        ("torch.nn.AvgPool2d.padding", "same member", None),
        ("torch.nn.ReLU.inplace", "no counterpart", None),
    ],
)
def test_fates(name: str, fate: str, of: str | None) -> None:
    said = _names()[name]
    assert said["fate"] == fate
    assert said.get("same_as") == of


def test_private_names_are_counted_and_not_listed() -> None:
    used = ("torch._foreach_", "torch._check", "torch._assert", "torch._weight_norm")
    assert not [name for name in _names() if "._" in name and not name.startswith(used)]
    assert all(one["private"] > 500 for one in _coverage())


@pytest.mark.parametrize(
    ("name", "fate"),
    [
        ("torch.gather", Fate.ROW),
        ("torch.nn.Module.parameters", Fate.ROW),
        ("torch.modules.nothing", Fate.OPEN),
        ("torch.Tensor.nothing", Fate.OPEN),
        ("torch.onnx.utils.export", Fate.NO_COUNTERPART),
        ("paddle.tensor.math.add", Fate.ALIAS),
    ],
)
def test_what_is_said_of_a_name(name: str, fate: Fate) -> None:
    side: Framework = "paddle" if name.startswith("paddle") else "torch"
    assert said_of(load(), side, name).fate is fate


def test_a_reason_in_a_row_stands_in_the_finding(tmp_path: Path) -> None:
    table = tmp_path / "mine.toml"
    row = '[defaults]\ncode = "MYL101"\n[[row]]\nkind = "unsupported"\nreport = "TRN201"\ntorch = ["torch.mine.*"]\n'
    table.write_text(row + 'reason = "it is mine"\ninstead = "Ask me."\n')
    code = "import torch\nimport torch.mine\n\na = torch.mine.make()\nb = torch.mine\n"
    found = Engine(Options(target="paddle", tables=(str(table),))).convert(code.encode(), "f.py").diagnostics
    said = [(one.line, one.code, one.message, one.hint) for one in found]
    words = "has no counterpart in paddle: it is mine; left as it is"
    assert (4, "TRN201", f"torch.mine.make {words}", "Ask me.") in said
    assert (5, "TRN201", f"torch.mine {words}", "Ask me.") in said
    table.write_text(row + 'reason = "it is mine"\n')
    with pytest.raises(TableError, match="'reason' and 'instead' go together"):
        read([table])
