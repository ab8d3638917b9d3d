"""Run as a script with a number of ranks: the same on Paddle."""

from __future__ import annotations

import json
import math
import sys
import tempfile
from pathlib import Path
from typing import Any

import paddle
import paddle.distributed as dist
from paddletorch_shim.paddle import GradScaler


def train(scaler: GradScaler, rank: int, ranks: int) -> list[Any]:
    """The same steps as on torch."""
    param = paddle.create_parameter([2], "float32", default_initializer=paddle.nn.initializer.Constant(1.0))
    optimizer = paddle.optimizer.SGD(1.0, parameters=[param])
    seen = []
    for step in range(4):
        gradient = 1.0
        if step == 0 and rank == 1:
            gradient = math.inf
        if step == 2 and rank == ranks - 1:
            gradient = math.nan
        optimizer.clear_grad(set_to_zero=False)
        loss = scaler.scale((param * gradient).sum())
        if not (step == 3 and rank == 0):
            loss.backward()
        scaler.step(optimizer)
        scaler.update()
        seen.append([param.sum().item(), scaler.get_scale()])
    return seen


def work(ranks: int, folder: str) -> None:
    dist.init_parallel_env()
    rank = dist.get_rank()
    group = dist.get_group()
    results = {
        backend: train(GradScaler("cpu", init_scale=64.0, backend=backend, process_group=group), rank, ranks)
        for backend in ("native", "reference")
    }
    Path(folder, f"{rank}.json").write_text(json.dumps(results))


if __name__ == "__main__":
    number = int(sys.argv[1])
    with tempfile.TemporaryDirectory() as temporary:
        dist.spawn(work, args=(number, temporary), nprocs=number, backend="gloo")
        print(json.dumps([json.loads(Path(temporary, f"{rank}.json").read_text()) for rank in range(number)]))
