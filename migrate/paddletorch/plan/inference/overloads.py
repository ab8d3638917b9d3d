"""Chooses among the rows of one name by a call's arguments: ``torch.max(x)``, ``(x, dim)``, ``(x, other)``."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from copy import copy
from enum import IntEnum

from paddletorch_rules import Form, Parameter, Row, Signature
from paddletorch_rules.facts import facts

from paddletorch.plan.inference.keywords import seen_items
from paddletorch.plan.inference.unpacked_arguments import seen_elements
from paddletorch.plan.model.refusals import NoFormFits, Refused
from paddletorch.plan.model.same_code import same_code
from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Instance, Qualified
from paddletorch.resolve.values import Container

_NUMBERS = frozenset({"int", "float", "number", "bool"})
_PLAIN = _NUMBERS | {"str", "sequence"}


def numpy_name(signature: Signature, name: str) -> str:
    """The parameter of a torch function that ``name`` is an alias of; ``name`` if it is none.

    Functions of ``torch.linalg`` whose first parameter the documentation calls ``A`` take ``input``.
    """
    known = facts().numpy_parameters.get(name, name)
    if known == "input" and signature.get("input") is None and signature.parameters:
        first = signature.parameters[0].name
        return first if first in ("A", "x") else name
    return known if signature.get(known) is not None else name


class Fit(IntEnum):
    """How well a call fits a signature."""

    NO = 0
    MAYBE = 1
    SURE = 2


def choose(view: FileView, call: ast.Call, options: Sequence[tuple[Row, Form]], skip: int = 0) -> tuple[Row, Form]:
    """The row whose signature the call fits.

    Raises:
        Refused: several fit, and the arguments do not show which is meant.
    """
    if len(options) > 1 and (_gives_one_result(call) or _is_computed_with(view, call)):
        options = [o for o in options if not any(f.results for f in o[0].forms(view.target))] or options
    if len(options) == 1:
        return options[0]
    newest = view.settings.source_releases.newest
    fits = [(fit(view, call, form.signature(newest), skip, whole=not skip), row, form) for row, form in options]
    if skip and sum(how is not Fit.NO for how, _, _ in fits) > 1:  # later arguments will tell
        fits = [(min(how, Fit.MAYBE), row, form) for how, row, form in fits]
    for wanted in (Fit.SURE, Fit.MAYBE):
        found = [(row, form) for how, row, form in fits if how is wanted]
        if wanted is Fit.MAYBE and len(found) > 1 and _is_class_with_unseen(view, call, found):
            return found[0]  # what only another form takes raises an error
        if wanted is Fit.MAYBE and len(found) > 1:
            forms = " or ".join(s.text for _, f in found if (s := f.signature(newest)) is not None)
            raise Refused(NoFormFits(forms, view.text(call)))
        if found:
            return found[0]
    return options[0]


def _gives_one_result(call: ast.Call) -> bool:
    """Whether the result goes into one of the arguments, a tensor: ``torch.max(largest, squares, out=largest)``."""
    out = next((keyword.value for keyword in call.keywords if keyword.arg == "out"), None)
    return out is not None and any(same_code(out, argument) for argument in call.args)


def _is_computed_with(view: FileView, call: ast.Call) -> bool:
    """Whether the result is computed with as only a tensor is: ``(torch.min(a, b) - torch.max(c, d)).clamp(0)``."""
    parent = view.parent(call)
    if isinstance(parent, ast.Attribute):
        return parent.attr in facts().distinctive
    if isinstance(parent, ast.UnaryOp):
        return not isinstance(parent.op, ast.Not)
    if not isinstance(parent, ast.BinOp):
        return False
    return not any(isinstance(side, ast.Tuple | ast.List) for side in (parent.left, parent.right))


def _is_class_with_unseen(view: FileView, call: ast.Call, found: Sequence[tuple[Row, Form]]) -> bool:
    """Whether only a ``**`` with unknown keys leaves open which form of a class's constructor is meant."""
    if view.target != "paddle" or any(row.kind != "class" for row, _ in found):
        return False
    known = copy(call)
    known.keywords = [k for k in call.keywords if k.arg is not None or seen_items(view, k.value) is not None]
    if len(known.keywords) == len(call.keywords):
        return False
    newest = view.settings.source_releases.newest
    return fit(view, known, found[0][1].signature(newest), whole=False) is Fit.SURE


def fit(view: FileView, call: ast.Call, signature: Signature | None, skip: int = 0, *, whole: bool = True) -> Fit:
    """How well the call's arguments fit the signature: their number, names and known types.

    ``whole``: the call gives every required argument; otherwise more positional arguments may follow.
    """
    if signature is None:
        return Fit.MAYBE
    positional = signature.positional
    variadic = next((p for p in signature.parameters if p.variadic == "*"), None)
    given: set[str] = set()
    fits: list[Fit] = []
    open_ended = False
    spread = [] if variadic is not None else [a for a in call.args[skip:] if isinstance(a, ast.Starred)]
    # with the dtype by its keyword all others are sizes, which a tensor of one number may be
    all_sizes = _takes_sizes(variadic) and any(keyword.arg == "dtype" for keyword in call.keywords)
    seen: dict[ast.expr, list[ast.expr]] = {}
    for starred in spread:
        elements = seen_elements(view, starred.value)
        if elements is not None:
            seen[starred] = [value for value, _ in elements]
    for index, argument in enumerate(value for a in call.args[skip:] for value in seen.get(a, [a])):
        parameter = positional[index] if index < len(positional) else variadic
        if parameter is None:
            return Fit.NO
        if index and parameter.name == "dtype" and same_code(argument, call.args[skip]):
            return Fit.NO  # ``ones(n, n)``: the size is no dtype
        given.add(parameter.name)
        if isinstance(argument, ast.Starred):
            open_ended = True
            fits.append(Fit.SURE if parameter.variadic else Fit.MAYBE)
            break
        is_size = parameter is variadic and all_sizes and kinds(view, argument) == {"Tensor"}
        fits.append(Fit.MAYBE if is_size else _argument(view, argument, parameter))
    if _takes_sizes(variadic) and len(call.args) == skip + 1 and not open_ended:
        return Fit.NO  # one argument alone is what the form with a list takes, whatever it is
    for keyword in call.keywords:
        items = seen_items(view, keyword.value) if keyword.arg is None else [(keyword.arg, keyword.value)]
        if items is None:
            open_ended = True
            fits.append(Fit.MAYBE)
        for name, value in items or ():
            named = signature.get(name) or signature.get(numpy_name(signature, name))
            if named is None or named.name in given or (named is variadic and _takes_sizes(named)):
                return Fit.NO
            given.add(named.name)
            fits.append(_argument(view, value, named))
    missing = [p for p in signature.parameters if p.default is None and not p.variadic and p.name not in given]
    if any(whole or p.keyword_only for p in missing) and not open_ended:
        return Fit.NO
    return min(fits, default=Fit.SURE)


def _takes_sizes(parameter: Parameter | None) -> bool:
    """Whether the parameter is ``*shape`` of a form that another one with a list stands beside."""
    return parameter is not None and bool(parameter.variadic) and parameter.annotation == "int"


def _argument(view: FileView, node: ast.expr, parameter: Parameter) -> Fit:
    if not parameter.annotation:
        is_number = parameter.name == "name" and bool(kinds(view, node) & _NUMBERS)
        return Fit.NO if is_number else Fit.SURE  # ``zeros(n, m, 3)``
    if _takes_sizes(parameter) and isinstance(node, ast.Attribute) and node.attr in ("dtype", "shape"):
        return Fit.NO  # ``zeros(x.shape, x.dtype)``
    wanted = {part.strip() for part in parameter.annotation.split("|")}
    if "number" in wanted:
        wanted |= _NUMBERS
    found = kinds(view, node)
    if "None" in found and (parameter.default == "None" or "None" in wanted):
        return Fit.SURE
    if not found:
        return Fit.MAYBE
    return Fit.SURE if found & wanted else Fit.NO


def kinds(view: FileView, node: ast.expr) -> frozenset[str]:
    """The types that an argument can have, in the words of the tables' annotations; empty if unknown."""
    if isinstance(node, ast.Constant):
        return _constant(node.value)
    match = view.matches.get(node)
    if match is not None and match.row.instance is not None:
        return _instance(Instance(match.row.instance, match.row.id))
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        return _constant(node.operand.value)
    if isinstance(node, ast.List | ast.Tuple | ast.ListComp):
        return frozenset({"sequence"})
    if isinstance(node, ast.Name) and node.id in facts().axis_names:
        return frozenset({"int", "sequence"})
    if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "type" and not (node.args or node.keywords):
        return frozenset({"str"})  # the name of a tensor's class
    if _counts(node):
        return frozenset({"int", "number"})
    if isinstance(node, ast.Name) and is_python_dtype(view, node):
        return frozenset({"dtype"})
    values = view.evaluator.values(node)
    found: set[str] = set()
    for value in values:
        if isinstance(value, Instance):
            found |= _instance(value)
        elif isinstance(value, Qualified) and (kind := view.settings.table.constant(value.name)):
            found.add(kind)
        elif isinstance(value, Container):
            found.add("sequence")
    return frozenset(found)


def is_python_dtype(view: FileView, node: ast.Name) -> bool:
    """Whether it is Python's own type, as in ``dtype=int``: the frameworks take it for a dtype."""
    scope = view.tree.scopes.get(node)
    return node.id in ("bool", "complex", "float", "int") and scope is not None and not scope.lookup(node.id)


def _counts(node: ast.expr) -> bool:
    """Whether this is a length or one size of a tensor: ``len(x)``, ``x.shape[0]``."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "len"
    if not isinstance(node, ast.Subscript) or isinstance(node.slice, ast.Slice):
        return False
    return isinstance(node.value, ast.Attribute) and node.value.attr == "shape"


def _constant(value: object) -> frozenset[str]:
    if isinstance(value, bool):
        return frozenset({"bool"})
    if value is None:
        return frozenset({"None"})
    if isinstance(value, str):
        found = {"str"}
        root = value.partition(":")[0]
        if root in ("cuda", "gpu") or root in facts().other_devices:
            found.add("device")
        elif root.rstrip("0123456789") in ("float", "int", "uint", "bfloat", "bool", "complex"):
            found.add("dtype")
        return frozenset(found)
    return frozenset({type(value).__name__, "number"}) if isinstance(value, int | float) else frozenset()


def _instance(value: Instance) -> frozenset[str]:
    if value.type == "tensor":
        return frozenset({"Tensor"})
    if value.type == "foreign":
        return frozenset({value.api, "number"} if value.api in _NUMBERS else {"str"} if value.api == "str" else _PLAIN)
    if value.type == "shape":
        return frozenset({"sequence", "shape"})
    return frozenset({value.type}) if value.type else frozenset()
