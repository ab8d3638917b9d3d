"""The plan for a model's tensors, from the types of its modules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paddletorch_rules import Framework
from paddletorch_rules.layouts import Layout, Part, Place, cell_tensor, tensors, walk

from paddletorch_shim.weights.models import tied
from paddletorch_shim.weights.moves import Move, Plan

_WITHOUT_TENSORS: dict[Framework, tuple[str, ...]] = {
    "torch": ("Module", "_Loss", "Sequential", "ModuleList", "ModuleDict"),
    "paddle": ("Layer", "Sequential", "LayerList", "LayerDict"),
}
"""Classes whose subclasses have only the tensors that they make themselves."""


def plan(model: Any, side: Framework) -> Plan:
    """What becomes of each tensor of ``model``, a module of ``side``, in the other framework.

    Keys are those of ``model.state_dict()``. What has no known layout is in ``unknown``, with the reason.
    """
    state: Mapping[str, Any] = model.state_dict(keep_vars=True)
    made = Plan(parameters=[name for name, _ in model.named_parameters()])
    for place in walk(model, side):
        _place(made, place, side, state)
    made.shapes = {key: _shape(tensor) for key, tensor in state.items()}
    seen = made.sources() | set(made.left) | set(made.unknown) | set(made.repeated)
    made.unknown |= {key: "no module of the model tells its layout" for key in state if key not in seen}
    made.tied = tied({key: tensor for key, tensor in state.items() if key not in made.repeated})
    return made


def _place(made: Plan, place: Place, side: Framework, state: Mapping[str, Any]) -> None:
    layout, module = place.layout, place.module
    here = place.torch if side == "torch" else place.paddle
    own = {name: tensor for name, tensor in tensors(place, side) if here + name in state}
    stranger = _library_class(module, side) if layout is None and own else None
    if stranger:
        made.unknown |= {here + name: f"the layout of {stranger} in the other framework is not known" for name in own}
        return
    if layout is not None and layout.flat:
        _recurrent(made, place, side, state)
        return
    shapes = _torch_shapes(module, side, own)
    tell(made, (place.torch, place.paddle), side, list(own), layout, shapes, packed=_packed(module, side))
    padding = getattr(module, "padding_idx" if side == "torch" else "_padding_idx", None)
    if layout is not None and "Embedding" in layout.torch and padding not in (None, -1):
        made.padded[here + "weight"] = int(padding)
    if side == "paddle" and layout is not None and "num_batches_tracked" in layout.torch_only and "_mean" in own:
        made.added.append(place.torch + "num_batches_tracked")


def tell(
    made: Plan,
    paths: tuple[str, str],
    side: Framework,
    names: list[str],
    layout: Layout | None,
    torch_shapes: Mapping[str, tuple[int, ...]],
    *,
    packed: bool,
) -> None:
    """Add to a plan what becomes of the tensors ``names`` of one module.

    Args:
        paths: the module's in torch and in Paddle, each empty or with a dot at the end.
        torch_shapes: shapes of torch's tensors that a part makes flat, by their name in Paddle.
        packed: torch has attention's projections in one tensor.
    """
    torch, paddle = paths
    here, there = (torch, paddle) if side == "torch" else (paddle, torch)
    joined: dict[str, list[tuple[Part, str]]] = {}
    for name in names:
        if side == "torch" and layout is not None and name in layout.torch_only:
            reason = layout.torch_only[name]
            without = f"{layout.paddle[0] if layout.paddle else 'the layer'} of Paddle has no such tensor"
            (made.left if reason else made.unknown)[here + name] = reason or f"{without} and computes something else"
            continue
        parts = [part for part in layout.parts if getattr(part, side) == name] if layout else []
        if side == "paddle":
            parts = [p for p in parts if (p.section is not None) == packed or "bias" in p.torch][:1]
        for part in parts:
            if side == "paddle" and part.section is not None:
                joined.setdefault(part.torch, []).append((part, here + name))
                continue
            target = there + (part.paddle if side == "torch" else part.torch)
            shape = _shape_in(part, side, torch_shapes)
            made.moves[target] = Move(target, (here + name,), part.transposed, part.section, shape)
        if not parts:
            made.moves[there + name] = Move(there + name, (here + name,))
    for target, found in joined.items():
        inorder = sorted(found, key=lambda one: one[0].section or (0, 1))
        made.moves[there + target] = Move(there + target, tuple(k for _, k in inorder), inorder[0][0].transposed)


def _shape_in(part: Part, side: Framework, torch_shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, ...] | None:
    if part.shape is None:
        return None
    if side == "torch":
        return (-1,) if part.shape == "flat" else (1, -1)
    return torch_shapes.get(part.paddle, (-1,))


def _recurrent(made: Plan, place: Place, side: Framework, state: Mapping[str, Any]) -> None:
    """An RNN: Paddle has each tensor twice, as torch calls it and in its cell.

    With a projection the cell alone can be trusted: Paddle 3.3 then mixes up torch's names from the second cell on.
    """
    module = place.module
    both = module.bidirectional if side == "torch" else module.num_directions == 2
    stems = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
    ends = ("", "_reverse") if both else ("",)
    names = [f"{stem}_l{layer}{end}" for layer in range(module.num_layers) for end in ends for stem in stems]
    projection = place.torch + names[4] if side == "torch" else place.paddle + cell_tensor(names[4], both)
    projected = projection in state
    for name in names:
        plain, cell = place.paddle + name, place.paddle + cell_tensor(name, both)
        paddle = cell if projected else plain
        source, target = (place.torch + name, paddle) if side == "torch" else (paddle, place.torch + name)
        if source in state:
            made.moves[target] = Move(target, (source,), transposed=name.startswith("weight_hr"))
        if side == "paddle":
            made.repeated |= {plain if projected else cell} & state.keys()
        elif source in state and not projected:
            made.doubles[cell] = plain


def _packed(module: Any, side: Framework) -> bool:
    return side == "paddle" and getattr(module, "kdim", 0) == getattr(module, "vdim", 1) == module.embed_dim


def _torch_shapes(module: Any, side: Framework, own: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Shapes that Paddle's tensors, being flat, do not show."""
    if side == "torch":
        return {}
    shapes: dict[str, tuple[int, ...]] = {}
    if hasattr(module, "_normalized_shape"):
        shapes = dict.fromkeys(("weight", "bias"), tuple(module._normalized_shape))
    for hook in module._forward_pre_hooks.values():
        if type(hook).__name__ == "WeightNorm" and "weight_v" in own:
            axes = len(own["weight_v"].shape)
            dim = 1 - hook.dim if _is_linear(module) and hook.dim in (0, 1) else hook.dim
            shapes["weight_g"] = () if dim in (None, -1) else tuple(-1 if i == dim else 1 for i in range(axes))
    return shapes


def _is_linear(module: Any) -> bool:
    import paddle

    return isinstance(module, paddle.nn.Linear)


def _library_class(module: Any, side: Framework) -> str | None:
    """The framework's own class that a module is or derives from, unless that class makes no tensors of its own."""
    bases = _WITHOUT_TENSORS[side]
    for cls in type(module).__mro__:
        if cls.__module__.partition(".")[0] == side:
            return None if cls.__name__ in bases else f"{cls.__module__}.{cls.__name__}"
    return None


def _shape(tensor: Any) -> tuple[int, ...] | None:
    try:
        return tuple(int(n) for n in tensor.shape)
    except (RuntimeError, AttributeError):  # a lazy module's, before its first run; a state that is no tensor
        return None
