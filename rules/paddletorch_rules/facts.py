"""What is known of the frameworks' names beside the rows: views, dtypes, what only tensors have (``facts.toml``)."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from paddletorch_rules import compiled
from paddletorch_rules.schema import TableError

_MARKS = ("checked", "elsewhere")
"""Keys that say how a table is checked; they are for the tests."""

FILE = Path(__file__).with_name("facts.toml")

Names = frozenset[str]
BySide = Mapping[str, frozenset[str]]
"""Names of torch, of Paddle, or of both in turn."""


class Facts(NamedTuple):
    """Sets of names, each explained in ``facts.toml`` under its own name."""

    views: BySide
    copied_views: BySide
    may_share: BySide
    passing_modules: BySide
    inplace_modules: BySide
    once_differentiable: Mapping[str, frozenset[str]]
    fresh: BySide
    computed: BySide
    kept_results: Names
    leaves: BySide
    no_grad: BySide
    keeping_decorators: BySide
    pure: Names
    conversions: Names
    dtype_aliases: Mapping[str, str]
    dtype_categories: Mapping[str, int]
    dtype_widths: Mapping[str, int]
    casts: Mapping[str, str]
    tensor_classes: Mapping[str, str]
    created: BySide
    from_data: Names
    int64_results: BySide
    shared_members: Names
    bool_results: BySide
    floating_results: BySide
    floating_only: Names
    promoting: BySide
    quotients: Names
    bounded: Names
    joining: BySide
    sums: BySide
    with_indices: BySide
    tuple_results: Names
    tuples_of_torch: Names
    same_dtype: BySide
    same_dtype_attributes: Names
    distinctive: Names
    tensor_keywords: BySide
    keywords_of_method: BySide
    array_arguments: Mapping[str, int]
    tensor_operands: Mapping[str, Mapping[str, int]]
    refused_dtypes: BySide
    floats_first: Names
    refuse_scalars: Names
    refuse_scalars_along_axis: Names
    taken_ranks: Mapping[str, int]
    ranks: BySide
    ranks_of_layers: Mapping[str, str]
    batched_ranks: Mapping[str, int]
    batched_layers: Mapping[str, int]
    rearranging: Names
    of_modules_too: Names
    module_chains: BySide
    tuple_modules: BySide
    module_containers: BySide
    base_classes: BySide
    made_one_by_one: Names
    array_makers: Names
    picture_functions: BySide
    einops: Names
    array_reads: Names
    layout_free: Names
    reductions: Names
    layout_reads: Names
    layout_kept: Names
    layout_axes: Names
    layer_parameters: BySide
    numpy_parameters: Mapping[str, str]
    axis_names: Names
    sizes: BySide
    numpy_arrays: Names
    inert_parameters: Names
    lost_group_keys: Names
    parameter_walks: BySide
    compiling_decorators: BySide
    other_devices: Names
    looked_up: Mapping[str, Mapping[str, str]]
    not_looked_up: Names
    layer_modules: Mapping[str, str]
    initial_values: Mapping[str, Mapping[str, Mapping[str, Any]]]


@lru_cache(maxsize=1)
def facts() -> Facts:
    """The facts, read once; from the compiled form if there is one.

    Raises:
        TableError: the file is wrong; the message names table and key.
    """
    digest = compiled.digest_of([FILE])
    found = compiled.restore("facts", digest)
    if found is None or found.keys() != set(Facts.__match_args__):
        found = read()
        compiled.keep("facts", digest, found)
    return Facts(**found)


def read() -> dict[str, Any]:
    """The facts of the file by field, with frozensets for lists."""
    if sys.version_info >= (3, 11):
        import tomllib  # slow to import, and not needed where the facts were kept
    else:
        import tomli as tomllib
    data = tomllib.loads(FILE.read_text(encoding="utf-8"))
    if wrong := data.keys() ^ set(Facts.__match_args__):
        raise TableError(f"{FILE.name}: the tables and the fields of Facts differ in {', '.join(sorted(wrong))}")
    return {name: _frozen({k: v for k, v in data[name].items() if k not in _MARKS}) for name in Facts.__match_args__}


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return frozenset(value)
    if not isinstance(value, dict):
        return value
    return _frozen(value["names"]) if value.keys() == {"names"} else {k: _frozen(v) for k, v in value.items()}
