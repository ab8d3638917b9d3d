"""Weights of real models, from one framework to the other and back: the outputs must be the same."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import paddle
import pytest
import torch
from click.testing import CliRunner, Result
from paddletorch_shim.cli import state as command

pytestmark = pytest.mark.usefixtures("target_in_this_process")

HERE = Path(__file__).parent / "weights_models"
Side = Literal["torch", "paddle"]
SUFFIX = {"torch": ".pt", "paddle": ".pdparams"}

SHAPES = {
    "ConvNet": ["2x3x17x17"],
    "Seq2Seq": ["2x7:int64", "2x7:int64", "2x4x6"],
    "Classifier": ["3x6:int64"],
    "Tied": ["2x5:int64"],
    "Rare": ["2x3x4"],
    "Projected": ["2x5x4"],
}


NETS: dict[str, Any] = {
    side: SimpleNamespace(**runpy.run_path(str(HERE / f"{side}_side" / "nets.py"))) for side in ("torch", "paddle")
}


def convert(*arguments: Any) -> Result:
    sys.modules.pop("nets", None)  # as in a process of its own
    return CliRunner().invoke(command, ["convert", *map(str, arguments)])


def other(side: Side) -> Side:
    return "paddle" if side == "torch" else "torch"


def random_state(model: Any, side: Side) -> Any:
    """A state dict of values that are all different from what a fresh model has."""
    rng = np.random.default_rng(3)
    own = model.state_dict()
    put = torch.from_numpy if side == "torch" else paddle.to_tensor
    made = {}
    for name, tensor in own.items():
        if "float" not in str(tensor.dtype):
            made[name] = tensor
            continue
        values = 0.4 * rng.standard_normal(tuple(tensor.shape))
        if name.endswith(("var", "variance")):
            values = np.abs(values) + 0.5
        if (
            name == "embed.weight"
            and getattr(model.embed, "padding_idx", getattr(model.embed, "_padding_idx", None)) == 0
        ):
            values[0] = 0
        made[name] = put(np.asarray(values, "float32"))
    model.load_state_dict(made) if side == "torch" else model.set_state_dict(made)
    return model.state_dict()


def save(side: Side, content: Any, path: Path) -> None:
    torch.save(content, path) if side == "torch" else paddle.save(content, str(path))


def references(side: Side, name: str, target: str | None = None) -> list[str]:
    return [
        "--model",
        f"{HERE}/{side}_side/nets:{name}",
        "--target-model",
        f"{HERE}/{other(side)}_side/nets:{target or name}",
    ]


def shapes(name: str) -> list[str]:
    return [part for shape in SHAPES[name] for part in ("--input-shape", shape)]


@pytest.mark.parametrize("side", ["torch", "paddle"])
@pytest.mark.parametrize("name", SHAPES)
def test_a_model_computes_the_same_with_converted_weights(tmp_path: Path, side: Side, name: str) -> None:
    source, target = tmp_path / f"in{SUFFIX[side]}", tmp_path / f"out{SUFFIX[other(side)]}"
    save(side, random_state(getattr(NETS[side], name)(), side), source)
    result = convert(source, target, "--to", other(side), *references(side, name), "--check", *shapes(name))
    assert result.exit_code == 0, result.output
    assert "largest difference" in result.output
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([source.name, target.name])


@pytest.mark.parametrize("side", ["torch", "paddle"])
@pytest.mark.parametrize("name", SHAPES)
def test_there_and_back_gives_every_bit(tmp_path: Path, side: Side, name: str) -> None:
    """The models of both sides are given, except where a tied tensor has one key there and two here."""
    paths = [tmp_path / f"a{SUFFIX[side]}", tmp_path / f"b{SUFFIX[other(side)]}", tmp_path / f"c{SUFFIX[side]}"]
    before = random_state(getattr(NETS[side], name)(), side)
    save(side, before, paths[0])
    there = convert(paths[0], paths[1], "--to", other(side), *references(side, name))
    assert there.exit_code == 0, there.output
    back = convert(paths[1], paths[2], "--to", side, *references(other(side), name))
    assert back.exit_code == 0, back.output
    after = torch.load(paths[2]) if side == "torch" else paddle.load(str(paths[2]))
    assert set(after) == set(before)
    for key, tensor in before.items():
        if not key.endswith("num_batches_tracked"):
            assert np.array_equal(tensor.numpy(), after[key].numpy()), key
