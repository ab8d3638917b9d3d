"""Imports of the source that stay where the module only keeps what they import: the module loads without the source."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TypeGuard

from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.local_imports import function_around, import_text
from paddletorch.resolve import Binding


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
    indent = " " * view.source.indent
    message = f"{view.source.quote}needs {binding.qualified}{view.source.quote}"
    raised = f"raise ImportError({message})"
    if binding.name[0].islower():
        fallback = [f"def {binding.name}(*args, **kwargs):", f"{indent}{raised}"]
    else:  # isinstance() of it is False, as of what cannot be made
        init = f"{indent}def __init__(self, *args, **kwargs):"
        fallback = [f"class {binding.name}:", init, f"{indent * 2}{raised}"]
    lines = ["try:", f"{indent}{import_text(binding)}", "except ImportError:", ""]
    lines += [*(f"{indent}{line}" for line in fallback), ""]
    return view.source.newline.join(lines)
