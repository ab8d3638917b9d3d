"""The scalers' parameter names and defaults, read from the tables that the codemod uses."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import paddletorch_rules
from paddletorch_rules import Framework, other_framework

Default = bool | int | float | str | None

_EXTRAS: Mapping[str, Default] = {"min_scale": 0.0, "backend": None, "process_group": None}
"""Keyword-only parameters that the shim's scalers have beyond the framework's own."""


@lru_cache(maxsize=2)
def parameters(side: Framework) -> Mapping[str, Default]:
    """Names and defaults, in order, of ``GradScaler`` in the newest release of ``side``."""
    row = paddletorch_rules.load().row("GradScaler")
    signature = row.forms(side)[0].signature(paddletorch_rules.installable(side)[-1])
    assert signature is not None, f"the table gives no {side} signature for GradScaler"
    return {p.name: ast.literal_eval(p.default or "None") for p in signature.parameters}


@lru_cache(maxsize=2)
def signature(side: Framework) -> inspect.Signature:
    """What ``inspect.signature`` shows for the shim's scaler with ``side``'s API."""
    own = [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default)
        for name, default in parameters(side).items()
    ]
    extra = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default) for name, default in _EXTRAS.items()
    ]
    return inspect.Signature([*own, *extra])


@lru_cache(maxsize=2)
def _other_spellings(side: Framework) -> tuple[Mapping[str, str], Mapping[str, Default]]:
    """The other side's names: those with a counterpart on ``side``, and the rest with their neutral value."""
    other = other_framework(side)
    renamed: dict[str, str] = {}
    alone: dict[str, Default] = {}
    for pair in paddletorch_rules.load().row("GradScaler").parameters:
        theirs, ours = pair.name(other), pair.name(side)
        if theirs is None:
            continue
        if ours is None:
            alone[theirs] = ast.literal_eval(pair.neutral or "None")
        elif ours != theirs:
            renamed[theirs] = ours
    return renamed, alone


def bind(side: Framework, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The value of every parameter of ``side``'s constructor and of the shim's own extras.

    Keywords may be spelled as either framework spells them.

    Raises:
        TypeError: unknown or repeated parameter, or both spellings of one.
        ValueError: a parameter that ``side`` lacks, with a value that asks for more than its rule can do.
    """
    renamed, alone = _other_spellings(side)
    keywords: dict[str, Any] = {}
    spelled = {name: name for name, _ in zip(parameters(side), args, strict=False)}
    for name, value in kwargs.items():
        if name in alone:
            _check_neutral(side, name, value, alone[name])
            continue
        own = renamed.get(name, name)
        first = spelled.setdefault(own, name)
        if first != name:
            raise TypeError(
                f"GradScaler() got both {first!r} and {name!r}: they are two spellings of one parameter, "
                "give one of them"
            )
        keywords[own] = value
    bound = signature(side).bind(*args, **keywords)
    bound.apply_defaults()
    return dict(bound.arguments)


def _check_neutral(side: Framework, name: str, value: Any, neutral: Default) -> None:
    if name == "device":
        if not isinstance(value, str):
            raise TypeError(f"GradScaler() parameter 'device' must be a str, got {type(value).__name__}")
        return  # the scaler follows its tensors, whatever device they are on
    if value != neutral:
        other = other_framework(side)
        raise ValueError(
            f"GradScaler() got {name}={value!r}: {side}'s rule has no such parameter and behaves as "
            f"{name}={neutral!r}; use a scaler with {other}'s API for another value"
        )
