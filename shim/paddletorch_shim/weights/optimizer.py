"""Moments of Adam, AdamW and momentum from one framework's optimizer state to the other's.

torch numbers the parameters; Paddle names each tensor after its parameter, ``linear_0.w_0_moment1_0``. Paddle's Adam
keeps the powers of its betas, multiplied step by step in float32, where torch keeps the number of steps; the
multiplication is done again here, so that the powers are equal bit for bit (measured on Paddle 3.3.1).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from paddletorch_shim.weights import WeightsError, listed
from paddletorch_shim.weights.arrays import Array
from paddletorch_shim.weights.moves import Move, Plan
from paddletorch_shim.weights.state import prefix

SLOTS: Mapping[str, str] = {
    "exp_avg": "moment1",
    "exp_avg_sq": "moment2",
    "max_exp_avg_sq": "moment2_max",
    "momentum_buffer": "velocity",
}
"""Tensors with the parameter's shape and the same meaning, torch's name to Paddle's."""

_POWERS = ("beta1_pow_acc", "beta2_pow_acc")
_ENTRY = re.compile(rf"(?P<name>.+)_(?P<slot>{'|'.join(sorted((*SLOTS.values(), *_POWERS), key=len, reverse=True))})_0")
_MOST_STEPS = 1_000_000


def is_torch_state(value: Any) -> bool:
    return isinstance(value, Mapping) and {"state", "param_groups"} <= set(value)


def is_paddle_state(value: Any) -> bool:
    return isinstance(value, Mapping) and any(isinstance(key, str) and _ENTRY.fullmatch(key) for key in value)


def to_paddle(
    state: Mapping[str, Any], plan: Plan, moves: Mapping[str, Move], names: Mapping[str, str]
) -> dict[str, Any]:
    """torch's optimizer state as ``paddle.optimizer.Optimizer.set_state_dict`` takes it.

    Args:
        plan: of the model; its parameters are taken in their order if the state does not name them.
        moves: how the parameters were converted, by their key in Paddle.
        names: of Paddle's parameters, by their key.

    Raises:
        WeightsError: the state is not Adam's or momentum's, or whose tensors these are is not certain.
    """
    keys = _keys_by_number(state, plan.parameters)
    groups = {number: group for group in state["param_groups"] for number in group["params"]}
    slots: dict[str, dict[str, Array]] = {}
    powers: dict[str, list[Array]] = {}
    for number, entry in state["state"].items():
        key, group = keys[number], groups[number]
        adam = "amsgrad" in group
        for slot, value in entry.items():
            if slot == "step":
                powers |= {key: [_power(float(beta), _steps(value)) for beta in group["betas"]]} if adam else {}
            elif isinstance(value, Array) and slot in SLOTS and (adam if "exp" in slot else "nesterov" in group):
                slots.setdefault(slot, {})[key] = _of_shape(plan, key, slot, value)
            elif value is not None:
                raise WeightsError(f"{slot} of {key} has no known counterpart in Paddle; only Adam's and SGD's have")
    made: dict[str, Any] = {}
    for slot, arrays in slots.items():
        for target, array in _moved(arrays, moves).items():
            made[f"{_name(names, target)}_{SLOTS[slot]}_0"] = array
    for target, move in moves.items():
        found = [powers[key] for key in move.sources if key in powers]
        if found and any(f"{names.get(target)}_{slot}_0" in made for slot in SLOTS.values()):
            made |= {f"{_name(names, target)}_{slot}_0": array for slot, array in zip(_POWERS, found[0], strict=True)}
    return made


def to_torch(
    state: Mapping[str, Any],
    keys: Mapping[str, str],
    moves: Mapping[str, Move],
    parameters: Sequence[str],
    betas: tuple[float, float],
) -> dict[str, Any]:
    """Paddle's optimizer state as torch's; its parameter groups hold the numbers and names of parameters alone.

    Args:
        keys: of Paddle's parameters in the source's state dict, by name.
        moves: how the parameters were converted, by their key in torch.
        parameters: torch's keys, in the order of ``model.parameters()``.

    Raises:
        WeightsError: the state is not Adam's or momentum's, the betas are others, or a parameter is not known.
    """
    slots: dict[str, dict[str, Array]] = {}
    powers: dict[str, dict[str, float]] = {}
    for entry, value in state.items():
        if entry == "LR_Scheduler":
            continue
        match = _ENTRY.fullmatch(entry)
        if match is None or not isinstance(value, Array):
            raise WeightsError(f"{entry} has no known counterpart in torch; only Adam's and momentum's tensors have")
        key = keys.get(match["name"])
        if key is None:
            raise WeightsError(
                f"{entry}: no tensor of the model in this file has the name {match['name']}; save the model's and the "
                "optimizer's state together: paddle.save({'model': model.state_dict(), 'optimizer': ...}, path)"
            )
        if match["slot"] in _POWERS:
            powers.setdefault(key, {})[match["slot"]] = float(value.numbers().reshape(-1)[0])
        else:
            slots.setdefault(match["slot"], {})[key] = value
    made: dict[str, dict[str, Any]] = {}
    for torch, paddle in SLOTS.items():
        for target, array in _moved(slots.get(paddle, {}), moves).items():
            made.setdefault(target, {})[torch] = array
    steps = {key: _count((pair[_POWERS[0]], pair[_POWERS[1]]), betas) for key, pair in powers.items()}
    for target, entries in made.items():
        counts = {steps[key] for key in moves[target].sources if key in steps}
        if len(counts) > 1:
            raise WeightsError(f"{target}: its parts {listed(list(moves[target].sources))} were stepped unequally")
        if counts:
            entries["step"] = Array(np.asarray(counts.pop(), np.float32), "float32")
    numbers = {key: number for number, key in enumerate(parameters)}
    strange = [key for key in made if key not in numbers]
    if strange:
        raise WeightsError(f"{listed(strange)}: not among the target model's parameters")
    ordered = {numbers[key]: made[key] for key in sorted(made, key=numbers.__getitem__)}
    return {"state": ordered, "param_groups": [{"params": list(range(len(parameters)))}]}


def _of_shape(plan: Plan, key: str, slot: str, array: Array) -> Array:
    if array.shape != plan.shapes.get(key):
        raise WeightsError(
            f"{slot} of {key} has shape {list(array.shape)}, not the parameter's: the optimizer holds other "
            "parameters, or in another order"
        )
    return array


def _keys_by_number(state: Mapping[str, Any], parameters: Sequence[str]) -> dict[int, str]:
    groups = state["param_groups"]
    numbers = [number for group in groups for number in group["params"]]
    if not set(state["state"]) <= set(numbers):
        raise WeightsError("it holds moments of parameters that no group lists")
    if all("param_names" in group for group in groups):
        names = [name for group in groups for name in group["param_names"]]
        wrapped = prefix(names, dict.fromkeys(parameters))
        return {number: name.removeprefix(wrapped) for number, name in zip(numbers, names, strict=True)}
    if len(groups) > 1:
        raise WeightsError(
            f"{len(groups)} parameter groups without names: which parameter is which is not certain; make the "
            "optimizer with named parameters (torch 2.6 or later) before saving"
        )
    if len(numbers) != len(parameters):
        raise WeightsError(f"it has {len(numbers)} parameters and the model {len(parameters)}: not certain which")
    return dict(zip(numbers, parameters, strict=True))


def _moved(arrays: Mapping[str, Array], moves: Mapping[str, Move]) -> dict[str, Array]:
    made = {}
    used: set[str] = set()
    for target, move in moves.items():
        lacking = [key for key in move.sources if key not in arrays]
        if not lacking:
            made[target] = move.apply(arrays)
            used.update(move.sources)
        elif len(lacking) < len(move.sources):
            raise WeightsError(
                f"{target} is made of {listed(list(move.sources))}, and {listed(lacking)} has no moments"
            )
    homeless = [key for key in arrays if key not in used]
    if homeless:
        raise WeightsError(f"{listed(homeless)}: moments of a tensor that the converted model has not")
    return made


def _name(names: Mapping[str, str], key: str) -> str:
    if key not in names:
        raise WeightsError(f"{key} is no parameter of the target model")
    return names[key]


def _steps(value: Any) -> int:
    return int(value.numbers()) if isinstance(value, Array) else int(value)


@lru_cache(maxsize=8)
def _power(beta: float, steps: int) -> Array:
    """Paddle's ``beta_pow_acc`` after so many steps: float32 ``[1]``; it starts at beta."""
    factor = power = np.float32(beta)
    for _ in range(steps):
        following = np.float32(power * factor)
        if following == power:
            break
        power = following
    return Array(np.asarray([power], np.float32), "float32")


@lru_cache(maxsize=8)  # the same for all parameters, as a rule
def _count(powers: tuple[float, float], betas: tuple[float, float]) -> int:
    """The number of steps after which Paddle has these powers, exactly."""
    factors = np.asarray(betas, np.float32)
    now = factors.copy()
    wanted = np.asarray(powers, np.float32)
    for count in range(_MOST_STEPS):
        if np.array_equal(now, wanted):
            return count
        following = now * factors
        if np.array_equal(following, now):
            break
        now = following
    raise WeightsError(
        f"no number of steps gives the powers {powers[0]:g} and {powers[1]:g} with the betas {betas[0]} and "
        f"{betas[1]}: say with --betas which the optimizer had"
    )
