"""Values that may be None because a parameter's default is: ``dtype`` of ``def cast(x, dtype=None)``."""

from __future__ import annotations

import ast

from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.dotted_path import path_of
from paddletorch.resolve import Binding, NoneValue
from paddletorch.resolve.evaluator.written_defaults import defaults


def may_be_none(view: FileView, node: ast.expr) -> bool:
    """Whether the value may be None: by what is seen of it, or as a parameter, also one that an attribute keeps."""
    if any(isinstance(value, NoneValue) for value in view.evaluator.values(node)):
        return not _is_tested(view, node)
    if isinstance(node, ast.Attribute):
        stored = [store.value for store in view.evaluator.stores_of(node)]
        kept = any(isinstance(one, ast.Name) and _is_left_out(view, one) for one in stored)
        return kept and not _is_tested(view, node)
    return isinstance(node, ast.Name) and _is_left_out(view, node) and not _is_tested(view, node)


def _is_left_out(view: FileView, name: ast.Name) -> bool:
    return any(_is_none_by_default(view, binding) for binding in view.evaluator.reaching(name))


def _is_none_by_default(view: FileView, binding: Binding) -> bool:
    """Whether None is the parameter's default, and the body puts nothing in its place."""
    if binding.kind != "parameter" or not isinstance(binding.value, ast.Constant) or binding.value.value is not None:
        return False
    return len(list(defaults(view.tree, binding))) == 1


def _is_tested(view: FileView, node: ast.expr) -> bool:
    """Whether a test around the expression names it: ``x.to(dtype) if dtype is not None else x``."""
    path = path_of(node)
    inner: ast.AST = node
    while (outer := view.parent(inner)) is not None and not isinstance(outer, ast.FunctionDef | ast.Lambda):
        if isinstance(outer, ast.If | ast.IfExp) and inner is not outer.test and _reads(outer.test, path):
            return True
        inner = outer
    return False


def _reads(test: ast.expr, path: str) -> bool:
    return any(path_of(part) == path for part in ast.walk(test) if isinstance(part, ast.Name | ast.Attribute))
