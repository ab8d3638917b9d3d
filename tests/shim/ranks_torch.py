"""Run as a script with a number of ranks: trains sharded parameters over gloo, prints what each has."""

from __future__ import annotations

import json
import math
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from paddletorch_shim.torch import GradScaler


def train(optimizer: Any, param: torch.Tensor, scaler: GradScaler, rank: int, ranks: int) -> list[Any]:
    """Overflows on rank 1, then on nobody, then a NaN on the last rank; rank 0 has no gradient in the end."""
    seen = []
    for step in range(4):
        gradient = 1.0
        if step == 0 and rank == 1:
            gradient = math.inf
        if step == 2 and rank == ranks - 1:
            gradient = math.nan
        optimizer.zero_grad()
        loss = scaler.scale((param * gradient).sum())
        if not (step == 3 and rank == 0):
            loss.backward()
        scaler.step(optimizer)
        scaler.update()
        seen.append([float(param.detach().sum()), scaler.state_dict()["scale"].item()])
    return seen


def fsdp(rank: int) -> list[Any]:
    """Parameters sharded by torch's fully_shard: the gradients are DTensors."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    model = torch.nn.Linear(4, 4, bias=False)
    torch.nn.init.ones_(model.weight)
    fully_shard(model, mesh=init_device_mesh("cpu", (dist.get_world_size(),)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    scaler = GradScaler(init_loss_scaling=64.0, process_group=dist.group.WORLD)
    seen = []
    for step in range(2):
        optimizer.zero_grad()
        scaler.scale(model(torch.ones(1, 4)).sum()).backward()
        if step == 0 and rank == 1:
            model.weight.grad.to_local()[0, 0] = math.inf
        scaler.step(optimizer)
        scaler.update()
        local = model.weight.to_local().detach()
        seen.append([float(local.max()), float(local.min()), scaler.state_dict()["scale"].item()])
    return seen


def work(rank: int, ranks: int, folder: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=ranks)
    results: dict[str, Any] = {}
    for name, fused, group in (
        ("plain", False, dist.group.WORLD),
        ("fused", True, dist.group.WORLD),
        ("alone", False, None),
    ):
        param = torch.nn.Parameter(torch.ones(2))
        optimizer = torch.optim.SGD([param], lr=1.0, fused=fused)
        scaler = GradScaler(init_loss_scaling=64.0, process_group=group)
        results[name] = train(optimizer, param, scaler, rank, ranks)
    results["fsdp"] = fsdp(rank)
    Path(folder, f"{rank}.json").write_text(json.dumps(results))
    dist.destroy_process_group()


if __name__ == "__main__":
    number = int(sys.argv[1])
    with tempfile.TemporaryDirectory() as temporary:
        torch.multiprocessing.spawn(work, args=(number, temporary), nprocs=number)
        print(json.dumps([json.loads(Path(temporary, f"{rank}.json").read_text()) for rank in range(number)]))
