"""Small named functions for what a table row cannot say. A row asks for one by ``hook = "name"``.

A hook sees one call bound to its row, before the generic rules run; it may drop a source parameter, force
a target parameter, choose another template or report. ``hook = { name = "operator", sign = "*" }`` gives it
arguments. Hooks that need more than the call's arguments live in the engine and are named in ``ENGINE_HOOKS``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from importlib import import_module
from types import ModuleType
from typing import Any

from paddletorch_rules import compiled
from paddletorch_rules.hooks.protocol import Hook
from paddletorch_rules.releases import Framework


@cache
def argument_hook(name: str, target: Framework) -> Hook[...] | None:
    """The hook that rows name so on the way to ``target``; of all modules its own is imported."""
    module = _places()["hooks"].get(name, {}).get(target)
    if module is None:
        return None
    hooks = (one for one in vars(import_module(module)).values() if isinstance(one, Hook))
    return next(hook for hook in hooks if hook.name == name and hook.to in (None, target))


@cache
def class_check(row_id: str) -> Callable[[ast.ClassDef, Framework], bool] | None:
    """Says whether a class that derives from the row's API deserves its warning; None where each does."""
    module = _places()["class_checks"].get(row_id)
    found: Callable[[ast.ClassDef, Framework], bool] | None = None
    if module is not None:
        found = import_module(module).CLASS_CHECKS[row_id]
    return found


@lru_cache(maxsize=1)
def _places() -> Mapping[str, Any]:
    found: Mapping[str, Any] | None = compiled.restore("hooks", compiled.digest_of([]))
    if found is None:
        found = places()
        compiled.keep("hooks", compiled.digest_of([]), found)
    return found


def places() -> Mapping[str, Any]:
    """The module of each hook by name and target, and of each check of classes by row: plain values."""
    hooks: dict[str, dict[str, str]] = {}
    for (name, target), hook in argument_hooks().items():
        hooks.setdefault(name, {})[target] = hook.function.__module__
    checks = {row: module.__name__ for module in _modules() for row in getattr(module, "CLASS_CHECKS", ())}
    return {"hooks": hooks, "class_checks": checks}


def _modules() -> list[ModuleType]:
    from pkgutil import iter_modules  # needed only where it is not kept what they hold

    return [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]


@lru_cache(maxsize=1)
def argument_hooks() -> Mapping[tuple[str, Framework], Hook[...]]:
    """Hooks that look at a call's arguments, by name and target; every module is imported.

    Raises:
        ValueError: two hooks have one name and one target.
    """
    found: dict[tuple[str, Framework], Hook[...]] = {}
    for module in _modules():
        for hook in vars(module).values():
            if not isinstance(hook, Hook):
                continue
            for target in _TARGETS if hook.to is None else (hook.to,):
                if found.setdefault((hook.name, target), hook) is not hook:
                    raise ValueError(f"two hooks are named {hook.name!r}")
    return found


_TARGETS: tuple[Framework, Framework] = ("torch", "paddle")


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
        "to_itself",
        "shape",
        "data",
    }
    | {"conv_padding", "handed_on", "layer_size", "may_be_none", "linear_weight", "other_weight"}
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
    import inspect  # slow to import, and not needed where the tables were checked

    parameters = dict([*inspect.signature(hook.function).parameters.items()][1:])
    for name, value in arguments.items():
        if name not in parameters:
            return f"{hook.name!r} has no argument {name!r}"
        kind = str(parameters[name].annotation).partition(" ")[0]
        if type(value).__name__ != kind:
            return f"{name!r} of {hook.name!r} is of type {kind}, not {value!r}"
    missing = [n for n, p in parameters.items() if p.default is p.empty and n not in arguments]
    return f"{hook.name!r} needs the argument {missing[0]!r}" if missing else ""
