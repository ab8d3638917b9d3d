"""Runs a script or a module as ``__main__``, converted or recorded, as ``python`` itself would run it."""

from __future__ import annotations

import builtins
import importlib.util
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any, NoReturn

from paddletorch_shim.importhook.findings import ConversionError
from paddletorch_shim.importhook.hook import HookedLoader, ImportHook, install_settings
from paddletorch_shim.importhook.installed import installed_program
from paddletorch_shim.importhook.settings import Settings

_NO_SCRIPT = (
    "{name} is an installed program, no script: give a file, a folder, or -m and a module; a launcher such as torchrun "
    "starts this command: torchrun --no-python paddletorch run train.py"
)


class ProgramError(Exception):
    """There is nothing to run; the message says why."""


@dataclass(frozen=True, slots=True)
class Program:
    """What to run, with its arguments: the path of a script or a folder with a ``__main__.py``, or a module's name."""

    settings: Settings
    """Without folders and script, which the program itself gives."""
    name: str
    arguments: Sequence[str]
    is_module: bool = False

    def run(self) -> NoReturn:
        """Run it and end the process with its exit code; 2 if there is nothing to run, 1 if it cannot be converted."""
        try:
            module, code = self._module() if self.is_module else self._script()
        except ConversionError as error:
            sys.exit(f"paddletorch: {error}")
        except SyntaxError as error:
            sys.excepthook(SyntaxError, error.with_traceback(None), None)
            sys.exit(1)
        except (ProgramError, ValueError) as error:  # a ValueError: a table, a release, a package
            print(f"paddletorch: {error}", file=sys.stderr)
            sys.exit(2)
        # multiprocessing has its own name for the main module, which it took when the hook imported it
        sys.modules["__main__"] = sys.modules["__mp_main__"] = module
        try:
            exec(code, module.__dict__)
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:
            if not _is_outermost(sys._getframe()):
                raise  # a debugger or the like, which runs paddletorch, waits for it
            trace = error.__traceback__
            while trace is not None and trace.tb_frame.f_code is not code:
                trace = trace.tb_next  # the frames above are not the program's
            sys.excepthook(type(error), error.with_traceback(trace), trace)
            sys.exit(1)
        sys.exit()

    def _script(self) -> tuple[ModuleType, CodeType]:
        path = os.path.join(os.getcwd(), self.name)  # noqa: PTH109, PTH118 - as in Python, links and ".." stay
        is_folder = Path(path).is_dir()
        file = os.path.join(path, "__main__.py") if is_folder else path  # noqa: PTH118
        if not Path(file).is_file():
            if not is_folder and installed_program(self.name) is not None:
                raise ProgramError(_NO_SCRIPT.format(name=self.name))
            raise ProgramError(f"cannot open {file}: there is no such file")
        folder = os.path.realpath(path) if is_folder else str(Path(path).resolve().parent)
        folders = (self.settings.root or folder,)
        hook = install_settings(replace(self.settings, folders=folders, script=os.path.realpath(file)))
        _start(folder, [self.name, *self.arguments])
        loader = hook.loader("__main__", file)
        spec = importlib.util.spec_from_file_location("__main__", file, loader=loader) if is_folder else None
        return _main_module("__main__", loader, spec), loader.get_code("__main__")

    def _module(self) -> tuple[ModuleType, CodeType]:
        folder = str(Path.cwd())
        packages = (*self.settings.packages, *(() if self.settings.root else (self.name.partition(".")[0],)))
        folders = (self.settings.root or os.path.realpath(folder),)
        install_settings(replace(self.settings, packages=packages, folders=folders))
        _start(folder, ["-m", *self.arguments])
        spec = _find(self.name)
        loader = spec.loader
        if not isinstance(loader, HookedLoader):
            if self.settings.root:
                raise ProgramError(f"{spec.name} is no source file of the project in {self.settings.root}")
            raise ProgramError(f"{spec.name} is no source file that could be converted")
        sys.argv[0] = loader.path
        return _main_module("__main__", loader, spec), loader.get_code(spec.name)


def become_spawned_script(namespace: dict[str, Any]) -> None:
    """Turn ``namespace`` into that of the script which the hook of this process is for, as a main module."""
    hook = next(f for f in sys.meta_path if isinstance(f, ImportHook) and f.settings.script)
    loader = hook.loader("__mp_main__", hook.settings.script)
    code = loader.get_code("__mp_main__")
    namespace.clear()
    namespace.update(vars(_main_module("__mp_main__", loader, None)))
    exec(code, namespace)


def _is_outermost(frame: FrameType | None) -> bool:
    """Whether the frame was called by the launcher of paddletorch alone."""
    while frame is not None and frame.f_globals.get("__name__") in (
        __name__,
        "paddletorch.__main__",
        "__main__",
        "runpy",
    ):
        frame = frame.f_back
    return frame is None


def _start(folder: str, arguments: list[str]) -> None:
    if not (sys.flags.isolated or getattr(sys.flags, "safe_path", False)):
        sys.path[0] = folder  # where the launcher of paddletorch was
    sys.argv[:] = arguments


def _main_module(name: str, loader: HookedLoader, spec: ModuleSpec | None) -> ModuleType:
    module = ModuleType(name)
    vars(module).update(
        __file__=loader.path,
        __loader__=loader,
        __spec__=spec,
        __package__=spec.parent if spec is not None else None,
        __cached__=None,
        __builtins__=builtins,
    )
    if sys.version_info < (3, 14):
        module.__annotations__ = {}
    return module


def _find(name: str) -> ModuleSpec:
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            raise ProgramError(f"no module named {error.name}") from None
        raise
    if spec is None:
        raise ProgramError(f"no module named {name}")
    if spec.submodule_search_locations is None:
        return spec
    if name.endswith(".__main__"):
        raise ProgramError(f"{name} is a package")
    return _find(f"{name}.__main__")
