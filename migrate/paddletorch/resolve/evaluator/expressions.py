"""What operators, subscripts, builtins and libraries give, as far as tensors are concerned."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from paddletorch.resolve.values import NOTHING, UNKNOWN, Container, Instance, Unknown, Values


def plain(kind: str) -> Values:
    """An object of no framework: a number, a string; ``kind`` is its Python type."""
    return frozenset({Instance("foreign", kind)})


TENSOR = "tensor"

_FOREIGN_ROOTS = frozenset(
    "numpy np cv2 PIL pandas scipy sklearn skimage math os re json pathlib random time datetime glob sys string "
    "shutil csv logging platform socket subprocess uuid hashlib struct tempfile yaml".split()
)
_FOREIGN_BUILTINS = frozenset(
    "len int float str bool range open repr round format ord chr hash id input isinstance issubclass hasattr "
    "callable bytes bytearray type dir vars print".split()
)
HOLDERS = frozenset("list tuple set sorted reversed zip enumerate iter frozenset next".split())
"""Builtins whose result holds what their arguments hold."""

COPIES = frozenset({"copy.copy", "copy.deepcopy"})


def is_foreign(qualified: str) -> bool:
    """Whether a call of this name gives something of no framework."""
    return qualified.partition(".")[0] in _FOREIGN_ROOTS


def is_foreign_builtin(name: str) -> bool:
    """Whether a builtin gives a number, a string or the like."""
    return name in _FOREIGN_BUILTINS


def has_type(values: Values, type_name: str) -> bool:
    """Whether some value is an instance of the type."""
    return any(isinstance(v, Instance) and v.type == type_name for v in values)


def arithmetic(operands: Sequence[Values]) -> Values:
    """The result of an operator: a tensor as soon as one operand is one."""
    tensors: Values = frozenset(v for o in operands for v in o if isinstance(v, Instance) and v.type == TENSOR)
    if tensors:
        return tensors
    if not all(operands):
        return NOTHING  # not known yet
    containers: Values = frozenset(Container(v.elements) for o in operands for v in o if isinstance(v, Container))
    if containers:
        return containers
    if operands and all(all(isinstance(v, Instance) and v.type in _PLAIN for v in o) for o in operands):
        return frozenset(v for o in operands for v in o)
    return UNKNOWN


_PLAIN = frozenset({"foreign", "shape"})


def comparison(node: ast.Compare, operands: Sequence[Values]) -> Values:
    """A tensor where one is compared by value; else a bool, if that can be said."""
    if any(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in node.ops):
        return plain("bool")
    found = arithmetic(operands)
    return plain("bool") if found and not has_type(found, TENSOR) and found != UNKNOWN else found


def sliced(values: Values) -> Values:
    """What a slice ``values[1:]`` gives: a size and a list stay what they are."""
    held: Values = frozenset(Container(v.elements) for v in values if isinstance(v, Container))
    sizes = frozenset(v for v in values if isinstance(v, Instance) and v.type == "shape")
    rest = frozenset(v for v in values if not isinstance(v, Container)) - sizes
    return held | sizes | elements(rest)


def element(values: Values, position: int | None) -> Values:
    """What unpacking or subscripting ``values`` gives at a position; None for any."""
    if position is None:
        return elements(values)
    found: Values = NOTHING
    for value in values:
        if isinstance(value, Container) and 0 <= position < len(value.parts):
            found |= value.parts[position]
        else:
            found |= elements(frozenset({value}))
    return found


def elements(values: Values) -> Values:
    """What iterating, unpacking or subscripting ``values`` can give."""
    found: Values = NOTHING
    for value in values:
        if isinstance(value, Container):
            found |= value.elements
        elif isinstance(value, Instance) and value.type in ("tensor", "module"):
            found |= {Instance(value.type, value.api)}
        elif isinstance(value, Instance) and value.type == "results":
            found |= {Instance(TENSOR, value.api)}
        elif isinstance(value, Instance) and value.type == "loader":
            tensor = Instance(TENSOR, value.api)
            found |= {tensor, Container(frozenset({tensor})), Unknown()}  # a batch is a tensor, or holds some
        elif isinstance(value, Instance) and value.type == "foreign":
            found |= {value}
        elif isinstance(value, Instance) and value.type == "shape":
            found |= plain("int")
        else:
            found |= UNKNOWN
    return found
