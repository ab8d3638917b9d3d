"""What every example finds: the ready-made inputs, the same on both sides, and a clean state of the frameworks."""

from __future__ import annotations

import functools
import importlib
import random
import sys
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from paddletorch.model import Framework

if TYPE_CHECKING:
    import numpy as np

SEED = 20240607


def _floats(*shape: int) -> Callable[[np.random.Generator], Any]:
    return lambda rng: rng.standard_normal(shape).astype("float32")


def _below(bound: int, *shape: int, dtype: str = "int64") -> Callable[[np.random.Generator], Any]:
    return lambda rng: rng.integers(0, bound, shape).astype(dtype)


def _positive_definite(rng: np.random.Generator) -> Any:
    root = rng.standard_normal((4, 4))
    return (root @ root.T + 2.0 * _identity(4)).astype("float32")


def _identity(size: int) -> Any:
    import numpy as np

    return np.eye(size)


INPUTS: Mapping[str, Callable[[np.random.Generator], Any]] = {
    "x": _floats(3, 4),
    "y": _floats(3, 4),
    "v": _floats(4),
    "w": _floats(4),
    "m": _floats(4, 5),
    "sq": _floats(4, 4),
    "spd": _positive_definite,
    "p": lambda rng: rng.uniform(0.1, 3.0, (3, 4)).astype("float32"),
    "u": lambda rng: rng.uniform(0.01, 0.99, (3, 4)).astype("float32"),
    "b": _floats(2, 3, 4),
    "b2": _floats(2, 4, 5),
    "img": _floats(2, 3, 8, 8),
    "seq": _floats(2, 5, 4),
    "sig": _floats(2, 3, 16),
    "i": _below(3, 3, 4),
    "idx": _below(3, 3),
    "lab": _below(4, 3),
    "tok": _below(10, 2, 5),
    "n": lambda rng: rng.integers(-5, 6, (3, 4)).astype("int32"),
    "mask": lambda rng: rng.uniform(size=(3, 4)) < 0.5,
    "d": lambda rng: rng.standard_normal((3, 4)),
    "c": lambda rng: (rng.standard_normal((3, 4)) + 1j * rng.standard_normal((3, 4))).astype("complex64"),
}
"""How each ready-made input is made; docs/proof.md tells authors of examples their shapes and dtypes."""


@functools.cache
def arrays() -> Mapping[str, Any]:
    """The ready-made inputs as numpy arrays, each from a generator of its own, so that adding one changes no other."""
    import numpy as np

    return {name: make(np.random.default_rng([SEED, *name.encode()])) for name, make in INPUTS.items()}


def tensor(framework: Framework, name: str) -> Any:
    """A fresh tensor of ``framework`` with the values of the ready-made input ``name``; no gradient is required."""
    array = arrays()[name].copy()
    if framework == "torch":
        import torch

        return torch.from_numpy(array)
    import paddle

    return paddle.to_tensor(array)


def activate_scalers(framework: Framework) -> None:
    """Let scalers scale on this CPU: torch's for CUDA ask for such a device, Paddle's for its place and float16."""
    if framework == "torch":
        from torch.cuda.amp import common

        common.amp_definitely_not_available = lambda: False
        return
    from paddle.amp import auto_cast, grad_scaler

    place = SimpleNamespace(is_gpu_place=lambda: True, is_xpu_place=lambda: False, is_custom_place=lambda: False)
    grad_scaler._dygraph_tracer = lambda: SimpleNamespace(_expected_place=place)
    sys.modules[auto_cast.__module__].amp_global_state().amp_dtype = "float16"


def reset(framework: Framework) -> None:
    """Put the framework back into the state of a fresh process, with fixed seeds and scalers that scale on its CPU."""
    import numpy as np

    random.seed(SEED)
    np.random.seed(SEED)
    module = importlib.import_module(framework)
    module.set_default_dtype("float32" if framework == "paddle" else module.float32)
    activate_scalers(framework)
    if framework == "torch":
        module.manual_seed(SEED)
        module.set_grad_enabled(True)
        if module.are_deterministic_algorithms_enabled():
            module.use_deterministic_algorithms(False)  # imports torch's compiler, which takes seconds
    else:
        module.disable_static()
        module.set_device("cpu")
        module.seed(SEED)
        module.set_grad_enabled(True)
