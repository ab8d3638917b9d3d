"""The model behind a wrapper for several devices: ``model.module if hasattr(model, "module") else model``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.model import Edit, Span
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.dotted_path import path_of
from paddletorch.resolve import Instance, Unknown

_CODE = "NNM102"
_PROBES = ("getattr", "hasattr")
_NAMES = {"paddle": ("module", "_layers"), "torch": ("_layers", "module")}


def plan_wrapped_models(view: FileView, planned: Planned) -> Changes:
    """Rename the attribute in the question and in the answer together, unless a class of the file has it."""
    old, _ = _NAMES[view.target]
    quoted = {text.encode() for text in (f"'{old}'", f'"{old}"')}
    if not any(text in view.source.body for text in quoted) or _is_own(view, old):
        return NOTHING
    return joined(_renamed(view))


def _is_own(view: FileView, name: str) -> bool:
    stores = (path_of(store.target.value) for store in view.evaluator.stores(name))
    return name in view.tree.class_members or "self" in stores


def _renamed(view: FileView) -> Iterator[Changes]:
    old, new = _NAMES[view.target]
    tested: set[tuple[str, object]] = set()
    for call in view.tree.calls_of(*_PROBES):
        if not isinstance(call.func, ast.Name) or len(call.args) < 2:
            continue
        model, name = call.args[:2]
        if (
            not isinstance(name, ast.Constant)
            or name.value != old
            or not _may_be_wrapper(view, model)
            or not view.is_sources(model)
        ):
            continue
        if view.is_deselected(_CODE, call) or not view.is_located(name):
            continue
        tested.add((path_of(model), view.tree.scopes.get(call)))
        quote = view.source.slice(view.source.span(name))[-1]
        edit = Edit(view.source.span(name), f"{quote}{new}{quote}", _CODE)
        yield Changes((edit,), (view.conversion(_CODE, call, old, new, "DataParallel.module"),))
    for member in view.tree.members.get(old, ()):
        path = path_of(member.value)
        if path and (path, view.tree.scopes.get(_root(member))) in tested and view.is_located(member):
            end = view.source.span(member).end
            edit = Edit(Span(end - len(old), end), new, _CODE)
            conversion = view.conversion(_CODE, member, f"model.{old}", f"model.{new}", "DataParallel.module")
            yield Changes((edit,), (conversion,), handled=frozenset({member}))


def _root(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node


def _may_be_wrapper(view: FileView, model: ast.expr) -> bool:
    """Whether it is a wrapper for several devices, or nothing is known of it."""
    values = view.evaluator.objects(model)
    kinds = {v.type for v in values if isinstance(v, Instance)}
    return "data_parallel" in kinds or not kinds - {"module"} or any(isinstance(v, Unknown) for v in values)
