"""Programs for torch, as written and as converted, train on a CUDA device. Needs one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

FIXTURES = Path(__file__).parents[2] / "fixtures"
PROGRAMS = sorted(
    [*FIXTURES.glob("training/to_torch/*.out.py"), *FIXTURES.glob("training/to_paddle/*.in.py")], key=lambda p: p.name
)

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no CUDA device"),
]


def printed(program: Path, folder: Path, devices: str | None = None) -> str:
    """What a program prints that runs to its end."""
    env = {**os.environ} if devices is None else {**os.environ, "CUDA_VISIBLE_DEVICES": devices}
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, cwd=folder, env=env)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_trains(program: Path, tmp_path: Path) -> None:
    assert printed(program, tmp_path)


def test_loaders_give_batches_on_the_default_device(tmp_path: Path) -> None:
    program = FIXTURES / "to_torch" / "default_device_loaders.out.py"
    on_host = printed(program, tmp_path, devices="")
    assert "True" in on_host
    assert printed(program, tmp_path) == on_host.replace("[0, 1, 2, 3] True", "[0, 1, 2, 3] False").replace(
        "[4, 5] True", "[4, 5] False"
    )


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("shuffle", ["True", "False"])
def test_converted_loader(workers: int, shuffle: str, tmp_path: Path) -> None:
    """The class that conversions write, with a layer on the device."""
    text = (FIXTURES / "to_torch" / "default_device_loaders.out.py").read_text(encoding="utf-8")
    program = tmp_path / "program.py"
    main = f"""
    torch.set_default_device("cuda")
    layer = torch.nn.Linear(1, 1)
    loader = PaddleDataLoader(Numbers(), batch_size=4, shuffle={shuffle}, num_workers={workers})
    for _ in range(2):
        print(sum(layer(batch["x"]).sum() * 0 + index.sum() for batch, index in loader).item())
"""
    program.write_text(text.split("def main():")[0] + "if __name__ == '__main__':" + main, encoding="utf-8")
    assert printed(program, tmp_path).split() == ["15.0", "15.0"]


def test_spawned_process_joins_by_nccl(tmp_path: Path) -> None:
    text = (FIXTURES / "to_torch" / "spawned_training.out.py").read_text(encoding="utf-8")
    program = tmp_path / "program.py"
    program.write_text(text.replace("total.item() > 0)", "total.device, dist.get_backend())"), encoding="utf-8")
    assert printed(program, tmp_path).split() == ["0", "1", "cuda:0", "nccl"]


def test_launched_process_joins_by_nccl(tmp_path: Path) -> None:
    """Sampler, loader with workers, synchronized batch norm and sums over all, as a launcher starts them."""
    text = (FIXTURES / "to_torch" / "distributed_start.out.py").read_text(encoding="utf-8")
    main = """

class Images(Dataset):
    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        return torch.randn(3, 8, 8, generator=generator), index % 2

    def __len__(self):
        return 64


if __name__ == "__main__":
    torch.set_default_device("cuda")
    train(nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(144, 2)), Images(), 2)
    print(dist.get_backend())
"""
    program = tmp_path / "program.py"
    program.write_text(text + main, encoding="utf-8")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "1", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.split()[-1] == "nccl"
    assert (tmp_path / "epoch1.pdparams").exists()


def test_high_level_model_trains_on_the_default_device(tmp_path: Path) -> None:
    """The class that conversions write in place of paddle.Model gives what it gives on the CPU."""
    program = FIXTURES / "to_torch" / "high_level_model.out.py"
    text = program.read_text(encoding="utf-8")
    on_device = tmp_path / "program.py"
    on_device.write_text(text.replace("set_default_device('cpu')", "set_default_device('cuda')"), encoding="utf-8")
    numbers = [re.findall(r"-?\d+\.?\d*", printed(one, tmp_path)) for one in (program, on_device)]
    assert [float(one) for one in numbers[1]] == pytest.approx([float(one) for one in numbers[0]], abs=2e-3)
