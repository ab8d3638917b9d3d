"""What a comparison asks of each framework, and what it switches off in both: chance."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import Any

import numpy as np

from paddletorch.model import Framework


class Torch:
    """What is asked of torch."""

    name: Framework = "torch"

    def __init__(self) -> None:
        import torch

        self.lib = torch
        self.base = torch.nn.Module
        torch.set_num_threads(1)
        functional = torch.nn.functional
        for name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"):
            setattr(functional, name, _no_dropout)
        _without_dropout(functional, "scaled_dot_product_attention")
        torch.dropout = _no_dropout

    def seed(self, number: int) -> None:
        self.lib.manual_seed(number)

    def set_float64(self) -> None:
        self.lib.set_default_dtype(self.lib.float64)

    def doubled(self, model: Any) -> Any:
        return model.double() if isinstance(model, self.base) else model

    def tensor(self, values: np.ndarray[Any, Any], gradient: bool) -> Any:
        made = self.lib.from_numpy(values.copy())
        return made.requires_grad_() if gradient else made

    def is_tensor(self, value: Any) -> bool:
        return isinstance(value, self.lib.Tensor)

    def array(self, tensor: Any) -> np.ndarray[Any, Any]:
        tensor = tensor.detach()
        if tensor.layout is not self.lib.strided:
            tensor = tensor.to_dense()
        tensor = tensor.float() if tensor.dtype == self.lib.bfloat16 else tensor
        return np.array(tensor.resolve_conj().resolve_neg().cpu().numpy())

    def real(self, tensor: Any) -> Any:
        return self.lib.view_as_real(tensor) if tensor.is_complex() else tensor

    def differentiable(self, tensor: Any) -> bool:
        return bool(tensor.requires_grad)

    def clear(self, model: Any) -> None:
        for parameter in model.parameters():
            parameter.grad = None

    def gradient(self, tensor: Any) -> np.ndarray[Any, Any] | None:
        return None if tensor.grad is None else self.array(tensor.grad)

    def optimizer(self, model: Any) -> Any:
        return self.lib.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.01)

    def step(self, optimizer: Any) -> None:
        optimizer.step()
        self.clear_of(optimizer)

    def clear_of(self, optimizer: Any) -> None:
        """Clear the gradients of the optimizer's parameters."""
        optimizer.zero_grad()

    def use_mixed_precision_of_gpus(self) -> None:
        """Loss scalers scale, which ask for a GPU otherwise, and autocast leaves every dtype as it is."""
        self.lib.cuda.amp.common.amp_definitely_not_available = lambda: False
        autocast = self.lib.amp.autocast_mode.autocast
        original = autocast.__init__

        def switched_off(context: Any, *arguments: Any, **keywords: Any) -> None:
            original(context, *arguments, **keywords)
            context._enabled = False

        autocast.__init__ = switched_off


class Paddle:
    """What is asked of Paddle."""

    name: Framework = "paddle"

    def __init__(self) -> None:
        import paddle

        self.lib = paddle
        self.base = paddle.nn.Layer
        self._kept = ExitStack()  # until the process ends
        paddle.set_device("cpu")
        functional = paddle.nn.functional
        for name in ("dropout", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"):
            if hasattr(functional, name):
                setattr(functional, name, _expected_dropout)
        _without_dropout(functional, "scaled_dot_product_attention")

    def seed(self, number: int) -> None:
        self.lib.seed(number)

    def set_float64(self) -> None:
        self.lib.set_default_dtype("float64")

    def doubled(self, model: Any) -> Any:
        return model

    def tensor(self, values: np.ndarray[Any, Any], gradient: bool) -> Any:
        return self.lib.to_tensor(values, stop_gradient=not gradient)

    def is_tensor(self, value: Any) -> bool:
        return isinstance(value, self.lib.Tensor)

    def array(self, tensor: Any) -> np.ndarray[Any, Any]:
        tensor = tensor.detach()
        if tensor.is_sparse():
            tensor = tensor.to_dense()
        tensor = tensor.astype("float32") if tensor.dtype == self.lib.bfloat16 else tensor
        return np.array(tensor.numpy())

    def real(self, tensor: Any) -> Any:
        return self.lib.as_real(tensor) if tensor.is_complex() else tensor

    def differentiable(self, tensor: Any) -> bool:
        return not tensor.stop_gradient

    def clear(self, model: Any) -> None:
        model.clear_gradients(set_to_zero=False)

    def gradient(self, tensor: Any) -> np.ndarray[Any, Any] | None:
        grad = tensor.grad
        if grad is None:
            return None
        if grad.is_selected_rows():
            grad = self.lib.to_tensor(np.array(grad.get_selected_rows()))  # pragma: no cover
        return self.array(grad)

    def optimizer(self, model: Any) -> Any:
        trained = [p for p in model.parameters() if not p.stop_gradient]
        return self.lib.optimizer.SGD(learning_rate=0.01, parameters=trained)

    def step(self, optimizer: Any) -> None:
        optimizer.step()
        self.clear_of(optimizer)

    def clear_of(self, optimizer: Any) -> None:
        """Clear the gradients of the optimizer's parameters."""
        optimizer.clear_grad()

    def use_mixed_precision_of_gpus(self) -> None:
        """Loss scalers scale, which ask for a GPU and float16 otherwise, and autocast leaves every dtype as it is."""
        from paddle.amp import auto_cast
        from paddletorch_shim.parity.scalers import paddle_scaler_scales

        self._kept.enter_context(paddle_scaler_scales())
        module: Any = sys.modules[auto_cast.__module__]  # ``paddle.amp.auto_cast`` is the function
        original = module.amp_guard
        module.amp_guard = lambda enable=True, *arguments, **keywords: original(False, *arguments, **keywords)


Side = Torch | Paddle


def _no_dropout(x: Any = None, *arguments: Any, input: Any = None, **keywords: Any) -> Any:
    return input if x is None else x


def _expected_dropout(
    x: Any = None, p: float = 0.5, axis: Any = None, training: bool = True, mode: str = "upscale_in_train", **more: Any
) -> Any:
    """What Paddle's dropout gives on average: ``downscale_in_infer`` scales in both modes."""
    x = more.get("input") if x is None else x
    return x * (1 - p) if mode == "downscale_in_infer" else x


def _without_dropout(functional: Any, name: str) -> None:
    original = getattr(functional, name)

    def attention(query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, **more: Any) -> Any:
        return original(query, key, value, attn_mask, 0.0, **more)

    def positional(*arguments: Any, **keywords: Any) -> Any:
        if len(arguments) > 5:
            return original(*arguments[:4], 0.0, *arguments[5:], **keywords)
        return attention(*arguments, **keywords)

    setattr(functional, name, positional)


def sides(name: str) -> Side:
    """The framework's side."""
    return Torch() if name == "torch" else Paddle()
