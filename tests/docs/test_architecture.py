"""The picture of the architecture, and what the page says about who may import whom, held against the imports."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
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
            found |= {(module, name) for name in _imported(file, module) if name.partition(".")[0] in PACKAGES}
    return frozenset(found)


def _imported(file: Path, module: str) -> Iterator[str]:
    """The dotted names that ``module``, which stands in ``file``, imports: in functions and for type checkers too."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = module.rsplit(".", node.level)[0] if node.level else ""
            base = ".".join(filter(None, [start, node.module]))
            yield from (f"{base}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Later":
            yield from (
                f"paddletorch.plan.{a.value.replace(':', '.')}" for a in node.args if isinstance(a, ast.Constant)
            )


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


BELOW = "and below"
"""In ROOMS: and what those rooms may import, and so on."""

ROOMS: dict[str, tuple[str, ...]] = {
    "model": (),
    "text": ("model",),
    "resolve.values": (),
    "resolve.scopes": ("resolve.values", "model"),
    "resolve.evaluator": ("resolve.scopes", BELOW),
    "resolve.facts": ("resolve.evaluator", BELOW),
    "resolve.flows": ("resolve.evaluator", BELOW),
    "resolve.project": ("resolve.evaluator", "text", BELOW),
    "resolve": ("resolve.project", "resolve.facts", "resolve.flows", BELOW),
    "plan.model": ("resolve", BELOW),
    "plan.syntax": ("plan.model", BELOW),
    "plan.inference": ("plan.syntax", BELOW),
    "plan.sites": ("plan.inference", BELOW),
    "plan.names": ("plan.sites", BELOW),
    "plan.calls": ("plan.sites", BELOW),
    "plan.uses": ("plan.names", "plan.calls", BELOW),
    "plan.passes": ("plan.uses", BELOW),
    "plan": ("plan.passes", BELOW),
    "gate": ("resolve", BELOW),
    "engine": ("plan", "gate", BELOW),
    "project_files": ("text", "model"),
    "documents": ("engine", "project_files", "text", "model"),
    "api": ("documents", "engine", "project_files", "text", "model"),
    "codemod": ("api", "model"),
    "inputs": ("model",),
    "evidence": ("model",),
    "batch": ("api", "inputs", "text", "model"),
    "output": ("inputs", "model"),
    "report": ("text", "model"),
    "editor": ("api", "report", "text", "model"),
    "proof": ("api", "model"),
    "pages": ("proof", "plan.calls", BELOW),
    "origins": ("text", "model"),
    "children": (),
    "trial": ("children", "origins", "report", "model"),
    "comparison": ("children", "origins", "report", "model"),
    "cli": ("batch", "output", "editor", "pages", "trial", "comparison", "evidence", BELOW),
    "": ("cli", "api", "model"),
}
"""The rooms of migrate/paddletorch, lowest first, each with those that it may import; "" is the package itself."""

KNOWN_VIOLATIONS: frozenset[tuple[str, str]] = frozenset()
"""Imports against the table that are still to be mended: remove each as it goes."""


def _below(room: str) -> set[str]:
    named = set(ROOMS[room]) - {BELOW}
    return named.union(*map(_below, named)) if BELOW in ROOMS[room] else named


def _room(module: str) -> str:
    """The room of a module, by its name below ``paddletorch``: the longest beginning that the table has."""
    parts = module.split(".")
    return next(room for n in range(len(parts), -1, -1) if (room := ".".join(parts[:n])) in ROOMS)


@cache
def _rooms_of_imports() -> frozenset[tuple[str, str]]:
    """Which module of migrate/paddletorch imports which, both named below the package."""
    modules = {module.removeprefix("paddletorch.") for module in _modules() if module.startswith("paddletorch.")}
    found: set[tuple[str, str]] = set()
    for importer, name in _imports():
        if _package(importer) == _package(name) == "paddletorch":
            here, there = importer.removesuffix(".__init__"), name
            while there.removeprefix("paddletorch.") not in modules and "." in there:
                there = there.rpartition(".")[0]
            if "." in there:  # the package itself: its version, and it is imported with any of its modules
                found.add((here.partition(".")[2], there.partition(".")[2]))
    return frozenset(found)


def test_no_room_imports_one_that_it_may_not() -> None:
    against = {
        (importer, name)
        for importer, name in _rooms_of_imports()
        if _room(importer) != _room(name) and _room(name) not in _below(_room(importer))
    }
    assert against - KNOWN_VIOLATIONS == set()
    assert against >= KNOWN_VIOLATIONS, "these are mended: remove them from the list"


def test_the_table_of_rooms_runs_one_way() -> None:
    order = list(ROOMS)
    for room in ROOMS:
        assert all(order.index(lower) < order.index(room) for lower in _below(room)), room


def test_every_folder_is_a_room() -> None:
    folder = PACKAGES["paddletorch"]
    nested = [sub for name in ("plan", "resolve") for sub in (folder / name).iterdir()]
    folders = {
        ".".join(path.relative_to(folder).parts)
        for path in [*folder.iterdir(), *nested]
        if path.is_dir() and any(path.glob("*.py"))
    }
    assert folders == {room for room in ROOMS if room and (folder / room.replace(".", "/")).is_dir()}
    assert all((folder / room.replace(".", "/")).exists() or room == "resolve.values" for room in ROOMS)


@pytest.mark.parametrize("room", [room for room in ROOMS if room not in ("", "resolve.values")])
def test_each_room_says_what_it_may_import(room: str) -> None:
    """In the first line of its ``__init__``, in the words of the table."""
    text = (PACKAGES["paddletorch"] / room.replace(".", "/") / "__init__.py").read_text(encoding="utf-8")
    line = (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
    named = [f"`{lower}`" for lower in ROOMS[room] if lower != BELOW]
    if BELOW in ROOMS[room]:
        said = f"Imports {', '.join(named)} and below."
    elif named:
        said = f"Imports {' and '.join([', '.join(named[:-1]), named[-1]] if len(named) > 1 else named)}."
    else:
        said = "Imports no other room."
    assert line.endswith(f". {said}"), f"{line!r} should end with {said!r}"


@cache
def _modules() -> dict[str, frozenset[str]]:
    """Each module of the three packages, and those that it imports."""
    names = {
        ".".join([package, *file.relative_to(folder).with_suffix("").parts]).removesuffix(".__init__")
        for package, folder in PACKAGES.items()
        for file in folder.rglob("*.py")
    }
    found: dict[str, set[str]] = {name: set() for name in names}
    for importer, name in _imports():
        there = name if name in names else name.rpartition(".")[0]
        if there in names and there != importer.removesuffix(".__init__"):
            found[importer.removesuffix(".__init__")].add(there)
    return {name: frozenset(imported) for name, imported in found.items()}


def test_no_modules_import_each_other_in_a_circle() -> None:
    sorter = TopologicalSorter(_modules())
    try:
        sorter.prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


@pytest.mark.parametrize(
    "text",
    [
        "from paddletorch.cli import main\n",
        "import paddletorch.cli.main\n",
        "def f():\n    from paddletorch.cli.main import cli\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from paddletorch.cli.main import cli\n",
        "from ..cli.main import cli\n",
        "from .. import cli\n",
    ],
)
def test_an_import_is_seen_wherever_it_stands(text: str, tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text(text)
    assert any(name.startswith("paddletorch.cli") for name in _imported(file, "paddletorch.model.module"))


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
