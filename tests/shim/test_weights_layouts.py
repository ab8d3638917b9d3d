"""The table of layouts against real modules of both frameworks: names, shapes, and what the modules compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import paddle
import pytest
import torch
from paddletorch_rules.adapters import adapters, definitions, functions
from paddletorch_rules.layouts import LAYOUTS
from paddletorch_shim.weights import WeightsError, layout
from paddletorch_shim.weights.arrays import Array, to_array
from paddletorch_shim.weights.state import Choices, convert

P, T = paddle.nn, torch.nn


def adapter(name: str) -> Any:
    """The class that the converter writes into a file for this class of torch's."""
    found = adapters("paddle")[f"torch.nn.{name}"]
    names: dict[str, Any] = {"paddle": paddle}
    for one in definitions("paddle", found):
        exec(one.text, names)
    return names[found.name]


def written(name: str) -> Any:
    """A class that templates call, and that is written into a file."""
    names: dict[str, Any] = {"paddle": paddle}
    exec(functions("paddle")[name].text, names)
    return names[name]


PAIRS: dict[str, tuple[Any, Any]] = {
    "Linear": (lambda: T.Linear(3, 4), lambda: P.Linear(3, 4)),
    "Bilinear": (lambda: T.Bilinear(2, 3, 4), lambda: P.Bilinear(2, 3, 4)),
    "Conv1d": (lambda: T.Conv1d(4, 6, 3, groups=2), lambda: P.Conv1D(4, 6, 3, groups=2)),
    "Conv2d": (lambda: T.Conv2d(4, 6, 3, groups=2), lambda: P.Conv2D(4, 6, 3, groups=2)),
    "Conv3d": (lambda: T.Conv3d(4, 6, 3), lambda: P.Conv3D(4, 6, 3)),
    "ConvTranspose1d": (lambda: T.ConvTranspose1d(4, 6, 3), lambda: P.Conv1DTranspose(4, 6, 3)),
    "ConvTranspose2d": (lambda: T.ConvTranspose2d(4, 6, 3, groups=2), lambda: P.Conv2DTranspose(4, 6, 3, groups=2)),
    "ConvTranspose3d": (lambda: T.ConvTranspose3d(4, 6, 3), lambda: P.Conv3DTranspose(4, 6, 3)),
    "Embedding": (lambda: T.Embedding(5, 3), lambda: P.Embedding(5, 3)),
    "EmbeddingBag": (lambda: T.EmbeddingBag(5, 3), lambda: written("TorchEmbeddingBag")(5, 3)),
    "BatchNorm1d": (lambda: T.BatchNorm1d(3), lambda: P.BatchNorm1D(3)),
    "BatchNorm2d": (lambda: T.BatchNorm2d(3), lambda: P.BatchNorm2D(3)),
    "BatchNorm3d": (
        lambda: T.BatchNorm3d(3, affine=False),
        lambda: P.BatchNorm3D(3, weight_attr=False, bias_attr=False),
    ),
    "SyncBatchNorm": (lambda: T.SyncBatchNorm(3), lambda: P.SyncBatchNorm(3)),
    "InstanceNorm1d": (lambda: T.InstanceNorm1d(3, affine=True), lambda: P.InstanceNorm1D(3)),
    "InstanceNorm2d": (lambda: T.InstanceNorm2d(3, affine=True), lambda: P.InstanceNorm2D(3)),
    "InstanceNorm3d": (lambda: T.InstanceNorm3d(3), lambda: P.InstanceNorm3D(3, weight_attr=False, bias_attr=False)),
    "LayerNorm": (lambda: T.LayerNorm([3, 4]), lambda: P.LayerNorm([3, 4])),
    "GroupNorm": (lambda: T.GroupNorm(2, 4), lambda: P.GroupNorm(2, 4)),
    "RMSNorm": (lambda: T.RMSNorm(4), lambda: adapter("RMSNorm")(4)),
    "PReLU": (lambda: T.PReLU(3), lambda: P.PReLU(3)),
    "MultiheadAttention": (lambda: T.MultiheadAttention(4, 2), lambda: P.MultiHeadAttention(4, 2)),
    "MultiheadAttention sizes": (
        lambda: T.MultiheadAttention(4, 2, kdim=6, vdim=5),
        lambda: P.MultiHeadAttention(4, 2, kdim=6, vdim=5),
    ),
    "MultiheadAttention biasless": (
        lambda: T.MultiheadAttention(4, 2, bias=False),
        lambda: P.MultiHeadAttention(4, 2, bias_attr=False),
    ),
    "TransformerDecoderLayer": (
        lambda: T.TransformerDecoderLayer(4, 2, 8),
        lambda: P.TransformerDecoderLayer(4, 2, 8),
    ),
    "TorchMultiHeadAttention": (lambda: T.MultiheadAttention(4, 2), lambda: adapter("MultiheadAttention")(4, 2)),
    "TorchTransformer": (
        lambda: T.Transformer(4, 2, 1, 2, 8),
        lambda: adapter("Transformer")(4, 2, 1, 2, 8),
    ),
    "LSTM": (lambda: T.LSTM(3, 4, 2, bidirectional=True), lambda: P.LSTM(3, 4, 2, direction="bidirect")),
    "LSTM projected": (lambda: T.LSTM(3, 4, 2, proj_size=2), lambda: P.LSTM(3, 4, 2, proj_size=2)),
    "GRU": (lambda: T.GRU(3, 4), lambda: P.GRU(3, 4)),
    "RNN": (lambda: T.RNN(3, 4, bidirectional=True), lambda: P.SimpleRNN(3, 4, direction="bidirect")),
    "LSTMCell": (lambda: T.LSTMCell(3, 4), lambda: P.LSTMCell(3, 4)),
    "GRUCell": (lambda: T.GRUCell(3, 4), lambda: P.GRUCell(3, 4)),
    "RNNCell": (lambda: T.RNNCell(3, 4), lambda: P.SimpleRNNCell(3, 4)),
    "ParameterList": (
        lambda: T.ParameterList([T.Parameter(torch.ones(2, 3))]),
        lambda: P.ParameterList([paddle.create_parameter([2, 3], "float32")]),
    ),
    "ParameterDict": (
        lambda: T.ParameterDict({"a": T.Parameter(torch.ones(2, 3))}),
        lambda: P.ParameterDict({"a": paddle.create_parameter([2, 3], "float32")}),
    ),
    "CrossEntropyLoss": (lambda: T.CrossEntropyLoss(torch.ones(3)), lambda: P.CrossEntropyLoss(paddle.ones([3]))),
    "NLLLoss": (lambda: T.NLLLoss(torch.ones(3)), lambda: P.NLLLoss(paddle.ones([3]))),
    "BCELoss": (lambda: T.BCELoss(torch.ones(3)), lambda: P.BCELoss(paddle.ones([3]))),
    "BCEWithLogitsLoss": (
        lambda: T.BCEWithLogitsLoss(pos_weight=torch.ones(3)),
        lambda: P.BCEWithLogitsLoss(pos_weight=paddle.ones([3])),
    ),
    "MultiLabelSoftMarginLoss": (
        lambda: T.MultiLabelSoftMarginLoss(torch.ones(3)),
        lambda: P.MultiLabelSoftMarginLoss(paddle.ones([3])),
    ),
    "MultiMarginLoss": (
        lambda: T.MultiMarginLoss(weight=torch.ones(3)),
        lambda: P.MultiMarginLoss(weight=paddle.ones([3])),
    ),
    "weight_norm": (
        lambda: T.utils.parametrizations.weight_norm(T.Linear(3, 4)),
        lambda: P.utils.weight_norm(P.Linear(3, 4), dim=1),
    ),
    "spectral_norm": (
        lambda: T.utils.parametrizations.spectral_norm(T.Linear(3, 4)),
        lambda: P.utils.spectral_norm(P.Linear(3, 4)),
    ),
}


def arrays(model: Any) -> dict[str, Array]:
    """Different random values for each tensor, in the model's shapes; the same where Paddle lists one twice."""
    rng = np.random.default_rng(1)
    kept: dict[int, Array] = {}
    made = {}
    for key, tensor in model.state_dict(keep_vars=True).items():
        values = rng.standard_normal(tuple(tensor.shape)).astype("float32")
        values = values.astype("int64") if "int64" in str(tensor.dtype) else values
        made[key] = kept.setdefault(id(tensor), to_array(key, values))
    return made


def test_every_class_of_the_table_is_tested() -> None:
    assert {name for one in LAYOUTS for name in one.torch} <= set(PAIRS)


@pytest.mark.parametrize("name", PAIRS)
def test_keys_and_shapes_are_the_other_modules(name: str) -> None:
    torch_model, paddle_model = (make() for make in PAIRS[name])
    there = convert(layout.plan(torch_model, "torch"), arrays(torch_model), Choices()).arrays
    theirs = {k: tuple(t.shape) for k, t in paddle_model.state_dict().items() if "." in k or name != "LSTM projected"}
    assert {k: a.shape for k, a in there.items()} == theirs
    before = arrays(paddle_model)
    back = convert(layout.plan(paddle_model, "paddle"), before, Choices()).arrays
    expected = {k: tuple(t.shape) for k, t in torch_model.state_dict().items()}
    if "norm" in name and name.islower():  # torch's parametrizations load the older names, which are written
        torch_model.load_state_dict(
            {k: torch.from_numpy(a.values) for k, a in back.items()}
        ) if name == "weight_norm" else None
    elif not name.endswith("Loss"):
        assert {k: a.shape for k, a in back.items()} == expected
        again = convert(layout.plan(torch_model, "torch"), back, Choices()).arrays
        assert all(again[key].equals(array) for key, array in before.items() if key in theirs)


@pytest.mark.parametrize(
    ("make", "key", "text"),
    [
        (lambda: T.InstanceNorm2d(3, track_running_stats=True), "running_mean", "computes something else"),
        (lambda: T.MultiheadAttention(4, 2, add_bias_kv=True), "bias_k", "computes something else"),
        (lambda: T.utils.parametrizations.orthogonal(T.Linear(3, 3)), "parametrizations.weight.0.base", "no module"),
    ],
)
def test_layouts_that_are_not_known_are_errors_that_name_the_key(make: Any, key: str, text: str) -> None:
    model = make()
    with pytest.raises(WeightsError, match=f"(?s){key}.*{text}.*--keep"):
        convert(layout.plan(model, "torch"), arrays(model), Choices())


def test_a_module_under_two_names_has_both_keys() -> None:
    """``self.head = self.add_sublayer("conv", ...)``; ``named_children`` of both frameworks leaves the second out."""

    class Twice(P.Layer):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.head = self.add_sublayer("linear", P.Linear(3, 4))

    model = Twice()
    there = convert(layout.plan(model, "paddle"), arrays(model), Choices()).arrays
    assert {key: array.shape for key, array in there.items()} == {
        "linear.weight": (4, 3), "linear.bias": (4,), "head.weight": (4, 3), "head.bias": (4,),
    }  # fmt: skip


class _OwnLoss(T.modules.loss._Loss):
    def __init__(self) -> None:
        super().__init__()
        self.margin = T.Parameter(torch.ones(2, 3))


class _OwnChain(P.Sequential):
    def __init__(self) -> None:
        super().__init__()
        self.scale = self.create_parameter([3, 2])


def test_parameters_of_a_class_whose_base_makes_none_stay_as_they_are() -> None:
    """The base has no tensors, so its subclass's are the program's own."""
    assert list(layout.plan(_OwnLoss(), "torch").moves) == ["margin"]
    assert list(layout.plan(_OwnChain(), "paddle").moves) == ["scale"]
