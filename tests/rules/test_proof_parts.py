"""The parts of a proof: the module text of an example, what counts as equal, and weights that mean the same."""

from __future__ import annotations

import ast
import collections
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import paddle
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from paddletorch.model import Framework
from paddletorch.proof.compare import difference
from paddletorch.proof.environment import INPUTS, tensor
from paddletorch.proof.fill import fill
from paddletorch.proof.run import execute, module_text


def test_module_text() -> None:
    text = module_text("torch", "h = F.relu(x) if math.pi else y\ntotal = [t for t in (h, m)]\ntotal[0]")
    assert text == (
        "import torch\nimport math\nimport torch.nn.functional as F\n\n\n"
        "def example(x: torch.Tensor, y: torch.Tensor, m: torch.Tensor):\n"
        "    h = F.relu(x) if math.pi else y\n    total = [t for t in (h, m)]\n    return total[0]\n"
    )


@pytest.mark.parametrize(
    ("example", "names"),
    [
        ("x = 3\nx", ""),
        ("x = x + 1\nx", "x"),
        ("x += y\nx", "x y"),
        ("[n for n in range(3)]", ""),
        ("[x for x in (x,)]", "x"),
        ("(lambda x, y=v: x + y + w)(1)", "v w"),
        ("for i in range(3):\n    pass\ni", ""),
        ("for i in i:\n    v = i\n(i, v)", "i"),
        ("def f(x):\n    return x + y\nf(v)", "v y"),
        ("class C(nn.Module):\n    def forward(self, x):\n        return x * w\nC()(x)", "w x"),
        ("import numpy as b\nb.ones(3)", ""),
        ("x.d = mask\nx", "x mask"),
        ("with torch.no_grad() as y:\n    pass\ny", ""),
        ("x: torch.Tensor = y\nx", "y"),
        ("{k: v for k, v in {}.items()}", ""),
    ],
)
def test_parameters_are_the_inputs_that_an_example_reads(example: str, names: str) -> None:
    tree = ast.parse(module_text("torch", example))
    function = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "example")
    assert {argument.arg for argument in function.args.args} == set(names.split())


def test_definitions_at_the_start_stand_in_the_module() -> None:
    example = "@torch.no_grad()\ndef twice(x):\n    return 2 * x\n\n# a comment\ny = twice(x); y + 1"
    text = module_text("torch", example)
    assert [type(node) for node in ast.parse(text).body] == [ast.Import, ast.FunctionDef, ast.FunctionDef]
    assert difference(execute("torch", text, "<test>"), 2 * tensor("torch", "x") + 1) is None


@pytest.mark.parametrize("example", ["", "y = x", "x +", "for _ in x:\n    x"])
def test_examples_that_cannot_be_run(example: str) -> None:
    with pytest.raises(ValueError, match="line"):
        module_text("torch", example)


@pytest.mark.parametrize("name", INPUTS)
def test_inputs_are_the_same_on_both_sides(name: str) -> None:
    assert difference(tensor("torch", name), tensor("paddle", name)) is None
    assert not tensor("torch", name).requires_grad and tensor("paddle", name).stop_gradient


def test_runs_do_not_touch_each_other() -> None:
    changing = (
        "torch.manual_seed(3)\ntorch.set_default_dtype(torch.float64)\ntorch.set_grad_enabled(False)\n"
        "torch.use_deterministic_algorithms(True)\nx.zero_()\nx"
    )
    execute("torch", module_text("torch", changing), "<changing>")
    observing = "(torch.rand(2), torch.zeros(1), torch.is_grad_enabled(), x)"
    found = execute("torch", module_text("torch", observing), "<observing>")
    assert found[1].dtype == torch.float32 and found[2] is True and not torch.are_deterministic_algorithms_enabled()
    assert difference(found, execute("torch", module_text("torch", observing), "<again>")) is None
    assert difference(found[3], tensor("torch", "x")) is None


Point = collections.namedtuple("Point", "values indices")

EQUAL: list[tuple[Any, Any]] = [
    (torch.ones(2, 3), paddle.ones([2, 3])),
    (torch.tensor(3), paddle.to_tensor(3)),
    (torch.tensor([1.0, math.nan, math.inf]), paddle.to_tensor([1.0, math.nan, math.inf])),
    (torch.tensor([1.5], dtype=torch.bfloat16), paddle.to_tensor([1.5], dtype="bfloat16")),
    (torch.tensor([1 + 2j]), paddle.to_tensor([1 + 2j], dtype="complex64")),
    (torch.tensor([1 + 2j]).conj(), paddle.to_tensor([1 - 2j], dtype="complex64")),
    (torch.eye(2).to_sparse(), paddle.eye(2).to_sparse_coo(2)),
    (torch.eye(2).to_sparse_csr(), paddle.eye(2)),
    (torch.nn.Parameter(torch.ones(2)), paddle.ones([2])),
    (torch.zeros(0, 3), paddle.zeros([0, 3])),
    (torch.ones(2).numpy(), paddle.ones([2]).numpy()),
    (torch.ones(2, 3).shape, paddle.ones([2, 3]).shape),
    (Point(torch.ones(1), 2), [paddle.ones([1]), 2]),
    ({"a": (torch.ones(1), None)}, {"a": (paddle.ones([1]), None)}),
    (torch.float32, paddle.float32),
    (torch.bfloat16, paddle.bfloat16),
    (torch.bool, paddle.bool),
    (torch.device("cpu"), paddle.CPUPlace()),
    (torch.ones(1).device, paddle.ones([1]).place),
    (1.0, 1.0 + 1e-7),
    (math.nan, math.nan),
    (torch.ones(2, 3).numel(), paddle.ones([2, 3]).size),
    ("cpu", "cpu"),
    (None, None),
]

DIFFERENT: list[tuple[Any, Any, str]] = [
    (torch.ones(2), paddle.to_tensor([1.0, 1.001]), "1 of 2 values differ: 1.0 became 1.00"),
    (torch.ones(2, 3), paddle.ones([3, 2]), "shape [2, 3] became [3, 2]"),
    (torch.tensor(1.0), paddle.ones([1]), "shape [] became [1]"),
    (torch.ones(2), paddle.ones([2], dtype="float64"), "dtype float32 became float64"),
    (torch.tensor([1]), paddle.to_tensor([1], dtype="int32"), "dtype int64 became int32"),
    (torch.ones(1), paddle.to_tensor([math.nan]), "1 of 1 values differ"),
    (torch.tensor([True]), paddle.to_tensor([False]), "1 of 1 values differ"),
    (torch.tensor([10**9]), paddle.to_tensor([10**9 + 1]), "1 of 1 values differ"),
    (torch.ones(1), 1.0, "became float 1.0"),
    (1, 1.0, "int 1 became float 1.0"),
    (True, 1, "bool True became int 1"),
    (1.0, 1.1, "1.0 became 1.1"),
    ([1, 2], [1, 2, 3], "2 items became 3"),
    ([1, (2, 3)], [1, (2, 4)], "result[1][1]: 3 became 4"),
    ({"a": 1}, {"b": 1}, "keys ['a'] became ['b']"),
    ({"a": torch.ones(1)}, {"a": paddle.zeros([1])}, "result['a']: 1 of 1 values differ"),
    (torch.float32, paddle.float64, "dtype float32 became float64"),
    (torch.float32, "float32", "became str"),
    (torch.device("cuda", 1), paddle.CPUPlace(), "device"),
    (object(), object(), "cannot be compared"),
    ("a", "b", "'a' became 'b'"),
    (None, 0, "became int 0"),
]


@pytest.mark.parametrize(("expected", "found"), EQUAL)
def test_equal(expected: Any, found: Any) -> None:
    assert difference(expected, found) is None
    assert difference(found, expected) is None


@pytest.mark.parametrize(("expected", "found", "told"), DIFFERENT)
def test_different(expected: Any, found: Any, told: str) -> None:
    assert told in (difference(expected, found) or "equal")
    assert difference(found, expected) is not None


def test_tolerance_and_shapes_alone() -> None:
    expected, found = torch.ones(2), paddle.to_tensor([1.0, 1.05])
    assert difference(expected, found, tolerance=0.1) is None
    assert difference(expected, found, tolerance=0.01) is not None
    assert difference(torch.ones(2), paddle.zeros([2]), values=False) is None
    assert difference(1.0, 2.0, values=False) is None
    assert difference(torch.ones(2), paddle.zeros([3]), values=False) is not None
    assert difference(torch.ones(2), paddle.zeros([2], dtype="int64"), values=False) is not None
    assert difference(torch.tensor([5]), paddle.to_tensor([6]), tolerance=10) is not None


@given(arrays.arrays(np.float32, arrays.array_shapes(max_dims=3), elements=st.floats(-1e3, 1e3, width=32)), st.data())
def test_one_changed_value_is_found(values: Any, data: st.DataObject) -> None:
    changed = values.copy()
    index = data.draw(st.integers(0, values.size - 1))
    changed.flat[index] += 1.0
    assert difference(torch.from_numpy(values), paddle.to_tensor(values)) is None
    assert "1 of " in (difference(torch.from_numpy(values), paddle.to_tensor(changed)) or "")


def _first(found: Any) -> Any:
    """Paddle's cells give an output beside the state that torch's give alone."""
    return found[0] if isinstance(found, tuple) else found


Call = Callable[[Any, Callable[[str], Any]], Any]
_image: Call = lambda m, t: m(t("img"))  # noqa: E731
_matrix: Call = lambda m, t: m(t("x"))  # noqa: E731
_sequence: Call = lambda m, t: m(t("seq"))  # noqa: E731
_two: Call = lambda m, t: m(t("seq"), t("seq"))  # noqa: E731
_attention: Call = lambda m, t: _first(m(t("seq"), t("seq")[..., :3], t("seq")[..., 1:]))  # noqa: E731
T, P = torch.nn, paddle.nn
FILLED: dict[str, tuple[Callable[[], Any], Callable[[], Any], Call]] = {
    "Linear": (lambda: T.Linear(4, 5), lambda: P.Linear(4, 5), _matrix),
    "Linear double": (
        lambda: T.Linear(4, 5).double(),
        lambda: P.Linear(4, 5).to(dtype="float64"),
        lambda m, t: m(t("d")),
    ),
    "Conv2d": (lambda: T.Conv2d(3, 6, 3, groups=3), lambda: P.Conv2D(3, 6, 3, groups=3), _image),
    "ConvTranspose2d": (lambda: T.ConvTranspose2d(3, 6, 3, 2), lambda: P.Conv2DTranspose(3, 6, 3, 2), _image),
    "BatchNorm2d": (lambda: T.BatchNorm2d(3), lambda: P.BatchNorm2D(3), _image),
    "InstanceNorm2d": (lambda: T.InstanceNorm2d(3, affine=True), lambda: P.InstanceNorm2D(3), _image),
    "GroupNorm": (lambda: T.GroupNorm(3, 3), lambda: P.GroupNorm(3, 3), _image),
    "LayerNorm": (lambda: T.LayerNorm([5, 4]), lambda: P.LayerNorm([5, 4]), _sequence),
    "PReLU": (lambda: T.PReLU(3), lambda: P.PReLU(3), _image),
    "Bilinear": (lambda: T.Bilinear(4, 4, 5), lambda: P.Bilinear(4, 4, 5), lambda m, t: m(t("x"), t("y"))),
    "Embedding": (
        lambda: T.Embedding(10, 6, padding_idx=-1),
        lambda: P.Embedding(10, 6, padding_idx=-1),
        lambda m, t: m(t("tok")),
    ),
    "LSTM": (
        lambda: T.LSTM(4, 5, 2, bidirectional=True, batch_first=True),
        lambda: P.LSTM(4, 5, 2, direction="bidirect"),
        _sequence,
    ),
    "GRU": (lambda: T.GRU(4, 5, batch_first=True), lambda: P.GRU(4, 5), _sequence),
    "RNN": (lambda: T.RNN(4, 5, batch_first=True), lambda: P.SimpleRNN(4, 5), _sequence),
    "LSTMCell": (lambda: T.LSTMCell(4, 5), lambda: P.LSTMCell(4, 5), lambda m, t: _first(m(t("x")))),
    "GRUCell": (lambda: T.GRUCell(4, 5), lambda: P.GRUCell(4, 5), lambda m, t: _first(m(t("x")))),
    "MultiheadAttention": (
        lambda: T.MultiheadAttention(4, 2, batch_first=True),
        lambda: P.MultiHeadAttention(4, 2),
        lambda m, t: _first(m(t("seq"), t("seq"), t("seq"))),
    ),
    "MultiheadAttention of several sizes": (
        lambda: T.MultiheadAttention(4, 2, kdim=3, vdim=3, batch_first=True),
        lambda: P.MultiHeadAttention(4, 2, kdim=3, vdim=3),
        _attention,
    ),
    "TransformerEncoder": (
        lambda: T.TransformerEncoder(T.TransformerEncoderLayer(4, 2, 8, batch_first=True), 2),
        lambda: P.TransformerEncoder(P.TransformerEncoderLayer(4, 2, 8), 2),
        _sequence,
    ),
    "Transformer": (
        lambda: T.Transformer(4, 2, 1, 1, 8, batch_first=True),
        lambda: P.Transformer(4, 2, 1, 1, 8),
        _two,
    ),
    "weight_norm": (
        lambda: T.utils.weight_norm(T.Linear(4, 5)),
        lambda: P.utils.weight_norm(P.Linear(4, 5), dim=1),
        _matrix,
    ),
    "spectral_norm": (
        lambda: T.utils.spectral_norm(T.Linear(4, 5)),
        lambda: P.utils.spectral_norm(P.Linear(4, 5)),
        _matrix,
    ),
    "nested": (
        lambda: T.ModuleList([T.Sequential(T.Linear(4, 4), T.ReLU()), T.Linear(4, 3)]),
        lambda: P.LayerList([P.Sequential(P.Linear(4, 4), P.ReLU()), P.Linear(4, 3)]),
        lambda m, t: m[1](m[0](t("x"))),
    ),
}


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")
@pytest.mark.parametrize("name", FILLED)
def test_filled_modules_are_one_function(name: str) -> None:
    make_torch, make_paddle, call = FILLED[name]
    results: dict[Framework, Any] = {}
    for side, make in (("torch", make_torch), ("paddle", make_paddle)):
        module = fill(make())
        module.eval()
        results[side] = call(module, lambda wanted, side=side: tensor(side, wanted))  # type: ignore[misc]
    assert difference(results["torch"], results["paddle"], tolerance=1e-5) is None


def test_filled_weights_differ_from_each_other() -> None:
    model = fill(T.Sequential(T.Linear(4, 4), T.Linear(4, 4)))
    assert not torch.equal(model[0].weight, model[1].weight)
    assert torch.equal(model[0].weight, fill(T.Sequential(T.Linear(4, 4)))[0].weight)


def test_only_modules_are_filled() -> None:
    with pytest.raises(TypeError, match="Tensor"):
        fill(torch.ones(2))


def test_an_example_in_two_processes() -> None:
    text = module_text(
        "torch",
        "import torch.distributed as dist\ndist.init_process_group('gloo')\n"
        "a = torch.ones(2) * (dist.get_rank() + 1)\ndist.all_reduce(a)\n(dist.get_rank(), a)",
    )
    first, second = execute("torch", text, "<example>", processes=True)
    assert (first[0], second[0]) == (0, 1)
    assert first[1].tolist() == second[1].tolist() == [3.0, 3.0]


def test_what_fails_in_one_of_two_processes_is_told() -> None:
    with pytest.raises(RuntimeError, match=r"(?s)process 1: .*ZeroDivisionError"):
        execute("torch", module_text("torch", "import os\n1 / (1 - int(os.environ['RANK']))"), "<e>", processes=True)


def test_the_process_that_serves_the_store_outlives_its_own_part() -> None:
    text = module_text(
        "torch",
        "import os\nimport time\nimport torch.distributed as dist\nrank = os.environ['RANK']\n"
        "port = int(os.environ['MASTER_PORT'])\n"
        "dist.kept = dist.TCPStore('127.0.0.1', port, 2, rank == '0', wait_for_workers=False)\n"
        "if rank == '1':\n    dist.kept.add('early', 1)\n    time.sleep(0.5)\n    dist.kept.add('late', 1)\n"
        "else:\n    dist.kept.wait(['early'])\nrank",
    )
    assert execute("torch", text, "<example>", processes=True) == ["0", "1"]
