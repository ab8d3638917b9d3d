"""Tensors of either framework as numpy arrays; bfloat16, which numpy lacks, as its bits, the way Paddle saves it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from paddletorch_shim.weights import WeightsError

DTYPES = frozenset("float16 float32 float64 bfloat16 int8 int16 int32 int64 uint8 bool complex64 complex128".split())
"""The dtypes that both frameworks have and both save."""


@dataclass(frozen=True, slots=True, eq=False)
class Array:
    """A tensor's values.

    Args:
        values: any shape; uint16 bits if ``dtype`` is bfloat16.
        dtype: as both frameworks call it.
        name: the parameter's name in Paddle, if the file tells it.
    """

    values: np.ndarray[Any, Any]
    dtype: str
    name: str | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.values.shape)

    def having(self, values: np.ndarray[Any, Any]) -> Array:
        """The same dtype with other values, and no name: it is another tensor then."""
        return replace(self, values=np.ascontiguousarray(values).reshape(values.shape), name=None)

    def equals(self, other: Array) -> bool:
        return self.dtype == other.dtype and np.array_equal(self.values, other.values)

    def numbers(self) -> np.ndarray[Any, Any]:
        """The values as numpy can compute with them: bfloat16 as float32."""
        if self.dtype == "bfloat16":
            return (self.values.astype(np.uint32) << 16).view(np.float32).reshape(self.shape)
        return self.values


def is_torch(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "is_floating_point")


def from_torch(key: str, tensor: Any) -> Array:
    """A torch tensor's values; ``key`` is for the message.

    Raises:
        WeightsError: it is sparse, quantized, without data, or of a dtype that Paddle lacks.
    """
    import torch

    dtype = str(tensor.dtype).removeprefix("torch.")
    if tensor.layout is not torch.strided or tensor.is_quantized or tensor.is_meta:
        raise WeightsError(f"{key}: a sparse or quantized tensor, or one without data, cannot be converted")
    _check(key, dtype)
    tensor = tensor.detach().cpu().contiguous()
    if dtype == "bfloat16":
        return Array(tensor.view(torch.int16).numpy().view(np.uint16), dtype)
    return Array(tensor.resolve_conj().resolve_neg().numpy(), dtype)


def to_torch(array: Array) -> Any:
    import torch

    values = array.values if array.values.flags.writeable else array.values.copy()
    if array.dtype == "bfloat16":
        return torch.from_numpy(values.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(values)


def from_numpy(key: str, values: np.ndarray[Any, Any], name: str | None = None) -> Array:
    """An array out of a Paddle checkpoint: uint16 is bfloat16 there, as ``paddle.load`` takes it too.

    Raises:
        WeightsError: its dtype is none that torch has as well.
    """
    dtype = "bfloat16" if values.dtype == np.uint16 else str(values.dtype)
    _check(key, dtype)
    return Array(values, dtype, name)


def to_paddle(array: Array) -> Any:
    import paddle

    tensor = paddle.to_tensor(array.values)
    return tensor.view("bfloat16") if array.dtype == "bfloat16" and tensor.dtype != paddle.bfloat16 else tensor


def to_array(key: str, tensor: Any) -> Array:
    """A tensor of either framework, or a numpy array; ``key`` is for the message.

    Raises:
        WeightsError: its dtype is none that both frameworks have.
    """
    if isinstance(tensor, Array):
        return tensor
    if is_torch(tensor):
        return from_torch(key, tensor)
    return from_numpy(key, np.asarray(tensor.numpy() if hasattr(tensor, "numpy") else tensor))


def _check(key: str, dtype: str) -> None:
    if dtype not in DTYPES:
        raise WeightsError(f"{key}: dtype {dtype} cannot be carried to the other framework")
