"""Checkpoints in files: torch's, Paddle's, safetensors; read without running code of theirs, written whole or not."""

from __future__ import annotations

import importlib
import pickle
from collections.abc import Callable, Mapping
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from paddletorch_rules import Framework

from paddletorch_shim import checkpoints
from paddletorch_shim.file_kinds import is_safetensors, other_than_a_checkpoint
from paddletorch_shim.limits import Limits
from paddletorch_shim.weights import WeightsError
from paddletorch_shim.weights.arrays import Array, from_numpy, from_torch, is_torch, to_array, to_paddle, to_torch

_NAMES = "StructuredToParameterName@@"
"""Where ``paddle.save`` puts the parameters' names if the file is one state dict."""


def read(path: Path, side: Framework, limits: Limits) -> Any:
    """A checkpoint of ``side`` with every tensor as an ``Array``; a tensor of no usable dtype stays as it is.

    Raises:
        CheckpointError: as ``checkpoints.load``.
        WeightsError: it is the other framework's.
    """
    if path.suffix == ".safetensors":
        _check_safetensors(path, limits)
        return read_safetensors(path, side)
    content = checkpoints.load(path, limits)
    if side == "paddle" and _holds_torch(content):
        raise WeightsError(f"{path} is a torch checkpoint, and torch is what it is to become: see --to")
    if side == "torch" and _holds_numpy(content):
        raise WeightsError(f"{path} is a Paddle checkpoint, and Paddle's is what it is to become: see --to")
    return _arrays(content, "")


def _arrays(content: Any, key: str, name: str | None = None) -> Any:
    if is_torch(content):
        return _or_itself(content, partial(from_torch, key, content))
    if isinstance(content, np.ndarray):
        return _or_itself(content, partial(from_numpy, key, content, name))
    if isinstance(content, tuple) and len(content) == 2 and isinstance(content[1], np.ndarray):
        return _arrays(content[1], key, str(content[0]))
    if isinstance(content, Mapping):
        names = content.get(_NAMES)
        names = names if isinstance(names, Mapping) else {}
        return {k: _arrays(v, f"{key}.{k}" if key else str(k), names.get(k)) for k, v in content.items() if k != _NAMES}
    if isinstance(content, (list, tuple)):
        return type(content)(_arrays(one, f"{key}[{n}]") for n, one in enumerate(content))
    return content


def _or_itself(value: Any, convert: Callable[[], Array]) -> Any:
    try:
        return convert()
    except WeightsError as error:
        return Unusable(str(error))


class Unusable:
    """A tensor that cannot be carried to the other framework, and why."""

    def __init__(self, why: str) -> None:
        self.why = why


def _holds_torch(content: Any) -> bool:
    return is_torch(content) or (isinstance(content, Mapping) and any(map(_holds_torch, content.values())))


def _holds_numpy(content: Any) -> bool:
    return isinstance(content, np.ndarray) or (
        isinstance(content, (Mapping, tuple))
        and any(map(_holds_numpy, content.values() if isinstance(content, Mapping) else content))
    )


def to_bytes(content: Any, side: Framework, path: Path) -> bytes:
    """What ``side``'s own ``save`` would write into ``path``, or what safetensors would.

    Raises:
        CheckpointError: it is torch's, and torch is not installed.
        WeightsError: safetensors holds tensors only.
    """
    if path.suffix == ".safetensors":
        return _safetensors_bytes(content, side)
    if side == "paddle":
        return pickle.dumps(_replaced(content, lambda array: array.values, {}), protocol=4)
    torch = checkpoints.torch_for("the output is a torch checkpoint")
    file = BytesIO()
    torch.save(_replaced(content, to_torch, {}), file)
    return file.getvalue()


def _replaced(content: Any, change: Any, done: dict[int, Any]) -> Any:
    """``content`` with a tensor for each array; the same one for the same array, so that it is saved once."""
    if isinstance(content, Array):
        return done.setdefault(id(content), change(content)) if id(content) not in done else done[id(content)]
    if isinstance(content, dict):
        return {key: _replaced(value, change, done) for key, value in content.items()}
    if isinstance(content, (list, tuple)):
        return type(content)(_replaced(value, change, done) for value in content)
    return content


def _check_safetensors(path: Path, limits: Limits) -> None:
    head, size = checkpoints.beginning(path, limits)
    if not is_safetensors(head, size):
        kind = other_than_a_checkpoint(head, size) or "something else, or damaged"
        raise checkpoints.CheckpointError(f"{path} is not a safetensors file: it is {kind}")


def read_safetensors(path: Path, side: Framework) -> dict[str, Any]:
    """All tensors of a safetensors file, read with ``side``.

    Raises:
        WeightsError: it is damaged, or the library or the framework is not installed.
    """
    try:
        tensors = _safetensors(side).load(path.read_bytes())
    except Exception as error:  # the library has an error of its own, and others for damaged data
        raise WeightsError(f"{path} is not a safetensors file: {error}") from error
    return {key: _or_itself(tensor, partial(to_array, key, tensor)) for key, tensor in tensors.items()}


def _safetensors_bytes(content: Any, side: Framework) -> bytes:
    library = _safetensors(side)
    if not isinstance(content, dict) or not all(isinstance(value, Array) for value in content.values()):
        raise WeightsError("a .safetensors file holds tensors only: convert one state dict into it, with --key")
    put = (lambda array: to_torch(array).clone()) if side == "torch" else to_paddle  # the format shares no memory
    return bytes(library.save({key: put(array) for key, array in content.items()}))


def _safetensors(side: Framework) -> Any:
    try:
        return importlib.import_module(f"safetensors.{side}")
    except ImportError as error:
        raise WeightsError(
            f".safetensors files need safetensors and {side} ({error}): pip install safetensors 'paddletorch[{side}]'"
        ) from None
