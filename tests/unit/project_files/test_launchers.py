"""Launch commands: options with an exact counterpart, and commands that stay."""

from __future__ import annotations

import pytest
from paddletorch.model import Options
from paddletorch.project_files.convert import convert_project_file
from paddletorch_rules import load
from paddletorch_rules.releases import Framework


def _converted(text: str, to: Framework) -> str:
    options = Options(to, project_files=True)
    result = convert_project_file(text.encode(), "run.sh", "shell", options, load())
    again = convert_project_file(result.output, "run.sh", "shell", options, load())
    assert again.output == result.output
    return result.output.decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("torchrun a.py", "python -m paddle.distributed.launch --nproc_per_node=1 a.py"),
        ("torchrun --nproc_per_node=2 a.py --x", "python -m paddle.distributed.launch --nproc_per_node=2 a.py --x"),
        ("torchrun --nproc-per-node 2 a.py", "python -m paddle.distributed.launch --nproc_per_node 2 a.py"),
        ("torchrun --nproc_per_node=gpu a.py", "python -m paddle.distributed.launch a.py"),
        (
            "torchrun --standalone --nproc_per_node=$N a.py",
            "python -m paddle.distributed.launch --nproc_per_node=$N a.py",
        ),
        (
            "torchrun --nproc_per_node=2 --master_port 1 a.py",
            "python -m paddle.distributed.launch --nproc_per_node=2 a.py",
        ),
        (
            "torchrun --nproc_per_node=2 --nnodes=2 --node_rank 1 --master_addr=a --master_port=1 a.py",
            "python -m paddle.distributed.launch --nproc_per_node=2 --nnodes=2 --rank 1 --master=a:1 a.py",
        ),
        (
            "torchrun --nproc_per_node=2 --nnodes 2 --node_rank=0 --master_addr a a.py",
            "python -m paddle.distributed.launch --nproc_per_node=2 --nnodes 2 --rank=0 --master=a:29500 a.py",
        ),
        (
            "python3 -u -m torch.distributed.run --nproc_per_node=2 a.py",
            "python3 -u -m paddle.distributed.launch --nproc_per_node=2 a.py",
        ),
        (
            "A=1 python -m torch.distributed.launch --use_env --nproc_per_node=2 a.py > log 2>&1",
            "A=1 python -m paddle.distributed.launch --nproc_per_node=2 a.py > log 2>&1",
        ),
        (
            "torchrun \\\n  --nproc_per_node=2 \\\n  --standalone \\\n  a.py",
            "python -m paddle.distributed.launch \\\n  --nproc_per_node=2 \\\n  a.py",
        ),
    ],
)
def test_towards_paddle(before: str, after: str) -> None:
    assert _converted(before + "\n", "paddle") == after + "\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("python -m paddle.distributed.launch --nproc_per_node=2 a.py", "torchrun --nproc_per_node=2 a.py"),
        (
            'python -m paddle.distributed.launch --gpus "0,2" a.py',
            "CUDA_VISIBLE_DEVICES=0,2 torchrun --nproc_per_node=2 a.py",
        ),
        (
            "nohup python -m paddle.distributed.launch --devices=3 a.py &",
            "nohup env CUDA_VISIBLE_DEVICES=3 torchrun --nproc_per_node=1 a.py &",
        ),
        (
            "/opt/bin/python3 -m paddle.distributed.launch --nproc_per_node 2 a.py",
            "/opt/bin/python3 -m torch.distributed.run --nproc_per_node 2 a.py",
        ),
        (
            "fleetrun --nproc_per_node=2 --nnodes=2 --rank=1 --master=a:1 a.py",
            "torchrun --nproc_per_node=2 --nnodes=2 --node_rank=1 --master_addr=a --master_port=1 a.py",
        ),
    ],
)
def test_towards_torch(before: str, after: str) -> None:
    assert _converted(before + "\n", "torch") == after + "\n"


@pytest.mark.parametrize(
    "text",
    [
        "python -m torch.distributed.launch --nproc_per_node=2 a.py",  # hands --local-rank to the script
        "torchrun -m package.train",
        "torchrun --nproc_per_node=auto a.py",
        "torchrun --max_restarts=3 a.py",
        "torchrun --nnodes=1:4 --nproc_per_node=2 a.py",
        "torchrun --nnodes=2 --rdzv_endpoint=a:1 --nproc_per_node=2 a.py",
        "torchrun $OPTIONS a.py",
        "torchrun script",
        "torchrun --nproc_per_node=2",
        "torchrun --nproc_per_node=2 --nproc-per-node=3 a.py",
    ],
)
def test_what_is_not_exact_is_left_and_said(text: str) -> None:
    options = Options("paddle", project_files=True)
    result = convert_project_file(text.encode(), "run.sh", "shell", options, load())
    assert result.output == result.source
    assert [d.code for d in result.diagnostics] == ["PRJ202"]


@pytest.mark.parametrize(
    "text",
    [
        "python -m paddle.distributed.launch a.py",
        "python -m paddle.distributed.launch --gpus=$G a.py",
        "CUDA_VISIBLE_DEVICES=1 python -m paddle.distributed.launch --gpus=0 a.py",
        "python -m paddle.distributed.launch --ips=a,b --gpus=0 a.py",
        "python -m paddle.distributed.launch --nproc_per_node=2 --nnodes=2 a.py",
        "python -m paddle.distributed.launch --nproc_per_node=2 --log_dir=x a.py",
    ],
)
def test_what_is_not_exact_towards_torch_is_left_and_said(text: str) -> None:
    result = convert_project_file(text.encode(), "run.sh", "shell", Options("torch", project_files=True), load())
    assert result.output == result.source
    assert [d.code for d in result.diagnostics] == ["PRJ202"]


@pytest.mark.parametrize(
    "text",
    [
        "# torchrun a.py\n",
        "echo torchrun a.py\n",
        "echo 'torchrun a.py'\n",
        "cat <<EOF\ntorchrun a.py\nEOF\n",
        "cat <<-'EOF'\n\ttorchrun a.py\n\tEOF\n",
        "which torchrunner\n",
        "x='unclosed\ntorchrun a.py\n",
    ],
)
def test_what_is_no_command_is_left_in_silence(text: str) -> None:
    result = convert_project_file(text.encode(), "run.sh", "shell", Options("paddle", project_files=True), load())
    assert result.output == result.source
    assert not result.diagnostics
