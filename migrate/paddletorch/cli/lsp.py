"""``paddletorch lsp``: the language server on stdin and stdout."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from paddletorch.cli.baseline import Baselines
from paddletorch.cli.error import Refusal
from paddletorch.cli.evidence import ProjectEvidence
from paddletorch.cli.settings import RunSettings
from paddletorch.model import Framework, Options, ShimMode
from paddletorch.model.interrupts import signals_end_at_once

if TYPE_CHECKING:
    from paddletorch.api.converter import Converter
    from paddletorch.editor.checked import Checked


@click.command()
@click.option("--to", type=click.Choice(get_args(Framework)), help="The framework to convert to.")
@click.option("--source-version", metavar="RELEASE", help='Release the code is for: "3.3", ">=2.6,<3", "installed".')
@click.option("--target-version", metavar="RELEASE", help="Release to convert to, in the same form.")
@click.option("--unsafe/--no-unsafe", default=None, help="Also convert what is likely right but not sure.")
@click.option("--shim", type=click.Choice(get_args(ShimMode)), help="Use the runtime shim [default: never].")
@click.option("--trust", is_flag=True, help="Use all settings: of other users, naming files elsewhere, above limits.")
def lsp(**given: Any) -> None:
    """Run the language server for editors, on stdin and stdout.

    It shows findings as one types, pages on hovering, and offers to convert a use or the file and to ignore a code on a
    line. Each file has the settings that 'paddletorch convert' reads for it; the options go before them.
    """
    try:
        from paddletorch.editor.server import Hooks, Server
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise Refusal("paddletorch lsp needs pygls 2: pip install 'paddletorch[lsp]'") from None
    files = OpenFiles(given)
    server = Server(Hooks(files.check, files.changed, files.open_folders))
    files.texts = server.texts
    with signals_end_at_once():  # pygls waits for a thread that reads stdin, which the editor may never close
        server.start_io()


class OpenFiles:
    """Checks the texts of an editor with the settings of their files."""

    def __init__(self, given: dict[str, Any]) -> None:
        self._given = {**given, "evidence": None, "no_evidence": False}
        self._folders: list[str] = []
        self._converters: dict[Options, Converter] = {}
        self._changed: set[str] = set()
        """The paths whose text changed since the converters last looked around."""
        self.texts: Callable[[str], bytes | None] = lambda path: None
        """The texts of open files, which count for the files that import them."""

    def open_folders(self, folders: list[str]) -> None:
        """Take these as the folders that a command would have named."""
        self._folders = folders

    def changed(self, path: str) -> None:
        """Note that the text at ``path`` is another one, in the editor or on the disk."""
        self._changed.add(path)

    def check(self, path: str, text: str, left: frozenset[int]) -> Checked | None:
        """As :data:`paddletorch.editor.checked.Check`."""
        from paddletorch.editor.checked import Checked, Unusable
        from paddletorch.inputs.discover import FileFilter, leaves_out
        from paddletorch.inputs.gitignore import ExcludeError

        if "torch" not in text and "paddle" not in text:
            return None  # nor is it asked where such a file goes
        settings = RunSettings(self._given, self._folders)
        name = path if not path.startswith("<") else os.path.join(next(iter(self._folders), os.curdir), "untitled.py")  # noqa: PTH118
        try:
            if leaves_out(FileFilter(settings.exclusion), name):
                return None
            converter = self._converter(settings.options(name), path)
            evidence = ProjectEvidence(settings, self._given, [name]).by_path.get(name)
            baselines = Baselines(settings, [name], writing=False)
        except (click.ClickException, ExcludeError, ValueError) as error:
            raise Unusable(error.message if isinstance(error, click.ClickException) else str(error)) from error
        data = text.encode("utf-8", "surrogatepass")
        if evidence is not None and evidence.is_of(data):
            result: Any = converter.convert(data, path, evidence=evidence, left=left)
        else:
            result = converter.convert(text, path, kind="python", left=left)
        (shown,), _ = baselines.apply([result.file])
        return Checked(result, shown, tuple(settings.remarks()))

    def _converter(self, options: Options, path: str) -> Converter:
        """A converter that knows what stands around ``path`` now."""
        from paddletorch.api.converter import Converter

        if self._changed - {path}:
            self._converters = {known: one.renewed() for known, one in self._converters.items()}
            self._changed.clear()
        if options not in self._converters:
            self._converters[options] = Converter.from_options(options, lambda file: self.texts(str(Path(file))))
        return self._converters[options]
