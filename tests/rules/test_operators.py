"""Operators of ATen that are names by rule: their parameters are where the rows have them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from packaging.version import Version
from paddletorch_rules import Signature, load
from paddletorch_rules.aliases import expanded
from paddletorch_rules.loader import read

TABLE = load()
NEWEST = Version("2.13")
FILE = Path(__file__).parents[2] / "rules" / "paddletorch_rules" / "operator_names.toml"
ATEN = "torch.ops.aten."
PAIRS = [pair for rule in read([FILE]).aliases for pair in expanded(rule) if pair[0].startswith(ATEN)]
OVERLOADS: dict[str, list[str]] = {}
for _name in torch._C._dispatch_get_all_op_names():
    if _name.startswith("aten::"):
        OVERLOADS.setdefault(_name[6:].partition(".")[0], []).append(_name[6:])
SAME_DEFAULTS = {(0, None), ("valid", 0), (4, None), (None, "use_mm_for_euclid_dist_if_necessary"), (None, "cpu")}
"""Of ATen and of the row: numbers of ATen for a layout in memory and a dtype, and words for what None is."""


def _schemas(alias: str) -> Iterator[Any]:
    """The schemas of an operator, or of all overloads but those that take a result to write, names or a generator."""
    name, _, overload = alias.removeprefix(ATEN).partition(".")
    for one in (f"{name}.{overload}".removesuffix(".default"),) if overload else OVERLOADS[name]:
        schema = torch._C._get_schema(f"aten::{one.partition('.')[0]}", one.partition(".")[2])
        by_names = any("Dimname" in str(argument.type) for argument in schema.arguments)
        if overload or not (by_names or (schema.is_mutable and "out" in one) or "generator" in one.lower()):
            yield schema


def _signatures(name: str) -> Iterator[tuple[Signature, bool]]:
    """The signatures that rows have, and whether the first parameter is left out: it is what a method is called on."""
    for row, form in TABLE.overloads("torch", f"{name}"):
        signature = form.signature(NEWEST)
        if signature is not None:
            yield signature, row.receiver is not None


def _difference(schema: Any, signature: Signature, is_method: bool) -> str:
    """What a call would mean something else by; an argument that the row lacks is refused when a call is bound."""
    given = [one for one in schema.arguments if not one.kwarg_only][1 if is_method else 0 :]
    variadic = any(one.variadic for one in signature.parameters)
    for place, (one, parameter) in enumerate(zip(given, signature.positional, strict=False)):
        same = one.name == parameter.name.rstrip("_") or (one.name, parameter.name) == ("self", "input")
        if not same and (place or is_method) and not variadic:
            return f"{one.name} stands where the row has {parameter.name}"
    pairs = [(one, signature.get(one.name)) for one in schema.arguments if one.kwarg_only]
    for one, paired in [*zip(given, signature.positional, strict=False), *pairs]:
        if paired is None or one.name == "pin_memory" or not one.has_default_value() or paired.default is None:
            continue
        if not _is_same(one.default_value, paired.default):
            return f"the default of {one.name} is {one.default_value}, in the row {paired.default}"
    return ""


def _is_same(value: Any, text: str) -> bool:
    try:
        other = ast.literal_eval(text)
    except ValueError:
        return text.startswith("torch.")
    if isinstance(value, list):
        other = list(other) if isinstance(other, tuple) else other
        return value == other or (not value and other is None) or all(one == other for one in value)
    return bool(value == other) or (value, other) in SAME_DEFAULTS


def test_an_operator_takes_what_the_row_takes() -> None:
    assert len(PAIRS) > 1000
    wrong = {alias: told for alias, _ in PAIRS if (told := list(_told(alias)))}
    assert not wrong


def _told(alias: str) -> Iterator[str]:
    """What is wrong of a name by rule."""
    signatures = list(_signatures(alias))
    if not signatures:
        yield "no row has the name"
    schemas = list(_schemas(alias))
    if not schemas:
        yield "no operator has the name"
    for schema in schemas:
        differences = [_difference(schema, *one) for one in signatures]
        if "" not in differences:
            yield f"{schema}: {differences}"
