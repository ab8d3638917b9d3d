"""Collectives, data parallel training and distributed samplers, in two processes of each framework."""

from __future__ import annotations

import ast
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from paddletorch.engine.engine import Engine
from paddletorch.model import Framework, Options

SCRIPT = Path(__file__).parents[2] / "fixtures" / "two_processes" / "collectives.py"


def _ports(number: int) -> list[int]:
    """Ports that are free now."""
    sockets = [socket.socket() for _ in range(number)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [int(each.getsockname()[1]) for each in sockets]
    for each in sockets:
        each.close()
    return ports


def _environment(framework: Framework, rank: int, ports: list[int]) -> dict[str, str]:
    """What the framework's launcher sets for a process."""
    if framework == "torch":
        own = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2"}
        own |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(ports[0]), "TORCHELASTIC_RUN_ID": "test"}
    else:
        endpoints = [f"127.0.0.1:{port}" for port in ports[1:]]
        own = {"PADDLE_TRAINER_ID": str(rank), "PADDLE_TRAINERS_NUM": "2", "PADDLE_DISTRI_BACKEND": "gloo"}
        own |= {"PADDLE_TRAINER_ENDPOINTS": ",".join(endpoints), "PADDLE_CURRENT_ENDPOINT": endpoints[rank]}
        own |= {"PADDLE_MASTER": f"127.0.0.1:{ports[0]}"}
    return {**os.environ, **own}


def _run(framework: Framework, code: bytes, folder: Path, name: str) -> list[dict[str, Any]]:
    """What each of two processes prints."""
    path = folder / f"{name}.py"
    path.write_bytes(code)
    ports = _ports(3)
    processes = [
        subprocess.Popen(
            [sys.executable, str(path)],
            env=_environment(framework, rank, ports),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    found = []
    for process in processes:
        try:
            out, errors = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            for each in processes:
                each.kill()
            pytest.fail(f"{name}: the processes did not end:\n{process.communicate()[1][-2000:]}")
        assert process.returncode == 0, f"{name}:\n{errors[-2000:]}"
        found.append(json.loads([line for line in out.splitlines() if line.startswith("{")][-1]))
    return sorted(found, key=lambda result: int(result["rank"]))


def test_two_processes_get_the_same(tmp_path: Path) -> None:
    source = SCRIPT.read_bytes()
    there = Engine(Options(target="paddle")).convert(source, "script.py").output
    back = Engine(Options(target="torch")).convert(there, "script.py").output
    assert b"torch" not in there
    results = {
        "torch": _run("torch", source, tmp_path, "torch_script"),
        "paddle": _run("paddle", there, tmp_path, "paddle_script"),
        "back": _run("torch", back, tmp_path, "back_script"),
    }
    for key in ("collectives", "weights", "count"):
        expected = [result[key] for result in results["torch"]]
        assert [result[key] for result in results["paddle"]] == expected, key
        assert [result[key] for result in results["back"]] == expected, key
    for found in results.values():  # each side deals the samples in its own order, every one once
        assert sorted(found[0]["indices"] + found[1]["indices"]) == list(range(8))


SPAWNED = b"""
import paddle
import paddle.distributed as dist
from paddle.io import DataLoader, Dataset, DistributedBatchSampler


class Numbers(Dataset):
    def __getitem__(self, index):
        return index

    def __len__(self):
        return 11


def work(folder, first):
    dist.init_parallel_env()
    sampler = DistributedBatchSampler(Numbers(), batch_size=2, shuffle=True)
    seen = []
    for epoch in (first, first + 1):
        sampler.set_epoch(epoch)
        seen += [batch.tolist() for batch in DataLoader(Numbers(), batch_sampler=sampler)]
    total = paddle.to_tensor(float(sum(map(sum, seen))))
    dist.all_reduce(total)
    with open(f"{folder}/{dist.get_rank()}", "w") as file:
        file.write(repr((seen, len(sampler), total.item())))


if __name__ == "__main__":
    import sys

    dist.spawn(work, args=(sys.argv[1], 3), nprocs=2)
"""


def test_spawned_processes_get_the_batches_that_paddle_deals(tmp_path: Path) -> None:
    from paddle.io import DistributedBatchSampler

    program = tmp_path / "program.py"
    program.write_bytes(Engine(Options(target="torch")).convert(SPAWNED, "program.py").output)
    assert b"paddle." not in program.read_bytes().replace(b'"""paddle.', b"")
    done = subprocess.run([sys.executable, str(program), str(tmp_path)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    found = [ast.literal_eval((tmp_path / str(rank)).read_text()) for rank in range(2)]
    for rank, (seen, batches, _) in enumerate(found):
        theirs = DistributedBatchSampler(list(range(11)), 2, num_replicas=2, rank=rank, shuffle=True)
        theirs.set_epoch(3)
        assert (seen, batches) == ([*theirs, *theirs], len(theirs))
    assert found[0][2] == found[1][2] == sum(sum(map(sum, seen)) for seen, _, _ in found)
