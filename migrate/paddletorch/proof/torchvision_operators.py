"""Lets torchvision be imported where its compiled operators do not load, as beside a torch for the CPU alone."""

from __future__ import annotations

import functools
import importlib
import sys
from typing import Any

_HELD: list[Any] = []

_SCHEMAS = (
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
)


@functools.cache
def load_torchvision() -> None:
    """Import torchvision, if it is installed; its operators that did not load are declared, and fail when called."""
    try:
        importlib.import_module("torchvision")
    except ModuleNotFoundError:
        return
    except RuntimeError:  # it asks for operators that its library for another build of torch would have defined
        for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
            del sys.modules[name]
        define_vision_operators(importlib.import_module("torch"))
        importlib.import_module("torchvision")
        # what stands in for this operator would be compiled at its first call, which takes minutes
        module: Any = importlib.import_module("torchvision.ops.roi_align")
        if hasattr(module._roi_align, "__wrapped__"):
            module._roi_align = module._roi_align.__wrapped__


def define_vision_operators(torch: Any) -> None:
    """Declare torchvision's operators, so that it can be imported; calling one still fails."""
    library = torch.library.Library("torchvision", "FRAGMENT")
    for schema in _SCHEMAS:
        library.define(schema)
    _HELD.append(library)  # it defines them for as long as it lives
