"""What hooks of several areas ask of an argument, and the two ways to use or refuse it."""

from __future__ import annotations

import ast
import re
from typing import NoReturn

from paddletorch_rules.facts import facts
from paddletorch_rules.hooks.protocol import BoundCall
from paddletorch_rules.schema import Let

PURE = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Slice, ast.UnaryOp, ast.unaryop, ast.expr_context)
"""Nodes of expressions that have no effect and cost next to nothing."""

PLAIN = (*PURE, ast.BinOp, ast.operator, ast.List, ast.Tuple)
"""Nodes of expressions that have no effect, but may be worth computing once only."""


def is_pure(node: ast.expr | None) -> bool:
    """Whether the expression may be evaluated twice."""
    return node is not None and all(isinstance(n, PURE) for n in ast.walk(node))


def is_unshared(node: ast.expr | None) -> bool:
    """Whether nothing else can hold the tensor, so that changing it and making a new one are the same."""
    if isinstance(node, ast.BinOp) or is_fresh(node):
        return True
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    name, owner = node.func.attr, node.func.value
    if name in facts().conversions or (name.endswith("_") and not name.endswith("__")):
        return is_unshared(owner)
    is_layer = isinstance(owner, ast.Name) and owner.id == "self"  # ``nn.ReLU6(inplace=True)`` gives what it got
    in_place = is_layer or any(keyword.arg in (None, "inplace") for keyword in node.keywords)
    return name in facts().computed["torch"] and not in_place


def is_fresh(node: ast.expr | None) -> bool:
    """Whether the expression makes a tensor of its own that no gradients flow through, perhaps moved or cast."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    name = node.func.attr
    if name in facts().fresh["torch"]:
        return True
    return name in facts().conversions and is_fresh(node.func.value)


def is_plain(node: ast.expr) -> bool:
    """Whether the expression's text holds nothing that converts: no call of anything."""
    return all(isinstance(n, PLAIN) for n in ast.walk(node))


def operand(node: ast.expr) -> str:
    """The expression's text, in brackets unless an operator, an attribute or an index can follow it."""
    text = ast.unparse(node)
    number = isinstance(node, ast.Constant) and isinstance(node.value, int | float | complex)
    return text if number or isinstance(node, _ATOMS) else f"({text})"


_ATOMS = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Constant, ast.List, ast.Dict, ast.Tuple)
"""Expressions that bind more tightly than any operator."""


def literally(text: str) -> str:
    """Text for a template that holds no placeholders: its braces are doubled."""
    return text.replace("{", "{{").replace("}", "}}")


def rewrite_once(call: BoundCall, template: str, **names: str) -> None:
    """Emit ``template``, with its holes evaluated once unless the arguments are pure.

    ``names`` are the holes that stand in the template more than once, target name to source name.
    """
    pure = all(is_pure(call.value(source)) for source in names.values())
    call.rewrite(template, None if pure else {f"_{hole}": hole for hole in names})


def is_long(call: BoundCall, template: str, **names: str) -> bool:
    """Whether ``template`` comes to more than 100 characters; ``names`` as for ``rewrite_once``.

    A function that is written into the file then says it better.
    """
    text = _OPTIONAL.sub(lambda found: found[0] if call.value(found[1]) is not None else "", template)
    for hole, source in names.items():
        value = call.value(source)
        text = text.replace(f"{{{hole}}}", ast.unparse(value) if value is not None else "")
    return len(text) > _LONG


_OPTIONAL = re.compile(r"\{(\w+):[^{}]*\}")
"""Text of a template that stands there only if the parameter is given."""
_LONG = 100


def bind_names(call: BoundCall, template: str, **names: str) -> str:
    """As ``rewrite_once``, for a part of a larger template: the names are bound in a lambda."""
    if all(is_pure(call.value(source)) for source in names.values()):
        return template
    return Let(template, tuple((f"_{hole}", hole) for hole in names)).expression


def no_counterpart(call: BoundCall, parameter: str, value: str | None = None) -> NoReturn:
    """Leave the call as it is: the target has nothing like the argument.

    Raises:
        Exception: the engine's refusal, always.
    """
    node = call.value(parameter)
    call.stop("API221", parameter=parameter, value=value or ("..." if node is None else ast.unparse(node)))


def only(call: BoundCall, parameter: str, *values: str) -> None:
    """Take a variable for one of ``values``, which is checked as the code runs."""
    node = call.value(parameter)
    if not isinstance(node, ast.Name | ast.Attribute) or not is_pure(node):
        no_counterpart(call, parameter)
    call.drop(parameter)
    checked = "torch_checked" if call.target == "paddle" else "paddle_checked"
    call.surround(f"{checked}(", ", ".join(("", f"{{{parameter}}}", *map(repr, values))) + ")")
    neutral = " or ".join(map(repr, values))
    call.report("API228", parameter=parameter, neutral=neutral, value=ast.unparse(node))


def is_call_of(node: ast.expr | None, name: str) -> bool:
    """Whether it calls something of this name, in whatever module."""
    return isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == name


def is_walked_once(node: ast.expr | None) -> bool:
    """Whether it gives its elements one by one and is no list: a generator, or a view of a dict."""
    if isinstance(node, ast.GeneratorExp):
        return True
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr == "values" and not node.args and not node.keywords:
        return True
    return ast.unparse(node.func).rpartition(".")[2] in _WALKED_ONCE


_WALKED_ONCE = frozenset({"filter", "map", "chain", "from_iterable", "zip", "iter"})


def as_list(call: BoundCall, parameter: str, *, only_argument: bool = False) -> None:
    """Make a list of an argument that gives its elements one by one, or is a ``ParameterList``."""
    if not is_walked_once(call.origin(parameter)) and call.types(parameter) != {"module"}:
        return
    if not isinstance(call.value(parameter), ast.GeneratorExp):
        call.wrap(parameter, "list(", ")")
    elif only_argument:  # the brackets of the call are the generator's
        call.wrap(parameter, "(list", ")")
    else:
        call.wrap(parameter, "list", "")


def with_batch(call: BoundCall) -> None:
    """Give the input a batch of one, which the result loses again."""
    atomic = isinstance(call.value("input"), ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    call.wrap("input", "" if atomic else "(", ".unsqueeze(0)" if atomic else ").unsqueeze(0)")
    call.surround("", ".squeeze(0)")


def elements_of(node: ast.expr | None) -> list[ast.expr] | None:
    """The elements of a display of a list or tuple, if it is one without stars."""
    if isinstance(node, ast.List | ast.Tuple) and not any(isinstance(e, ast.Starred) for e in node.elts):
        return node.elts
    return None
