"""What is run of a program: forward and backward in both modes and three optimizer steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from paddletorch.comparison.sides import Side
from paddletorch.comparison.values import FixedValues, arrays_of, fixed_values, leaves, loss_of, placed_on

ROUNDING = {"float32": 3e-7, "float64": 1e-12}
"""How much inputs are changed in a second run of the original, to see what it makes of rounding."""


@dataclass(frozen=True, slots=True)
class Own:
    """What a program brings along itself, in place of what is used for any.

    Args:
        loss: a number of what the model returns.
        optimizer: of the model.
        scaler: makes a loss scaler.
        train_step: takes the model, the optimizer, the scaler if there is one, and the inputs; does a whole step and
            returns the loss.
        steps: of the optimizer, that are run.
        around: a context in which the forward pass of ``eval`` or ``train`` is run.
    """

    loss: Callable[[Any], Any] | None = None
    optimizer: Callable[[Any], Any] | None = None
    scaler: Callable[[], Any] | None = None
    train_step: Callable[..., Any] | None = None
    steps: int = 3
    around: Callable[[str], AbstractContextManager[None]] = lambda mode: nullcontext()


def stages(
    side: Side,
    model: Any,
    inputs: list[Any],
    keywords: dict[str, Any],
    wanted: Any,
    seed: int = 7,
    train: Any = None,
    own: Own | None = None,
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What is run, in order: each stage's name and a function that gives its arrays.

    ``eval`` and ``train`` are outputs, ``eval_grad`` and ``train_grad`` gradients, ``steps`` three steps of SGD. A
    program that trains has one stage: what ``train`` returns, and the model after it.
    """
    own = own or Own()
    is_model = isinstance(model, side.base)
    if train is not None:

        def program() -> Any:
            side.seed(seed)
            np.random.seed(5)
            returned = train(model, *[placed_on(side, one) for one in inputs])
            return {"outputs": arrays_of(side, list(leaves(side, returned))), "state": state_arrays(side, model)}

        yield "program", program
        return
    for mode in ("eval", "train"):
        if mode not in wanted and f"{mode}_grad" not in wanted:
            continue
        if mode == "train" and not is_model:
            continue
        held: dict[str, Any] = {}

        def forward(mode: str = mode, held: dict[str, Any] = held) -> Any:
            if is_model:
                model.eval() if mode == "eval" else model.train()
            side.seed(seed)
            held["inputs"] = [placed_on(side, one) for one in inputs]
            named = {key: placed_on(side, one) for key, one in keywords.items()}
            # what goes in is not a leaf, as in a larger program, so that it may be changed in place
            passed = _through(side, held["inputs"])
            with own.around(mode):
                returned = model(*passed, **named)
            held["returned"], held["outputs"] = returned, list(leaves(side, returned))
            made: dict[str, Any] = {"outputs": arrays_of(side, held["outputs"])}
            if mode == "train":
                made["buffers"] = state_arrays(side, model)
            return made

        def backward(held: dict[str, Any] = held) -> Any:
            loss = own.loss(held["returned"]) if own.loss else loss_of(side, held["outputs"])
            if loss is None:
                return None
            if is_model:
                side.clear(model)
            loss.backward()
            entering = [
                (where, side.gradient(one))
                for where, one in leaves(side, held["inputs"])
                if side.is_tensor(one) and side.differentiable(one)
            ]
            parameters = {name: side.gradient(one) for name, one in model.named_parameters()} if is_model else {}
            return {"inputs": entering, "parameters": parameters}

        yield mode, forward
        yield f"{mode}_grad", backward

    def steps() -> Any:
        model.train()
        side.clear(model)
        optimizer = own.optimizer(model) if own.optimizer else side.optimizer(model)
        scaler = own.scaler() if own.scaler else None
        losses, scales, trackers = [], [], []
        for _ in range(own.steps):
            side.seed(seed)
            placed = _through(side, [placed_on(side, one) for one in inputs])
            named = {key: placed_on(side, one) for key, one in keywords.items()}
            if own.train_step:
                given = (model, optimizer) if scaler is None else (model, optimizer, scaler)
                loss = own.train_step(*given, *placed, **named)
            else:
                returned = model(*placed, **named)
                loss = own.loss(returned) if own.loss else loss_of(side, list(leaves(side, returned)), square=True)
                _step(side, optimizer, scaler, loss)
            losses.append(float(loss))
            if scaler is not None:
                state = scaler.state_dict()
                scales.append(float(np.reshape(state.get("scale", 1.0), -1)[0]))
                trackers.append(int(state.get("_growth_tracker", state.get("incr_count", 0))))
        made = {"losses": np.array(losses), "state": state_arrays(side, model)}
        return made if scaler is None else {**made, "scales": np.array(scales), "trackers": np.array(trackers)}

    if is_model and any(side.differentiable(one) for one in model.parameters()) and "steps" in wanted:
        yield "steps", steps


def _step(side: Side, optimizer: Any, scaler: Any, loss: Any) -> None:
    """One step of the optimizer, by way of the loss scaler if there is one."""
    if scaler is None:
        loss.backward()
        side.step(optimizer)
        return
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    side.clear_of(optimizer)


def _through(side: Side, value: Any) -> Any:
    if side.is_tensor(value):
        return value * 1 if side.differentiable(value) else value
    if isinstance(value, (list, tuple)):
        return type(value)(_through(side, one) for one in value)
    if isinstance(value, dict):
        return {key: _through(side, one) for key, one in value.items()}
    return value


def state_arrays(side: Side, model: Any) -> dict[str, np.ndarray[Any, Any]]:
    """The state dict's tensors."""
    return {key: side.array(one) for key, one in model.state_dict().items() if side.is_tensor(one)}


ALL_STAGES = ("eval", "eval_grad", "train", "train_grad", "steps")


def perturb(side: Side, model: Any, seed: int) -> None:
    """Move parameters and running statistics away from zeros and ones, which hide mistakes."""
    random = np.random.default_rng(seed)
    parameters = {id(one) for one in model.parameters()}
    changed = {}
    kept = model.state_dict(keep_vars=True) if side.name == "torch" else model.state_dict()
    for key, tensor in kept.items():
        if not side.is_tensor(tensor) or not str(tensor.dtype).endswith(("float32", "float64")):
            continue
        values = side.array(tensor)
        if key.endswith(("running_var", "_variance")):
            values = values * random.uniform(0.8, 1.2, values.shape)
        elif key.endswith(("running_mean", "_mean")):
            values = values + 0.1 * random.standard_normal(values.shape)
        elif id(tensor) in parameters or (side.name == "paddle" and any(tensor is p for p in model.parameters())):
            values = values + 0.02 * random.standard_normal(values.shape)
        else:
            continue
        changed[key] = values
    # the row of a padding index stays zero, as the frameworks' own training leaves it
    for path, module in model.named_modules() if side.name == "torch" else model.named_sublayers(include_self=True):
        index = getattr(module, "padding_idx" if side.name == "torch" else "_padding_idx", None)
        key = f"{path}.weight" if path else "weight"
        if isinstance(index, int) and index != -1 and key in changed and changed[key].ndim == 2:
            changed[key][index] = 0
    if side.name == "torch":
        with side.lib.no_grad():
            for key, values in changed.items():
                kept[key].copy_(side.lib.from_numpy(np.asarray(values)))
    else:
        for key, values in changed.items():
            kept[key].set_value(values.astype(str(kept[key].dtype).removeprefix("paddle.")))


def rounded_input(value: Any, random: np.random.Generator, size: float) -> Any:
    """An input, each number changed by about its rounding."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        changed = (value * (1 + size * random.standard_normal(value.shape))).astype(value.dtype)
        return fixed_values(changed, isinstance(value, FixedValues))
    if isinstance(value, (list, tuple)):
        return type(value)(rounded_input(one, random, size) for one in value)
    return value


def is_finite(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind not in "fc" or bool(np.isfinite(value).all())
    if isinstance(value, dict):
        return all(map(is_finite, value.values()))
    if isinstance(value, (list, tuple)):
        return all(map(is_finite, value))
    return True
