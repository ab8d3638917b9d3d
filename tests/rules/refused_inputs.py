"""Rows whose Paddle function refuses inputs that torch's takes: their examples are run on such inputs on both."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from multiprocessing import get_context
from operator import attrgetter
from typing import Any

import numpy as np
import paddle
import pytest
import torch
from paddletorch.api.convert import convert
from paddletorch.proof.compare import difference
from paddletorch.proof.environment import arrays
from paddletorch.proof.run import execute, module_text
from paddletorch_rules import Row, load
from paddletorch_rules.facts import facts

FORMS: dict[str, Callable[[Any], Any]] = {
    "bool": lambda array: array > 0.5,
    "complex64": lambda array: array.astype("complex64"),
    "floats": lambda array: array,
    "integers": lambda array: np.trunc(array * 3).astype("int64"),
    "small_integers": lambda array: np.trunc(array * 3).astype("uint8"),
    "scalar": lambda array: array.reshape(-1)[0].reshape(()),
    "vector": lambda array: array.reshape(-1)[:4],
    "batch": lambda array: np.stack([array, array]),
}
"""What becomes of the real inputs."""
NO_AXES = "torch.zeros([], dtype=torch.int64)"
MORE = {
    "acosh": ("torch.acosh(x)",),
    "argmax": ("torch.argmax(x, dim=0, keepdim=True)",),
    "argmin": ("torch.argmin(x, dim=0, keepdim=True)",),
    "aminmax": ("torch.aminmax(x)",),
    "addmm": ("torch.addmm(x, torch.ones(2, 3), torch.ones(3, 2))",),
    "argwhere": ("torch.argwhere(x)",),
    "atan2": ("torch.atan2(x, y)",),
    "fmax": ("torch.fmax(x, y)",),
    "fmin": ("torch.fmin(x, y)",),
    "gather": (f"torch.gather(x, 0, {NO_AXES})", "torch.gather(x, 1, lab[:3].reshape(3, 1) % 2)"),
    "heaviside": ("torch.heaviside(x, y)",),
    "index_add": ("torch.index_add(x, 0, torch.tensor([0]), y)",),
    "index_copy": ("torch.index_copy(x, 0, torch.tensor([0]), y)",),
    "index_fill": ("torch.index_fill(x, 0, torch.tensor([0]), 2)",),
    "index_reduce": ("torch.index_reduce(x, 0, torch.tensor([0]), y, 'prod')",),
    "index_select": ("torch.index_select(x, 0, torch.tensor([0]))",),
    "isfinite": ("torch.isfinite(x)",),
    "linalg.vector_norm": ("torch.linalg.vector_norm(x, 3, 0)",),
    "max": ("torch.max(x, 0, True)",),
    "nn.functional.bilinear": ("torch.nn.functional.bilinear(x, y, torch.ones(1, 4, 4))",),
    "nn.functional.multilabel_margin_loss": (
        "torch.nn.functional.multilabel_margin_loss(x, torch.tensor([1, -1, 0, 2]))",
    ),
    "median": ("torch.median(x, 0, True)",),
    "min": ("torch.min(x, 0, True)",),
    "mode": ("torch.mode(x, 0, True)",),
    "nan_to_num": ("torch.nan_to_num(x)",),
    "nanquantile": ("torch.nanquantile(x, 0.5, 0)",),
    "nn.functional.normalize": ("torch.nn.functional.normalize(x, dim=0)",),
    "norm": ("torch.norm(x, 3, 0)",),
    "quantile": ("torch.quantile(x, 0.5, 0)",),
    "real": ("torch.real(x)",),
    "scatter": (f"torch.scatter(x, 0, {NO_AXES}, 2.5)",),
    "scatter_add": (f"torch.scatter_add(x, 0, {NO_AXES}, y)",),
    "scatter_reduce": (f"torch.scatter_reduce(x, 0, {NO_AXES}, y, 'prod')",),
    "transpose": ("torch.transpose(x, 0, 0)",),
    "unique_consecutive": ("torch.unique_consecutive(x, dim=0)",),
    "transpose_copy": ("torch.transpose_copy(x, 0, 0)",),
}
"""Examples of real inputs, where those of the row show other things."""
REST = {"logsumexp": (0,), "mvlgamma": (2,)}
"""What a function needs beside the tensor."""
WILD = ("linalg.vector_norm", "nn.functional.normalize", "norm")
"""Paddle's norms along an axis read beyond the memory of a tensor without axes, and may end the process."""


def refuses(form: str) -> Callable[[str], None]:
    """The check that an example of the row runs on torch with such inputs, and not on Paddle, or not the same."""

    def check(name: str) -> None:
        tried = _in_child(name, form) if name in WILD else list(outcomes(name, form))
        assert "refused" in tried, f"{name} with {form}: {sorted(set(tried)) or 'no example'}"

    return check


def _in_child(name: str, form: str) -> list[str]:
    """The outcomes in a process of their own; one that crashes has refused the input."""
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        try:
            return pool.submit(_listed, name, form).result(timeout=60)
        except BrokenProcessPool:
            return ["refused"]


def _listed(name: str, form: str) -> list[str]:
    return list(outcomes(name, form))


def floats_first(name: str) -> None:
    """The check that torch makes floating-point numbers of what Paddle refuses."""
    result = torch.empty(0)
    for form in ("integers", "bool"):
        if name in facts().refused_dtypes[form]:
            result = attrgetter(name)(torch)(inputs(form)("torch", "sq"), *REST.get(name, ()))
            assert result.is_floating_point() or result.is_complex()
    assert result.numel()


def takes_rank(name: str) -> None:
    """The check that Paddle's function refuses a tensor of more or fewer axes that torch's takes."""
    tried = list(outcomes(name, "batch" if name == "nn.functional.bilinear" else "vector"))
    assert "refused" in tried, f"{name}: {sorted(set(tried)) or 'no example'}"


def needs_batch(name: str) -> None:
    """The check that torch's function takes an image without a batch, and Paddle's does not."""
    rank = facts().batched_ranks[name]
    image, kernel = torch.rand(3, *[6] * (rank - 2)), torch.rand(3, 3, *[2] * (rank - 2))
    rest = (kernel,) if "conv" in name else (2,)
    assert attrgetter(name)(torch)(image, *rest).ndim == rank - 1
    paddles = f"{name.replace('conv_transpose', 'conv')}{'_transpose' if 'conv_transpose' in name else ''}"
    others = [paddle.to_tensor(r.numpy()) if isinstance(r, torch.Tensor) else r for r in rest]
    with pytest.raises((ValueError, AssertionError, RuntimeError)):
        attrgetter(paddles)(paddle)(paddle.to_tensor(image.numpy()), *others)


LAYERS = {"Fold": "(2, 2), 1", "PixelShuffle": "1", "Unfold": "2", "InstanceNorm1d": "4", "InstanceNorm2d": "4",
          "InstanceNorm3d": "4", "FractionalMaxPool2d": "2, 2", "LPPool2d": "2, 2"}  # fmt: skip
"""The arguments of layers, unless they are named for what they do."""


def layer_needs_batch(name: str) -> None:
    """The check that torch's layer takes one sample, and that Paddle's refuses it or gives something else."""
    rank = facts().batched_layers[name]
    arguments = LAYERS.get(name, "4, 4, 1" if "Conv" in name else "2" if "Pool" in name else "4, 4")
    sizes = (4,) if rank == 2 else (6, 4) if name in ("GRU", "LSTM", "RNN") else (4, *[6] * (rank - 2))
    text = f"import torch\ngiven = torch.rand({sizes if name != 'Fold' else (4, 4)})\n"
    text += f"made = torch.nn.{name}({arguments})(given)\nfirst = made[0] if isinstance(made, tuple) else made\n"
    found: dict[str, Any] = {}
    exec(text, found)
    expected = found["first"].detach().numpy()
    converted = convert(text, to="paddle", source_version="installed", target_version="installed")
    assert "TEN216" in {one.code for one in converted.findings} or name in ("InstanceNorm1d", "PixelShuffle")
    try:
        exec(converted.output, found)
    except (ValueError, AssertionError, RuntimeError, TypeError):
        return
    result = found["first"].numpy()
    assert result.shape != expected.shape or not np.allclose(result, expected, atol=1e-3)


def outcomes(name: str, form: str) -> Iterator[str]:
    """What becomes of each example of the rows of this name, with inputs of this form."""
    more = (f"torch.{name}(x)",) if name.startswith("fft.") else MORE.get(name, ())
    for row in rows()[name]:
        for example in (*row.examples, *more):
            text = module_text("torch", example)
            converted = convert(text, to="paddle", source_version="installed", target_version="installed").output
            try:
                expected = execute("torch", text, name, inputs=inputs(form))
            except Exception as error:
                yield f"torch raises {type(error).__name__}"
                continue
            try:
                found = execute("paddle", converted, name, inputs=inputs(form))
            except Exception:
                yield "refused"
                continue
            yield "refused" if difference(expected, found, tolerance=row.tolerance) else "equal"


def inputs(form: str) -> Callable[[Any, str], Any]:
    """Gives the ready-made inputs, the real ones in this form; for `floats` those that are complex, too."""

    def give(framework: Any, name: str) -> Any:
        array = arrays()[name]
        if array.dtype.kind == "f":
            array = np.ascontiguousarray(FORMS[form](array)).reshape(FORMS[form](array).shape)
        elif form == "floats" and array.dtype.kind == "c":
            array = array.real.copy()
        module = importlib.import_module(framework)
        return module.from_numpy(array.copy()) if framework == "torch" else module.to_tensor(array)

    return give


@lru_cache(maxsize=1)
def rows() -> dict[str, list[Row]]:
    """The rows by the names that `facts.toml` has for them."""
    found: dict[str, list[Row]] = {}
    for row in load().rows:
        name = row.id.partition(":")[0].removeprefix("Tensor.").rstrip("_")
        found.setdefault(name, []).append(row)
    return found
