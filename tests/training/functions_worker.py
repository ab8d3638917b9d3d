"""Runs the training functions of fixtures on one framework: ``python functions_worker.py torch|paddle RESULTS < JOBS``.

A job names a file with ``train(model, optimizer, loss_fn, batches)``. The model, its first weights, the data
and the overflows are the same on both frameworks. One JSON line for each job: what ``train`` returned and
the parameters afterwards, or the error.
"""

from __future__ import annotations

import json
import sys
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from paddletorch.proof.environment import activate_scalers

STEPS = 10
OVERFLOWS = {2: np.inf, 3: np.nan, 6: -np.inf}
"""Steps whose batch holds a number that makes the gradients infinite or nan; two of them in a row."""


def batches(to_tensor: Callable[[np.ndarray], Any]) -> list[tuple[Any, Any]]:
    """Inputs [4, 3] and targets [4, 1], float32."""
    random = np.random.default_rng(7)
    made = []
    for step in range(STEPS):
        inputs = random.normal(size=(4, 3)).astype("float32")
        targets = random.normal(size=(4, 1)).astype("float32")
        if step in OVERFLOWS:
            inputs[1, 2] = OVERFLOWS[step]
        made.append((to_tensor(inputs), to_tensor(targets)))
    return made


WEIGHT = np.array([[0.5], [-1.0], [0.25]], dtype="float32")
"""The linear model's first weights, [in, out]; its bias starts at zero."""


@dataclass(frozen=True)
class Setting:
    """One framework's model, optimizer and loss, freshly made, and how to read the parameters."""

    model: Any
    optimizer: Any
    loss_fn: Callable[[Any, Any], Any]
    batches: list[tuple[Any, Any]]
    parameters: Callable[[], list[float]]


def torch_setting(optimizer: str) -> Setting:
    """Torch on the CPU, with scalers that believe in a CUDA device."""
    import torch

    activate_scalers("torch")
    model = torch.nn.Linear(3, 1)
    with torch.no_grad():
        model.weight.copy_(torch.from_numpy(WEIGHT.T.copy()))
        model.bias.zero_()
    made = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[optimizer](model.parameters(), lr=0.05)
    return Setting(
        model,
        made,
        torch.nn.functional.mse_loss,
        batches(torch.from_numpy),
        lambda: [float(x) for p in (model.weight.T, model.bias) for x in p.detach().numpy().ravel()],
    )


def paddle_setting(optimizer: str) -> Setting:
    """Paddle on the CPU, with its scaler kept active there: it asks for a GPU place and for float16."""
    import paddle

    activate_scalers("paddle")
    model = paddle.nn.Linear(3, 1)
    model.weight.set_value(WEIGHT)
    model.bias.set_value(np.zeros(1, dtype="float32"))
    made = {"sgd": paddle.optimizer.SGD, "adam": paddle.optimizer.Adam}[optimizer](
        learning_rate=0.05, parameters=model.parameters()
    )
    return Setting(
        model,
        made,
        paddle.nn.functional.mse_loss,
        batches(paddle.to_tensor),
        lambda: [float(x) for p in (model.weight, model.bias) for x in p.numpy().ravel()],
    )


def run(framework: str, path: str, function: str, optimizer: str) -> dict[str, object]:
    """Train once; ``returned`` and ``parameters`` are lists of floats."""
    setting = torch_setting(optimizer) if framework == "torch" else paddle_setting(optimizer)
    namespace: dict[str, Any] = {"__name__": "fixture"}
    exec(compile(Path(path).read_bytes(), path, "exec"), namespace)
    returned = namespace[function](setting.model, setting.optimizer, setting.loss_fn, setting.batches)
    return {"returned": [float(x) for x in returned], "parameters": setting.parameters()}


def main() -> None:
    """Run the jobs of standard input, one JSON line each; results go to the file named in the arguments."""
    framework, results = sys.argv[1:]
    warnings.simplefilter("ignore")
    with Path(results).open("w") as out:
        for line in sys.stdin:
            job = json.loads(line)
            try:
                result = run(framework, job["path"], job["function"], job["optimizer"])
            except Exception:
                result = {"error": traceback.format_exc(limit=4)}
            print(json.dumps({"id": job["id"], **result}), file=out, flush=True)


if __name__ == "__main__":
    main()
