"""The parity command: equal where it should be, and able to see what is not."""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import paddle
import pytest
from click.testing import CliRunner, Result
from paddletorch_shim.cli import parity
from paddletorch_shim.parity import known, plot, runs, schedules, suite


def command(*arguments: Any) -> Result:
    return CliRunner().invoke(parity, [str(a) for a in arguments], env={"COLUMNS": "100"})


def test_everything_is_equal() -> None:
    result = command("--schedules", 4, "--steps", 12)
    assert result.exit_code == 0, result.output
    assert result.output.count("equal") == 2 + 2 * 2 * 3
    assert "differs" not in result.output
    assert all(f" {entry.code} " in result.output for entry in known.KNOWN if entry.applies())
    assert result.output.count("as recorded") == sum(entry.applies() for entry in known.KNOWN)


def test_choices_narrow_the_run() -> None:
    result = command(
        "--schedules", 1, "--steps", 3, "--framework", "torch", "--backend", "native", "--optimizer", "adam"
    )
    assert result.exit_code == 0, result.output
    assert "shim on torch" in result.output
    assert "shim on paddle" not in result.output
    assert "reference" not in result.output
    assert "adamw" not in result.output


def test_a_wrong_backend_is_found_and_can_be_reproduced(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that forgets Paddle's tolerated overflows on torch."""
    from paddletorch_shim.backends import torch_reference

    def advance_like_torch(self: Any, tensors: Any, found_inf: Any, rule: Any) -> None:
        state = replace(rule, backoff_interval=1).advance(tensors.read(), bool(found_inf.item()))
        self.write(tensors, state)

    monkeypatch.setattr(torch_reference.Backend, "update_", advance_like_torch)
    result = command("--schedules", 6, "--framework", "torch", "--optimizer", "sgd")
    assert result.exit_code == 1
    assert result.output.count("differs") == 1
    again = next(line for line in result.output.splitlines() if "again: paddletorch parity" in line)
    arguments = shlex.split(again.partition("paddletorch parity")[2])
    assert arguments[arguments.index("--schedules") + 1] == "1"
    repeated = command(*arguments)
    assert repeated.exit_code == 1

    def detail(output: str) -> list[str]:
        return [line for line in output.splitlines() if " schedule " in line or " expected " in line]

    assert detail(repeated.output) == detail(result.output) != []
    monkeypatch.undo()
    assert command(*arguments).exit_code == 0


def test_one_wrong_bit_in_the_gradients_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from paddletorch_shim.backends import paddle_native

    real = paddle_native.Backend.unscale_

    def off_by_one_bit(self: Any, grads: Any, scale: Any) -> Any:
        found = real(self, grads, scale)
        with paddle.no_grad():
            for grad in grads:
                grad.scale_(1 + 2**-23)
        return found

    monkeypatch.setattr(paddle_native.Backend, "unscale_", off_by_one_bit)
    result = command("--schedules", 1, "--framework", "paddle", "--backend", "native", "--optimizer", "sgd")
    assert result.exit_code == 1
    assert "gradients" in result.output


def test_a_framework_that_fixes_a_known_difference_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = next(entry for entry in known.KNOWN if entry.code == "S6")
    monkeypatch.setattr(known, "KNOWN", (replace(entry, own="scale 32"),))
    result = command("--schedules", 1, "--steps", 1)
    assert result.exit_code == 1
    assert "S6 is not as recorded" in result.output


def test_bad_usage_is_2(tmp_path: Path) -> None:
    for arguments, text in (
        (("--backend", "cuda"), "no such backend"),
        (("--schedules", "0"), "--schedules"),
        (("--optimizer", "lion"), "--optimizer"),
        (("--framework", "jax"), "--framework"),
        (("--plot", tmp_path / "plot.gif"), "must be a .png or an .svg"),
        (("--plot", tmp_path / "absent" / "plot.png"), "absent"),
    ):
        result = command(*arguments)
        assert result.exit_code == 2, arguments
        assert text in result.output


def test_a_framework_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite, "installed", lambda framework: None)
    result = command()
    assert result.exit_code == 2
    assert "pip install 'paddletorch[torch,paddle]'" in result.output


def test_with_one_framework_the_shim_is_held_against_the_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite, "installed", lambda framework: "2" if framework == "torch" else None)
    result = command("--schedules", 2, "--steps", 6)
    assert result.exit_code == 0, result.output
    assert "policy of paddle" in result.output
    assert "Known differences" not in result.output


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_plot(tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("matplotlib", reason="the plot needs the extra 'plot'")
    path = tmp_path / f"plot{suffix}"
    plot.draw(path, seed=4, steps=20, backend=None)
    content = path.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n" if suffix == ".png" else b"overflow" in content or b"<svg" in content


def test_without_matplotlib_the_error_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = command("--plot", tmp_path / "plot.png", "--schedules", 1, "--steps", 1)
    assert result.exit_code == 2
    assert "pip install 'paddletorch[plot]'" in result.output


def test_schedules_are_the_same_for_a_seed_and_cover_what_matters() -> None:
    assert schedules.make(7, 30) == schedules.make(7, 30)
    many = [schedules.make(seed, 24) for seed in range(60)]
    iterations = [i for schedule in many for i in schedule.iterations]
    assert {schedule.settings.backoff_interval for schedule in many} == {1, 2, 3}
    assert {schedule.settings.dynamic for schedule in many} == {True, False}
    assert {i.change[0] for i in iterations if i.change} == {
        "scale",
        "growth_factor",
        "backoff_factor",
        "growth_interval",
        "backoff_interval",
    }
    for field in ("unscale_first", "minimize", "reload"):
        assert {getattr(i, field) for i in iterations} == {True, False}
    predicted = [step for schedule in many for step in runs.predict("paddle", schedule)]
    assert 0.05 < sum(not step.stepped for step in predicted) / len(predicted) < 0.5


def test_many_schedules_in_several_processes_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = suite.Plan(("torch",), ("sgd",), ("native",), 4)
    alone = list(suite.execute(plan, range(12)))
    monkeypatch.setattr(suite, "_WORTH_A_POOL", 1)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert list(suite.execute(plan, range(12))) == alone
