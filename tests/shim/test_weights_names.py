"""Weights without a model: certain keys convert, the others are named with the way out; dtypes, files, tied tensors."""

from __future__ import annotations

import os
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
from paddletorch_shim.cli import state as command

HERE = Path(__file__).parent / "weights_models"
NETS: dict[str, Any] = {
    side: SimpleNamespace(**runpy.run_path(str(HERE / f"{side}_side" / "nets.py"))) for side in ("torch", "paddle")
}


def convert(*arguments: Any) -> Result:
    sys.modules.pop("nets", None)  # as in a process of its own
    return CliRunner().invoke(command, ["convert", *map(str, arguments)])


def reference(side: str, name: str) -> list[str]:
    return ["--model", f"{HERE}/{side}_side/nets:{name}"]


def cnn(side: str) -> Any:
    """Convolutions and batch norms, whose names are enough, and a linear layer, whose are not."""
    if side == "torch":
        t = torch.nn
        return t.Sequential(t.Conv2d(3, 4, 3), t.BatchNorm2d(4), t.ReLU(), t.Flatten(), t.Linear(16, 16))
    p = paddle.nn
    return p.Sequential(p.Conv2D(3, 4, 3), p.BatchNorm2D(4), p.ReLU(), p.Flatten(), p.Linear(16, 16))


def outputs(side: str, model: Any) -> Any:
    values = np.random.default_rng(1).standard_normal((2, 3, 4, 4)).astype("float32")
    model.eval()
    result = model(torch.from_numpy(values) if side == "torch" else paddle.to_tensor(values))
    return result.detach().numpy()


@pytest.mark.parametrize("side", ["torch", "paddle"])
def test_a_pattern_says_what_the_names_do_not(tmp_path: Path, side: str) -> None:
    other = "paddle" if side == "torch" else "torch"
    model, source, target = cnn(side), tmp_path / "in.pt", tmp_path / "out.pt"
    if side == "torch":
        torch.save(model.state_dict(), source)
    else:
        source = tmp_path / "in.pdparams"
        paddle.save(model.state_dict(), str(source))
    result = convert(source, target, "--to", other)
    assert result.exit_code == 2
    assert "4.weight: Linear keeps a tensor of this name in another way" in result.output
    assert "--linear PATTERN (transposed)" in result.output
    assert not target.exists()
    result = convert(source, target, "--to", other, "--linear", "4.*eight")
    assert result.exit_code == 0, result.output
    fresh = cnn(other)
    if other == "torch":
        fresh.load_state_dict(torch.load(target))
    else:
        assert fresh.set_state_dict(paddle.load(str(target))) == ([], [])
    assert np.allclose(outputs(side, model), outputs(other, fresh), atol=1e-5)


@pytest.mark.parametrize(
    ("make", "keys"),
    [
        (lambda: torch.nn.Embedding(3, 2), ["weight"]),
        (lambda: torch.nn.LayerNorm(3), ["weight"]),
        (lambda: torch.nn.PReLU(3), ["weight"]),
        (lambda: torch.nn.InstanceNorm2d(3, affine=True), ["weight"]),
        (lambda: torch.nn.LayerNorm([3, 4]), ["weight", "bias"]),
        (lambda: torch.nn.Bilinear(2, 3, 4), ["bias"]),
        (lambda: torch.nn.LSTM(3, 4, proj_size=2), ["weight_hr_l0"]),
        (lambda: torch.nn.TransformerDecoderLayer(4, 2, 8), ["multihead_attn.in_proj_weight"]),
        (lambda: torch.nn.utils.weight_norm(torch.nn.Conv1d(3, 2, 2)), ["weight_g"]),
        (lambda: torch.nn.MultiheadAttention(4, 2, add_bias_kv=True), ["bias_k"]),
    ],
)
def test_keys_that_depend_on_the_module_are_refused(tmp_path: Path, make: Any, keys: list[str]) -> None:
    torch.save(make().state_dict(), tmp_path / "in.pt")
    result = convert(tmp_path / "in.pt", tmp_path / "out", "--to", "paddle")
    assert result.exit_code == 2
    assert "give --model" in result.output
    for key in keys:
        assert key in result.output


@pytest.mark.parametrize(
    "makes",
    [
        (lambda: torch.nn.Conv2d(4, 6, 3), lambda: paddle.nn.Conv2D(4, 6, 3)),
        (lambda: torch.nn.MultiheadAttention(4, 2), lambda: paddle.nn.MultiHeadAttention(4, 2)),
        (lambda: torch.nn.LSTM(3, 4, 2, bidirectional=True), lambda: paddle.nn.LSTM(3, 4, 2, direction="bidirect")),
        (lambda: torch.nn.GRUCell(3, 4), lambda: paddle.nn.GRUCell(3, 4)),
    ],
)
def test_names_that_only_one_module_has_are_enough(tmp_path: Path, makes: Any) -> None:
    torch_model, paddle_model = (make() for make in makes)
    torch.save(torch_model.state_dict(), tmp_path / "in.pt")
    result = convert(tmp_path / "in.pt", tmp_path / "there", "--to", "paddle")
    assert result.exit_code == 0, result.output
    assert paddle_model.set_state_dict(paddle.load(str(tmp_path / "there"))) == ([], [])


def test_patterns_that_contradict_or_match_nothing(tmp_path: Path) -> None:
    torch.save(cnn("torch").state_dict(), tmp_path / "in.pt")
    call = [tmp_path / "in.pt", tmp_path / "out", "--to", "paddle", "--linear", "4.weight"]
    result = convert(*call, "--keep", "*.weight")
    assert result.exit_code == 2
    assert "4.weight: --linear 4.weight and --keep *.weight contradict each other" in result.output
    result = convert(*call, "--drop", "head.*")
    assert result.exit_code == 2
    assert "no key matches --drop head.*" in result.output
    assert not (tmp_path / "out").exists()


# ------------------------------------------------------------------------ dtypes

NUMBERS = [1.0, -2.5, 3.140625, float("inf"), 1e-30, -0.0]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float64", "int64", "int8", "uint8", "bool", "complex64"])
def test_dtypes_go_there_and_back(tmp_path: Path, dtype: str) -> None:
    values = torch.tensor(NUMBERS if "float" in dtype else [0, 1, 2, 3, 4, 5]).to(getattr(torch, dtype)).reshape(2, 3)
    saved = {"table": values, "scalar": values[0, 0].clone(), "nothing": values[:0]}
    torch.save(saved, tmp_path / "a.pt")
    result = convert(tmp_path / "a.pt", tmp_path / "b.pdparams", "--to", "paddle")
    assert result.exit_code == 0, result.output
    loaded = paddle.load(str(tmp_path / "b.pdparams"))
    assert {str(tensor.dtype) for tensor in loaded.values()} == {f"paddle.{dtype}"}
    paddle.save(loaded, str(tmp_path / "c.pdparams"))
    result = convert(tmp_path / "c.pdparams", tmp_path / "d.pt", "--to", "torch")
    assert result.exit_code == 0, result.output
    back = torch.load(tmp_path / "d.pt")
    for key, tensor in saved.items():
        assert back[key].dtype == tensor.dtype
        assert back[key].shape == tensor.shape
        assert torch.equal(back[key], tensor)


def test_a_bfloat16_model_is_converted_and_checked(tmp_path: Path) -> None:
    model = NETS["torch"].Tied().to(torch.bfloat16)
    torch.save(model.state_dict(), tmp_path / "in.pt")
    target = ["--target-model", f"{HERE}/paddle_side/nets:Tied", "--check", "--input-shape", "2x5:int64"]
    result = convert(tmp_path / "in.pt", tmp_path / "out", "--to", "paddle", *reference("torch", "Tied"), *target)
    assert result.exit_code == 0, result.output
    loaded = paddle.load(str(tmp_path / "out"))["body.weight"]
    assert loaded.dtype == paddle.bfloat16
    assert np.array_equal(loaded.astype("float32").numpy(), model.body.weight.detach().float().numpy().T)


@pytest.mark.parametrize(
    ("tensor", "text"),
    [
        (torch.ones(2, 2).to_sparse(), "table: a sparse or quantized tensor"),
        (torch.ones(2, 2).to(torch.float8_e4m3fn), "table: dtype float8_e4m3fn cannot be carried"),
    ],
)
def test_tensors_that_cannot_be_carried(tmp_path: Path, tensor: Any, text: str) -> None:
    torch.save({"table": tensor, "x": torch.ones(1)}, tmp_path / "in.pt")
    result = convert(tmp_path / "in.pt", tmp_path / "out", "--to", "paddle")
    assert result.exit_code == 2
    assert text in result.output
    result = convert(tmp_path / "in.pt", tmp_path / "out", "--to", "paddle", "--drop", "table")
    assert result.exit_code == 0, result.output
    assert set(paddle.load(str(tmp_path / "out"))) == {"x"}


# ------------------------------------------------------------- tied, padded, prefixed


def test_tied_tensors_of_two_layouts_are_told(tmp_path: Path) -> None:
    torch.save(NETS["torch"].Tied().state_dict(), tmp_path / "in.pt")
    result = convert(tmp_path / "in.pt", tmp_path / "out", "--to", "paddle", *reference("torch", "Tied"))
    assert result.exit_code == 0, result.output
    assert "embed.weight and head.weight are one tensor in torch and two layouts in paddle" in result.output


def test_tied_tensors_that_differ_in_the_file(tmp_path: Path) -> None:
    state = {key: value.clone() for key, value in NETS["torch"].Tied().state_dict().items()}
    state["head.weight"] += 1
    torch.save(state, tmp_path / "in.pt")
    result = convert(tmp_path / "in.pt", tmp_path / "out", "--to", "paddle", *reference("torch", "Tied"))
    assert result.exit_code == 2
    assert "embed.weight and head.weight are one tensor in the model and differ in the file" in result.output


@pytest.mark.parametrize("side", ["torch", "paddle"])
def test_a_padding_row_that_is_not_zero_would_change_the_outputs(tmp_path: Path, side: str) -> None:
    model = NETS[side].Seq2Seq()
    state = model.state_dict()
    key, path = "embed.weight", tmp_path / "in"
    if side == "torch":
        state[key][0] = 1
        path = path.with_suffix(".pt")
        torch.save(state, path)
    else:
        state[key] = paddle.ones_like(state[key])
        paddle.save(state, str(path))
    other = "paddle" if side == "torch" else "torch"
    result = convert(path, tmp_path / "out", "--to", other, *reference(side, "Seq2Seq"))
    assert result.exit_code == 2
    assert "embed.weight: row 0, of padding_idx, is not zero" in result.output
    result = convert(path, tmp_path / "out", "--to", other, *reference(side, "Seq2Seq"), "--keep", key)
    assert result.exit_code == 0, result.output


def test_a_file_that_lacks_some_of_the_model(tmp_path: Path) -> None:
    state = NETS["torch"].Classifier().state_dict()
    del state["fc.weight"]
    torch.save(state, tmp_path / "in.pt")
    call = [tmp_path / "in.pt", tmp_path / "out", "--to", "paddle", *reference("torch", "Classifier")]
    result = convert(*call, "--target-model", f"{HERE}/paddle_side/nets:Classifier")
    assert result.exit_code == 2
    assert "nothing in the file becomes its fc.weight" in result.output
    result = convert(*call)
    assert result.exit_code == 0, result.output
    assert "not in the file, though in the model: fc.weight" in result.output


def test_part_of_a_joined_tensor_is_not_enough(tmp_path: Path) -> None:
    state = NETS["paddle"].Seq2Seq().state_dict()
    del state["body.encoder.layers.0.self_attn.k_proj.weight"]
    paddle.save(state, str(tmp_path / "in"))
    result = convert(tmp_path / "in", tmp_path / "out", "--to", "torch", *reference("paddle", "Seq2Seq"))
    assert result.exit_code == 2
    assert "body.encoder.layers.0.self_attn.in_proj_weight is made of" in result.output


# ------------------------------------------------------------------------- files


@pytest.mark.parametrize("side", ["torch", "paddle"])
def test_safetensors(tmp_path: Path, side: str) -> None:
    library = pytest.importorskip(f"safetensors.{side}")
    other = "paddle" if side == "torch" else "torch"
    model, source, target = cnn(side), tmp_path / "in.safetensors", tmp_path / "out.safetensors"
    dtype = torch.bfloat16 if side == "torch" else "bfloat16"
    model[0].to(dtype=dtype)
    library.save_file(model.state_dict(), str(source))
    result = convert(source, target, "--to", other, "--linear", "4.weight")
    assert result.exit_code == 0, result.output
    loaded = pytest.importorskip(f"safetensors.{other}").load_file(str(target))
    assert "bfloat16" in str(loaded["0.weight"].dtype)
    assert np.array_equal(loaded["4.weight"].numpy().T, model[4].weight.detach().numpy())


def test_a_damaged_safetensors_file(tmp_path: Path) -> None:
    (tmp_path / "in.safetensors").write_bytes(b"nothing of the kind")
    result = convert(tmp_path / "in.safetensors", tmp_path / "out", "--to", "paddle", "--keep", "*")
    assert result.exit_code == 2
    assert "is not a safetensors file" in result.output


def test_the_wrong_direction_is_named(tmp_path: Path) -> None:
    torch.save({"x": torch.ones(1)}, tmp_path / "in.pt")
    result = convert(tmp_path / "in.pt", tmp_path / "out", "--to", "torch")
    assert result.exit_code == 2
    assert "is a torch checkpoint" in result.output
    paddle.save({"x": paddle.ones([1])}, str(tmp_path / "in.pdparams"))
    result = convert(tmp_path / "in.pdparams", tmp_path / "out", "--to", "paddle")
    assert result.exit_code == 2
    assert "is a Paddle checkpoint" in result.output


def test_no_code_of_a_checkpoint_is_run(tmp_path: Path) -> None:
    class Exploit:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(tmp_path / "proof"),)

    torch.save({"weight": torch.ones(1), "x": Exploit()}, tmp_path / "in.pt")
    result = convert(tmp_path / "in.pt", tmp_path / "out", "--to", "paddle", "--keep", "*")
    assert result.exit_code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["in.pt"]


def test_the_output_never_replaces_a_file(tmp_path: Path) -> None:
    torch.save({"x": torch.ones(1)}, tmp_path / "in.pt")
    (tmp_path / "out").write_bytes(b"precious")
    result = convert(tmp_path / "in.pt", tmp_path / "out", "--to", "paddle", "--keep", "x")
    assert result.exit_code == 2
    assert (tmp_path / "out").read_bytes() == b"precious"
