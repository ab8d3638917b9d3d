"""What operators, subscripts and functions give, by the values that they are applied to."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from paddletorch_rules.facts import facts

from paddletorch.resolve.values import (
    NOTHING,
    TENSOR,
    UNKNOWN,
    Container,
    Instance,
    Unknown,
    Value,
    Values,
    container,
    foreign,
    tuple_of,
)

_FOREIGN_ROOTS = frozenset(
    "numpy np cv2 PIL pandas scipy sklearn skimage math os re json pathlib random time datetime glob sys string "
    "shutil csv logging platform socket subprocess uuid hashlib struct tempfile yaml".split()
)
_FOREIGN_BUILTINS = frozenset(
    "len int float str bool range open repr round format ord chr hash id input isinstance issubclass hasattr "
    "callable bytes bytearray type dir vars print".split()
)
COLLECTING = frozenset("list tuple set sorted reversed zip enumerate iter frozenset next".split())
"""Builtins whose result has the elements of their arguments."""

COPIES = frozenset({"copy.copy", "copy.deepcopy"})


def is_foreign(qualified_name: str) -> bool:
    """Whether a call of this name gives something of no framework."""
    return qualified_name.partition(".")[0] in _FOREIGN_ROOTS


def has_type(values: Values, type_name: str) -> bool:
    """Whether some value is an instance of the type."""
    return any(isinstance(v, Instance) and v.type == type_name for v in values)


def tensors(values: Values) -> Values:
    """Those of the values that are tensors."""
    return frozenset(v for v in values if isinstance(v, Instance) and v.type == TENSOR)


@lru_cache(maxsize=10_000)
def of_kind(kind: str | None, api: str) -> Values:
    """What the tables call ``kind``, made by ``api``: an instance, tensors in a container, a number."""
    if kind == "tensors":
        return container(frozenset({Instance(TENSOR, api)}))
    if kind == "named_tensors":
        return container(tuple_of([foreign("str"), frozenset({Instance(TENSOR, api)})]))
    if kind in ("int", "bool"):
        return foreign(kind)
    return frozenset({Instance(kind, api)}) if kind else UNKNOWN


def names_device(node: ast.Subscript) -> bool:
    """Whether it is a place by its name, as Paddle itself writes the device of a tensor: ``str(x.place)[6:-1]``."""
    text = node.value
    if not isinstance(text, ast.Call) or len(text.args) != 1 or not isinstance(text.args[0], ast.Attribute):
        return False
    return text.args[0].attr == "place" and ast.unparse(text.func) == "str" and ast.unparse(node.slice) == "6:-1"


# operators ---------------------------------------------------------------------------------------


def arithmetic(operands: Sequence[Values]) -> Values:
    """The result of an operator: a tensor as soon as one operand is one; a number too, if each may be a number."""
    found = tensors(frozenset(v for o in operands for v in o))
    if found:
        for operand in operands:
            for value in operand:
                if not isinstance(value, Instance) or value.type != TENSOR:
                    break
            else:
                return found  # nothing but a tensor, or not known yet
        return found | _numbers(operands)
    if not all(operands):
        return NOTHING  # not known yet
    containers: Values = frozenset(Container(v.elements) for o in operands for v in o if isinstance(v, Container))
    if containers:
        return containers
    if operands and all(all(isinstance(v, Instance) and v.type in _NUMERIC for v in o) for o in operands):
        return frozenset(v for o in operands for v in o)
    return UNKNOWN


_NUMERIC = frozenset({"foreign", "shape"})
_NUMBERS = frozenset({"int", "float", "bool"})


def _numbers(operands: Sequence[Values]) -> Values:
    """The Python numbers among the operands' values."""
    return frozenset(v for o in operands for v in o if isinstance(v, Instance) and v.api in _NUMBERS)


STRING: Values = foreign("str")


def joined_path(operands: Sequence[Values]) -> Values:
    """What dividing by a string gives, ``folder / "last.pt"``: a path, by whatever class of such objects it is."""
    known = frozenset(v for o in operands for v in o if isinstance(v, Instance) and v.api != "str")
    return known or foreign("pathlib.Path")


def comparison(node: ast.Compare, operands: Sequence[Values]) -> Values:
    """A tensor where one is compared by value; else a bool, if that can be said."""
    if any(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in node.ops):
        return foreign("bool")
    found = arithmetic(operands)
    return foreign("bool") if found and not has_type(found, TENSOR) and found != UNKNOWN else found


# elements ----------------------------------------------------------------------------------------


def sliced(values: Values) -> Values:
    """What a slice ``values[1:]`` gives: of a size a size, of a list a list, of a ``Sequential`` one of its modules."""
    containers: Values = frozenset(Container(v.elements) for v in values if isinstance(v, Container))
    kept = frozenset(v for v in values if isinstance(v, Instance) and (v.type == "shape" or v.holds is not None))
    rest = frozenset(v for v in values if not isinstance(v, Container)) - kept
    return containers | frozenset(_without_positions(v) for v in kept) | elements(rest)


def _without_positions(value: Instance) -> Instance:
    return replace(value, holds=Container(value.holds.elements)) if value.holds is not None else value


def element(values: Values, position: int | None) -> Values:
    """What unpacking or subscripting ``values`` gives at a position; None for any."""
    if position is None:
        return elements(values)
    found: Values = NOTHING
    for value in values:
        held = value.holds if isinstance(value, Instance) else value
        if isinstance(held, Container) and -len(held.parts) <= position < len(held.parts):
            found |= held.parts[position]
        elif len(values) == 1 or not _has_no_elements(value):
            found |= elements(frozenset({value}))
    return found


def named_element(values: Values, name: str) -> Values:
    """What a string as subscript gives: the module of that name, or any element."""
    found: Values = NOTHING
    for value in values:
        held = value.holds if isinstance(value, Instance) else None
        if held is not None and name in held.names:
            found |= held.parts[held.names.index(name)]
        else:
            found |= elements(frozenset({value}))
    return found


def literal_index(index: ast.expr) -> int | None:
    """The number that an index is, ``2`` or ``-1``; None for another."""
    is_negative = isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub)
    number = index.operand if isinstance(index, ast.UnaryOp) and is_negative else index
    value = number.value if isinstance(number, ast.Constant) else None
    return None if type(value) is not int else -value if is_negative else value


BASE_MODULES = {"torch": "torch.nn.Module", "paddle": "paddle.nn.Layer"}
"""The classes of all modules: what the elements of a list of modules are at least."""


def elements(values: Values) -> Values:
    """What iterating, unpacking or subscripting ``values`` can give."""
    found: Values = NOTHING
    for value in values:
        if isinstance(value, Container):
            found |= value.elements
        elif isinstance(value, Instance) and value.type == "tensor":
            found |= {Instance(value.type, value.api)}
        elif isinstance(value, Instance) and value.holds is not None:
            found |= value.holds.elements
        elif isinstance(value, Instance) and value.api.endswith(".ParameterList") and value.node is None:
            found |= {Instance(TENSOR, f"{value.api.partition('.')[0]}.Tensor")}
            found |= UNKNOWN if value.api.startswith("torch.") else NOTHING  # it holds lists of parameters too
        elif isinstance(value, Instance) and value.type == "module":
            found |= {Instance(value.type, BASE_MODULES.get(value.api.partition(".")[0], value.api))}
        elif isinstance(value, Instance) and value.type == "results":
            found |= {Instance(TENSOR, value.api)}
        elif isinstance(value, Instance) and value.type == "loader":
            tensor = Instance(TENSOR, value.api)
            found |= {tensor, Container(frozenset({tensor})), Unknown()}  # a batch is a tensor, or has some
        elif isinstance(value, Instance) and value.type == "foreign":
            found |= {value}
        elif isinstance(value, Instance) and value.type == "shape":
            found |= foreign("int")
        elif len(values) == 1 or not _has_no_elements(value):
            found |= UNKNOWN
    return found


_PLAIN_LAYERS = frozenset({"linear", "conv", "norm", "embedding", "activation", "pooling", "dropout"})


def _has_no_elements(value: Value) -> bool:
    """Whether it is a layer of a framework that cannot be subscripted, so that the value is another one there."""
    return isinstance(value, Instance) and value.type in _PLAIN_LAYERS and value.node is None


# functions and methods ---------------------------------------------------------------------------


def container_method(receiver: Values, name: str) -> Values:
    """``d.values()``, ``d.get(k)`` and the like of a container; nothing if it is none, or of other methods."""
    containers = [v for v in receiver if isinstance(v, Container)]
    inner: Values = frozenset(v for c in containers for v in c.elements)
    if not containers:
        return NOTHING
    if name in ("get", "pop"):
        return inner
    if name == "items":
        return container(tuple_of([foreign("str"), inner or UNKNOWN]))
    return container(inner) if name in ("values", "copy") else NOTHING


def state_dict_method(name: str) -> Values:
    """What a method of a dict of tensors, numbers and more dicts gives; nothing if a dict has no such method."""
    if name == "items":
        return container(tuple_of([foreign("str"), UNKNOWN]))
    if name == "values":
        return container(UNKNOWN)
    return UNKNOWN if name in ("get", "pop", "setdefault") else NOTHING


def foreign_builtin(name: str) -> Values:
    """What a builtin gives whose result is of no framework; nothing for other names."""
    if name not in _FOREIGN_BUILTINS:
        return NOTHING
    return foreign(name if name in ("int", "float", "str", "bool") else "int" if name == "len" else "object")


def einops_function(name: str, first: Values, *, closed_world: bool) -> Values:
    """What a function of einops gives: of the library that its first argument is of, if it can be told."""
    if name not in facts().einops:
        return UNKNOWN
    instances = frozenset(v for v in first | elements(first) if isinstance(v, Instance))
    library: Values = frozenset(v for v in instances if v.type in (TENSOR, "foreign"))
    if not library and first and closed_world:
        library = frozenset({Instance(TENSOR, name), Unknown()})
    if name == "pack" and library:
        return tuple_of([library, container(foreign("object"))])
    return (container(library) if name == "unpack" and library else library) or (first and UNKNOWN)
