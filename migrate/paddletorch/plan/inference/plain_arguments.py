"""Arguments of an autograd function that are no tensors: numbers, strings, lists."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Instance
from paddletorch.resolve.values import Container

_PLAIN = frozenset({"bool", "float", "int", "str"})


def method_of(function: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    """A method that the class defines itself."""
    return next((s for s in function.body if isinstance(s, ast.FunctionDef) and s.name == name), None)


def parameters_of(forward: ast.FunctionDef) -> list[str]:
    """The parameters of ``forward`` beside the context."""
    return [argument.arg for argument in forward.args.args[1:]]


def may_be_plain(view: FileView, function: ast.ClassDef, argument: ast.expr) -> bool:
    """Whether the argument may be no tensor, by its values or by what the function is applied to."""
    forward = method_of(function, "forward")
    names = parameters_of(forward) if forward is not None else []
    values = set(view.evaluator.values(argument))
    if isinstance(argument, ast.Name) and argument.id in names:
        for given in given_to(view, function, names.index(argument.id), argument.id):
            values.update(view.evaluator.values(given))
    return any(_is_plain(value) for value in values)


def is_plain(view: FileView, function: ast.ClassDef, forward: ast.FunctionDef, name: str) -> bool:
    """Whether a parameter is seen to be no tensor, by its default, its annotation or all that it is given."""
    arguments = forward.args
    place = parameters_of(forward).index(name)
    annotation = arguments.args[place + 1].annotation
    if annotation is not None:
        return isinstance(annotation, ast.Name) and annotation.id in _PLAIN
    first = len(arguments.args) - len(arguments.defaults)
    default = arguments.defaults[place + 1 - first] if place + 1 >= first else None
    if default is not None and any(_is_plain(v) for v in view.evaluator.values(default)):
        return True
    given = [node for node in given_to(view, function, place, name) if not _is_none(node)]
    if not given and isinstance(default, ast.Constant) and any(given_to(view, function, 0, "")):
        return True  # None, and no call gives more
    return bool(given) and all(_is_plain(v) for node in given for v in view.evaluator.values(node))


def given_to(view: FileView, function: ast.ClassDef, place: int, name: str) -> Iterator[ast.expr]:
    """What the file's calls of ``apply`` give at a place, or by its name."""
    for member in view.tree.members.get("apply", ()):
        call = view.parent(member)
        if isinstance(call, ast.Call) and call.func is member and view.text(member.value) == function.name:
            yield from call.args[place : place + 1]
            yield from (keyword.value for keyword in call.keywords if keyword.arg == name)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_plain(value: object) -> bool:
    return isinstance(value, Container) or (isinstance(value, Instance) and value.api in _PLAIN)
