"""The child's side of ``try``: imports modules with the source framework out of reach, and sends what became of each.

Modules are imported one after the other in one process for as long as they import; one that fails is imported once
more in a fresh process, which alone counts, as a failure may come from what an earlier one has left behind.
"""

from __future__ import annotations

import importlib
import importlib.util
import multiprocessing
import os
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.machinery import ModuleSpec
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any

from paddletorch.children.absent import absent_name, make_absent
from paddletorch.children.child import ending
from paddletorch.children.offline import go_offline

Send = Callable[[Mapping[str, Any]], None]

_FRAMES = 60
_STOPPING = (signal.SIGTERM, signal.SIGINT)


def main(job: dict[str, Any], send: Send) -> None:
    """Do a job: ``target``, ``absent``, ``folders``, ``modules`` and the ``seconds`` that one may take."""
    _prepare(job)
    try:
        importlib.import_module(job["target"])  # once, before other processes are made of this one
    except Exception as error:
        send({"unusable": f"{type(error).__name__}: {error}"})
        return
    send({"ready": True})
    for one in _STOPPING:  # of a module that stops all processes of its group
        signal.signal(one, signal.SIG_IGN)
    context = multiprocessing.get_context("fork" if hasattr(os, "fork") else "spawn")
    hollow: list[dict[str, str]] = []  # packages whose own module fails
    remaining = list(job["modules"])
    while remaining:
        above = [one for one in hollow if remaining[0]["name"].startswith(one["name"] + ".")]
        alike = _alike(remaining, above, hollow)
        for answer in _tried(context, job, alike, above):
            module = remaining.pop(0)
            if answer["outcome"] not in ("imports", "package") and module["package"]:
                hollow.append({"name": module["name"], "folder": str(Path(module["path"]).parent)})
            send({**answer, "path": module["path"]})


def _alike(remaining: Sequence[dict[str, Any]], above: list[Any], hollow: list[Any]) -> list[dict[str, Any]]:
    """The first modules, as many as have the same failing packages above them."""
    found = []
    for module in remaining:
        if [one for one in hollow if module["name"].startswith(one["name"] + ".")] != above:
            break
        found.append(module)
    return found


def _tried(
    context: Any, job: dict[str, Any], modules: Sequence[dict[str, Any]], hollow: Sequence[dict[str, str]]
) -> Iterator[dict[str, Any]]:
    """What became of the first modules: those that import, or one that fails."""
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_import_each, args=(theirs, job, modules, hollow))
    process.start()
    theirs.close()
    try:
        for number in range(len(modules)):
            answer = _received(ours, process, job["seconds"])
            if number and not answer["goes_on"]:
                return  # once more, in a process of its own
            yield answer
            if not answer["goes_on"]:
                return
    finally:
        process.kill()
        process.join()
        ours.close()


def _received(pipe: Connection, process: Any, seconds: float) -> dict[str, Any]:
    try:
        if not pipe.poll(seconds):
            return _without_end("timeout", f"not imported after {seconds:g} s")
        answer: dict[str, Any] = pipe.recv()
    except EOFError:
        process.join()
        return _without_end("ends", ending(process.exitcode))
    return answer


def _without_end(outcome: str, message: str) -> dict[str, Any]:
    return {"outcome": outcome, "error": "", "message": message, "frames": [], "goes_on": False}


def _prepare(job: dict[str, Any]) -> None:
    if any(name in sys.modules for name in job["absent"]):
        return  # forked
    sys.path[:0] = [one for one in job["folders"] if one not in sys.path]
    sys.dont_write_bytecode = True
    warnings.simplefilter("ignore")
    make_absent(job["absent"])
    go_offline()


def _import_each(
    pipe: Connection, job: dict[str, Any], modules: Sequence[dict[str, Any]], hollow: Sequence[dict[str, str]]
) -> None:
    if job["target"] not in sys.modules:  # a process that was not forked
        _prepare(job)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for one in hollow:
        sys.modules[one["name"]] = _hollow_package(one)
    for module in modules:
        begin = time.monotonic()
        answer = _imported(module, [one["name"] for one in hollow], job["absent"])
        pipe.send({**answer, "seconds": time.monotonic() - begin})
        if not answer["goes_on"]:
            break
    pipe.close()
    os._exit(0)


def _hollow_package(package: dict[str, str]) -> ModuleType:
    """A package in the place of one that fails, so that what is in it can be looked at all the same."""
    module = ModuleType(package["name"])
    module.__path__ = [package["folder"]]
    module.__spec__ = ModuleSpec(package["name"], None, is_package=True)
    module.__spec__.submodule_search_locations = module.__path__
    return module


def _imported(module: dict[str, Any], hollow: Sequence[str], absent: Sequence[str]) -> dict[str, Any]:
    try:
        _import(module)
    except SystemExit as error:
        if not error.code:
            return _imports(hollow)
        return _failure(error, absent)
    except BaseException as error:
        if hollow and _is_for_hollow(error, hollow):
            return {"outcome": "package", "package": hollow[0], "goes_on": False}
        return _failure(error, absent)
    return _imports(hollow)


def _imports(hollow: Sequence[str]) -> dict[str, Any]:
    if hollow:
        return {"outcome": "package", "package": hollow[0], "goes_on": True}
    return {"outcome": "imports", "goes_on": True}


def _import(module: dict[str, Any]) -> None:
    path = os.path.realpath(module["path"])
    if module["name"] not in sys.modules and all(map(str.isidentifier, module["name"].split("."))):
        found = importlib.import_module(module["name"])
        if os.path.realpath(getattr(found, "__file__", None) or "") == path:
            return
    elif os.path.realpath(getattr(sys.modules.get(module["name"]), "__file__", None) or "") == path:
        return
    # a script whose name is no module's, or that of another module which is loaded already
    spec = importlib.util.spec_from_file_location(module["name"].replace("-", "_"), path)
    assert spec is not None and spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


def _is_for_hollow(error: BaseException, hollow: Sequence[str]) -> bool:
    """Whether something was asked of a package that stands in for one which fails."""
    if isinstance(error, AttributeError):
        return isinstance(error.obj, ModuleType) and error.obj.__name__ in hollow
    return isinstance(error, ImportError) and not isinstance(error, ModuleNotFoundError) and error.name in hollow


def _failure(error: BaseException, absent: Sequence[str]) -> dict[str, Any]:
    frames = [
        [frame.f_code.co_filename, line, str(frame.f_globals.get("__name__", ""))]
        for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    if isinstance(error, SyntaxError) and error.filename:
        frames.append([error.filename, error.lineno or 0, ""])
    message = ""
    with suppress(Exception):
        message = " ".join(str(error).split())
    return {
        "outcome": "fails",
        "goes_on": False,
        "error": type(error).__name__,
        "message": message[:400],
        "absent": absent_name(error, absent),
        "missing": (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else "",
        "frames": [one for one in frames if not str(one[0]).startswith("<")][-_FRAMES:],
    }
