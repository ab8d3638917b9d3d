"""``pytest --paddletorch-record``: notes what the tests of a project show about its modules.

The plugin is loaded with every run of pytest where paddletorch is installed, and imports nothing unless it is asked to.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from paddletorch_shim.recording.session import Recording

_recording: Recording | None = None


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("paddletorch", "paddletorch: what a run shows about open questions of a conversion")
    group.addoption(
        "--paddletorch-record",
        action="store_true",
        help="Note types, dtypes and ranks where paddletorch convert cannot know them, in .paddletorch/evidence.json.",
    )
    group.addoption(
        "--paddletorch-record-to",
        choices=("paddle", "torch"),
        help="The framework that the project is to be converted to, if that is not clear.",
    )
    group.addoption("--paddletorch-record-root", metavar="DIR", help="The project's top folder.")
    group.addoption("--paddletorch-record-fresh", action="store_true", help="Forget the evidence of earlier runs.")
    group.addoption("--paddletorch-record-quiet", action="store_true", help="Say nothing in the end.")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Begin before the first module of the project is imported."""
    global _recording
    given: Any = early_config.known_args_namespace
    if not given.paddletorch_record or _recording is not None:
        return
    from paddletorch_shim.recording.project import project_of
    from paddletorch_shim.recording.session import NoFramework, record

    is_worker = "PYTEST_XDIST_WORKER" in os.environ
    root = given.paddletorch_record_root or project_of(early_config.rootpath)
    try:
        _recording = record(given.paddletorch_record_to, root, fresh=given.paddletorch_record_fresh and not is_worker)
    except (NoFramework, ValueError, OSError) as error:
        raise pytest.UsageError(f"--paddletorch-record: {error}") from error
    _record_rewritten_modules(_recording)


def _record_rewritten_modules(recording: Recording) -> None:
    """Look at test modules too, whose asserts pytest rewrites by a loader of its own."""
    try:
        from _pytest.assertion.rewrite import AssertionRewritingHook, rewrite_asserts
    except ImportError:
        return  # another release; the modules under test are recorded all the same
    for finder in sys.meta_path:
        if isinstance(finder, AssertionRewritingHook):
            finder.exec_module = partial(  # type: ignore[method-assign]
                _exec_module, finder, finder.exec_module, recording, rewrite_asserts
            )


def _exec_module(
    rewriter: Any, plain: Callable[[ModuleType], None], recording: Recording, rewrite: Any, module: ModuleType
) -> None:
    """Run a test module; one of which nothing is asked runs as pytest keeps it."""
    __tracebackhide__ = True
    file = str(module.__spec__.origin) if module.__spec__ is not None else ""
    source = Path(file).read_bytes()
    code = recording.code_of(source, file, lambda tree: rewrite(tree, source, file, rewriter.config))
    if code is None:
        plain(module)
        return
    rewriter._rewritten_names[module.__name__] = Path(file)
    exec(code, vars(module))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say where the evidence is."""
    if _recording is not None and not config.getoption("paddletorch_record_quiet"):
        _recording.keep()
        terminalreporter.write_line(f"paddletorch: {_recording.summary()}")


def pytest_unconfigure() -> None:
    """End the recording."""
    global _recording
    if _recording is not None:
        _recording.stop()
        _recording = None
