"""State dicts of both frameworks into each other, in memory and in files."""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy
import paddle
import pytest
import torch
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st
from paddletorch_shim import checkpoints, state
from paddletorch_shim.cli import state as command
from paddletorch_shim.limits import Limits
from paddletorch_shim.parity.scalers import paddle_scaler_active

TORCH_STATE = {
    "scale": 1024.0,
    "growth_factor": 3.0,
    "backoff_factor": 0.25,
    "growth_interval": 7,
    "_growth_tracker": 5,
}

torch_states = st.fixed_dictionaries(
    {
        "scale": st.floats(2.0**-40, 2.0**127, width=32),
        "growth_factor": st.floats(1.0, 100.0),
        "backoff_factor": st.floats(0.001, 1.0),
        "growth_interval": st.integers(1, 10**6),
        "_growth_tracker": st.integers(0, 10**6),
    }
)


@given(torch_states)
def test_torch_to_paddle_and_back_loses_nothing(saved: dict[str, Any]) -> None:
    assert state.paddle_to_torch(state.torch_to_paddle(saved)) == saved


@given(torch_states)
def test_both_real_scalers_load_the_converted_state(saved: dict[str, Any]) -> None:
    converted = state.torch_to_paddle(saved)
    with paddle_scaler_active():
        real = paddle.amp.GradScaler()
        real.load_state_dict(converted)
        again = real.state_dict()
    assert set(again) == set(converted)
    assert again == converted
    real_torch = torch.amp.GradScaler("cpu")
    real_torch.load_state_dict(state.paddle_to_torch(again))
    assert real_torch.state_dict() == saved


def paddle_state(**changes: Any) -> dict[str, Any]:
    return {**state.torch_to_paddle(TORCH_STATE), **changes}


@pytest.mark.parametrize(
    ("field", "value"),
    [("use_dynamic_loss_scaling", False), ("decr_every_n_nan_or_inf", 2), ("decr_count", 1)],
)
def test_what_torch_cannot_say_is_an_error_with_the_way_out(field: str, value: Any) -> None:
    with pytest.raises(state.StateConversionError, match=field) as error:
        state.paddle_to_torch(paddle_state(**{field: value}))
    assert "paddletorch_shim.torch.GradScaler" in str(error.value)


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"scale": numpy.array([numpy.inf], "float32")}, ValueError, "scale must be a positive number"),
        ({"scale": numpy.array([1.0, 2.0], "float32")}, ValueError, "must hold one number"),
        ({"scale": "1"}, TypeError, "scale must be a number"),
        ({"incr_ratio": 0.5}, ValueError, "incr_ratio is out of range"),
        ({"incr_every_n_steps": 0}, ValueError, "incr_every_n_steps must be at least 1"),
        ({"incr_count": -1}, ValueError, "incr_count must be a count of steps"),
        ({"surplus": 1}, KeyError, "unknown surplus"),
    ],
)
def test_a_damaged_state_is_an_error_that_names_the_field(
    changes: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        state.paddle_to_torch(paddle_state(**changes))


def test_scale_is_read_from_arrays_and_tensors_of_both_frameworks() -> None:
    for scale in (8.0, [8.0], numpy.array([8.0], "float32"), torch.tensor([8.0]), paddle.to_tensor([8.0])):
        assert state.paddle_to_torch(paddle_state(scale=scale))["scale"] == 8.0


def test_the_wrong_frameworks_state_is_named() -> None:
    with pytest.raises(KeyError, match="torch_to_paddle"):
        state.paddle_to_torch(TORCH_STATE)


# ---------------------------------------------------------------------- files


def convert(*arguments: Any) -> Result:
    return CliRunner().invoke(command, ["convert", *map(str, arguments)])


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def real_paddle_state() -> dict[str, Any]:
    with paddle_scaler_active():
        scaler = paddle.amp.GradScaler(init_loss_scaling=1024.0, incr_every_n_steps=7)
        for _ in range(5):
            scaler.update()
        saved: dict[str, Any] = scaler.state_dict()
    return saved


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("key", [None, "scaler", "trainer.scaler"])
def test_a_torch_checkpoint_becomes_one_that_paddle_loads(tmp_path: Path, legacy: bool, key: str | None) -> None:
    content: Any = TORCH_STATE
    for part in reversed((key or "").split(".")):
        content = {part: content, "model": torch.nn.Linear(2, 2).state_dict()} if part else content
    source, target = tmp_path / "in.pt", tmp_path / "out.pdparams"
    torch.save(content, source, _use_new_zipfile_serialization=not legacy)
    before = source.read_bytes()
    result = convert(source, target, "--to", "paddle", *(["--key", key] if key else []))
    assert result.exit_code == 0, result.output
    assert "scale 1024, 5 finite steps counted" in result.output
    with paddle_scaler_active():
        scaler = paddle.amp.GradScaler()
        scaler.load_state_dict(paddle.load(str(target)))
        loaded = scaler.state_dict()
    assert loaded == state.torch_to_paddle(TORCH_STATE)
    assert source.read_bytes() == before
    assert names(tmp_path) == ["in.pt", "out.pdparams"]


def wrap_nothing(saved: Any) -> Any:
    return saved


def wrap_beside_a_model(saved: Any) -> Any:
    layer = paddle.nn.Linear(2, 2)
    optimizer = paddle.optimizer.Adam(0.1, parameters=layer.parameters())
    layer(paddle.ones([1, 2])).sum().backward()
    optimizer.step()
    return {"model": layer.state_dict(), "opt": optimizer.state_dict(), "scaler": saved, "epoch": 3}


def wrap_with_tensors(saved: Any) -> Any:
    return {"scaler": {**saved, "scale": paddle.to_tensor(saved["scale"])}, "dense": paddle.ones([2])}


@pytest.mark.parametrize("wrap", [wrap_nothing, wrap_beside_a_model, wrap_with_tensors])
def test_a_paddle_checkpoint_becomes_one_that_torch_loads(tmp_path: Path, wrap: Any) -> None:
    source, target = tmp_path / "in.pdparams", tmp_path / "out.pt"
    saved = real_paddle_state()
    paddle.save(wrap(saved), str(source))
    result = convert(source, target, "--to", "torch")
    assert result.exit_code == 0, result.output
    scaler = torch.amp.GradScaler("cpu")
    scaler.load_state_dict(torch.load(target, weights_only=True))
    assert scaler.state_dict() == {**state.paddle_to_torch(saved)}
    assert scaler.state_dict()["_growth_tracker"] == 5


class Exploit:
    """Would make a file if it were unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (os.mkdir, (str(self.path),))


@pytest.mark.parametrize("suffix", [".pdparams", ".pdopt", ".pkl", ".pt", ".ckpt"])
@pytest.mark.parametrize("how", ["pickle", "torch"])
def test_no_code_of_a_checkpoint_is_run(tmp_path: Path, suffix: str, how: str) -> None:
    source, target, proof = tmp_path / f"in{suffix}", tmp_path / "out", tmp_path / "proof"
    content = {"scaler": TORCH_STATE, "x": Exploit(proof)}
    if how == "torch":
        torch.save(content, source)
    else:
        source.write_bytes(pickle.dumps(content))
    result = convert(source, target, "--to", "paddle")
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit)
    assert not proof.exists()
    assert not target.exists()


@pytest.mark.parametrize("expression", ["__import__('os').mkdir(proof)", "data"])
def test_paddles_eval_is_never_called(tmp_path: Path, expression: str) -> None:
    class Evaluated:
        def __reduce__(self) -> Any:
            return (eval, (expression, {"proof": str(tmp_path / "proof")}))

    source = tmp_path / "in.pdparams"
    source.write_bytes(pickle.dumps({"scaler": Evaluated()}))
    with pytest.raises(checkpoints.CheckpointError, match="refusing to evaluate"):
        checkpoints.load(source, Limits())
    assert not (tmp_path / "proof").exists()


def test_a_dense_tensor_of_paddle_is_read(tmp_path: Path) -> None:
    class Dense:
        def __reduce__(self) -> Any:
            return (eval, ("data", {"data": numpy.array([8.0], "float32")}))

    source = tmp_path / "in.pdparams"
    source.write_bytes(pickle.dumps(Dense()))
    assert checkpoints.load(source, Limits()).tolist() == [8.0]


def test_the_output_never_replaces_a_file(tmp_path: Path) -> None:
    source, other, link = tmp_path / "in.pt", tmp_path / "other.pt", tmp_path / "link.pt"
    torch.save(TORCH_STATE, source)
    other.write_bytes(b"precious")
    link.symlink_to(source)
    before = source.read_bytes()
    for target, text in ((source, "is the input"), (link, "is the input"), (other, "exists")):
        result = convert(source, target, "--to", "paddle")
        assert result.exit_code == 2
        assert text in result.output
    assert source.read_bytes() == before
    assert other.read_bytes() == b"precious"


@pytest.mark.parametrize(
    ("content", "arguments", "text"),
    [
        ({"model": {}}, (), "no scaler state in it: a dict of model"),
        ({}, (), "an empty dict"),
        ([1, 2], (), "a list"),
        (
            {"a": TORCH_STATE, "b": {"c": TORCH_STATE}},
            (),
            "several scaler states: choose one with --key: a, b.c",
        ),
        ({"a": TORCH_STATE}, ("--key", "b"), "no key 'b': a dict of a"),
        ({"a": {"x": 1}}, ("--key", "a"), "'a' holds no scaler state: a dict of x"),
        ({**TORCH_STATE, "scale": 0.0}, (), "scale must be a positive number"),
        ({**TORCH_STATE, "more": 0.0}, (), "unknown more"),
    ],
)
def test_files_without_a_usable_state(tmp_path: Path, content: Any, arguments: tuple[str, ...], text: str) -> None:
    source = tmp_path / "in.pt"
    torch.save(content, source)
    result = convert(source, tmp_path / "out", "--to", "paddle", *arguments)
    assert result.exit_code == 2
    assert text in result.output
    assert names(tmp_path) == ["in.pt"]


def test_a_state_of_the_target_framework_is_nothing_to_convert(tmp_path: Path) -> None:
    torch.save(TORCH_STATE, tmp_path / "in.pt")
    result = convert(tmp_path / "in.pt", tmp_path / "out.pt", "--to", "torch")
    assert result.exit_code == 2
    assert "of torch already" in result.output


@pytest.mark.parametrize("name", ["in.pt", "in.pdparams"])
@pytest.mark.parametrize("content", [b"", b"\x80", b"PK\x03\x04 not a zip", b"hello\n", b"\x80\x04K\x01"])
def test_damaged_files(tmp_path: Path, name: str, content: bytes) -> None:
    source = tmp_path / name
    source.write_bytes(content)
    result = convert(source, tmp_path / "out", "--to", "paddle")
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit), result.exception
    assert names(tmp_path) == [name]


def test_without_torch_the_error_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.save(TORCH_STATE, tmp_path / "in.pt")
    monkeypatch.setitem(sys.modules, "torch", None)
    result = convert(tmp_path / "in.pt", tmp_path / "out", "--to", "paddle")
    assert result.exit_code == 2
    assert "pip install 'paddletorch[torch]'" in result.output


def test_missing_input_and_missing_folder(tmp_path: Path) -> None:
    assert convert(tmp_path / "absent.pt", tmp_path / "out", "--to", "paddle").exit_code == 2
    torch.save(TORCH_STATE, tmp_path / "in.pt")
    result = convert(tmp_path / "in.pt", tmp_path / "absent" / "out", "--to", "paddle")
    assert result.exit_code == 2
    assert "No such file or directory" in result.output
