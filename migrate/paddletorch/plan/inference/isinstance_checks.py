"""Whether ``isinstance`` tests around a use show that an object is no tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Qualified


def is_tested_as_no_tensor(view: FileView, node: ast.expr) -> bool:
    """Whether ``isinstance(node, C)`` holds at ``node``, where ``C`` is no tensor's class."""
    if "isinstance" not in view.tree.names:
        return False
    text = ""
    child: ast.AST = node
    parent = view.parent(child)
    checked = view.provide(_CheckedBlocks)
    while parent is not None and not isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        test: ast.expr | None = None
        if isinstance(child, ast.stmt):
            branch = checked.around(child)
            if branch is None:
                return False
            parent, test = branch, branch.test
        elif isinstance(parent, ast.IfExp) and child is parent.body:
            test = parent.test
        elif isinstance(parent, ast.BoolOp) and isinstance(parent.op, ast.And) and child is not parent.values[0]:
            test = parent.values[0]
        if test is not None:
            for call in _tests(test):
                text = text or ast.unparse(node)
                if ast.unparse(call.args[0]) == text and not _may_be_tensor(view, call.args[1]):
                    return not _is_assigned(parent, node)
        child, parent = parent, view.parent(parent)
    return False


class _CheckedBlocks:
    """The statements ``if isinstance(x, C):`` around each statement; a chain of ``elif`` is nested very deep."""

    def __init__(self, view: FileView) -> None:
        self._view = view
        self._around: dict[ast.AST, ast.If | None] = {}
        self._own = {s: branch for branch in _checks(view) for s in branch.body}

    def around(self, statement: ast.stmt) -> ast.If | None:
        """The innermost ``if`` with a check in whose body the statement is, in the same function or class."""
        passed: list[ast.AST] = []
        node: ast.AST | None = statement
        found: ast.If | None = None
        while node is not None and (node is statement or not isinstance(node, _OUTER)):
            if node in self._around:
                found = self._around[node]
                break
            passed.append(node)
            if node in self._own:
                found = self._own[node]
                break
            node = self._view.parent(node)
        self._around.update(dict.fromkeys(passed, found))
        return found


_OUTER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _checks(view: FileView) -> Iterator[ast.If]:
    """The ``if`` statements whose test has a call of ``isinstance``."""
    for name in view.tree.names.get("isinstance", ()):
        parent = view.parent(name)
        while isinstance(parent, ast.Call | ast.BoolOp):
            parent = view.parent(parent)
        if isinstance(parent, ast.If) and _tests(parent.test):
            yield parent


def _is_assigned(block: ast.AST, node: ast.expr) -> bool:
    """Whether the block assigns the object's name before ``node``."""
    root = node
    while isinstance(root, ast.Attribute | ast.Subscript):
        root = root.value
    name = ast.unparse(root)
    targets = (n for n in ast.walk(block) if isinstance(n, ast.Name | ast.Attribute) and isinstance(n.ctx, ast.Store))
    return any(n.lineno < node.lineno and ast.unparse(n) in (name, ast.unparse(node)) for n in targets)


def _tests(test: ast.expr) -> list[ast.Call]:
    """The ``isinstance`` calls that must all hold for ``test`` to hold."""
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    return [
        p
        for p in parts
        if isinstance(p, ast.Call) and isinstance(p.func, ast.Name) and p.func.id == "isinstance" and len(p.args) == 2
    ]


def _may_be_tensor(view: FileView, types: ast.expr) -> bool:
    """Whether the second argument of ``isinstance`` contains a tensor's class or an unknown one."""
    for one in types.elts if isinstance(types, ast.Tuple) else [types]:
        if isinstance(one, ast.Name) and not view.tree.scopes[one].lookup(one.id):
            continue  # a builtin: str, list, dict
        names = {v.name for v in view.evaluator.values(one) if isinstance(v, Qualified)}
        if not names or any(_may_be_tensor_class(view, n) for n in names):
            return True
    return False


def _may_be_tensor_class(view: FileView, name: str) -> bool:
    """Whether a class may be a tensor's: its module is not one that is known to have none."""
    return name.partition(".")[0] not in _WITHOUT_TENSORS


_WITHOUT_TENSORS = frozenset("numpy np PIL pandas collections pathlib io numbers typing".split())
