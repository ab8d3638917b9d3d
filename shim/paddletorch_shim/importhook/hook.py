"""The finder on ``sys.meta_path`` and the loader that it gives to modules that are to be converted or recorded."""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import get_args

from paddletorch.model import Framework, Options, ShimMode

from paddletorch_shim.importhook import workers
from paddletorch_shim.importhook.converted import ConvertedModules
from paddletorch_shim.importhook.settings import ModuleCode, Settings

NEVER = frozenset({"torch", "paddle", "paddletorch", "paddletorch_rules", "paddletorch_shim"})
"""Packages that no hook converts."""

_INSTALLED = frozenset({"site-packages", "dist-packages"})

_STDLIB = str(Path(os.__file__).resolve().parent)

_lock = threading.RLock()


class _Here(threading.local):
    converting = False
    """Whether this thread converts: what the converter imports is not for the hook."""


_here = _Here()


@contextmanager
def converting() -> Iterator[None]:
    """What this thread imports meanwhile is the converter's, and not for a hook."""
    before, _here.converting = _here.converting, True
    try:
        yield
    finally:
        _here.converting = before


def _begin_forked() -> None:
    """In a forked process, the thread that held the lock is gone, and so may be half of what it was doing."""
    global _lock
    _lock = threading.RLock()
    for hook in _installed():
        hook.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_forked)


def install(
    to: Framework,
    packages: Iterable[str] = (),
    *,
    folders: Iterable[str | os.PathLike[str]] = (),
    allow: Iterable[str] = (),
    source_version: str | None = None,
    target_version: str | None = None,
    unsafe: bool = False,
    shim: ShimMode = "auto",
    tables: Iterable[str | os.PathLike[str]] = (),
) -> ImportHook:
    """Convert the named ``packages``, and the modules below ``folders``, to framework ``to`` when they are imported.

    ``packages`` are dotted names and stand for everything below them; installed packages are converted only if they
    are named. ``allow`` has codes, areas (``"AMP"``) or prefixes of findings that are to be of no matter. The other
    options are those of ``paddletorch convert``. The hook is also a context manager that uninstalls it. Installing
    the same again changes nothing; modules that were imported before stay as they are.

    Raises:
        TypeError: ``packages``, ``folders``, ``allow`` or ``tables`` is one string, not several.
        ValueError: ``to`` is no framework, or a package is none that could be converted.
    """
    if to not in get_args(Framework):
        raise ValueError(f"to must be one of {', '.join(map(repr, get_args(Framework)))}, not {to!r}")
    if shim not in get_args(ShimMode):
        raise ValueError(f"shim must be one of {', '.join(map(repr, get_args(ShimMode)))}, not {shim!r}")
    settings = Settings(
        Options(
            to,
            source_version=source_version,
            target_version=target_version,
            unsafe=unsafe,
            shim=shim,
            tables=tuple(os.path.abspath(table) for table in _several("tables", tables)),  # noqa: PTH100
        ),
        packages=_several("packages", packages),
        folders=tuple(os.path.realpath(folder) for folder in _several("folders", folders)),
        allow=tuple(code.upper() for code in _several("allow", allow)),
    )
    early = [name for name in settings.packages if name in sys.modules]
    hook = install_settings(settings)
    if early:
        warnings.warn(f"imported before the hook, and not converted: {', '.join(early)}", RuntimeWarning, stacklevel=2)
    return hook


def install_settings(settings: Settings) -> ImportHook:
    """As ``install``, for settings that are already in one place.

    Raises:
        ValueError: a package is none that could be converted.
    """
    for name in settings.packages:
        if name.partition(".")[0] in NEVER:
            raise ValueError(f"{name} belongs to a framework or to paddletorch, which the hook does not convert")
        if not all(part.isidentifier() for part in name.split(".")):
            raise ValueError(f"not the dotted name of a package: {name!r}")
    with _lock:
        for hook in _installed():
            if hook.settings == settings:
                return hook
        hook = ImportHook(settings)
        sys.meta_path.insert(0, hook)
        workers.attach(_in_force, _install_all)
    return hook


def _install_all(settings: tuple[Settings, ...]) -> None:
    for one in settings:
        install_settings(one)


def uninstall() -> None:
    """Remove all hooks. What was imported stays as it is."""
    for hook in _installed():
        hook.uninstall()


class ImportHook(MetaPathFinder):
    """Finds modules as the finders after it do, and gives those that it is for other code."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.modules = _modules(settings)

    def uninstall(self) -> None:
        """Convert nothing more; what was imported stays as it is."""
        with _lock:
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            if not _installed():
                workers.detach()

    def __enter__(self) -> ImportHook:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.uninstall()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """See ``importlib.abc.MetaPathFinder``."""
        if _here.converting or fullname.partition(".")[0] in NEVER:
            return None
        if not self.settings.folders and not self._is_named(fullname):
            return None
        spec = self._find_after(fullname, path, target)
        # other loaders are for extensions, archives and bytecode, or rewrite the source themselves
        if spec is None or type(spec.loader) is not SourceFileLoader:
            return spec
        file = spec.loader.path
        if self._is_named(fullname) or self._is_below(file):
            if fullname in sys.modules:
                self.forget()  # reloaded: other files that the converter knows may have changed too
            spec.loader = self.loader(fullname, file)
        return spec

    def _find_after(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None) -> ModuleSpec | None:
        finders = list(sys.meta_path)
        for finder in finders[finders.index(self) + 1 :] if self in finders else ():
            spec = finder.find_spec(fullname, path, target) if hasattr(finder, "find_spec") else None
            if spec is not None:
                return spec
        return None

    def _is_named(self, fullname: str) -> bool:
        return any(fullname == name or fullname.startswith(f"{name}.") for name in self.settings.packages)

    def _is_below(self, file: str) -> bool:
        if file.startswith(_STDLIB + os.sep):
            return False
        for folder in self.settings.folders:
            for path in dict.fromkeys((os.path.abspath(file), os.path.realpath(file))):  # noqa: PTH100
                inside = path.removeprefix(folder.rstrip(os.sep) + os.sep)
                if inside != path and _INSTALLED.isdisjoint(Path(inside).parts):
                    return True
        return False

    def loader(self, fullname: str, file: str) -> HookedLoader:
        """A loader of the module in ``file``, for this hook."""
        return HookedLoader(fullname, file, self)

    def code(self, fullname: str, source: bytes, file: str) -> CodeType | None:
        """The code that a module runs; ``file`` is what tracebacks name. None: its own, as Python compiles it.

        Raises:
            SyntaxError: the module is no Python.
            ConversionError: it cannot be converted safely.
            ValueError: a table or a release specifier is wrong.
        """
        with converting():
            return self.modules.code(fullname, source, file)

    def forget(self) -> None:
        """Begin with a new converter."""
        self.modules.forget()


def _modules(settings: Settings) -> ModuleCode:
    if not settings.root:
        return ConvertedModules(settings)
    from paddletorch_shim.recording.modules import RecordedModules

    return RecordedModules(settings)


class HookedLoader(SourceFileLoader):
    """Loads a source file as Python does, but for its code; what it says of the source is about the file."""

    def __init__(self, fullname: str, path: str, hook: ImportHook) -> None:
        super().__init__(fullname, path)
        self._hook = hook

    def get_code(self, fullname: str) -> CodeType:
        """See ``importlib.abc.InspectLoader``."""
        file = self.get_filename(fullname)
        code = self._hook.code(fullname, self.get_data(file), file)
        if code is None:
            code = super().get_code(fullname)
        assert code is not None  # there is a source
        return code


def _installed() -> list[ImportHook]:
    return [finder for finder in sys.meta_path if isinstance(finder, ImportHook)]


def _in_force() -> tuple[Settings, ...]:
    """The settings of the hooks, the first on the path last, so that installing them in this order gives the same."""
    return tuple(hook.settings for hook in reversed(_installed()))


def _several(name: str, values: Iterable[str | os.PathLike[str]]) -> tuple[str, ...]:
    if isinstance(values, str | os.PathLike):
        raise TypeError(f"{name} takes several: [{values!r}]")
    return tuple(os.fspath(value) for value in values)
