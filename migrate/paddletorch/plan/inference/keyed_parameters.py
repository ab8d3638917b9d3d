"""The layers whose parameters a key names: ``params["net.0.weight"]`` of ``self.net = nn.Sequential(...)``."""

from __future__ import annotations

import ast

from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Instance
from paddletorch.resolve.values import NOTHING, UNKNOWN, Container, Values


def key_of(node: ast.expr) -> str | None:
    """The key of ``params["fc.weight"]`` or ``params.get("fc.weight")`` that ends with the name of a parameter."""
    key: ast.expr | None = None
    if isinstance(node, ast.Subscript):
        key = node.slice
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "pop"):
        key = node.args[0] if node.args else None
    if not isinstance(key, ast.Constant) or not isinstance(key.value, str) or "." not in key.value:
        return None
    return key.value


def layers_of_key(view: FileView, node: ast.expr) -> Values:
    """What the layer can be that the key names, by the modules of this file; nothing if none has such a layer."""
    key = key_of(node)
    if key is None:
        return NOTHING
    names = key.split(".")[:-1]
    places: list[str] = []
    while names and names[-1].isdigit():
        places.insert(0, names.pop())
    found = _stored(view, names[-1]) if names else NOTHING
    for place in places:
        found = _part(found, place)
    return found


def class_names(objects: Values) -> frozenset[str]:
    """The names of the classes that the objects are instances of."""
    instances = [value for value in objects if isinstance(value, Instance)]
    return frozenset([*(v.api for v in instances), *(v.node.name for v in instances if v.node is not None)])


def _stored(view: FileView, name: str) -> Values:
    """What the modules of the file keep in attributes of that name."""
    values = (view.evaluator.objects(s.value) for s in view.evaluator.stores(name) if s.value is not None)
    return frozenset(value for found in values for value in found)


def _part(objects: Values, place: str) -> Values:
    """The layer at a place of containers of layers; unknown where a container is not seen to hold it there."""
    found: Values = NOTHING
    for value in objects:
        held = value.holds if isinstance(value, Instance) else None
        if not isinstance(held, Container):
            return UNKNOWN
        if held.names:
            found |= held.parts[held.names.index(place)] if place in held.names else UNKNOWN
        elif held.parts:
            found |= held.parts[int(place)] if int(place) < len(held.parts) else UNKNOWN
        else:
            found |= held.elements
    return found
