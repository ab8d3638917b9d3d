"""Names of layers' classes in strings: ``type(m).__name__ == "Conv2d"``, ``"batchnorm" in str(type(m))``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch_rules.facts import facts

from paddletorch.model import Edit
from paddletorch.plan.model.changes import Changes, Planned, joined
from paddletorch.plan.model.findings import finding
from paddletorch.plan.model.view import FileView

_SEARCHES = frozenset({"count", "endswith", "find", "index", "startswith"})
_CODE = "NNL101"


def plan_class_names(view: FileView, planned: Planned) -> Changes:
    """Write the name of the target's class where a string is compared with the name of an object's class."""
    return joined(_renamed(view))


def _renamed(view: FileView) -> Iterator[Changes]:
    for node in filter(view.is_sources, view.tree.strings):
        name = str(node.value)
        if view.target == "paddle" and name in facts().layer_modules:
            yield _module(view, node, name)
            continue
        found = view.settings.lookup(f"{view.settings.source}.nn.{name}") if name.isidentifier() else None
        form = view.settings.emitted(found[0]) if found is not None and found[0].kind == "class" else None
        if found is None or form is None or not form.names or form.template is not None:
            continue
        new = form.names[0].rpartition(".")[2]
        text = view.source.slice(view.source.span(node))
        if new == name or name not in text or not _is_compared(view, node) or not view.is_located(node):
            continue
        code = found[0].code
        if not view.is_deselected(code, node):
            edit = Edit(view.source.span(node), text.replace(name, new), code)
            yield Changes((edit,), (view.conversion(code, node, name, new, found[0].id),))


def _module(view: FileView, node: ast.Constant, name: str) -> Changes:
    """What becomes of the name of a module of torch's that is looked for in the text of a class."""
    parent, new = view.parent(node), facts().layer_modules[name]
    if not isinstance(parent, ast.Compare) or not isinstance(parent.ops[0], ast.In | ast.NotIn):
        return Changes()
    if parent.left is not node or not _is_class_text(view, parent.comparators[0]):
        return Changes()
    if not new:
        replacement = "what the names of Paddle's classes have in common"
        return Changes(findings=(finding("API206", node, f"torch.nn.modules.{name}", replacement=replacement),))
    if view.is_deselected(_CODE, node):
        return Changes()
    edit = Edit(view.source.span(node), view.quoted(repr(new), node), _CODE)
    return Changes((edit,), (view.conversion(_CODE, node, name, new),))


def _is_compared(view: FileView, node: ast.expr) -> bool:
    """Whether the string is compared with, or looked for in, the name of a class."""
    parent = view.parent(node)
    while isinstance(parent, ast.Tuple | ast.List | ast.Set):
        parent = view.parent(parent)
    if isinstance(parent, ast.Compare):
        return any(_is_class_name(view, part) for part in (parent.left, *parent.comparators))
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.func.attr in _SEARCHES:
        return _is_class_name(view, parent.func.value)
    return False


def _is_class_name(view: FileView, node: ast.expr) -> bool:
    """Whether it is ``m.__class__.__name__``, ``type(m).__name__``, or a variable that holds one of them."""
    if isinstance(node, ast.Name) and node in view.tree.scopes:
        bindings = view.tree.scopes[node].lookup(node.id)
        values = [b.value for b in bindings]
        return bool(values) and all(isinstance(v, ast.Attribute | ast.Call) and _is_class_name(view, v) for v in values)
    if not isinstance(node, ast.Attribute) or node.attr != "__name__":
        return _is_class_text(view, node)
    return _is_class(node.value)


def _is_class_text(view: FileView, node: ast.expr) -> bool:
    """Whether it is ``str(type(m))`` or ``repr(m.__class__)``, or a variable that holds one of them."""
    if isinstance(node, ast.Name) and node in view.tree.scopes:
        values = [b.value for b in view.tree.scopes[node].lookup(node.id)]
        return bool(values) and all(isinstance(v, ast.Call) and _is_class_text(view, v) for v in values)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in ("str", "repr"):
        return False
    return len(node.args) == 1 and _is_class(node.args[0])


def _is_class(node: ast.expr) -> bool:
    """Whether it is ``type(m)`` or ``m.__class__``."""
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type"
    return called or (isinstance(node, ast.Attribute) and node.attr == "__class__")
