"""Forms with other names: locals renamed, a name for what stood in a call, no name for what had one."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from .source import Function, Rewritten, blocks, functions, own_names, reads_its_names, tree_of, written

Place = tuple[ast.AST, str, int | None, ast.expr]
"""Where an expression stands: in which field of which node, and at which place of a list."""

_OWN = "local_"
_NAMED = "form_"


def renamed_locals(text: str) -> Rewritten | None:
    """Each name that only a function assigns becomes another one, which says nothing."""
    tree, number = tree_of(text), 0
    if _OWN in text:
        return None
    for function in functions(tree):
        if reads_its_names(function):
            continue
        for name, places in own_names(function).items():
            if name.startswith(_OWN):
                continue
            number += 1
            for place in places:
                place.id = f"{_OWN}{number}_{name.encode().hex()}x"
    return Rewritten(*written(tree)) if number else None


_RENAMED = re.compile(rf"{_OWN}\d+_([0-9a-f]+)x")


def names_given_back(tree: ast.Module) -> ast.Module:
    """The tree with the names that ``renamed_locals`` took."""
    for node in ast.walk(tree):
        for field in ("id", "name", "arg", "value"):
            name = getattr(node, field, None)
            if isinstance(name, str) and _OWN in name:
                setattr(node, field, _RENAMED.sub(lambda found: bytes.fromhex(found[1]).decode(), name))
    return tree


def argument_through_a_name(text: str) -> Rewritten | None:
    """``f(g(x))`` as ``form_1 = g(x)`` and ``f(form_1)``."""
    return _through_names(text, _hoisted_arguments)


def receiver_through_a_name(text: str) -> Rewritten | None:
    """``f(x).g()`` as ``form_1 = f(x)`` and ``form_1.g()``."""
    return _through_names(text, _hoisted_receiver)


_COMPUTED = (ast.Call, ast.BinOp, ast.Compare, ast.Subscript, ast.UnaryOp)
_UNMOVED = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)


def _through_names(text: str, hoist: Callable[[ast.Call], list[Place]]) -> Rewritten | None:
    tree, number = tree_of(text), 0
    for scope in (tree, *functions(tree)):
        if reads_its_names(scope):
            continue
        for block in _own_blocks(scope):
            position = 0
            while position < len(block):
                call = _outermost(block[position])
                new: list[ast.stmt] = []
                for parent, field, at, value in hoist(call) if call is not None else ():
                    number += 1
                    name = f"{_NAMED}{number}"
                    new.append(ast.Assign([ast.Name(name, ast.Store())], value, lineno=0))
                    read = ast.Name(name, ast.Load())
                    if at is None:
                        setattr(parent, field, read)
                    else:
                        getattr(parent, field)[at] = read
                block[position:position] = new
                position += len(new) + 1
    return Rewritten(*written(tree)) if number else None


def _own_blocks(scope: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements of a module or function, without those of functions and classes in it."""
    for block in blocks(scope):
        yield block
        for statement in list(block):
            if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield from _own_blocks(statement)


def _outermost(statement: ast.stmt) -> ast.Call | None:
    """The call that a simple statement computes last, if all before it may be computed before the statement."""
    if not isinstance(statement, ast.Assign | ast.AnnAssign | ast.Expr | ast.Return | ast.AugAssign):
        return None
    if isinstance(statement, ast.AugAssign) and not isinstance(statement.target, ast.Name):
        return None
    if any(isinstance(node, _UNMOVED) for node in ast.walk(statement)):
        return None
    call = statement.value
    if not isinstance(call, ast.Call) or ast.unparse(call.func) in ("super", "super().__init__", "isinstance"):
        return None
    return call


def _is_name(node: ast.expr) -> bool:
    """A name, or a name with attributes, whose reading does nothing else."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _moves(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        return False
    return isinstance(node, _COMPUTED) and "super()" not in ast.unparse(node)


def _hoisted_arguments(call: ast.Call) -> list[Place]:
    """Arguments that are computed; nothing that has an effect may stand before one that moves."""
    found: list[Place] = []
    if not _is_name(call.func):
        return []
    places: list[tuple[ast.AST, str, int | None, ast.expr]] = [
        (call, "args", number, argument) for number, argument in enumerate(call.args)
    ]
    places += [(keyword, "value", None, keyword.value) for keyword in call.keywords if keyword.arg]
    if any(keyword.arg is None for keyword in call.keywords):
        return []
    for place in places:
        if isinstance(place[3], ast.Starred):
            break
        if _moves(place[3]):
            found.append(place)
        elif not all(isinstance(node, _IDLE) for node in ast.walk(place[3])):
            break
    return found


_IDLE = (ast.Constant, ast.Name, ast.Attribute, ast.List, ast.Tuple, ast.UnaryOp, ast.unaryop, ast.expr_context)


def _hoisted_receiver(call: ast.Call) -> list[Place]:
    if isinstance(call.func, ast.Attribute) and _moves(call.func.value):
        return [(call.func, "value", None, call.func.value)]
    return []


def put_in_place(tree: ast.Module) -> ast.Module:
    """The tree with what the names ``form_1`` … stand for where they are read."""
    for scope in (tree, *functions(tree)):
        values: dict[str, ast.expr] = {}
        for block in list(_own_blocks(scope)):
            kept = []
            for statement in block:
                _Put(values).visit(statement)
                if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                    name = statement.targets[0].id
                    if name.startswith(_NAMED) and name.removeprefix(_NAMED).isdigit():
                        values[name] = statement.value
                        continue
                kept.append(statement)
            block[:] = kept
    return tree


class _Put(ast.NodeTransformer):
    def __init__(self, values: dict[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and node.id in self.values:
            return copy.deepcopy(self.values[node.id])
        return node


def names_put_back(text: str) -> Rewritten | None:
    """``a = g(x)`` and then ``f(a)`` as ``f(g(x))``, where nothing else reads ``a``."""
    tree = tree_of(text)
    joined: dict[int, int] = {}
    for function in functions(tree):
        if reads_its_names(function):
            continue
        for name, places in own_names(function).items():
            if len(places) == 2 and isinstance(places[0].ctx, ast.Store) and isinstance(places[1].ctx, ast.Load):
                for block in _own_blocks(function):
                    joined |= _put_into_next(block, name)
    return Rewritten(*written(tree), joined=joined) if joined else None


def _put_into_next(block: list[ast.stmt], name: str) -> dict[int, int]:
    for number, (statement, reader) in enumerate(pairwise(block)):
        if not isinstance(statement, ast.Assign) or [ast.unparse(one) for one in statement.targets] != [name]:
            continue
        if isinstance(statement.value, ast.Lambda):
            return {}
        if any(isinstance(node, _UNMOVED) for node in (*ast.walk(statement), *ast.walk(reader))):
            return {}
        if not isinstance(reader, ast.Assign | ast.AnnAssign | ast.Expr | ast.Return) or reader.value is None:
            return {}
        if _comes_first(reader.value, name) is not True:
            return {}
        _Put({name: statement.value}).visit(reader)
        del block[number]
        return {statement.lineno: reader.lineno}
    return {}


def put_back_as(text: str, before: str, tree: ast.Module) -> ast.Module:
    """The converted plain program with what was put back between ``before`` and ``text`` in place."""
    kept = {key: set(own_names(function)) for key, function in _keyed(ast.parse(text))}
    had = {key: set(own_names(function)) for key, function in _keyed(ast.parse(before))}
    for key, function in _keyed(tree):
        gone = own_names(function).keys() & (had.get(key, set()) - kept.get(key, set()))
        for name in gone:
            for block in _own_blocks(function):
                _put_everywhere(block, name)
    return tree


def _keyed(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    seen: dict[str, int] = {}
    for function in functions(tree):
        seen[function.name] = seen.get(function.name, 0) + 1
        yield f"{function.name} {seen[function.name]}", function


def _put_everywhere(block: list[ast.stmt], name: str) -> None:
    for number, statement in enumerate(block):
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ast.Name) and target.id == name:
                for later in block[number + 1 :]:
                    _Put({name: statement.value}).visit(later)
                del block[number]
                return


def _comes_first(node: ast.AST, name: str) -> bool | None:
    """Whether the name is read before anything happens; None if it is not in here, and nothing happens here."""
    if isinstance(node, ast.Name):
        return True if node.id == name else None
    if isinstance(node, ast.Constant):
        return None
    if isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp | ast.JoinedStr):
        return False
    if isinstance(node, ast.IfExp):
        return _comes_first(node.test, name) or False
    if isinstance(node, ast.BoolOp):
        return _comes_first(node.values[0], name) or False
    if isinstance(node, ast.Compare):
        return (
            _comes_first(node.left, name) or (len(node.ops) == 1 and _comes_first(node.comparators[0], name)) or False
        )
    if isinstance(node, ast.Dict):
        return False
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr | ast.keyword):
            found = _comes_first(child, name)
            if found is not None:
                return found
    return None if isinstance(node, ast.Attribute | ast.keyword | ast.List | ast.Tuple | ast.Starred) else False
