"""``initial_values="source"``: a converted layer starts with values of the distribution that the source draws.

Each layer is made by its own framework and, converted, by the other; bounds, means and deviations of each tensor are
compared. The sizes are large enough for the tolerances to be many deviations of what is measured.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import paddle
import pytest
import torch
from paddletorch import convert
from paddletorch.model import Framework

TORCH = {
    "linear": "torch.nn.Linear(2000, 1500)",
    "linear-without-bias": "torch.nn.Linear(800, 700, bias=False)",
    "linear-float64": "torch.nn.Linear(2000, 1500, dtype=torch.float64)",
    "bilinear": "torch.nn.Bilinear(40, 60, 1500)",
    "conv1d": "torch.nn.Conv1d(200, 1500, 3)",
    "conv2d": "torch.nn.Conv2d(64, 1500, 3)",
    "conv2d-groups": "torch.nn.Conv2d(64, 2000, (3, 2), groups=4)",
    "conv3d": "torch.nn.Conv3d(16, 1500, 2)",
    "conv_transpose1d": "torch.nn.ConvTranspose1d(200, 1500, 3)",
    "conv_transpose2d": "torch.nn.ConvTranspose2d(64, 1500, 2, groups=4)",
    "conv_transpose3d": "torch.nn.ConvTranspose3d(16, 1500, 2)",
    "embedding": "torch.nn.Embedding(1000, 300)",
    "embedding-padding": "torch.nn.Embedding(1000, 300, padding_idx=3)",
    "attention": "torch.nn.MultiheadAttention(512, 4, batch_first=True)",
    "attention-kdim": "torch.nn.MultiheadAttention(512, 4, kdim=256, vdim=384, batch_first=True)",
    "encoder_layer": "torch.nn.TransformerEncoderLayer(512, 4, 1500, batch_first=True)",
    "decoder_layer": "torch.nn.TransformerDecoderLayer(512, 4, 1500, batch_first=True)",
    "lstm": "torch.nn.LSTM(300, 400, 2)",
    "gru": "torch.nn.GRU(300, 400)",
    "rnn": "torch.nn.RNN(300, 800)",
    "lstm_cell": "torch.nn.LSTMCell(300, 400)",
    "gru_cell": "torch.nn.GRUCell(300, 400)",
    "rnn_cell": "torch.nn.RNNCell(300, 800)",
}
PADDLE = {
    "linear": "paddle.nn.Linear(600, 700)",
    "linear-without-bias": "paddle.nn.Linear(600, 700, bias_attr=False)",
    "linear-own-weight": "paddle.nn.Linear(600, 700, weight_attr=paddle.nn.initializer.Uniform(-0.5, 0.5))",
    "linear-own-bias": "paddle.nn.Linear(600, 700, bias_attr=paddle.nn.initializer.Constant(0.5))",
    "linear-no-initializer": "paddle.nn.Linear(600, 700, weight_attr=paddle.ParamAttr(trainable=False))",
    "bilinear": "paddle.nn.Bilinear(60, 40, 150)",
    "conv1d": "paddle.nn.Conv1D(200, 300, 3)",
    "conv2d": "paddle.nn.Conv2D(64, 300, 3)",
    "conv2d-groups": "paddle.nn.Conv2D(64, 400, (3, 2), groups=4)",
    "conv3d": "paddle.nn.Conv3D(32, 300, 2)",
    "conv_transpose1d": "paddle.nn.Conv1DTranspose(200, 300, 3)",
    "conv_transpose2d": "paddle.nn.Conv2DTranspose(64, 400, 3, groups=4)",
    "conv_transpose3d": "paddle.nn.Conv3DTranspose(32, 300, 2)",
    "embedding": "paddle.nn.Embedding(1000, 300)",
    "embedding-padding": "paddle.nn.Embedding(1000, 300, padding_idx=3)",
    "attention": "paddle.nn.MultiHeadAttention(512, 4)",
    "attention-kdim": "paddle.nn.MultiHeadAttention(512, 4, kdim=256, vdim=384)",
    "encoder_layer": "paddle.nn.TransformerEncoderLayer(512, 4, 1500)",
    "decoder_layer": "paddle.nn.TransformerDecoderLayer(512, 4, 1500)",
    "lstm": "paddle.nn.LSTM(300, 400, 2)",
    "gru": "paddle.nn.GRU(300, 400)",
    "rnn": "paddle.nn.SimpleRNN(300, 800)",
    "lstm_cell": "paddle.nn.LSTMCell(300, 400)",
    "gru_cell": "paddle.nn.GRUCell(300, 400)",
    "rnn_cell": "paddle.nn.SimpleRNNCell(300, 800)",
}
CASES = [("torch", layer) for layer in TORCH.values()] + [("paddle", layer) for layer in PADDLE.values()]
IDS = [f"torch-{name}" for name in TORCH] + [f"paddle-{name}" for name in PADDLE]
STARTS_ALIKE = ("LSTM", "GRU", "RNN")
"""Layers whose values the frameworks draw alike, so that nothing is written."""

BY_COUNT = ("in_proj_weight", "in_proj_bias")
"""Tensors of torch that are three of Paddle's."""


def program(framework: str, layer: str) -> str:
    """A program that makes the layer."""
    return f"import {framework}\nlayer = {layer}\n"


def to_other(framework: str, code: str, *, values: Literal["source", "target"] = "source") -> Any:
    """The program, converted."""
    target: Framework = "paddle" if framework == "torch" else "torch"
    return convert(code, to=target, initial_values=values)


def drawn(code: str) -> dict[str, Any]:
    """The values of each tensor of the layer that the program makes, by torch's names."""
    torch.manual_seed(0)
    paddle.seed(0)
    names: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(code, names)
    found: dict[str, Any] = {}
    for name, tensor in names["layer"].named_parameters():
        values = np.asarray(tensor.detach().numpy(), dtype="float64").ravel()
        for kind in ("weight", "bias"):
            for letter in "qkv":
                name = name.replace(f"{letter}_proj_{kind}", f"{letter}_proj.{kind}")
        name = name.replace("multihead_attn", "cross_attn")
        parts = dict(zip("qkv", np.split(values, 3), strict=True)) if name.endswith(BY_COUNT) else {}
        for letter, part in parts.items():
            found[name.replace("in_proj_", f"{letter}_proj.")] = part
        if not parts:
            found[name] = values
    return found


def differences(first: dict[str, Any], second: dict[str, Any]) -> Iterator[str]:
    """What the two layers do not have in common."""
    if first.keys() != second.keys():
        yield f"tensors: {sorted(first.keys() ^ second.keys())}"
    for name in first.keys() & second.keys():
        one, other = first[name], second[name]
        spread = one.std()
        bounded = abs(one).max() < 2 * spread  # a normal distribution has no bound
        if one.size != other.size:
            yield f"{name}: {one.size} and {other.size} values"
        elif bounded and abs(abs(other).max() / abs(one).max() - 1) > 0.01:
            yield f"{name}: bounds {abs(one).max()} and {abs(other).max()}"
        elif abs(other.std() - spread) > (0.02 if one.size > 5000 else 0.06) * spread:
            yield f"{name}: deviations {spread} and {other.std()}"
        elif abs(one.mean() - other.mean()) > max(0.02, 6 / one.size**0.5) * spread:
            yield f"{name}: means {one.mean()} and {other.mean()}"
        elif np.count_nonzero(one == 0) != np.count_nonzero(other == 0):
            yield f"{name}: {np.count_nonzero(one == 0)} and {np.count_nonzero(other == 0)} zeros"


@pytest.mark.parametrize(("framework", "layer"), CASES, ids=IDS)
def test_a_converted_layer_starts_as_in_the_source(framework: str, layer: str) -> None:
    result = to_other(framework, program(framework, layer))
    assert {finding.code for finding in result.findings}.isdisjoint({"NNL207", "NNL210"})
    assert list(differences(drawn(program(framework, layer)), drawn(result.output))) == []


@pytest.mark.parametrize(("framework", "layer"), CASES, ids=IDS)
def test_a_second_conversion_changes_nothing(framework: str, layer: str) -> None:
    output = to_other(framework, program(framework, layer)).output
    assert to_other(framework, output).output == output


@pytest.mark.parametrize(("framework", "layer"), CASES, ids=IDS)
def test_the_default_is_what_the_target_draws(framework: str, layer: str) -> None:
    code = program(framework, layer)
    output = to_other(framework, code, values="target").output
    if any(name in layer for name in STARTS_ALIKE):
        assert output == to_other(framework, code).output
        return
    if "own" not in layer:
        assert list(differences(drawn(code), drawn(output)))  # else nothing needs to be written
