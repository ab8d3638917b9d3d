"""What an assignment or a loop binds its targets to, and which elements stand in lists, tuples and dicts."""

from __future__ import annotations

import ast
from collections.abc import Callable

from paddletorch.plan.model.same_code import same_code
from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Binding


def is_collected(parent: ast.AST | None, node: ast.expr) -> bool:
    """Whether a builtin makes a container of the elements: ``list(p.grad for p in params)``."""
    name = getattr(parent.func, "id", "") if isinstance(parent, ast.Call) else ""
    return isinstance(parent, ast.Call) and node in parent.args and name in ("dict", "list", "set", "tuple")


def targets_of(node: ast.Assign | ast.AnnAssign | ast.NamedExpr) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def opposite(view: FileView, display: ast.expr, part: ast.expr) -> list[ast.expr] | None:
    """``a`` for the part ``x`` of ``a, b = x, y``; None if the display is not unpacked."""
    assign = view.parent(display)
    if not isinstance(assign, ast.Assign) or not isinstance(display, ast.Tuple | ast.List):
        return None
    given = display.elts.index(part) if part in display.elts else -1
    pairs = [t for t in assign.targets if isinstance(t, ast.Tuple | ast.List) and len(t.elts) == len(display.elts)]
    return [t.elts[given] for t in pairs] if pairs and given >= 0 else None


def elements_at(value: ast.expr, index: ast.expr) -> list[ast.expr]:
    """The elements of a display that the index can select; of a comprehension, what it makes each of."""
    if isinstance(value, ast.Dict):
        known = isinstance(index, ast.Constant)
        pairs = zip(value.keys, value.values, strict=True)
        return [v for k, v in pairs if not (known and isinstance(k, ast.Constant)) or same_code(k, index)]
    if isinstance(value, ast.ListComp | ast.DictComp):
        return [value.elt if isinstance(value, ast.ListComp) else value.value]
    return list(value.elts) if isinstance(value, ast.List | ast.Tuple) else []


def rebinds(statement: ast.stmt | None, name: str) -> bool:
    """Whether an assignment gives the name another value."""
    targets = statement.targets if isinstance(statement, ast.Assign) else ()
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


def is_looped(view: FileView, binding: Binding) -> bool:
    """Whether a loop binds the name to the elements of what it iterates over."""
    if binding.kind == "iterate":
        return True
    current: ast.AST | None = binding.node
    while isinstance(current, ast.Name | ast.Tuple | ast.List | ast.Starred):
        child, current = current, view.parent(current)
        if isinstance(current, ast.For | ast.AsyncFor | ast.comprehension):
            return current.target is child
    return False


def looped_over(
    value: ast.expr, path: tuple[int | None, ...], assigned: Callable[[ast.Name], ast.expr | None]
) -> ast.expr:
    """What a variable of a loop over ``value`` is an element of: ``y.split(2)`` for the ``b`` of
    ``for a, b in zip(x, y.split(2))``.

    ``path`` is the variable's place in the loop's target, ``assigned`` gives the value of a variable.
    """
    places = path[1:]
    for _ in range(_STEPS):
        name = value.func.id if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) else ""
        place = places[0] if places else None
        if isinstance(value, ast.Name):
            inner = assigned(value)
        elif not isinstance(value, ast.Call) or any(isinstance(a, ast.Starred) for a in value.args):
            inner = None
        elif name == "zip" and place is not None and place < len(value.args):
            inner, places = value.args[place], places[1:]
        elif name == "enumerate" and place == 1 and value.args:
            inner, places = value.args[0], places[1:]
        else:
            inner = value.args[0] if name in _SAME_ELEMENTS and value.args else None
        if inner is None:
            break
        value = inner
    return value


_STEPS = 8
_SAME_ELEMENTS = frozenset({"list", "tuple", "reversed", "iter", "tqdm"})
