"""The options of a conversion, checked: what cannot be meant is an error here, not a run that converts nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import get_args

from paddletorch_rules import Table, load

from paddletorch.model import Framework, InitialValues, Options, ShimMode
from paddletorch.model.codes import areas, nearest, unknown_code
from paddletorch.model.options import MAX_FILE_SECONDS, MAX_FILE_SIZE


def checked_options(
    to: Framework,
    *,
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
) -> Options:
    """The options of a run, with codes in capitals and tables as paths.

    Raises:
        TableError: a table is wrong.
        TypeError: ``select``, ``ignore`` or ``tables`` is one string rather than several.
        ValueError: ``to``, ``shim`` or ``initial_values`` is none of its choices, a limit is negative, or there is no
            such code.
    """
    chosen = (
        ("to", to, get_args(Framework)),
        ("shim", shim, get_args(ShimMode)),
        ("initial_values", initial_values, get_args(InitialValues)),
    )
    for name, value, choices in chosen:
        if value not in choices:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}")
    for name, limit in (("max_file_size", max_file_size), ("max_file_seconds", max_file_seconds)):
        if not limit >= 0:
            raise ValueError(f"{name} must be 0, for no limit, or greater, not {limit!r}")
    files = _several("tables", tables)
    selected, ignored = (_several(*given) for given in (("select", select), ("ignore", ignore)))
    table = load(files) if selected or ignored else None
    return Options(
        target=to,
        source_version=source_version,
        target_version=target_version,
        select=_codes("select", selected, table),
        ignore=_codes("ignore", ignored, table),
        unsafe=unsafe,
        annotate=annotate,
        verify=verify,
        shim=shim,
        initial_values=initial_values,
        tables=files,
        project_files=project_files,
        max_file_size=max_file_size,
        max_file_seconds=max_file_seconds,
    )


def _codes(option: str, given: tuple[str, ...], table: Table | None) -> tuple[str, ...]:
    if table is None:
        return ()
    codes = tuple(code.strip().upper() for code in given)
    wrong = unknown_code(codes, table.codes)
    if wrong is not None:
        known = areas(table.codes) | table.codes
        raise ValueError(f"{option}: no such code or area: {wrong}{nearest(wrong, known)}")
    return tuple(dict.fromkeys(codes))


def _several(option: str, values: Iterable[str | os.PathLike[str]]) -> tuple[str, ...]:
    if isinstance(values, str | bytes | os.PathLike):
        raise TypeError(f"{option} takes several: [{values!r}]")
    return tuple(os.fspath(value) for value in values)
