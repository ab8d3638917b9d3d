"""How the torch scaler reads and steps an optimizer."""

from __future__ import annotations

import inspect
from typing import Any

import torch


def dense(param: torch.Tensor, grad: torch.Tensor) -> torch.Tensor:
    """The tensor that holds a gradient's numbers: a sparse one's values, a DTensor's local part."""
    if hasattr(grad, "to_local"):
        grad = grad.to_local()
    if not grad.is_sparse:
        return grad
    if grad.dtype is torch.float16:
        # Summing duplicate indices may overflow float16, so the sums are what must be checked.
        grad = param.grad = grad.coalesce()
    return grad._values()


def reads_found_inf(optimizer: torch.optim.Optimizer) -> bool:
    """Whether the optimizer skips on its own, by a ``found_inf`` tensor on the device.

    Optimizers of the older contract, whose ``step`` takes a ``grad_scaler``, are stepped as plain ones.
    """
    return (
        getattr(optimizer, "_step_supports_amp_scaling", False)
        and "grad_scaler" not in inspect.signature(optimizer.step).parameters
        and not (isinstance(optimizer, torch.optim.SGD) and _lacks_momentum(optimizer))
    )


def _lacks_momentum(optimizer: torch.optim.SGD) -> bool:
    """Whether the next step makes momentum. Fused SGD (torch 2.13) that skips such a step keeps memory never set."""
    return any(
        group["momentum"] != 0
        and param.grad is not None
        and optimizer.state.get(param, {}).get("momentum_buffer") is None
        for group in optimizer.param_groups
        for param in group["params"]
    )


def step_with(optimizer: Any, found_inf: torch.Tensor, grad_scale: torch.Tensor | None) -> None:
    """Step an optimizer that reads ``found_inf`` and ``grad_scale`` itself; None: its gradients are unscaled."""
    users = getattr(optimizer, "grad_scale", None)  # set by the program: both count, as in torch's own scaler
    optimizer.grad_scale = users if grad_scale is None else grad_scale if users is None else grad_scale * users
    optimizer.found_inf = found_inf
    try:
        optimizer.step()
    finally:
        del optimizer.grad_scale, optimizer.found_inf


def pairs(optimizer: torch.optim.Optimizer) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Parameters with their gradients."""
    return [(p, p.grad) for group in optimizer.param_groups for p in group["params"] if p.grad is not None]


def check_minimize(
    loss: torch.Tensor, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None
) -> None:
    """Check what ``minimize`` was given, as Paddle names it.

    Raises:
        AssertionError: the loss is not a tensor.
        NotImplementedError: ``parameters`` or ``no_grad_set`` is given.
    """
    assert isinstance(loss, torch.Tensor), "The loss should be an Tensor. Pass the scaled loss to minimize()."
    if parameters or no_grad_set:
        raise NotImplementedError(
            "minimize(): torch optimizers always step all their parameters; give the parameters to leave out "
            "to an optimizer of their own instead of parameters= or no_grad_set="
        )
