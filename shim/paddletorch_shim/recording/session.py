"""Begins and ends the recording of a run, for use from Python."""

from __future__ import annotations

import ast
import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from types import CodeType, TracebackType
from typing import get_args

from paddletorch.evidence.document import evidence_file
from paddletorch.evidence.save import prepare
from paddletorch.model import Framework, Options

from paddletorch_shim.importhook.hook import ImportHook, converting, install_settings
from paddletorch_shim.importhook.settings import Settings
from paddletorch_shim.recording.modules import RecordedModules
from paddletorch_shim.recording.project import options_for, project_of
from paddletorch_shim.recording.recorder import forget, recorder_for


class NoFramework(ImportError):
    """The framework that the program runs on is not installed."""


def record(
    to: Framework | None = None, root: str | os.PathLike[str] | None = None, *, fresh: bool = False
) -> Recording:
    """Note what runs show about the modules below ``root`` that are imported from now on.

    They run unchanged, on their own framework. What ``paddletorch convert --to TO`` would leave open about them is
    looked at while they run (types, dtypes, ranks, whether a tensor is shared; no values), and kept in
    ``ROOT/.paddletorch/evidence.json``, where ``convert`` finds it. Evidence of earlier runs is added to, except about
    files that have changed since. Installed packages are not looked at.

    The result is a context manager that ends the recording; without ``with``, the end of the process does.

    Args:
        to: the framework that the program is to be converted to; by default as a settings file says, or the one that
            no file below ``root`` imports.
        root: the project's top folder; by default the nearest one upwards from the current folder that has a
            ``.git``, a ``pyproject.toml`` or the like, else the current folder.
        fresh: forget the evidence of earlier runs.

    Raises:
        NoFramework: the framework that the program runs on is not installed.
        ValueError: ``to`` is no framework, or nothing says it; the evidence file is damaged, or is about runs on the
            other framework.
        OSError: the evidence cannot be written.
    """
    if to is not None and to not in get_args(Framework):
        raise ValueError(f"to must be one of {', '.join(map(repr, get_args(Framework)))}, not {to!r}")
    top = project_of(Path.cwd()) if root is None else Path(root).resolve()
    settings = settings_for(top, options_for(top, to), fresh=fresh)
    return Recording(install_settings(settings))


def settings_for(root: Path, options: Options, *, fresh: bool = False) -> Settings:
    """The settings of a hook that records the project in ``root``, for which all is made ready.

    Raises:
        NoFramework: the framework that the program runs on is not installed.
        ValueError: the evidence file is damaged, or is about runs on the other framework.
        OSError: the evidence cannot be written.
    """
    if importlib.util.find_spec(options.source) is None:
        raise NoFramework(
            f"{options.source} is not installed here, and the program is to run on it: "
            f"pip install 'paddletorch[{options.source}]'",
            name=options.source,
        )
    file = evidence_file(root)
    try:
        prepare(root, options.source, fresh=fresh)
    except ValueError as error:
        raise ValueError(f"{file}: {error}; --fresh, or fresh=True, begins anew") from error
    return Settings(options, folders=(str(root),), root=str(root))


class Recording:
    """A recording that is going on; ``file`` is where the evidence is kept."""

    def __init__(self, hook: ImportHook) -> None:
        self._hook = hook
        self._recorder = recorder_for(hook.settings.root, hook.settings.options.source)
        self.file = evidence_file(Path(hook.settings.root))

    @property
    def asked(self) -> int:
        """How many questions are open about the modules that this process imported so far."""
        return self._recorder.asked

    @property
    def answered(self) -> int:
        """How many of them this process has come to."""
        return self._recorder.reached

    def code_of(self, source: bytes, file: str, change: Callable[[ast.Module], None]) -> CodeType | None:
        """The code of a file that is not imported by Python itself, whose tree ``change`` changes first.

        None if nothing is to be looked at in it.
        """
        modules = self._hook.modules
        assert isinstance(modules, RecordedModules)
        with converting():
            return modules.code_of(source, file, change)

    def keep(self) -> None:
        """Write what was seen so far; this happens about every second and at the end anyway."""
        self._recorder.keep()

    def summary(self) -> str:
        """What this process can say of the recording, in a line."""
        return self._recorder.summary()

    def stop(self) -> None:
        """Note nothing more, and keep what was seen. What was imported goes on to run."""
        self._hook.uninstall()
        self._recorder.stop()
        forget(self._hook.settings.root)

    def __enter__(self) -> Recording:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
