"""``convert --watch``: runs again whenever a file of the run changes, until Ctrl-C."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from paddletorch_rules.bounded import read_regular

from paddletorch.cli.error import Interrupted, Refusal
from paddletorch.inputs.config import NAMES
from paddletorch.inputs.discover import SKIPPED, SUFFIXES
from paddletorch.model.document_kinds import MARKDOWN
from paddletorch.output.temporary import is_temporary
from paddletorch.report.printable import printable

_TICK = 200
"""Milliseconds between two looks of the watcher at whether it should end."""

_NAMED = 5

Run = Callable[[], tuple[int, dict[str, bytes]]]
"""Converts once; gives the exit code, and what it has put over files of the run, by real path."""


def watch(paths: Sequence[str], given: Mapping[str, Any], run: Run) -> int:
    """Run, and again after each change of a file that counts; the exit code of the last run, once Ctrl-C is pressed.

    Raises:
        Refusal: the first run cannot be done, watchfiles is not installed, or a path cannot be watched.
        UsageError: the command asks for something that is done once.
    """
    _check(paths, given)
    try:
        from watchfiles import watch as changes_in
    except ImportError:
        raise Refusal("--watch needs watchfiles: pip install 'paddletorch[watch]'") from None
    watched = _Watched(paths, given)
    changes = changes_in(
        *watched.folders,
        watch_filter=watched.counts,
        recursive=watched.recursive,
        rust_timeout=_TICK,
        yield_on_timeout=True,
        ignore_permission_denied=True,
    )
    try:
        next(changes)  # from here on nothing is missed, also while a run is under way
    except OSError as error:
        raise Refusal(f"--watch: {error}") from error
    code, written = run()
    waiting = f"Watching {', '.join(map(printable, paths))}; Ctrl-C ends."
    try:
        click.echo(waiting, err=True)
        for changed in changes:
            watched.check()
            names = sorted(os.path.relpath(path) for _, path in changed if not _is_own(written, path))
            if names:
                more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
                click.echo(f"\nChanged: {', '.join(map(printable, names[:_NAMED]))}{more}", err=True)
                code, more_written = _run_again(run)
                written = {**written, **more_written}
                click.echo(waiting, err=True)
    except KeyboardInterrupt:
        click.echo(err=True)
    return code


def _run_again(run: Run) -> tuple[int, dict[str, bytes]]:
    """A later run; one that cannot be done, as with settings that are half written, waits for the next change."""
    from paddletorch_rules import load

    from paddletorch.batch.one_file import converter_for

    load.cache_clear()  # a table may be what changed
    converter_for.cache_clear()  # it remembers the files of the tree
    try:
        return run()
    except Interrupted:
        raise
    except click.ClickException as error:
        error.show()
        return max(error.exit_code, 2), {}


def _check(paths: Sequence[str], given: Mapping[str, Any]) -> None:
    if "-" in paths:
        raise click.UsageError("--watch waits for files to change: '-' (stdin) is read once")
    if given["output"]:
        raise click.UsageError("--output makes a copy once: --watch goes with --write, --diff or a report")
    if given["write_baseline"]:
        raise click.UsageError("--write-baseline writes once: --watch does not go with it")


class _Watched:
    """What is watched, and which changes count."""

    def __init__(self, paths: Sequence[str], given: Mapping[str, Any]) -> None:
        self._folders = [os.path.realpath(path) for path in paths if os.path.isdir(path)]  # noqa: PTH112
        files = [os.path.realpath(path) for path in paths if not os.path.isdir(path)]  # noqa: PTH112
        # a file is watched by its folder: what replaces it is another file
        self.folders = list(dict.fromkeys([*self._folders, *(str(Path(file).parent) for file in files)]))
        self._identities = {folder: _identity(folder) for folder in self.folders}
        self.recursive = bool(self._folders)
        named = [*given["tables"], given["baseline"], given["evidence"]]
        self._files = {*files, *(os.path.realpath(file) for file in named if file)}
        self._reports = {os.path.realpath(file) for file in given["reports"]}

    def check(self) -> None:
        """See that what is watched is still there: of another folder under its name nothing would be heard.

        Raises:
            Refusal: it is not.
        """
        for folder, identity in self._identities.items():
            if _identity(folder) != identity:
                raise Refusal(f"--watch: {folder} was removed or replaced, and is no longer watched: start again")

    def counts(self, change: object, path: str) -> bool:
        """Whether what happened at ``path`` may change a run's result."""
        place = Path(os.path.realpath(path))
        if str(place) in self._files:
            return True
        if str(place) in self._reports or is_temporary(place.name):
            return False
        folder = next((folder for folder in self._folders if place.is_relative_to(folder)), None)
        if folder is None:
            return place.name in NAMES
        if not SKIPPED.isdisjoint(place.relative_to(folder).parts):
            return False
        return place.name in (*NAMES, ".gitignore", "evidence.json") or place.name.endswith(
            (*SUFFIXES, *MARKDOWN, ".toml")
        )


def _identity(folder: str) -> tuple[int, int] | None:
    try:
        status = os.stat(folder)  # noqa: PTH116
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _is_own(written: Mapping[str, bytes], path: str) -> bool:
    """Whether a file holds what a run has written there."""
    expected = written.get(os.path.realpath(path))
    if expected is None:
        return False
    try:
        return read_regular(Path(path), len(expected)) == expected
    except OSError:
        return False
