"""Loaders of a file that sets the device, to torch: their batches are on it, as those of Paddle's loaders are."""

from __future__ import annotations

import ast
import sys
from dataclasses import replace

from paddletorch.model import Edit, Span
from paddletorch.plan.model.changes import NOTHING, Changes, Planned
from paddletorch.plan.model.use import Use
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.constants import constant

_CODE = "DEV204"

_WRITTEN = {"DataLoader": "PaddleDataLoader", "random_split": "paddle_random_split"}
"""By the ids of rows, what is written instead of torch's own where the default device may be a GPU."""

_PUBLIC = sys.stdlib_module_names | {"numpy", "paddle", "PIL", "cv2", "matplotlib", "scipy", "tqdm"}
"""Modules that make no loader beside those that the file itself makes."""


def plan_device_loaders(view: FileView, planned: Planned) -> Changes:
    """Make loaders that give batches on the default device, where the file sets one that may be a GPU.

    Under a default device of CUDA, torch's own loader fails: its sampler draws there with a generator of the CPU, and
    workers that were forked cannot use CUDA (run on an H200). A loader that stays keeps the finding of the device.
    """
    setting = [use for use in planned.uses.converted if any(found.code == _CODE for found in use.findings)]
    on_gpu = [use for use in setting if not _is_cpu(use)]
    revised = [use.without_finding(_CODE) for use in setting if use not in on_gpu]
    drawing = [use for use in planned.uses if use.row.id in _WRITTEN] if on_gpu else []
    makes_loaders = any(use.row.instance == "loader" for use in drawing)
    if all(_is_plain(view, use) for use in drawing) and (makes_loaders or _stands_alone(view)):
        revised += [_on_default_device(view, use) for use in drawing]
        revised += [use.without_finding(_CODE) for use in on_gpu]
    return Changes(uses=tuple(revised)) if revised else NOTHING


def _is_cpu(use: Use) -> bool:
    """Whether the device is the CPU wherever the program runs."""
    call = use.site.call
    given = [] if call is None else [*call.args, *(keyword.value for keyword in call.keywords)]
    return len(given) == 1 and constant(given[0]) == "cpu"


def _stands_alone(view: FileView) -> bool:
    """Whether no other file of the program can make a loader: only public modules are imported."""
    modules = [alias.name for node in view.tree.of_kind(ast.Import) for alias in node.names]
    modules += ["." * node.level + (node.module or "") for node in view.tree.of_kind(ast.ImportFrom)]
    return all(module.partition(".")[0] in _PUBLIC for module in modules)


def _is_plain(view: FileView, use: Use) -> bool:
    """Whether it is a call of the loader's class that stays one."""
    return use.converts and use.site.role == "call" and use.whole is None and not use.writes_name and _opens(view, use)


def _opens(view: FileView, use: Use) -> bool:
    """Whether the call's bracket stands right behind its name."""
    return use.site.call is not None and view.source.slice(_name_and_bracket(view, use.site.call)).endswith("(")


def _name_and_bracket(view: FileView, call: ast.Call) -> Span:
    span = view.source.span(call.func)
    return Span(span.start, span.end + 1)


def _on_default_device(view: FileView, use: Use) -> Use:
    assert use.site.call is not None
    written = _WRITTEN[use.row.id]
    name = Edit(_name_and_bracket(view, use.site.call), f"{written}(", use.row.code)
    return replace(use, target=written, edits=(*use.edits, name), writes_name=True)
