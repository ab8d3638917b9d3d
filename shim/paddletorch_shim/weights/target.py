"""A converted state held against the model that will load it."""

from __future__ import annotations

from paddletorch_rules.layouts import LAYOUTS

from paddletorch_shim.weights import WeightsError, listed
from paddletorch_shim.weights.models import Description
from paddletorch_shim.weights.moves import Plan
from paddletorch_shim.weights.state import Converted

_SPELLINGS = [(part.paddle, part.torch) for one in LAYOUTS for part in one.parts if "parametrizations." in part.torch]
"""What torch may call a norm's tensor, by its name in Paddle and in torch's older norms."""


def fit(made: Converted, target: Description, plan: Plan) -> None:
    """Make ``made`` exactly what the target's model holds.

    Keys of one tied tensor that only one side has are left out or added if it has another of them; norms get the
    names of torch's parametrizations if the model uses them.

    Raises:
        WeightsError: the target has other keys or shapes. The message names them.
    """
    for key in list(made.arrays):
        new = _spelled(key, target)
        if new != key:
            made.arrays[new] = made.arrays.pop(key)
            made.moves[new] = made.moves.pop(key)
    for key in [one for one in plan.added if one in made.arrays and one not in target.shapes]:
        del made.arrays[key]
    surplus = [key for key in made.arrays if key not in target.shapes]
    for key in list(surplus):
        partners = [one for group in plan.tied for one in made.moves if _of(made, key, group) and _of(made, one, group)]
        if any(one in target.shapes for one in partners):
            surplus.remove(key)
            del made.arrays[key]
            del made.moves[key]
            made.tied = [group for group in made.tied if key not in group]
            made.left[key] = "the target's model has its tied tensor under another key"
    for group in target.tied:
        _share_layout(made, target, group)
        _share(made, group)
    missing = [key for key in target.shapes if key not in made.arrays]
    if surplus or missing:
        wrong = [f"it has no {listed(surplus)}"] * bool(surplus)
        wrong += [f"nothing in the file becomes its {listed(missing)}"] * bool(missing)
        raise WeightsError(f"the target's model does not fit: {'; '.join(wrong)}")
    for key, shape in target.shapes.items():
        if made.arrays[key].shape != shape:
            raise WeightsError(
                f"{key}: {list(made.arrays[key].shape)} when converted, {list(shape)} in the target's model"
            )


def _share_layout(made: Converted, target: Description, group: tuple[str, ...]) -> None:
    """Give an embedding's weight as it is to the layer that shares it and computes with it by a forward of its own."""
    present = [key for key in group if key in made.moves]
    plain = [key for key in present if not made.moves[key].transposed]
    one_in_source = any(set(present) <= set(separated) for separated in made.tied)
    if not plain or not one_in_source or not set(present) - set(plain) <= target.own_forward:
        return
    for key in present:
        made.arrays[key], made.moves[key] = made.arrays[plain[0]], made.moves[plain[0]]
    made.tied = [separated for separated in made.tied if not set(present) <= set(separated)]


def _share(made: Converted, group: tuple[str, ...]) -> None:
    """Give each key of a tensor of the target its values."""
    present = [key for key in group if key in made.arrays]
    for key in present[1:]:
        if not made.arrays[key].equals(made.arrays[present[0]]):
            way = (
                "; Paddle's Linear cannot share an Embedding's weight: use paddle.matmul(x, weight, transpose_y=True)"
                if made.moves[key].transposed != made.moves[present[0]].transposed
                else ""
            )
            raise WeightsError(
                f"{present[0]} and {key} are one tensor in the target's model and differ when converted{way}"
            )
    made.arrays |= {key: made.arrays[present[0]] for key in group if present and key not in made.arrays}


def _of(made: Converted, key: str, group: tuple[str, ...]) -> bool:
    return key in made.moves and bool(set(made.moves[key].sources) & set(group))


def _spelled(key: str, target: Description) -> str:
    """The key as the target's model has it."""
    path, dot, name = key.rpartition(".")
    if key not in target.shapes:
        for old, other in _SPELLINGS:
            if old == name and path + dot + other in target.shapes:
                return path + dot + other
    return key
