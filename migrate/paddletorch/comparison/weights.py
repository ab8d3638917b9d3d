"""Puts the source's weights into the converted model."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from paddletorch.comparison.sides import Side


def fill_weights(side: Side, model: Any, source: dict[str, Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Put the original's weights into the model as ``state convert`` would; gives a function for other tensors."""
    from paddletorch_shim.weights import models
    from paddletorch_shim.weights.arrays import Array, to_paddle, to_torch
    from paddletorch_shim.weights.models import Description
    from paddletorch_shim.weights.state import Choices, convert
    from paddletorch_shim.weights.target import fit

    state = model.state_dict()
    shapes = {key: tuple(tensor.shape) for key, tensor in state.items() if hasattr(tensor, "shape")}
    parameters = dict(model.named_parameters())
    kept = model.state_dict(keep_vars=True)
    target = Description(shapes, {}, list(parameters), models.tied(kept), models.own_forward(model, side.name))
    made = convert(source["plan"], source["state"], Choices())
    fit(made, target, source["plan"])
    if side.name == "torch":
        model.load_state_dict(
            {key: to_torch(one).to(state[key].dtype) for key, one in made.arrays.items()}, strict=True
        )
    else:
        ready = {key: to_paddle(one).astype(state[key].dtype) for key, one in made.arrays.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.set_state_dict(ready)

    def named(arrays: dict[str, Any]) -> dict[str, Any]:
        """Arrays by the source's keys as the target has them."""
        held = {key: Array(np.asarray(one), str(one.dtype)) for key, one in arrays.items() if one is not None}
        found: dict[str, Any] = {}
        for key, move in made.moves.items():
            if all(one in held for one in move.sources):
                found[key] = move.apply(held).values
        return found

    return named
