"""Imports of the source that stay where the module only keeps what they import: the module loads without the source."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Sequence
from typing import TypeGuard

from paddletorch.model import Edit
from paddletorch.plan.model.findings import Finding, finding
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.import_guards import needs
from paddletorch.plan.names.import_statements import insert_lines_before
from paddletorch.plan.names.local_imports import function_around, import_lines, import_text
from paddletorch.plan.syntax.statements import own_line, start_of
from paddletorch.resolve import Binding, is_import_guard

LEFT_IMPORT = "API246"


def is_only_held(view: FileView, loads: Sequence[ast.expr]) -> bool:
    """Whether what runs as the module is loaded only keeps the name: in a table of layers, or as a default value."""
    outside = [load for load in loads if function_around(view, load) is None]
    return bool(outside) and all(_is_kept(view, load) for load in outside)


def _is_kept(view: FileView, load: ast.expr) -> bool:
    current = view.parent(load)
    if isinstance(current, ast.arguments):
        return load in current.defaults or load in current.kw_defaults
    if isinstance(current, ast.Assign | ast.AnnAssign):
        return False
    while isinstance(current, ast.Tuple | ast.List | ast.Set | ast.Dict | ast.keyword) or _makes_dict(current):
        current = view.parent(current)
    return isinstance(current, ast.Assign | ast.AnnAssign)


def _makes_dict(node: ast.AST | None) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict"


def guarded_text(view: FileView, binding: Binding) -> str:
    """An import that may fail: what is kept in its place raises an ImportError where it is called."""
    return view.source.newline.join([*_guard(view, binding.name, binding.qualified or "", [import_text(binding)]), ""])


def is_for_others(view: FileView, binding: Binding) -> bool:
    """Whether a function or class that the target lacks is imported, which nothing here reads: other files take it."""
    name = binding.qualified or ""
    if not isinstance(binding.node, ast.ImportFrom) or view.tree.names.get(binding.name):
        return False
    found = view.settings.lookup(name)
    if found is None or found[0].kind in ("module", "constant") or name in view.settings.modules:
        return False
    names = {name for form in found[0].forms(view.settings.source) for name in form.names}
    return name in names and f"{name}.*" not in names


def left_for_others(view: FileView, binding: Binding) -> Finding:
    """What is said of an import that is kept for other files."""
    assert binding.alias is not None
    name = binding.qualified or ""
    found = view.settings.lookup(name)
    if found is not None and found[0].report is not None:
        return finding(found[0].report, binding.alias, name, found[0])
    return finding(LEFT_IMPORT, binding.alias, name)


def guarded_fallback(view: FileView, bindings: Sequence[Binding]) -> Edit | None:
    """The last import of ``try: import a as x`` / ``except ImportError: import b as x`` as one that may fail, too."""
    last = max(bindings, key=lambda b: start_of(b.node) if isinstance(b.node, ast.stmt) else (0, 0))
    handler = view.parent(last.node)
    if not isinstance(handler, ast.ExceptHandler) or not is_import_guard(view.parent(handler)):
        return None
    if not isinstance(last.node, ast.ImportFrom) or not own_line(view, last.node):
        return None
    indent = view.source.indentation(last.node.lineno)
    first, *lines = _guard(view, last.name, last.qualified or "", [import_text(last)])
    text = view.source.newline.join([first, *(indent + line if line else "" for line in lines)])
    return Edit(view.source.span(last.node), text)


def kept_api(view: FileView, load: ast.expr) -> ast.Attribute | None:
    """The API of a module, ``nn.BatchNorm2d``, that begins with ``load`` and that the loading module only keeps."""
    api = load
    while isinstance(around := view.parent(api), ast.Attribute):
        api = around
    is_kept = isinstance(api, ast.Attribute) and function_around(view, load) is None and _is_kept(view, api)
    return api if is_kept and isinstance(api, ast.Attribute) else None


def guarded_apis(view: FileView, bindings: Sequence[Binding], apis: Iterable[ast.Attribute]) -> tuple[Edit, ...] | None:
    """A name of the module for each API, before what first keeps it; None if such a name is not free.

    ``bindings`` are all imports of the name with which the APIs begin.
    """
    first: dict[str, ast.Attribute] = {}
    edits: list[Edit] = []
    for api in sorted(apis, key=lambda one: (one.lineno, one.col_offset)):
        if (
            api.attr in view.tree.bound
            or hasattr(builtins, api.attr)
            or view.written(first.setdefault(api.attr, api)) != view.written(api)
        ):
            return None
        edits.append(Edit(view.source.span(api), api.attr))
    for name, api in first.items():
        text = view.written(api)
        guard = _guard(view, name, view.qualified(api) or text, [*import_lines(bindings), f"{name} = {text}"])
        statement: ast.AST = api
        while not isinstance(around := view.parent(statement), ast.Module | None):
            statement = around
        if not isinstance(statement, ast.stmt) or not own_line(view, statement):
            return None
        is_spaced = isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        edits.append(insert_lines_before(view, statement, guard if is_spaced else [*guard, ""]))
    return tuple(edits)


def _guard(view: FileView, name: str, api: str, lines: Sequence[str]) -> list[str]:
    """The lines of a ``try`` that binds the name to the API, or to what raises an ImportError where it is called."""
    indent = " " * view.source.indent
    raised = f"raise ImportError({view.source.quote}{needs(api)}{view.source.quote})"
    if name[0].islower():
        fallback = [f"def {name}(*args, **kwargs):", f"{indent}{raised}"]
    else:  # isinstance() of it is False, as of what cannot be made
        fallback = [f"class {name}:", f"{indent}def __init__(self, *args, **kwargs):", f"{indent * 2}{raised}"]
    inner = [f"{indent}{line}" for line in (*lines, *fallback)]
    return ["try:", *inner[: len(lines)], "except ImportError:", "", *inner[len(lines) :]]
