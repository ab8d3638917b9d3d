"""The packages that are built on a framework: what the file says holds together."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest
from paddletorch_rules import TableError, packages
from paddletorch_rules.table import built_in_files

DOCS = Path(__file__).parents[2] / "docs"
ALL = packages.read()


def test_the_file_is_no_table_of_rows() -> None:
    assert packages.FILE not in built_in_files()


def test_neither_framework_is_built_on_itself() -> None:
    own = {"torch", "torchvision", "paddle", "numpy", "einops"}
    assert not own & {package.name for package in ALL}


@pytest.mark.parametrize("package", ALL, ids=lambda package: package.name)
def test_each_package_says_what_it_is_and_the_way_out(package: packages.Package) -> None:
    assert package.of
    assert package.instead.endswith(".")
    words = package.counterpart.replace(",", " ").split()
    assert all(word.partition(".")[0] in package.instead for word in words), "the way out names the counterpart"
    assert all(part.isidentifier() for part in package.name.split("."))


def test_a_part_of_a_package_is_not_the_package() -> None:
    on_torch = packages.packages("torch")
    assert on_torch.of("horovod.torch.DistributedOptimizer") is not None
    assert on_torch.of("horovod.tensorflow") is None
    assert on_torch.of("timmy") is None


def test_requirements_name_packages_as_pip_does() -> None:
    on_torch = packages.packages("torch")
    for spelling in ("pytorch-lightning", "PyTorch_Lightning", "pytorch.lightning"):
        found = on_torch.distributed_as(spelling)
        assert found is not None
        assert found.name == "pytorch_lightning"
    assert on_torch.distributed_as("horovod") is None


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"import timm", True),
        (b"from  timm.models import x", True),
        (b"import os, timm", True),
        (b'import_module( "timm" )', True),
        (b"import optimmm", False),
        (b"x = timm", False),
    ],
)
def test_a_look_at_the_bytes(data: bytes, expected: bool) -> None:
    assert packages.packages("torch").may_be_imported(data) is expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('name = "a"\non = "torch"\nof = "x"', "instead"),
        ('name = "a"\non = "jax"\nof = "x"\ninstead = "y"', "jax"),
        ('name = "a"\non = "torch"\nof = "x"\ninstead = "y"\nfor = "z"', "for"),
        ('name = "a"\non = "torch"\nof = "x"\ninstead = "y"\n[[package]]\nname = "a"', "twice"),
    ],
)
def test_mistakes_name_the_package_and_the_key(
    text: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "packages.toml"
    file.write_text(f"[[package]]\n{text}\n")
    monkeypatch.setattr(packages, "FILE", file)
    with pytest.raises(TableError, match=problem):
        packages.read()


def test_the_documentation_has_every_key() -> None:
    section = (DOCS / "tables.md").read_text(encoding="utf-8").partition("## Package\n")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) == packages._KEYS


@pytest.mark.parametrize("package", ALL, ids=lambda package: package.name)
def test_names_of_the_frameworks_in_a_way_out_exist(package: packages.Package) -> None:
    for name in re.findall(r"\b(?:paddle|torch)(?:\.\w+)+", f"{package.counterpart} {package.instead}"):
        parts = name.split(".")
        found = importlib.import_module(parts[0])
        for end, part in enumerate(parts[1:], 2):
            if not hasattr(found, part):
                importlib.import_module(".".join(parts[:end]))
            found = getattr(found, part)
