"""Attributes of layers that hold a tensor at times: Paddle keeps it as a buffer, apart from other attributes.

So a number cannot take its place, ``self.loss = 0.0`` raises, and an attribute of the class, ``stride = None``, is
found before it. torch keeps all of them in the object.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from paddletorch.model import Edit
from paddletorch.plan.inference.receivers import Certainty, Receivers
from paddletorch.plan.model.changes import Changes, Planned, joined
from paddletorch.plan.model.findings import finding
from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Binding, Instance
from paddletorch.resolve.scopes.bindings import Scope

_CODE = "NNM101"
_REPORTED = "NNM206"
_PLAIN = (ast.Constant, ast.List, ast.Dict, ast.Tuple, ast.Set, ast.JoinedStr)


def plan_layer_attributes(view: FileView, planned: Planned) -> Changes:
    """Let numbers and lists replace tensors of a layer, and report class attributes that hide them."""
    tensors = _tensors(view)
    return joined([*_replaced(view, tensors), *_hiding(view, tensors)])


def _tensors(view: FileView) -> Mapping[tuple[ast.ClassDef | None, str], int]:
    """The lines in which attributes of layers get a tensor, by the class that stands around and the name."""
    receivers = view.provide(Receivers)
    found: dict[tuple[ast.ClassDef | None, str], int] = {}
    for name, stores in view.tree.stores_by_name.items():
        for store in stores:
            if store.value is None or store.registered or not _is_tensor(view, store.value):
                continue
            if receivers.certainty(store.target.value, "module") is Certainty.YES:
                found.setdefault((_class(store.scope), name), store.target.lineno)
    for node in view.tree.of_kind(ast.AugAssign):
        target = node.target
        if not isinstance(target, ast.Attribute) or target.value not in view.tree.scopes:
            continue
        if _is_tensor(view, node.value) and receivers.certainty(target.value, "module") is Certainty.YES:
            found.setdefault((_class(view.tree.scopes[target.value]), target.attr), node.lineno)
    return found


def _is_tensor(view: FileView, value: ast.expr) -> bool:
    values = view.evaluator.values(value)
    return bool(values) and all(
        isinstance(v, Instance) and v.type == "tensor" and "Parameter" not in v.api for v in values
    )


def _class(scope: Scope) -> ast.ClassDef | None:
    found = scope.enclosing_class()
    return found.node if found is not None and isinstance(found.node, ast.ClassDef) else None


def _replaced(view: FileView, tensors: Mapping[tuple[ast.ClassDef | None, str], int]) -> Iterator[Changes]:
    """``self.loss = 0.0`` of an attribute that another method of the class gives a tensor."""
    for name in {name for _, name in tensors}:
        for store in view.tree.stores_by_name.get(name, ()):
            statement = view.parent(store.target)
            owner = _class(store.scope)
            if (owner, name) not in tensors or not isinstance(store.value, _PLAIN) or _is_none(store.value):
                continue
            if getattr(store.scope.function().node, "name", "") == "__init__" or store.registered:
                continue  # before any tensor
            receiver = store.target.value
            simple = isinstance(statement, ast.Assign) and statement.targets == [store.target]
            if not simple or not isinstance(receiver, ast.Name) or view.is_deselected(_CODE, store.target):
                what = f"a value in the place of the tensor of line {tensors[owner, name]} raises TypeError"
                yield Changes(findings=(finding(_REPORTED, store.target, view.text(store.target), what=what),))
                continue
            assert isinstance(statement, ast.Assign)
            span, value = view.source.span(statement), view.source.span(store.value)
            called = f"object.__setattr__({receiver.id}, {view.quoted(repr(name), store.target)}, "
            edit = Edit(span, "", _CODE, (called, value, ")"))
            written = f"object.__setattr__({receiver.id}, ...)"
            yield Changes((edit,), (view.conversion(_CODE, store.target, "layer.attribute = number", written),))


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _hiding(view: FileView, tensors: Mapping[tuple[ast.ClassDef | None, str], int]) -> Iterator[Changes]:
    """``stride = None`` in the body of a layer's class, where a tensor is stored to the attribute of an object."""
    hiding: dict[Binding, int] = {}
    for (owner, name), line in tensors.items():
        family = view.evaluator.families.of(view.tree.own[owner]) if owner is not None else ()
        for scope in family:
            hiding.update((binding, line) for binding in scope.bindings.get(name, ())[:1])
    for binding, line in hiding.items():
        if binding.value is not None and isinstance(binding.value, _PLAIN):
            what = f"Paddle finds it before the tensor of line {line}, which it keeps as a buffer"
            yield Changes(findings=(finding(_REPORTED, binding.value, binding.name, what=what),))
