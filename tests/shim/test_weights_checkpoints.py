"""Whole checkpoints: models beside optimizers, scalers and plain values; training goes on from them."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import paddle
import pytest
import torch
from click.testing import CliRunner, Result
from paddle.utils import unique_name
from paddletorch_shim import state
from paddletorch_shim.cli import state as command
from paddletorch_shim.weights import WeightsError, optimizer

pytestmark = pytest.mark.usefixtures("target_in_this_process")

HERE = Path(__file__).parent / "weights_models"
NETS: dict[str, Any] = {
    side: SimpleNamespace(**runpy.run_path(str(HERE / f"{side}_side" / "nets.py"))) for side in ("torch", "paddle")
}


def convert(*arguments: Any) -> Result:
    sys.modules.pop("nets", None)  # as in a process of its own
    return CliRunner().invoke(command, ["convert", *map(str, arguments)])


def references(source: str, name: str) -> list[str]:
    target = "paddle" if source == "torch" else "torch"
    return ["--model", f"{HERE}/{source}_side/nets:{name}", "--target-model", f"{HERE}/{target}_side/nets:{name}"]


# ------------------------------------------------------------------- optimizers


def batches() -> list[tuple[Any, Any, Any]]:
    rng = np.random.default_rng(4)
    return [
        (rng.integers(1, 11, (2, 7)), rng.integers(1, 11, (2, 7)), rng.standard_normal((2, 4, 6)).astype("float32"))
        for _ in range(8)
    ]


def model_of(side: str) -> Any:
    torch.manual_seed(2)
    paddle.seed(2)
    with unique_name.guard():  # names as in a process of its own
        return NETS[side].Seq2Seq()


def optimizer_of(side: str, kind: str, model: Any) -> Any:
    if side == "torch":
        make = {
            "Adam": lambda p: torch.optim.Adam(p, 1e-2),
            "AdamW": lambda p: torch.optim.AdamW(p, 1e-2, betas=(0.8, 0.99), amsgrad=True, weight_decay=0.1),
            "SGD": lambda p: torch.optim.SGD(p, 1e-2, momentum=0.9),
        }[kind]
        return make(model.parameters())
    make = {
        "Adam": lambda p: paddle.optimizer.Adam(1e-2, parameters=p),
        "AdamW": lambda p: paddle.optimizer.AdamW(1e-2, 0.8, 0.99, parameters=p, amsgrad=True, weight_decay=0.1),
        "SGD": lambda p: paddle.optimizer.Momentum(1e-2, 0.9, parameters=p),
    }[kind]
    with unique_name.guard():
        return make(model.parameters())


def train(side: str, model: Any, optimizer: Any, data: list[tuple[Any, Any, Any]]) -> list[float]:
    """The losses."""
    losses = []
    put = torch.from_numpy if side == "torch" else paddle.to_tensor
    for batch in data:
        with unique_name.guard():
            out = model(*map(put, batch))
            loss = (out["out"] ** 2).mean() + (out["attended"] - 1).abs().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad() if side == "torch" else optimizer.clear_grad()
            losses.append(float(loss))
    return losses


@pytest.mark.parametrize("kind", ["Adam", "AdamW", "SGD"])
@pytest.mark.parametrize("side", ["torch", "paddle"])
def test_training_goes_on_as_if_nothing_had_happened(tmp_path: Path, side: str, kind: str) -> None:
    other = "paddle" if side == "torch" else "torch"
    model = model_of(side)
    optimizing = optimizer_of(side, kind, model)
    data = batches()
    train(side, model, optimizing, data[:4])
    content = {"model": model.state_dict(), "optimizer": optimizing.state_dict(), "epoch": 4}
    source, target = tmp_path / "in.ckpt", tmp_path / "out.ckpt"
    if side == "torch":
        torch.save(content, source)
    else:
        source = tmp_path / "in.pdparams"
        paddle.save(content, str(source))
    betas = ["--betas", "0.8,0.99"] if (side, kind) == ("paddle", "AdamW") else []
    result = convert(source, target, "--to", other, *references(side, "Seq2Seq"), *betas)
    assert result.exit_code == 0, result.output
    expected = train(side, model, optimizing, data[4:])

    loaded = torch.load(target) if other == "torch" else paddle.load(str(target))
    assert loaded["epoch"] == 4
    resumed = model_of(other)
    fresh = optimizer_of(other, kind, resumed)
    if other == "torch":
        resumed.load_state_dict(loaded["model"])
        loaded["optimizer"]["param_groups"] = fresh.state_dict()["param_groups"]
        fresh.load_state_dict(loaded["optimizer"])
    else:
        resumed.set_state_dict(loaded["model"])
        fresh.set_state_dict(loaded["optimizer"])
    assert train(other, resumed, fresh, data[4:]) == pytest.approx(expected, rel=2e-4)

    forgetful = model_of(other)
    forgetful.load_state_dict(loaded["model"]) if other == "torch" else forgetful.set_state_dict(loaded["model"])
    without = train(other, forgetful, optimizer_of(other, kind, forgetful), data[4:])
    assert without != pytest.approx(expected, rel=2e-4), "the moments make no difference here: the test shows nothing"


def adam_state(count: int) -> Any:
    model = model_of("torch")
    optimizing = optimizer_of("torch", "Adam", model)
    train("torch", model, optimizing, batches()[:count])
    return model, optimizing.state_dict()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda s: s["state"][0].update(square_avg=s["state"][0].pop("exp_avg")), "square_avg of embed|square_avg of"),
        (
            lambda s: s["param_groups"].append({**s["param_groups"][0], "params": []}),
            "2 parameter groups without names",
        ),
        (lambda s: s["param_groups"][0]["params"].pop(), "no group lists"),
        (lambda s: s["param_groups"][0]["params"].append(99), "parameters and the model"),
        (lambda s: s["state"].update({0: s["state"][1], 1: s["state"][0]}), "not the parameter's"),
        (lambda s: s["param_groups"][0].pop("amsgrad"), "exp_avg of .* has no known counterpart"),
    ],
)
def test_an_uncertain_optimizer_state_is_an_error_with_the_way_out(tmp_path: Path, change: Any, text: str) -> None:
    model, saved = adam_state(1)
    change(saved)
    torch.save({"net": model.state_dict(), "opt": saved}, tmp_path / "in.pt")
    call = [tmp_path / "in.pt", tmp_path / "out.pdparams", "--to", "paddle", *references("torch", "Seq2Seq")]
    result = convert(*call)
    assert result.exit_code == 2
    assert re.search(f"opt: .*({text})", result.output), result.output
    assert [path.name for path in tmp_path.iterdir()] == ["in.pt"]
    result = convert(*call, "--drop", "opt")
    assert result.exit_code == 0, result.output
    assert "left: opt: dropped, as asked for" in result.output
    assert set(paddle.load(str(tmp_path / "out.pdparams"))) == {"net"}


def test_an_optimizer_needs_the_target_model(tmp_path: Path) -> None:
    model, saved = adam_state(1)
    torch.save({"net": model.state_dict(), "opt": saved}, tmp_path / "in.pt")
    without = references("torch", "Seq2Seq")[:2]
    result = convert(tmp_path / "in.pt", tmp_path / "out", "--to", "paddle", *without)
    assert result.exit_code == 2
    assert "opt: an optimizer's state needs the model beside it" in result.output


@pytest.mark.parametrize("steps", [0, 1, 7, 700, 2000])
def test_powers_of_betas_are_paddles_to_the_bit(steps: int) -> None:
    weight = paddle.create_parameter([1], "float32")
    weight.stop_gradient = False
    adam = paddle.optimizer.Adam(0.1, parameters=[weight])
    for _ in range(max(steps, 1)):
        weight.sum().backward()
        adam.step()
        adam.clear_grad()
    saved = adam.state_dict()
    powers = [float(saved[f"{weight.name}_beta{n}_pow_acc_0"].item()) for n in (1, 2)]
    if steps:
        assert [float(optimizer._power(beta, steps).values[0]) for beta in (0.9, 0.999)] == powers
        assert optimizer._count((powers[0], powers[1]), (0.9, 0.999)) == steps
    with pytest.raises(WeightsError, match="--betas"):
        optimizer._count((powers[0], powers[1]), (0.95, 0.999) if steps != 2000 else (0.9, 0.98))


# ------------------------------------------------------------------ what stands beside


SCALER = {"scale": 1024.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 7, "_growth_tracker": 5}


def test_everything_that_is_understood_is_converted_and_the_rest_is_named(tmp_path: Path) -> None:
    model = NETS["torch"].Classifier()
    scheduler = torch.optim.lr_scheduler.StepLR(torch.optim.SGD(model.parameters(), 0.1), 3)
    content = {
        "trainer": {"state_dict": model.state_dict(), "scaler": SCALER},
        "ema": {f"module.{key}": value for key, value in model.state_dict().items()},
        "optimizer": torch.optim.SGD(model.parameters(), 0.1).state_dict(),
        "scheduler": scheduler.state_dict(),
        "rng": torch.get_rng_state(),
        "other": {"weight": torch.ones(2)},
        "epoch": 3,
        "config": {"lr": 0.1, "layers": [1, 2], "name": "net", "nothing": None},
        "empty": {},
    }
    torch.save(content, tmp_path / "in.pt")
    target = tmp_path / "out.pdparams"
    call = [tmp_path / "in.pt", target, "--to", "paddle", *references("torch", "Classifier")]
    result = convert(*call, "--check", "--input-shape", "3x6:int64")
    assert result.exit_code == 0, result.output
    loaded = paddle.load(str(target))
    assert set(loaded) == {"trainer", "ema", "optimizer", "epoch", "config", "empty"}
    assert loaded["config"] == content["config"] and loaded["epoch"] == 3
    assert float(loaded["trainer"]["scaler"]["scale"][0]) == 1024.0
    assert set(loaded["trainer"]["scaler"]) == set(state.torch_to_paddle(SCALER))
    fresh = NETS["paddle"].Classifier()
    assert fresh.set_state_dict(loaded["trainer"]["state_dict"]) == ([], [])
    assert np.array_equal(fresh.fc.weight.numpy(), model.fc.weight.detach().numpy().T)
    assert np.array_equal(loaded["ema"]["fc.weight"].numpy(), model.fc.weight.detach().numpy().T)
    for text in (
        "prefix module. removed",
        "left: rng: a tensor of no known meaning",
        "left: scheduler: a scheduler keeps other fields there",
        "left: other: none of its keys (weight) is the model's",
        "check of trainer.state_dict: largest difference",
        "check of ema: largest difference",
    ):
        assert text in result.output


def test_a_key_takes_one_model_out(tmp_path: Path) -> None:
    model = NETS["torch"].Classifier()
    torch.save({"a": {"net": model.state_dict()}, "rng": torch.get_rng_state()}, tmp_path / "in.pt")
    call = [tmp_path / "in.pt", tmp_path / "out.pdparams", "--to", "paddle", *references("torch", "Classifier")]
    result = convert(*call, "--key", "a.net", "--check", "--input-shape", "3x6:int64")
    assert result.exit_code == 0, result.output
    assert "fc.weight" in paddle.load(str(tmp_path / "out.pdparams"))
    result = convert(*call[:1], tmp_path / "other", *call[2:], "--key", "a.absent")
    assert result.exit_code == 2
    assert "no key 'a.absent': a dict of net" in result.output


def test_a_scaler_state_that_torch_lacks_stops_all(tmp_path: Path) -> None:
    saved = {**state.torch_to_paddle(SCALER), "use_dynamic_loss_scaling": False}
    paddle.save({"model": NETS["paddle"].Classifier().state_dict(), "scaler": saved}, str(tmp_path / "in.pdparams"))
    result = convert(
        tmp_path / "in.pdparams", tmp_path / "out.pt", "--to", "torch", *references("paddle", "Classifier")
    )
    assert result.exit_code == 2
    assert "use_dynamic_loss_scaling" in result.output
    assert not (tmp_path / "out.pt").exists()
