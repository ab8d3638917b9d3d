"""A whole checkpoint, entry by entry: models, optimizers, scalers, plain values; the rest is left and named."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from paddletorch_rules import Framework, other_framework

from paddletorch_shim import state as scaler
from paddletorch_shim.weights import WeightsError, listed, names, optimizer
from paddletorch_shim.weights.arrays import Array
from paddletorch_shim.weights.files import Unusable
from paddletorch_shim.weights.models import Description
from paddletorch_shim.weights.moves import Plan
from paddletorch_shim.weights.state import Choices, Converted, convert, prefix
from paddletorch_shim.weights.target import fit

_LEFT = object()


class NoWeightsError(WeightsError):
    """There is nothing in the file that weights could be."""


@dataclass(slots=True)
class Work:
    """What a conversion knows and what it has to tell.

    Args:
        to: the framework that will load the result.
        plan: from the source's model; None: from names alone.
        target: what the target's model holds, if it is known.
        betas: of Paddle's Adam, whose state does not tell.
        models: the converted models, by their key in the file.
        lines: what became of each entry, for people.
        left: entries that are not in the output, and why.
    """

    to: Framework
    plan: Plan | None = None
    target: Description | None = None
    choices: Choices = field(default_factory=Choices)
    betas: tuple[float, float] = (0.9, 0.999)
    models: dict[str, Converted] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)
    optimizers: list[tuple[str, Callable[[], Any]]] = field(default_factory=list)

    @property
    def origin(self) -> Framework:
        return other_framework(self.to)


def run(work: Work, content: Any, key: str | None) -> Any:
    """The content of the output: ``content``, or its part under ``key``, for the other framework.

    Raises:
        WeightsError, StateConversionError, KeyError, TypeError, ValueError: something in it must be converted and
            cannot be.
    """
    for part in key.split(".") if key else ():
        if not isinstance(content, Mapping) or part not in content:
            raise WeightsError(f"no key {key!r}: {_described(content)}")
        content = content[part]
    made = _entry(work, content, key or "", names_of(content))
    if made is _LEFT or not (work.models or work.optimizers):
        why = "; ".join(f"{key or 'the file'}: {reason}" for key, reason in work.left.items())
        raise NoWeightsError(f"no weights to convert: {why or _described(content)}")
    made = _finished(made)
    work.choices.check_used()
    return made


def names_of(content: Any) -> dict[str, str]:
    """The keys of tensors by the name that Paddle gives them, over all models in a file."""
    found: dict[str, str] = {}
    if isinstance(content, Mapping):
        for key, value in content.items():
            if isinstance(value, Array) and value.name:
                found.setdefault(value.name, str(key))
            else:
                found = {**names_of(value), **found}
    return found


class _Later:
    """A place in the output for an optimizer's state, which needs the model to be converted before."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


def _finished(content: Any) -> Any:
    if isinstance(content, _Later):
        return content.make()
    if isinstance(content, dict):
        return {key: _finished(value) for key, value in content.items()}
    return content


def _entry(work: Work, value: Any, path: str, named: Mapping[str, str]) -> Any:
    shown = path or "the file"
    if path and work.choices.of(path) == "drop":
        work.left[path] = "dropped, as asked for"
        return _LEFT
    if isinstance(value, Mapping) and scaler.kind(value) is not None:
        return _scaler(work, value, shown)
    if optimizer.is_torch_state(value) or optimizer.is_paddle_state(value):
        later = _Later(lambda: _optimizer(work, value, shown, named))
        work.optimizers.append((shown, later.make))
        return later
    if _is_model(work, value):
        return _model(work, value, path)
    if _is_scheduler(value):
        return _leave(work, path, "a scheduler keeps other fields there: make it anew and step it to last_epoch")
    if _is_plain(value):
        return value
    if isinstance(value, Mapping):
        made = {}
        for key, one in value.items():
            converted = _entry(work, one, f"{path}.{key}" if path else str(key), named)
            if converted is not _LEFT:
                made[key] = converted
        return made or _LEFT
    return _leave(work, path, f"{_described(value)} of no known meaning")


def _leave(work: Work, path: str, why: str) -> Any:
    work.left[path] = why
    return _LEFT


def _scaler(work: Work, value: Mapping[str, Any], shown: str) -> Any:
    plain = {key: one.values if isinstance(one, Array) else one for key, one in value.items()}
    made = scaler.torch_to_paddle(plain) if work.to == "paddle" else scaler.paddle_to_torch(plain)
    work.lines.append(f"{shown}: scaler state")
    return made


def _model(work: Work, value: Mapping[str, Any], path: str) -> Any:
    shown = path or "the file"
    for key, one in value.items():
        if isinstance(one, Unusable):
            if work.choices.of(str(key)) != "drop":
                raise WeightsError(f"{one.why}; --drop '{key}' leaves it out")
            work.left[f"{path}.{key}" if path else str(key)] = "dropped, as asked for"
    arrays = {str(key): one for key, one in value.items() if isinstance(one, Array)}
    others = [str(key) for key, one in value.items() if not isinstance(one, (Array, Unusable))]
    wrapped = ""
    if work.plan is not None:
        wrapped = prefix(list(arrays), work.plan.shapes)
        arrays = {key.removeprefix(wrapped): one for key, one in arrays.items()}
        if not arrays.keys() & work.plan.shapes.keys():
            return _leave(work, path, f"none of its keys ({listed(list(arrays), 3)}) is the model's")
    plan = work.plan or names.plan({key: one.shape for key, one in arrays.items()}, work.origin)
    made = convert(plan, arrays, work.choices)
    if work.target is not None:
        fit(made, work.target, plan)
    for other in others:
        work.left[f"{path}.{other}" if path else other] = "not a tensor"
    work.models[path] = made
    work.lines += _told(work, made, shown, wrapped)
    return dict(made.arrays)


def _told(work: Work, made: Converted, shown: str, wrapped: str) -> list[str]:
    joined = sum(len(move.sources) > 1 for move in made.moves.values())
    split = sum(move.section is not None for move in made.moves.values())
    details = [f"{made.transposed} transposed"] * bool(made.transposed) + [f"{joined} joined"] * bool(joined)
    details += [f"{split} cut out"] * bool(split) + [f"prefix {wrapped} removed"] * bool(wrapped)
    lines = [f"{shown}: {len(made.arrays)} tensors" + (f" ({', '.join(details)})" if details else "")]
    by_reason: dict[str, list[str]] = {}
    for key, reason in made.left.items():
        by_reason.setdefault(reason, []).append(key)
    lines += [f"  left out: {listed(keys, 3)}: {reason}" for reason, keys in by_reason.items()]
    if made.missing:
        lines.append(f"  not in the file, though in the model: {listed(made.missing)}")
    lines += [
        f"  {' and '.join(group)} are one tensor in {work.origin} and two layouts in {work.to}: the model there must "
        "share it itself"
        for group in made.tied
    ]
    return lines


def _optimizer(work: Work, value: Mapping[str, Any], shown: str, named: Mapping[str, str]) -> Any:
    way = f"; --drop '{shown}' leaves it out"
    theirs: Framework = "torch" if optimizer.is_torch_state(value) else "paddle"
    if theirs == work.to:
        raise WeightsError(f"{shown}: this optimizer state is {work.to}'s already{way}")
    if work.plan is None or work.target is None or not work.models:
        raise WeightsError(f"{shown}: an optimizer's state needs the model beside it, --model and --target-model{way}")
    converted = next(iter(work.models.values()))
    try:
        if work.to == "paddle":
            made = optimizer.to_paddle(value, work.plan, converted.moves, work.target.names)
            work.lines.append(
                f"{shown}: optimizer state, {len(made)} tensors; hyperparameters are Paddle's constructor's"
            )
            return made
        wrapped = prefix(list(named.values()), work.plan.shapes)
        keys = {name: key.removeprefix(wrapped) for name, key in named.items()}
        state = optimizer.to_torch(value, keys, converted.moves, work.target.parameters, work.betas)
    except WeightsError as error:
        raise WeightsError(f"{shown}: {error}{way}") from None
    work.lines.append(
        f"{shown}: optimizer state of {len(state['state'])} parameters; Paddle saves no hyperparameters: "
        "take param_groups from the new optimizer's state_dict()"
    )
    if "LR_Scheduler" in value:
        work.left[f"{shown}.LR_Scheduler"] = "a scheduler keeps other fields there"
    return state


def _is_model(work: Work, value: Any) -> bool:
    if not isinstance(value, Mapping) or not any(isinstance(one, (Array, Unusable)) for one in value.values()):
        return False
    if not any(isinstance(one, Mapping) for one in value.values()):
        return True
    known = work.plan.shapes if work.plan else {}  # a random state beside dicts makes no model of them
    keys = [str(key) for key, one in value.items() if isinstance(one, Array)]
    return any(key.removeprefix(prefix(keys, known)) in known for key in keys)


def _is_scheduler(value: Any) -> bool:
    return isinstance(value, Mapping) and "last_epoch" in value


def _is_plain(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(_is_plain(key) and _is_plain(one) and not _is_scheduler(one) for key, one in value.items())
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (bool, int, float, str))


def _described(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"a dict of {listed([str(key) for key in value])}" if value else "an empty dict"
    return "a tensor" if isinstance(value, (Array, Unusable)) else f"a {type(value).__name__}"
