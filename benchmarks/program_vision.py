"""Lets torchvision be imported where its compiled operators do not load."""

from __future__ import annotations

from typing import Any

_HELD: list[Any] = []


def define_vision_operators(torch: Any) -> None:
    """Let torchvision be imported where its compiled operators do not load; calling one still fails."""
    library = torch.library.Library("torchvision", "FRAGMENT")
    for schema in (
        "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
        "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
        "qroi_align(Tensor i, Tensor r, float s, SymInt h, SymInt w, int n, bool a) -> Tensor",
        "roi_align(Tensor i, Tensor r, float s, SymInt h, SymInt w, int n, bool a) -> Tensor",
        "_roi_align_backward(Tensor g, Tensor r, float s, SymInt h, SymInt w, SymInt a, SymInt b, SymInt c, SymInt d, "
        "int n, bool l) -> Tensor",
        "roi_pool(Tensor i, Tensor r, float s, SymInt h, SymInt w) -> (Tensor, Tensor)",
        "_roi_pool_backward(Tensor g, Tensor r, Tensor x, float s, SymInt h, SymInt w, SymInt a, SymInt b, SymInt c, "
        "SymInt d) -> Tensor",
        "ps_roi_align(Tensor i, Tensor r, float s, SymInt h, SymInt w, int n) -> (Tensor, Tensor)",
        "_ps_roi_align_backward(Tensor g, Tensor r, Tensor m, float s, SymInt h, SymInt w, int n, SymInt a, SymInt b, "
        "SymInt c, SymInt d) -> Tensor",
        "ps_roi_pool(Tensor i, Tensor r, float s, SymInt h, SymInt w) -> (Tensor, Tensor)",
        "_ps_roi_pool_backward(Tensor g, Tensor r, Tensor m, float s, SymInt h, SymInt w, SymInt a, SymInt b, "
        "SymInt c, SymInt d) -> Tensor",
        "deform_conv2d(Tensor i, Tensor w, Tensor o, Tensor m, Tensor b, SymInt a, SymInt c, SymInt d, SymInt e, "
        "SymInt f, SymInt g, SymInt h, SymInt j, bool u) -> Tensor",
        "_deform_conv2d_backward(Tensor g, Tensor i, Tensor w, Tensor o, Tensor m, Tensor b, SymInt a, SymInt c, "
        "SymInt d, SymInt e, SymInt f, SymInt h, SymInt j, SymInt k, bool u) "
        "-> (Tensor, Tensor, Tensor, Tensor, Tensor)",
    ):
        library.define(schema)
    _HELD.append(library)  # it defines them for as long as it lives
