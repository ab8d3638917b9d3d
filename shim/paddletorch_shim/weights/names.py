"""The plan for tensors without a model: what their names and shapes alone make certain."""

from __future__ import annotations

import re
from collections.abc import Mapping

from paddletorch_rules import Framework
from paddletorch_rules.layouts import LAYOUTS, Layout, Part, cell_tensor

from paddletorch_shim.weights.layout import tell
from paddletorch_shim.weights.moves import Move, Plan

_LINEAR = next(layout for layout in LAYOUTS if layout.torch == ("Linear",))


def plan(shapes: Mapping[str, tuple[int, ...]], side: Framework) -> Plan:
    """What becomes of tensors of ``side`` with these keys and shapes; what depends on the module is ``unknown``."""
    made = Plan(shapes=dict(shapes))
    modules: dict[str, list[str]] = {}
    for key in shapes:
        path, dot, name = key.rpartition(".")
        modules.setdefault(path + dot, []).append(name)
    known: dict[str, Layout] = {}
    for path in modules:
        for layout in LAYOUTS:
            marks = layout.marks.get(side)
            if marks and all(path + mark in shapes for mark in marks):
                known[path] = layout
                known |= {f"{path}{m.rpartition('.')[0]}.": _LINEAR for m in marks if m.endswith(".weight")}
    _recurrent(made, modules, side)
    for path, names in modules.items():
        renamed = _renamed_child(path, side)
        if renamed:
            made.unknown |= {path + name: renamed for name in names}
        elif path in known:
            tell(made, (path, path), side, names, known[path], {}, packed=False)
            if "num_batches_tracked" in known[path].torch_only and side == "paddle":
                made.added.append(path + "num_batches_tracked")
        else:
            for name in names:
                if path + name not in made.repeated | made.unknown.keys():
                    _alone(made, path + name, side, shapes)
    return made


def _recurrent(made: Plan, modules: Mapping[str, list[str]], side: Framework) -> None:
    """Paddle's RNNs have each tensor once more in their cells."""
    for path, names in modules.items():
        both = any(name.endswith("_reverse") for name in names)
        for name in names:
            if re.fullmatch(r"(weight|bias)_(ih|hh)_l\d+(_reverse)?", name):
                cell = path + cell_tensor(name, both)
                if side == "torch":
                    made.doubles[cell] = path + name
                else:
                    made.repeated.add(cell)
            elif re.fullmatch(r"weight_hr_l\d+(_reverse)?|weight_ho", name):
                made.unknown[path + name] = "an LSTM with a projection has other names for all its tensors"


def _alone(made: Plan, key: str, side: Framework, shapes: Mapping[str, tuple[int, ...]]) -> None:
    for layout in LAYOUTS:
        for part in layout.parts:
            if _ends(key, getattr(part, side)) and _matters(part, key, side, shapes):
                cls = (layout.torch if side == "torch" else layout.paddle)[0]
                made.unknown[key] = f"{cls} keeps a tensor of this name in another way, other modules do not"
                return
        vector = len(shapes[key]) <= 1  # what torch alone has are statistics, counters, weights of classes
        if side == "torch" and vector and any(_ends(key, name) for name in layout.torch_only):
            made.unknown[key] = f"Paddle's {(layout.paddle or layout.torch)[0]} has no such tensor"
            return
    made.moves[key] = Move(key, (key,))


def _matters(part: Part, key: str, side: Framework, shapes: Mapping[str, tuple[int, ...]]) -> bool:
    """Whether this part would change the tensor of that key."""
    axes = len(shapes[key])
    if part.torch != part.paddle or part.section is not None:
        return axes == 1 or part.torch != "weight"  # InstanceNorm's and PReLU's have one number for each channel
    if part.shape == "row":  # Bilinear's bias; its weight has three axes
        return axes == 2 or len(shapes.get(key.removesuffix("bias") + "weight", ())) == 3
    if part.shape == "flat" and part.torch in ("weight", "bias"):  # LayerNorm over several axes: its bias has them too
        bias = key.removesuffix(part.torch) + "bias"
        return side == "torch" and axes > 1 and len(shapes.get(bias, ())) > 1
    return axes == 2 or part.shape is not None


def _renamed_child(path: str, side: Framework) -> str | None:
    for layout in LAYOUTS:
        for torch, paddle in layout.children.items():
            if (torch if side == "torch" else paddle) in path.split("."):
                cls, other = (layout.torch[0], paddle) if side == "torch" else (layout.paddle[0], torch)
                return f"the child of a {cls} with this name is {other} in the other framework"
    return None


def _ends(key: str, name: str) -> bool:
    return key == name or key.endswith("." + name)
