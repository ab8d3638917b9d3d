"""Models by reference: imported, made, filled with a file's weights, and run. Runs the code that the user names."""

from __future__ import annotations

import importlib
import json
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

from paddletorch_rules import Framework

from paddletorch_shim.weights import WeightsError, files, listed
from paddletorch_shim.weights.arrays import Array, to_array, to_paddle, to_torch


@dataclass(frozen=True, slots=True)
class Reference:
    """``[FOLDER/]PACKAGE.MODULE:NAME`` and the arguments, as JSON: a list or a dict of keywords."""

    side: Framework
    text: str
    arguments: str = ""

    def module(self) -> Any:
        """The Python module; the folder, by default the current one, is first on its path.

        Raises:
            WeightsError: it cannot be imported.
        """
        place, _, _ = self.text.partition(":")
        folder, _, name = place.rpartition("/")
        path = str(Path(folder or ".").resolve())
        if sys.path[0] != path:
            sys.path.insert(0, path)
        try:
            return importlib.import_module(name)
        except Exception as error:
            raise WeightsError(f"{self.text} cannot be imported: {type(error).__name__}: {error}") from error

    def build(self) -> Any:
        """The model, on the CPU.

        Raises:
            WeightsError: it cannot be made, or is no module of ``side``.
        """
        framework = _framework(self.side)
        name = self.text.partition(":")[2]
        if not name:
            raise WeightsError(f"{self.text!r} names no model: PACKAGE.MODULE:CLASS is needed")
        arguments = self._arguments()
        found: Any = self.module()
        try:
            for part in name.split("."):
                found = getattr(found, part)
            made = found(**arguments) if isinstance(arguments, dict) else found(*arguments)
        except Exception as error:
            raise WeightsError(f"{self.text} cannot be made: {type(error).__name__}: {error}") from error
        base = framework.nn.Module if self.side == "torch" else framework.nn.Layer
        if not isinstance(made, base):
            raise WeightsError(f"{self.text} makes a {type(made).__name__}, not a module of {self.side}")
        return made

    def _arguments(self) -> Any:
        try:
            arguments = json.loads(self.arguments or "[]")
        except ValueError as error:
            raise WeightsError(f"{self.arguments!r} is not JSON: {error}") from None
        if not isinstance(arguments, (list, dict)):
            raise WeightsError(f"the model's arguments must be a JSON list or object, got {self.arguments}")
        return arguments


@dataclass(frozen=True, slots=True)
class Description:
    """What a model holds.

    Args:
        shapes: of its state dict's tensors, by key.
        names: of Paddle's parameters, by key.
        parameters: keys in the order of ``model.parameters()``.
        tied: groups of keys that are one tensor.
        own_forward: weights of Paddle's layers that compute by a ``forward`` of their own object, as a tied output
            layer does in converted code.
    """

    shapes: Mapping[str, tuple[int, ...]]
    names: Mapping[str, str]
    parameters: Sequence[str]
    tied: Sequence[tuple[str, ...]]
    own_forward: frozenset[str] = frozenset()


def describe(reference: Reference) -> Description:
    model = reference.build()
    shapes = {key: tuple(tensor.shape) for key, tensor in model.state_dict().items() if hasattr(tensor, "shape")}
    parameters = dict(model.named_parameters())
    names = {key: one.name for key, one in parameters.items()} if reference.side == "paddle" else {}
    held = tied(model.state_dict(keep_vars=True))
    return Description(shapes, names, list(parameters), held, own_forward(model, reference.side))


def own_forward(model: Any, side: Framework) -> frozenset[str]:
    """Keys of the weights of layers whose object has a ``forward`` that its class does not have."""
    layers = model.named_sublayers(include_self=True) if side == "paddle" else ()
    return frozenset(f"{path}.weight" for path, layer in layers if "forward" in vars(layer))


def tied(state: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Groups of keys of a state dict, made with ``keep_vars``, that are one tensor."""
    holders: dict[int, list[str]] = {}
    for key, tensor in state.items():
        holders.setdefault(id(tensor), []).append(key)
    return [tuple(keys) for keys in holders.values() if len(keys) > 1]


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a model is called with; random ones are the same in both frameworks."""

    args: Sequence[Any] = ()
    kwargs: Mapping[str, Any] | None = None


def outputs(model: Any, side: Framework, state: Mapping[str, Array], inputs: Inputs) -> dict[str, Array]:
    """Fill ``model`` with ``state``, whole and in its own dtypes, run it in eval mode; its outputs by where they are.

    Raises:
        WeightsError: keys or shapes are not the model's, or it fails.
    """
    _fill(model, side, state)
    model.eval()
    framework = _framework(side)
    put = to_torch if side == "torch" else to_paddle
    args = [_mapped(value, put) for value in inputs.args]
    kwargs = {name: _mapped(value, put) for name, value in (inputs.kwargs or {}).items()}
    try:
        with framework.no_grad():
            result = model(*args, **kwargs)
    except Exception as error:
        raise WeightsError(f"the {side} model fails on the inputs: {type(error).__name__}: {error}") from error
    return dict(_tensors(result, ""))


def outputs_of_file(reference: Reference, path: Path, key: str, inputs: Inputs) -> dict[str, Array]:
    """``outputs`` of a model made anew, with the state that its framework loads from a file, under ``key``."""
    model = reference.build()
    content = _load(path, reference.side)
    for part in filter(None, key.split(".")):
        content = content[part]
    state = {name: to_array(name, value) for name, value in content.items() if hasattr(value, "shape")}
    return outputs(model, reference.side, state, inputs)


def _fill(model: Any, side: Framework, state: Mapping[str, Array]) -> None:
    own = model.state_dict()
    tensors = {key: tensor for key, tensor in own.items() if hasattr(tensor, "shape")}
    missing = [k for k in tensors if k not in state and not k.endswith("num_batches_tracked")]  # as torch has it
    surplus = [key for key in state if key not in own]
    if missing or surplus:
        wrong = [f"lacks {listed(missing)}"] * bool(missing) + [f"has {listed(surplus)}, which it has not"] * bool(
            surplus
        )
        raise WeightsError(f"for the {side} model the state {' and '.join(wrong)}")
    for key, tensor in tensors.items():
        if key in state and tuple(tensor.shape) != state[key].shape:
            raise WeightsError(f"{key}: {list(state[key].shape)} in the file, {list(tensor.shape)} in the {side} model")
    if side == "torch":
        model.load_state_dict({key: to_torch(array) for key, array in state.items()}, strict=False)
        return
    ready = {key: to_paddle(state[key]).astype(tensor.dtype) for key, tensor in tensors.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # Paddle warns where it skips a tensor
        model.set_state_dict(ready)


def _load(path: Path, side: Framework) -> Any:
    if path.suffix == ".safetensors":
        return files.read_safetensors(path, side)
    framework = _framework(side)
    return framework.load(path, weights_only=True) if side == "torch" else framework.load(str(path))


def _mapped(value: Any, change: Callable[[Array], Any]) -> Any:
    if isinstance(value, Array):
        return change(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_mapped(one, change) for one in value)
    if isinstance(value, dict):
        return {key: _mapped(one, change) for key, one in value.items()}
    return value


def _tensors(value: Any, where: str) -> Iterator[tuple[str, Array]]:
    """The tensors in what a model returned, with their place, such as ``[1].hidden``."""
    if hasattr(value, "shape") and hasattr(value, "numpy"):
        yield where or "output", to_array(where, value)
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from _tensors(one, f"{where}.{key}")
    elif isinstance(value, (list, tuple)):
        for number, one in enumerate(value):
            yield from _tensors(one, f"{where}[{number}]")
    elif is_dataclass(value):
        for entry in fields(value):
            yield from _tensors(getattr(value, entry.name), f"{where}.{entry.name}")
    elif value is not None and not isinstance(value, (bool, int, float, str)):
        raise WeightsError(f"the model returns a {type(value).__name__}, whose tensors cannot be compared")


def _framework(side: Framework) -> Any:
    try:
        framework = importlib.import_module(side)
    except ImportError:
        raise WeightsError(f"the {side} model needs {side}: pip install 'paddletorch[{side}]'") from None
    if side == "paddle":
        framework.set_device("cpu")
    return framework
