"""Checkpoints that the source framework has written: after the conversion nothing reads them as they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.findings import Finding, finding
from paddletorch.plan.model.use import Use
from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Instance

_WRITTEN = "SER202"
_GIVEN = "SER203"
_SUFFIXES = {
    "torch": (".pth", ".pt", ".ckpt", ".bin", ".pth.tar", ".t7"),
    "paddle": (".pdparams", ".pdopt", ".pdmodel", ".pdstates"),
}
"""How files end that each framework writes."""


def plan_checkpoints(view: FileView, planned: Planned) -> Changes:
    """Report the checkpoints that a converted call reads and that the file does not write itself."""
    calls = [use for use in planned.uses if use.site.role == "call" and use.converts and use.row.id in ("load", "save")]
    loads = [use for use in calls if use.row.id == "load"]
    written = {_text(path) for use in calls if use.row.id == "save" and (path := _path(use)) is not None}
    return Changes(findings=tuple(_findings(view, loads, written))) if loads else Changes()


def _findings(view: FileView, loads: list[Use], written: set[str | None]) -> Iterator[Finding]:
    """One for each path that is written out, and one for all that the program is given."""
    said: set[str] = set()
    given: list[Use] = []
    for use in loads:
        path = _path(use)
        text = _text(path)
        if text is None:
            given += [use] if path is not None and not _is_in_memory(view, path) else []
        elif text.lower().endswith(_SUFFIXES[view.settings.source]) and text not in written | said:
            said.add(text)
            yield finding(_WRITTEN, use.site.node, use.site.name, path=text)
    if given and not written:
        path = _path(given[0])
        assert path is not None
        yield finding(_GIVEN, given[0].site.node, given[0].site.name, path=view.text(path))


def _path(use: Use) -> ast.expr | None:
    """The argument that says which file is meant."""
    call = use.site.call
    if call is None:
        return None
    position = 0 if use.row.id == "load" else 1
    named = [keyword.value for keyword in call.keywords if keyword.arg in ("f", "path")]
    return call.args[position] if len(call.args) > position else next(iter(named), None)


def _text(path: ast.expr | None) -> str | None:
    return path.value if isinstance(path, ast.Constant) and isinstance(path.value, str) else None


def _is_in_memory(view: FileView, path: ast.expr) -> bool:
    """Whether it is an object such as ``io.BytesIO``, and no path."""
    values = view.evaluator.values(path)
    return any(isinstance(v, Instance) and v.type == "foreign" and v.api.startswith("io.") for v in values)
