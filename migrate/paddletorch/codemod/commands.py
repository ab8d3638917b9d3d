"""``ToPaddle`` and ``ToTorch``: subclasses of LibCST's ``CodemodCommand`` over the engine."""

from __future__ import annotations

import argparse
from abc import ABC
from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar, get_args

import libcst
from libcst.codemod import CodemodCommand, CodemodContext

from paddletorch.api.converter import Converter
from paddletorch.api.options import checked_options
from paddletorch.codemod.originals import begin_run, keep_original, original
from paddletorch.model import Diagnostic, Framework, InitialValues, Options, ShimMode


class _Convert(CodemodCommand, ABC):
    """Converts a module as ``paddletorch convert`` does; what is left is said by ``context.warn``.

    A module that cannot be converted is returned as it came, with a warning that says why. What it imports is looked
    up around ``context.filename``, where it stands.

    Args:
        context: of the codemod.
        source_version: releases that the code is for: ``"3.3"``, ``">=2.6,<3"``, ``"installed"``.
        target_version: releases that the result must run on, in the same form.
        select: only these areas (``"AMP"``), codes (``"AMP101"``) or prefixes.
        ignore: all but these.
        unsafe: also convert what is likely right but not sure.
        annotate: put a comment above each use that is left.
        verify: convert each result again; a file that would change once more is left.
        shim: ``"auto"`` uses the runtime shim for what has no exact counterpart, ``"always"`` for every scaler.
        initial_values: ``"source"`` writes initializers for layers whose default initial values differ.
        tables: TOML files to put before the built-in tables.

    Raises:
        TableError: a table is wrong.
        ValueError: an option has a value that it cannot have.
    """

    TO: ClassVar[Framework]

    def __init__(
        self,
        context: CodemodContext,
        *,
        source_version: str | None = None,
        target_version: str | None = None,
        select: Sequence[str] | None = None,
        ignore: Sequence[str] | None = None,
        unsafe: bool = False,
        annotate: bool = False,
        verify: bool = False,
        shim: ShimMode = "never",
        initial_values: InitialValues = "target",
        tables: Sequence[str] | None = None,
    ) -> None:
        super().__init__(context)
        self._options = checked_options(
            self.TO,
            source_version=source_version,
            target_version=target_version,
            select=select or (),
            ignore=ignore or (),
            unsafe=unsafe,
            annotate=annotate,
            verify=verify,
            shim=shim,
            initial_values=initial_values,
            tables=tables or (),
        )

    @staticmethod
    def add_args(arg_parser: argparse.ArgumentParser) -> None:
        """Add the options of a conversion; only LibCST's tool asks for them, before it starts its processes."""
        begin_run()
        add = arg_parser.add_argument
        add("--source-version", metavar="RELEASE", help='release the code is for: "3.3", ">=2.6,<3", "installed"')
        add("--target-version", metavar="RELEASE", help="release to convert to, in the same form")
        add("--select", action="append", metavar="CODE", help="only this area, code or prefix; may be repeated")
        add("--ignore", action="append", metavar="CODE", help="all but this area, code or prefix; may be repeated")
        add("--unsafe", action="store_true", help="also convert what is likely right but not sure")
        add("--annotate", action="store_true", help="put a comment above each use that is left")
        add("--verify", action="store_true", help="convert each result again, and leave a file that would change")
        add("--shim", choices=get_args(ShimMode), default="never", help="use the runtime shim")
        add("--initial-values", choices=get_args(InitialValues), default="target", help="whose values layers get")
        add("--tables", action="append", metavar="FILE", help="TOML table to put before the built-in ones")

    def transform_module_impl(self, tree: libcst.Module) -> libcst.Module:
        """The module converted: parsed from the engine's text, with the encoding and the line ends that it had."""
        keep_original(self.context.filename, tree.bytes)
        result = _converter(self._options).convert(tree.code, self.context.filename or "<codemod>")
        for found in result.findings:
            self.warn(_words(found))
        if not result.changed:
            return tree
        try:
            result.output.encode(tree.encoding)
        except UnicodeEncodeError as error:
            self.warn(f"the module's encoding has no bytes for the converted text ({error}); left as it is")
            return tree
        return libcst.parse_module(result.output, tree.config_for_parsing)


class ToPaddle(_Convert):
    """Converts torch code to Paddle."""

    DESCRIPTION = "Convert PyTorch code to PaddlePaddle with paddletorch."
    TO = "paddle"


class ToTorch(_Convert):
    """Converts Paddle code to torch."""

    DESCRIPTION = "Convert PaddlePaddle code to PyTorch with paddletorch."
    TO = "torch"


@lru_cache(maxsize=8)
def _converter(options: Options) -> Converter:
    """One for a process: LibCST's tool makes a command for each file."""
    return Converter.from_options(options, original)


def _words(found: Diagnostic) -> str:
    where = f"{found.line}:{found.column}: " if found.line else ""
    return f"{where}{found.code} {found.message}{f'. {found.hint}' if found.hint else ''}"
