"""Where modules of the two frameworks keep their tensors, and in which layout; measured on torch 2.13 and Paddle 3.3.1.

Tensors of a listed class that no part names have one name and one layout on both sides.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from paddletorch_rules.releases import Framework


@dataclass(frozen=True, slots=True)
class Part:
    """One tensor on Paddle's side, and the tensor, or the section of one, that it is in torch.

    Args:
        torch, paddle: names below the module.
        transposed: a matrix is ``[out, in]`` in torch and ``[in, out]`` in Paddle; vectors are alike.
        section: ``(k, n)``: the k-th of n equal parts of torch's tensor along its first axis.
        shape: what Paddle makes of torch's shape: ``flat`` has one axis, ``row`` a leading axis of 1.
    """

    torch: str
    paddle: str
    transposed: bool = False
    section: tuple[int, int] | None = None
    shape: Literal["flat", "row"] | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """How one kind of module keeps its tensors.

    Args:
        torch, paddle: names of the classes, below ``torch.nn`` and ``paddle.nn``; subclasses are alike.
        children: names of submodules that differ, torch's name to Paddle's.
        flat: all tensors are the module's own; Paddle's submodules hold the same ones once more.
        torch_only: tensors without a counterpart in Paddle, and why the module computes the same without
            them; an empty reason: it does not.
        marks: names of tensors that, found together, are this module's and no other's; by framework.
    """

    torch: tuple[str, ...]
    paddle: tuple[str, ...]
    parts: tuple[Part, ...] = ()
    children: Mapping[str, str] = field(default_factory=dict)
    flat: bool = False
    torch_only: Mapping[str, str] = field(default_factory=dict)
    marks: Mapping[Framework, frozenset[str]] = field(default_factory=dict)


_RUNNING = (Part("running_mean", "_mean"), Part("running_var", "_variance"))
_COUNTED = {"num_batches_tracked": "Paddle's layer counts no batches"}
_FLAT = tuple(Part(name, name, shape="flat") for name in ("weight", "bias"))
_IN_LOSS = dict.fromkeys(("weight", "pos_weight"), "Paddle's loss has it as an attribute")


def _normed(transposed: bool) -> tuple[Part, ...]:
    """What ``weight_norm`` and ``spectral_norm`` make of ``weight``, and torch's parametrizations of these names."""
    return (
        Part("weight_g", "weight_g", shape="flat"),
        Part("weight_v", "weight_v", transposed),
        Part("weight_orig", "weight_orig", transposed),
        Part("weight_u", "weight_u"),
        Part("parametrizations.weight.original0", "weight_g", shape="flat"),
        Part("parametrizations.weight.original1", "weight_v", transposed),
        Part("parametrizations.weight.original", "weight_orig", transposed),
        Part("parametrizations.weight.0._u", "weight_u"),
        Part("parametrizations.weight.0._v", "weight_v", transposed),
    )


def _projection(letter: str, number: int) -> tuple[Part, ...]:
    """``in_proj_weight`` holds all three if the sizes of query, key and value are the same, else each stands alone."""
    return (
        Part("in_proj_weight", f"{letter}_proj.weight", transposed=True, section=(number, 3)),
        Part(f"{letter}_proj_weight", f"{letter}_proj.weight", transposed=True),
        Part("in_proj_bias", f"{letter}_proj.bias", section=(number, 3)),
    )


LAYOUTS: tuple[Layout, ...] = (
    Layout(("Linear",), ("Linear",), (Part("weight", "weight", transposed=True), *_normed(transposed=True))),
    Layout(("Bilinear",), ("Bilinear",), (Part("bias", "bias", shape="row"), *_normed(transposed=False))),
    Layout(
        ("Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"),
        ("Conv1D", "Conv2D", "Conv3D", "Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"),
        _normed(transposed=False),
    ),
    Layout(("Embedding",), ("Embedding",)),
    Layout(("EmbeddingBag",), ()),
    Layout(
        ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm"),
        ("BatchNorm1D", "BatchNorm2D", "BatchNorm3D", "SyncBatchNorm", "BatchNorm"),
        _RUNNING,
        torch_only=_COUNTED,
        marks={
            "torch": frozenset(["running_mean", "running_var", "num_batches_tracked"]),
            "paddle": frozenset(["_mean", "_variance"]),
        },
    ),
    Layout(
        ("InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"),
        ("InstanceNorm1D", "InstanceNorm2D", "InstanceNorm3D"),
        (Part("weight", "scale"),),
        torch_only=_COUNTED | {"running_mean": "", "running_var": ""},
    ),
    Layout(("LayerNorm",), ("LayerNorm",), _FLAT),
    Layout(("GroupNorm",), ("GroupNorm",)),
    Layout(("RMSNorm",), ()),  # a written class, with tensors of torch's shapes
    Layout(("PReLU",), ("PReLU",), (Part("weight", "_weight"),)),
    Layout(
        ("MultiheadAttention",),
        ("MultiHeadAttention",),
        (*_projection("q", 0), *_projection("k", 1), *_projection("v", 2)),
        torch_only={"bias_k": "", "bias_v": ""},
        marks={"torch": frozenset(["in_proj_weight", "out_proj.weight"])},
    ),
    Layout(("TransformerDecoderLayer",), ("TransformerDecoderLayer",), children={"multihead_attn": "cross_attn"}),
    Layout(("LSTM", "GRU", "RNN"), ("LSTM", "GRU", "SimpleRNN"), flat=True),
    Layout(("LSTMCell", "GRUCell", "RNNCell"), ("LSTMCell", "GRUCell", "SimpleRNNCell")),
    Layout(("ParameterList", "ParameterDict"), ("ParameterList", "ParameterDict")),
    Layout(
        ("CrossEntropyLoss", "NLLLoss", "BCELoss", "BCEWithLogitsLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss"),
        (),
        torch_only=_IN_LOSS,
    ),
)


class Place(NamedTuple):
    """A module of a tree: its path as torch and as Paddle spell it, with a dot at the end, and its layout."""

    torch: str
    paddle: str
    module: Any
    layout: Layout | None


def layout_of(module: Any, side: Framework) -> Layout | None:
    """The layout of a module of ``side``, whose framework must be imported; None if no class of it is listed."""
    library = sys.modules[side].nn
    for layout in LAYOUTS:
        names = layout.torch if side == "torch" else layout.paddle
        classes = (getattr(library, name, None) for name in names)  # 2.6 has no ParameterDict
        if isinstance(module, tuple(c for c in classes if c is not None)):
            return layout
    return None


def walk(module: Any, side: Framework, torch: str = "", paddle: str = "") -> Iterator[Place]:
    """Each module of the tree, but not those inside one whose own parts reach into them."""
    layout = layout_of(module, side)
    yield Place(torch, paddle, module, layout)
    if layout is not None and layout.flat:
        return
    children = layout.children if layout else {}
    names = {there: here for here, there in children.items()} if side == "paddle" else children
    inner = (
        {getattr(part, side).partition(".")[0] for part in layout.parts if "." in getattr(part, side)} if layout else ()
    )
    own = module._modules if side == "torch" else module._sub_layers  # named_children() leaves out a second name
    for name, child in own.items():
        if child is not None and name not in inner:
            other = names.get(name, name)
            ours, theirs = (name, other) if side == "torch" else (other, name)
            yield from walk(child, side, f"{torch}{ours}.", f"{paddle}{theirs}.")


def tensors(place: Place, side: Framework) -> Iterator[tuple[str, Any]]:
    """The parameters and buffers of a place, with their names below the module; None is left out."""
    module, layout = place.module, place.layout
    for name, tensor in (*module._parameters.items(), *module._buffers.items()):
        if tensor is not None:
            yield name, tensor
    deep = {getattr(part, side) for part in layout.parts if "." in getattr(part, side)} if layout else ()
    if deep:
        yield from ((name, t) for name, t in (*module.named_parameters(), *module.named_buffers()) if name in deep)


def cell_tensor(name: str, bidirectional: bool) -> str:
    """Where Paddle's RNN has torch's ``weight_ih_l0`` or ``bias_hh_l1_reverse`` once more: ``0.cell.weight_ih``.

    Its projection is there alone, as ``weight_ho``, and transposed.
    """
    stem, _, layer = name.removesuffix("_reverse").rpartition("_l")
    cell = "cell" if not bidirectional else "cell_bw" if name.endswith("_reverse") else "cell_fw"
    return f"{layer}.{cell}.{stem.replace('weight_hr', 'weight_ho')}"
