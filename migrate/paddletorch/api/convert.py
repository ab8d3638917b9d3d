"""The function ``paddletorch.convert``."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache
from typing import AnyStr

from paddletorch.api.converter import Converter, Kind
from paddletorch.api.options import checked_options
from paddletorch.api.result import Result
from paddletorch.model import Framework, InitialValues, Options, ShimMode
from paddletorch.model.options import MAX_FILE_SECONDS, MAX_FILE_SIZE

_CONVERTERS = 8
"""Sets of options whose tables are remembered: some 2 MB each beside the tables (measured)."""


def convert(
    source: AnyStr,
    *,
    to: Framework,
    path: str | os.PathLike[str] = "<string>",
    kind: Kind | None = None,
    source_version: str | None = None,
    target_version: str | None = None,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    unsafe: bool = False,
    annotate: bool = False,
    verify: bool = False,
    shim: ShimMode = "never",
    initial_values: InitialValues = "target",
    tables: Iterable[str | os.PathLike[str]] = (),
    project_files: bool = False,
    max_file_size: int = MAX_FILE_SIZE,
    max_file_seconds: float = MAX_FILE_SECONDS,
) -> Result[AnyStr]:
    """Convert one text to framework ``to``: a Python module, a notebook or a Markdown document.

    Whatever is wrong with the text is said by the result, with status FAILED. The arguments are those of
    :class:`paddletorch.Converter` and its ``convert``; what the files around ``path`` define is looked up anew in each
    call, so a Converter is faster for many files of one tree.

    Raises:
        TableError: a table is wrong.
        TypeError: ``source`` is neither str nor bytes, or ``select``, ``ignore`` or ``tables`` is one string.
        ValueError: another option has a value that it cannot have.
    """
    options = checked_options(
        to,
        source_version=source_version,
        target_version=target_version,
        select=select,
        ignore=ignore,
        unsafe=unsafe,
        annotate=annotate,
        verify=verify,
        shim=shim,
        initial_values=initial_values,
        tables=tables,
        project_files=project_files,
        max_file_size=max_file_size,
        max_file_seconds=max_file_seconds,
    )
    converter = _converter(options)
    stands_nowhere = os.fspath(path).startswith("<")
    return (converter if stands_nowhere else converter.renewed()).convert(source, path, kind=kind)


@lru_cache(maxsize=_CONVERTERS)
def _converter(options: Options) -> Converter:
    return Converter.from_options(options)
