"""What importing the shim costs, in fresh processes."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("torch", "paddle", "numpy", "libcst", "click", "rich", "triton", "matplotlib", "paddletorch")


def loaded_by(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    return set(done.stdout.split()) & set(HEAVY)


@pytest.mark.parametrize(
    "module",
    ["", ".policy", ".state", ".names", ".checks", ".backends", ".protocol", ".distributed", ".checkpoints"],
)
def test_no_framework_is_imported(module: str) -> None:
    assert loaded_by(f"import paddletorch_shim{module}") == set()


def test_the_command_line_imports_click_alone() -> None:
    assert loaded_by("import paddletorch_shim.cli") == {"click"}


@pytest.mark.parametrize("framework", ["torch", "paddle"])
def test_a_scaler_imports_its_own_framework_alone(framework: str) -> None:
    assert loaded_by(f"import paddletorch_shim.{framework}") == loaded_by(f"import {framework}")


def test_the_modules_do_not_hide_the_frameworks() -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from paddletorch_shim import torch as a, paddle as b; import torch, paddle; "
            "assert a is not torch and b is not paddle; print(a.torch is torch, b.paddle is paddle)",
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stdout.split() == ["True", "True"]
