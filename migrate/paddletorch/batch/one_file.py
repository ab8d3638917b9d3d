"""Converts one file of a run, and notes what the result rests on."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING

from paddletorch.inputs.read import SourceFile, read
from paddletorch.model import Evidence, Options
from paddletorch.model.dependencies import DependentResult

if TYPE_CHECKING:
    from paddletorch.api.converter import Converter


class UnusableOptions(ValueError):
    """A table or a version specifier of the options is wrong."""


@functools.cache
def converter_for(options: Options) -> Converter:
    """The converter for ``options``; a forked worker inherits it, a spawned one builds its own.

    Raises:
        UnusableOptions: a table or a version specifier is wrong.
    """
    from paddletorch.api.converter import Converter

    try:
        return Converter.from_options(options)
    except ValueError as error:
        raise UnusableOptions(str(error)) from error


def convert_at(
    path: str, options: Options, evidence: Evidence | None = None, *, with_edits: bool = True
) -> DependentResult:
    """Convert the file at ``path`` in memory; the result says also which other files it rests on.

    ``evidence``: what recorded runs showed of the file. ``with_edits``: see :func:`paddletorch.batch.run.run`.
    """
    file = read(path, options.max_file_size)
    if not isinstance(file, SourceFile):
        return DependentResult(file, None)
    converter = converter_for(options)
    result = converter.convert(file.data, file.path, evidence=evidence).file
    if not with_edits:
        result = replace(result, edits=())
    return DependentResult(result, converter.dependencies(file.path))
