"""Small named functions for what a table row cannot say. A row asks for one by ``hook = "name"``.

A hook sees one call bound to its row, before the generic rules run; it may drop a source parameter, force
a target parameter, choose another template or report. ``hook = { name = "operator", sign = "*" }`` gives it
arguments. Hooks that need more than the call's arguments live in the engine and are named in ``ENGINE_HOOKS``.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules

from paddletorch_rules.hooks.protocol import Hook
from paddletorch_rules.releases import Framework


@lru_cache(maxsize=1)
def argument_hooks() -> Mapping[tuple[str, Framework], Hook[...]]:
    """Hooks that look at a call's arguments, by name and target; the modules are imported when first asked for.

    Raises:
        ValueError: two hooks have one name and one target.
    """
    found: dict[tuple[str, Framework], Hook[...]] = {}
    for module in iter_modules(__path__):
        for hook in vars(import_module(f"{__name__}.{module.name}")).values():
            if not isinstance(hook, Hook):
                continue
            for target in _TARGETS if hook.to is None else (hook.to,):
                if found.setdefault((hook.name, target), hook) is not hook:
                    raise ValueError(f"two hooks are named {hook.name!r}")
    return found


_TARGETS: tuple[Framework, Framework] = ("torch", "paddle")


@lru_cache(maxsize=1)
def class_checks() -> dict[str, Callable[[ast.ClassDef, Framework], bool]]:
    """By row id: whether a class that derives from the API deserves the row's warning."""
    found: dict[str, Callable[[ast.ClassDef, Framework], bool]] = {}
    for module in iter_modules(__path__):
        found.update(getattr(import_module(f"{__name__}.{module.name}"), "CLASS_CHECKS", {}))
    return found


ENGINE_HOOKS = frozenset(
    {
        "sharded_scaler",
        "decorate",
        "assert_statement",
        "drop_statement",
        "update",
        "minimize",
        "step",
        "scale",
        "set_scale",
        "shape",
        "data",
    }
    | {"handed_on", "layer_size", "may_be_none", "linear_weight", "other_weight"}
)
"""Hooks that need the statement around the call; the engine has them under these names, and they take no arguments."""


def problem(name: str, arguments: Mapping[str, object], targets: tuple[Framework, ...]) -> str:
    """What is wrong with a row's hook: its name, its direction or its arguments; empty if nothing is."""
    if name in ENGINE_HOOKS:
        return f"{name!r} takes no arguments" if arguments else ""
    known = sorted({n for n, _ in argument_hooks()} | ENGINE_HOOKS)
    if name not in known:
        return f"{name!r} is not one of {', '.join(known)}"
    named = [hook for target in targets if (hook := argument_hooks().get((name, target))) is not None]
    if not named:
        return f"{name!r} is not for the direction of the row"
    return next((text for hook in named if (text := _misused(hook, arguments))), "")


def _misused(hook: Hook[...], arguments: Mapping[str, object]) -> str:
    parameters = dict([*inspect.signature(hook.function).parameters.items()][1:])
    for name, value in arguments.items():
        if name not in parameters:
            return f"{hook.name!r} has no argument {name!r}"
        kind = str(parameters[name].annotation).partition(" ")[0]
        if type(value).__name__ != kind:
            return f"{name!r} of {hook.name!r} is of type {kind}, not {value!r}"
    missing = [n for n, p in parameters.items() if p.default is p.empty and n not in arguments]
    return f"{hook.name!r} needs the argument {missing[0]!r}" if missing else ""
