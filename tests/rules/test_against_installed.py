"""Every row of the built-in tables against the installed frameworks, and proof that a lie is found."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import paddle
import pytest
import torch
from packaging.version import Version
from paddletorch_rules import Table, load, select
from paddletorch_rules.check import check_installed, frameworks, resolve, signature_of
from paddletorch_rules.releases import Framework, installed

ROWS = Path(__file__).parents[2] / "rules" / "paddletorch_rules"


def _not_inspected(table: Table, side: Framework) -> list[str]:
    """Names with a signature in the tables that the installed framework cannot tell: built in C++."""
    release = installed(side)
    assert release is not None
    forms = [form for row in table.rows if row.receiver is None for form in row.forms(side)]
    here = [form for form in forms if form.available([release]) and form.signature(release) is not None]
    return [name for form in here for name in form.names if signature_of(resolve(name)) is None]


def test_both_frameworks_are_looked_at() -> None:
    assert frameworks() == ("torch", "paddle")
    assert installed("torch") == Version(torch.__version__.partition("+")[0])
    assert installed("paddle") == Version(paddle.__version__)


def test_built_in_tables_agree_with_the_installed_frameworks() -> None:
    assert [str(problem) for problem in check_installed(load())] == []


def test_only_what_is_written_in_cpp_has_no_signature_to_compare() -> None:
    """Of the mixed-precision rows; those of the whole API are held against both frameworks by their proofs."""
    whole = load()
    rows = [row for row in whole.rows if not row.whole]
    table = whole.with_rows(rows)
    assert _not_inspected(table, "paddle") == []
    assert set(_not_inspected(table, "torch")) == {
        "torch.is_autocast_enabled",
        "torch.get_autocast_gpu_dtype",
        "torch.get_autocast_dtype",
        "torch.clear_autocast_cache",
    }


@pytest.mark.filterwarnings("ignore:torch.get_autocast_gpu_dtype")
def test_functions_written_in_cpp_take_what_the_tables_say() -> None:
    assert torch.is_autocast_enabled() is False
    with torch.autocast("cpu"):
        assert torch.is_autocast_enabled(device_type="cpu") is True
        assert torch.is_autocast_enabled() is torch.is_autocast_enabled("cuda") is False
    assert torch.get_autocast_gpu_dtype() == torch.get_autocast_dtype(device_type="cuda") == torch.float16
    assert torch.clear_autocast_cache() is None


@pytest.mark.parametrize("target", ["torch", "paddle"])
def test_every_name_that_can_be_emitted_for_the_installed_release_exists(target: str) -> None:
    releases = select(target, "installed").versions  # type: ignore[arg-type]
    emitted = []
    for row in load().rows:
        form = row.emitted(target, releases) if row.serves(target) else None  # type: ignore[arg-type]
        if row.unchecked is not None:
            continue
        if form is not None and row.receiver is None and form.names and not form.names[0].endswith(".*"):
            emitted.append(form.names[0])
    assert len(emitted) >= 10
    for name in emitted:
        resolve(name)


@pytest.mark.parametrize("side", ["torch", "paddle"])
def test_default_expressions_name_what_they_say(side: str) -> None:
    """`paddle.float16` and `'float16'` are different defaults; a table may not blur them."""
    form = next(
        f
        for r in load().rows
        for f in r.forms(side)
        if f.names[:1] == (f"{side}.cuda.amp.autocast",)  # type: ignore[arg-type]
    )
    signature = form.signature(Version("9998"))
    assert signature is not None
    dtype = signature.get("dtype")
    assert dtype is not None
    assert dtype.default == f"{side}.float16"


def _with(tmp_path: Path, area: str, lies: Iterable[tuple[str, str]]) -> Table:
    """The built-in table ``area`` with some lies in it, each in place of the truth."""
    text = (ROWS / f"{area}.toml").read_text(encoding="utf-8")
    text = re.sub(r"^\[\[(row|values|type|diagnostic)\]\].*$", r"\g<0>\noverride = true", text, flags=re.MULTILINE)
    for old, new in lies:
        assert old in text, old
        text = text.replace(old, new, 1)
    path = tmp_path / f"{area}.toml"
    path.write_text(text, encoding="utf-8")
    whole = load((str(path),))
    rows = [row for row in whole.rows if row.file == str(path)]
    return whole.with_rows(rows)


LIES = {
    "name": (
        "nn_utils",
        '"torch.nn.utils.clip_grad_value_"',
        '"torch.nn.utils.clip_grad_valeu_"',
        r"row 'clip_grad_value_': key 'torch\[0\].names': .* has no torch.nn.utils.clip_grad_valeu_",
    ),
    "member": (
        "optimizer",
        '"zero_grad"]\n',
        '"zero_gradz"]\n',
        r"Optimizer of torch 2.13.0 has no member zero_gradz",
    ),
    "default": (
        "autograd",
        "allow_unused=None, is_grads_batched=False",
        "allow_unused=False, is_grads_batched=False",
        r"row 'grad': key 'torch\[0\].signature': .*default of allow_unused is None",
    ),
    "default of the right value and the wrong type": (
        "amp",
        "(init_scale=65536.0,",
        "(init_scale=65536,",
        r"row 'GradScaler': key 'torch\[1\].signature': .*default of init_scale is 65536.0",
    ),
    "order": (
        "amp",
        "(device_type, dtype=None, enabled=True, cache_enabled=None)",
        "(device_type, enabled=True, dtype=None, cache_enabled=None)",
        r"row 'autocast': key 'torch\[0\].signature': .* takes \(device_type.*dtype.*enabled",
    ),
    "kind": (
        "autograd",
        "*, dump_backward_graph_path=None",
        "dump_backward_graph_path=None",
        r"key 'paddle\[0\].signature'",
    ),
    "missing parameter": (
        "nn_utils",
        "(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None)",
        "(parameters, max_norm, norm_type=2.0, foreach=None)",
        r"row 'clip_grad_norm_': key 'torch\[0\].signature'.*error_if_nonfinite",
    ),
    "since too late": (
        "nn_utils",
        '["paddle.nn.utils.clip_grad_value_"]\nsince = "2.6"',
        '["paddle.nn.utils.clip_grad_value_"]\nsince = "develop"',
        r"key 'paddle\[0\].since': paddle 3.3.1 has paddle.nn.utils.clip_grad_value_, though the row",
    ),
    "until too early": (
        "autograd",
        'names = ["paddle.autograd.grad"]\nsince = "2.1"',
        'names = ["paddle.autograd.grad"]\nsince = "2.1"\nuntil = "3.0"',
        r"row 'grad': key 'paddle\[1\].since': paddle 3.3.1 has paddle.autograd.grad, though the row",
    ),
    "template": (
        "amp",
        'template = "getattr(paddle, paddle.get_autocast_dtype())"',
        'template = "getattr(paddle, paddle.get_autocast_npu_dtype())"',
        r"row 'get_autocast_dtype': key 'paddle\[0\].template'.*paddle.get_autocast_npu_dtype, which",
    ),
    "member in a template": (
        "amp",
        "float({self}.state_dict().get('scale', [1.0])[0])",
        "float({self}.statedict().get('scale', [1.0])[0])",
        r"row 'scaler.get_scale': key 'paddle\[0\].template': GradScaler of paddle has no member statedict",
    ),
    "value map": (
        "amp",
        '"torch.half" = "torch.float16"',
        '"torch.halff" = "torch.float16"',
        r"/amp.toml: row 'amp_dtype': key 'torch_also': .*torch.halff",
    ),
}


@pytest.mark.parametrize("area", sorted({area for area, *_ in LIES.values()}))
def test_each_lie_in_a_table_is_found(tmp_path: Path, area: str) -> None:
    """All of one table in one copy of it: to check a copy takes seconds, and each lie has an error of its own."""
    told = {lie: (old, new, expected) for lie, (where, old, new, expected) in LIES.items() if where == area}
    found = [str(problem) for problem in check_installed(_with(tmp_path, area, [lie[:2] for lie in told.values()]))]
    missed = [lie for lie, (*_, expected) in told.items() if not any(re.search(expected, one) for one in found)]
    assert not missed, "\n".join(found)
    assert len(found) >= len(told)
