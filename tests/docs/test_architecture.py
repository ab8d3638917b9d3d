"""The picture of the architecture, and what the page says about who may import whom, held against the imports."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {
    "paddletorch": ROOT / "migrate" / "paddletorch",
    "paddletorch_rules": ROOT / "rules" / "paddletorch_rules",
    "paddletorch_shim": ROOT / "shim" / "paddletorch_shim",
}
PICTURE = ElementTree.parse(ROOT / "docs" / "images" / "architecture.svg").getroot()
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


@cache
def _imports() -> frozenset[tuple[str, str]]:
    """Every import of one module of the project by another, wherever in the module it stands."""
    found: set[tuple[str, str]] = set()
    for package, folder in PACKAGES.items():
        for file in folder.rglob("*.py"):
            module = ".".join([package, *file.relative_to(folder).with_suffix("").parts])
            found |= {(module, name) for name in _imported(file) if name.partition(".")[0] in PACKAGES}
    return frozenset(found)


def _imported(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _package(module: str) -> str:
    return module.partition(".")[0]


def test_the_arrows_between_packages_are_the_imports() -> None:
    drawn = {tuple(element.get("id", "").split("--")) for element in PICTURE.iter() if "--" in element.get("id", "")}
    real = {(_package(importer), _package(name)) for importer, name in _imports()}
    assert drawn == {pair for pair in real if len(set(pair)) == 2}  # each arrow's id is "importer--imported"


@pytest.mark.parametrize("package", PACKAGES)
def test_every_module_of_the_picture_exists(package: str) -> None:
    group = next(element for element in PICTURE.iter() if element.get("id") == package)
    modules = [text.text for text in group.iter() if text.get("class") == "module"]
    assert modules
    for module in modules:
        place = PACKAGES[package] / str(module)
        assert place.is_dir() or place.with_suffix(".py").is_file(), module


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("resolve", ("plan", "engine", "report", "write", "run")),
        ("plan", ("engine", "report", "write", "run")),
        ("engine", ("report", "write", "run", "single")),
        ("report", ("plan", "resolve", "engine", "write", "run")),
        ("write", ("plan", "resolve", "engine", "report", "run")),
    ],
)
def test_data_flows_one_way(earlier: str, later: tuple[str, ...]) -> None:
    for importer, name in _imports():
        if importer.startswith(f"paddletorch.{earlier}"):
            assert not any(re.match(rf"paddletorch\.{module}\b", name) for module in later), f"{importer}: {name}"


def test_the_tables_and_the_shim_import_no_engine() -> None:
    for importer, name in _imports():
        if _package(importer) == "paddletorch_rules":
            assert _package(name) == "paddletorch_rules", f"{importer}: {name}"


def test_every_module_that_the_page_names_exists() -> None:
    section = PAGE.partition("## Where things are")[2].partition("## Decisions")[0]
    paths = [path for folder in PACKAGES.values() for path in folder.rglob("*")]
    known = {path.stem if path.suffix == ".py" else path.name for path in paths}
    for named in re.findall(r"`([a-z_/]+)`", section):
        assert set(named.strip("/").split("/")) <= known | _OTHERS, named


_OTHERS = {"migrate", "rules", "paddletorch", "paddletorch_rules", "paddletorch_shim", "packaging", "tomli"}
