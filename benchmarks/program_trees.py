"""Trees of real packages: fetched from the package index, and imported module by module.

A package's ``__init__`` often imports all of it, and one file that fails would hide all others. ``TreeFinder`` gives
packages that look up in their ``__init__`` where a name comes from, and import that module only.
"""

from __future__ import annotations

import ast
import importlib
import importlib.abc
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

COPIED = {"paddle.vision": "paddle_vision_copy", "torchvision": "torchvision_copy"}
"""Parts of a framework that stand for somebody's package: their sources under another name."""


def cache_folder(given: Path | None) -> Path:
    """Where everything that can be made again is kept."""
    place = given or Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "paddletorch-programs"
    return place.resolve()


def distribution_folder(cache: Path, requirement: str) -> Path:
    """The unpacked sources of a requirement, NAME==VERSION; fetched if they are not there.

    Raises:
        RuntimeError: the package index does not have it.
    """
    folder = cache / "sources" / requirement.replace("==", "-")
    if folder.exists():
        return folder
    part = folder.with_name(f"{folder.name}.{os.getpid()}")
    if requirement.startswith("paddle.vision"):
        spec = importlib.util.find_spec("paddle")
        assert spec and spec.submodule_search_locations
        copy = part / COPIED["paddle.vision"]
        shutil.copytree(Path(spec.submodule_search_locations[0], "vision"), copy)
        for file in copy.rglob("*.py"):  # what is outside of the copied part is Paddle's
            dots = r"\." * (len(file.relative_to(part).parts))
            text = re.sub(rf"(?m)^(\s*)from {dots}([\w.]*) import", _absolute, file.read_text(encoding="utf-8"))
            file.write_text(text, encoding="utf-8")
    else:
        shutil.unpack_archive(_archive(cache / "archives", requirement), part, "zip")
        _flatten(part)
        if requirement.startswith("torchvision=="):
            (part / "torchvision").rename(part / COPIED["torchvision"])
    part.rename(folder)
    return folder


def _absolute(found: re.Match[str]) -> str:
    return f"{found[1]}from paddle{'.' + found[2] if found[2] else ''} import"


def _archive(archives: Path, requirement: str) -> Path:
    """The wheel of a requirement; a source distribution is packed anew, as a zip archive."""
    archives.mkdir(parents=True, exist_ok=True)
    name, _, version = requirement.partition("==")
    stem = f"{name.replace('-', '_').lower()}-{version}"
    found = [one for one in archives.iterdir() if one.name.replace("-", "_").lower().startswith(stem.replace("-", "_"))]
    if not found:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(archives), requirement]
        for options in (["--only-binary", ":all:"], ["--no-build-isolation"]):
            if subprocess.run([*pip, *options], capture_output=True, check=False).returncode == 0:
                return _archive(archives, requirement)
        raise RuntimeError(f"{requirement} cannot be had from the package index")
    (one,) = found[:1]
    if one.suffix in (".whl", ".zip"):
        return one
    with tempfile.TemporaryDirectory() as place:
        shutil.unpack_archive(one, place)
        packed = shutil.make_archive(str(archives / stem), "zip", place)
    one.unlink()
    return Path(packed)


def _flatten(folder: Path) -> None:
    """A source distribution has its packages below NAME-VERSION, maybe below src there."""
    for _ in range(2):
        entries = [one for one in folder.iterdir() if one.is_dir()]
        inner = next((one for one in entries if one.name == "src"), entries[0] if len(entries) == 1 else None)
        if inner is None or (inner / "__init__.py").exists() or any(folder.glob("*.dist-info")):
            return
        moved = folder / ".inner"
        inner.rename(moved)
        for one in moved.iterdir():
            if not (folder / one.name).exists():
                one.rename(folder / one.name)


def top_levels(folder: Path) -> list[str]:
    """Names that a tree's packages and modules are imported by."""
    packages = [one.name for one in folder.iterdir() if one.is_dir() and any(one.glob("*.py"))]
    modules = [one.stem for one in folder.glob("*.py") if one.stem not in ("setup", "conftest")]
    return [name for name in packages + modules if name.isidentifier() and name not in ("tests", "test", "docs")]


class NeedsFile(ImportError):
    """A file of the tree that is not converted yet."""


class TreeFinder(importlib.abc.MetaPathFinder):
    """Finds the modules of trees.

    Args:
        roots: folder of the sources by top-level name.
        converted: folder of the converted sources by top-level name; none: the sources are imported as they are.
        loaded: is filled with the files that were imported.
        needed: is filled with files that are in the sources and not converted.
    """

    def __init__(self, roots: Mapping[str, Path], converted: Mapping[str, Path] | None = None) -> None:
        self.roots = dict(roots)
        self.converted = dict(converted) if converted is not None else None
        self.loaded: list[Path] = []
        self.needed: list[Path] = []

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's spec; packages are lazy."""
        top, *below = fullname.split(".")
        if top not in self.roots:
            return None
        place = self.roots[top].joinpath(top, *below)
        file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
        if place.is_dir():
            spec = ModuleSpec(fullname, _LazyPackage(self, fullname, file), origin=str(file), is_package=True)
            spec.submodule_search_locations = [str(place)]
            return spec
        if not file.exists():
            return None
        here = self.file(top, file)
        self.loaded.append(file)
        return importlib.util.spec_from_file_location(fullname, here, loader=SourceFileLoader(fullname, str(here)))

    def file(self, top: str, file: Path) -> Path:
        """The file that is run for a file of the sources.

        Raises:
            NeedsFile: it is not converted yet.
        """
        if self.converted is None:
            return file
        here = self.converted[top] / file.relative_to(self.roots[top])
        if not here.exists():
            self.needed.append(file)
            raise NeedsFile(f"{file} is not converted")
        return here


class _LazyPackage(importlib.abc.Loader):
    def __init__(self, finder: TreeFinder, name: str, file: Path) -> None:
        self._finder = finder
        self._name = name
        self._file = file

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        tree = ast.parse(self._file.read_bytes()) if self._file.exists() else ast.parse("")
        module.__dict__["__file__"] = str(self._file)
        names, stars = _names(tree, self._name)
        running = False

        def attribute(name: str) -> Any:
            nonlocal running
            if name == "__path__" or (name.startswith("__") and name not in ("__version__", "__all__")):
                raise AttributeError(name, name=name, obj=module)
            for place, original in names.get(name, ()):
                try:
                    return _attribute(place, original)
                except (AttributeError, ModuleNotFoundError) as error:
                    if not _is_absent(error, place, original):
                        raise
            if name not in ("__all__", "__version__"):
                if (self._file.parent / f"{name}.py").exists() or (self._file.parent / name).is_dir():
                    return importlib.import_module(f"{self._name}.{name}")
                for place in stars:
                    try:
                        return _attribute(place, name)
                    except (AttributeError, ModuleNotFoundError) as error:
                        if not _is_absent(error, place, name):
                            raise
            if running or not (name == "__all__" or name in _defined(tree)):
                raise AttributeError(f"module {self._name!r} has no attribute {name!r}", name=name, obj=module)
            running = True
            try:
                here = self._finder.file(self._name.partition(".")[0], self._file)
                self._finder.loaded.append(self._file)
                exec(compile(here.read_bytes(), str(here), "exec"), module.__dict__)
            finally:
                running = False
            if name not in module.__dict__:
                raise AttributeError(f"module {self._name!r} has no attribute {name!r}", name=name, obj=module)
            return module.__dict__[name]

        module.__dict__["__getattr__"] = attribute


def _attribute(place: str, name: str | None) -> Any:
    module = importlib.import_module(place)
    if name is None:
        return module
    try:
        return getattr(module, name)
    except AttributeError:
        try:
            return importlib.import_module(f"{place}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{place}.{name}":
                raise
            raise AttributeError(f"module {place!r} has no attribute {name!r}", name=name, obj=module) from None


def _is_absent(error: AttributeError | ModuleNotFoundError, place: str, name: str | None) -> bool:
    """Whether the module or the name itself is not there, rather than something that the module needs."""
    missing = error.name or ""
    if isinstance(error, ModuleNotFoundError):
        return f"{place}.{name}.".startswith(f"{missing}.") and bool(missing)
    return missing == name


def _names(tree: ast.Module, package: str) -> tuple[dict[str, list[tuple[str, str | None]]], list[str]]:
    """Where a package's ``__init__`` takes its names from, and what it imports all names of, the last first."""
    names: dict[str, list[tuple[str, str | None]]] = {}
    stars: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            place = node.module or ""
            if node.level:
                base = package.split(".")[: len(package.split(".")) - node.level + 1]
                place = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                if alias.name == "*":
                    stars.insert(0, place)
                elif place == package:
                    names.setdefault(alias.asname or alias.name, []).insert(0, (f"{place}.{alias.name}", None))
                else:
                    names.setdefault(alias.asname or alias.name, []).insert(0, (place, alias.name))
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    names.setdefault(alias.asname, []).insert(0, (alias.name, None))
                elif "." not in alias.name:
                    names.setdefault(alias.name, []).insert(0, (alias.name, None))
    return names, stars


def _defined(tree: ast.Module) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        found |= set(_assigned(node))
    return found


def _assigned(node: ast.AST) -> Iterator[str]:
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            yield from (one.id for one in ast.walk(target) if isinstance(one, ast.Name))


class StubFinder(importlib.abc.MetaPathFinder):
    """Gives modules whose names are empty classes for packages that are out of reach."""

    def __init__(self, families: Sequence[str]) -> None:
        self._families = families

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """None for other modules."""
        if fullname.partition(".")[0] not in self._families:
            return None
        return ModuleSpec(fullname, _StubLoader(), is_package=True)


class _StubLoader(importlib.abc.Loader):
    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        def attribute(name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            return _Stub(name, (), {})

        module.__dict__["__getattr__"] = attribute


class _Stub(type):
    """A class for a name of a framework that is out of reach: it can be a base or a default, and cannot be called."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Stub(name, (), {})

    def __call__(cls, *arguments: Any, **keywords: Any) -> Any:
        if len(arguments) == 1 and not keywords and callable(arguments[0]):
            return arguments[0]  # a decorator
        raise ImportError(f"{cls.__name__} of the source framework was called")
