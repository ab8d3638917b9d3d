"""Deterministic weights: the same function on both sides, whatever the layout of a framework's modules."""

from __future__ import annotations

import sys
import zlib
from typing import Any, TypeVar

from paddletorch_rules.layouts import Part, Place, tensors, walk

Module = TypeVar("Module")


def fill(module: Module) -> Module:
    """Give every floating-point parameter and buffer of a torch or Paddle module deterministic values; returns it.

    The values depend on the tensor's name and its number of elements, names and layouts as in torch. A padding
    row of an embedding stays zero, since Paddle's embedding gives zeros there whatever the weight is.

    Raises:
        TypeError: ``module`` is a module of neither framework.
    """
    torch, paddle = sys.modules.get("torch"), sys.modules.get("paddle")
    if torch is not None and isinstance(module, torch.nn.Module):
        with torch.no_grad():
            for place in walk(module, "torch"):
                _fill_torch(place)
    elif paddle is not None and isinstance(module, paddle.nn.Layer):
        for place in walk(module, "paddle"):
            _fill_paddle(place)
    else:
        raise TypeError(f"fill needs a module, not {type(module).__name__}")
    return module


def _fill_torch(place: Place) -> None:
    import numpy as np
    import torch

    layout = place.layout
    for name, tensor in tensors(place, "torch"):
        if not tensor.is_floating_point() or (layout and name in layout.torch_only):
            continue
        parts = [part for part in layout.parts if part.torch == name] if layout else []
        if parts:
            count = tensor.numel() // len(parts)
            flat = np.concatenate([_values(place.torch + part.paddle, count) for part in parts])
        else:
            flat = _values(place.torch + name, tensor.numel())
        tensor.copy_(torch.from_numpy(flat.reshape(tuple(tensor.shape))))
        if isinstance(place.module, torch.nn.Embedding) and place.module.padding_idx is not None:
            tensor[place.module.padding_idx] = 0


def _fill_paddle(place: Place) -> None:
    import paddle

    layer = place.module
    parts: dict[str, Part] = {part.paddle: part for part in place.layout.parts} if place.layout else {}
    for name, tensor in tensors(place, "paddle"):
        if not tensor.is_floating_point():
            continue
        flat = _values(place.torch + name, tensor.size)
        transposed = name in parts and parts[name].transposed
        values = flat.reshape(tensor.shape[::-1]).T if transposed else flat.reshape(tensor.shape)
        if isinstance(layer, paddle.nn.Embedding) and layer._padding_idx not in (None, -1):
            values[layer._padding_idx] = 0
        tensor.set_value(paddle.to_tensor(values).astype(tensor.dtype))


def _values(key: str, count: int) -> Any:
    import numpy as np

    rng = np.random.default_rng(zlib.crc32(key.encode()))
    if key.endswith(("var", "variance")):
        return rng.uniform(0.5, 1.5, count).astype("float32")
    return (0.4 * rng.standard_normal(count)).astype("float32")
