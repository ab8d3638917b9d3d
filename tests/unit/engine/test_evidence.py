"""What recorded runs showed settles what the file alone leaves open, and nothing else."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256

import pytest
from paddletorch.engine.engine import Engine
from paddletorch.model import Ask, Evidence, FileResult, Framework, Options, Question
from paddletorch.model.questions import place_of

Answers = Mapping[tuple[str, str], str]
"""What was seen of each expression, by what is asked and its text; several answers have ``|`` between them."""


@lru_cache(maxsize=2)
def engine(target: Framework) -> Engine:
    return Engine(Options(target=target))


def evidence_of(text: str, answers: Answers) -> Evidence:
    """Evidence about every expression that reads like one of ``answers``."""
    nodes = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.expr)]
    seen = {
        Question(Ask(ask), place_of(node)): dict.fromkeys(answer.split("|"), 1)
        for (ask, expression), answer in answers.items()
        for node in nodes
        if ast.unparse(node) == expression
    }
    assert seen or not answers
    return Evidence(sha256(text.encode()).hexdigest(), seen)


def converted(text: str, answers: Answers, target: Framework = "paddle") -> FileResult:
    return engine(target).convert(text.encode(), "model.py", evidence_of(text, answers))


def codes(result: FileResult) -> list[str]:
    return [found.code for found in result.diagnostics]


def line(result: FileResult, number: int) -> str:
    return result.output.decode().splitlines()[number - 1].strip()


RECEIVER = """\
import torch
from zoo import make


def f(batch):
    x = make(batch)
    return x.split(2)
"""
ASKED = {("type", "x"): "torch.Tensor"}


def test_a_receiver_that_runs_saw_is_converted() -> None:
    bare, settled = engine("paddle").convert(RECEIVER.encode(), "model.py"), converted(RECEIVER, ASKED)
    assert codes(bare) == ["API212"]
    assert codes(settled) == []
    assert "    return torch_split(x, 2)\n" in settled.output.decode()


def test_the_finding_asks_for_the_receiver() -> None:
    (found,) = engine("paddle").convert(RECEIVER.encode(), "model.py").diagnostics
    assert found.questions == (Question(Ask.TYPE, (7, 11, 7, 12)),)
    assert found.hint.endswith("Run `paddletorch record` over this line.")


@pytest.mark.parametrize("seen", ["builtins.str", "numpy.ndarray", "zoo.Box"])
def test_an_object_of_no_framework_is_left_without_a_finding(seen: str) -> None:
    result = converted(RECEIVER, {("type", "x"): seen})
    assert line(result, 7) == "return x.split(2)"
    assert codes(result) == []


@pytest.mark.parametrize("seen", ["torch.Tensor|numpy.ndarray", "torch.Tensor|builtins.object", "builtins.object"])
def test_answers_that_differ_or_say_nothing_leave_it_open(seen: str) -> None:
    result = converted(RECEIVER, {("type", "x"): seen})
    assert line(result, 7) == "return x.split(2)"
    (found,) = result.diagnostics
    assert found.code == "API212"
    assert found.questions == ()
    assert "paddletorch record" not in found.hint, "it was asked already"


def test_evidence_about_other_bytes_says_nothing() -> None:
    evidence = evidence_of(RECEIVER, ASKED)
    result = engine("paddle").convert(RECEIVER.encode() + b"\n", "model.py", evidence)
    assert codes(result) == ["API212"]
    assert result.diagnostics[0].questions
    assert (result.answered, result.settled) == (0, 0)


def test_a_second_run_changes_nothing() -> None:
    result = converted(RECEIVER, ASKED)
    again = engine("paddle").convert(result.output, "model.py", evidence_of(RECEIVER, ASKED))
    assert again.output == result.output


def test_the_counts_are_of_what_was_settled() -> None:
    result = converted(RECEIVER, ASKED)
    assert (result.answered, result.settled) == (1, 1)
    conflicting = converted(RECEIVER, {("type", "x"): "torch.Tensor|numpy.ndarray"})
    assert (conflicting.answered, conflicting.settled) == (1, 0)


def test_what_the_file_shows_wins_over_what_was_seen() -> None:
    text = "import torch\n\nx = torch.zeros(2)\ny = x.size(0)\n"
    assert line(converted(text, {("type", "x"): "builtins.str"}), 4) == "y = x.shape[0]"


BRANCHES = """\
import torch
from zoo import make


def f(batch, early):
    x = make(batch)
    if early:
        return x.split(2)
    y = x.split(3)
    for _ in range(2):
        y = x.split(4)
    x = make(y)
    return x.split(5)
"""


@pytest.mark.parametrize(
    ("ran", "converts"),
    [(8, {8}), (9, {9, 11}), (11, {11}), (13, {13})],
    ids=["a branch", "before a loop", "a loop", "another value"],
)
def test_only_uses_that_run_after_the_one_that_ran_are_known(ran: int, converts: set[int]) -> None:
    evidence = evidence_of(BRANCHES, ASKED)
    there = {q: seen for q, seen in evidence.seen.items() if q.place[0] == ran}
    result = engine("paddle").convert(BRANCHES.encode(), "model.py", Evidence(evidence.digest, there))
    sizes = {8: 2, 9: 3, 11: 4, 13: 5}
    assert {n for n, size in sizes.items() if f"torch_split(x, {size})" in result.output.decode()} == converts


def test_attributes_of_a_layer_by_its_class() -> None:
    text = "import torch.nn as nn\n\n\ndef f(layer):\n    return layer.in_channels\n"
    result = converted(text, {("type", "layer"): "torch.nn.modules.conv.Conv2d"})
    assert line(result, 5) == "return layer._in_channels"
    own = converted(text, {("type", "layer"): "zoo.Conv:torch.nn.modules.conv.Conv2d"})
    assert line(own, 5) == "return layer._in_channels"
    assert line(converted(text, {("type", "layer"): "zoo.Conv"}), 5) == "return layer.in_channels"


def test_a_module_of_the_program_itself_keeps_its_own_methods() -> None:
    text = (
        "import torch.nn as nn\nfrom zoo import make\n\n\nclass Net(nn.Module):\n    def named_modules(self):\n"
        "        return []\n\n\ndef f(config):\n    net = make(config)\n"
        "    return net.named_modules(), net.named_children()\n"
    )
    seen = {("type", "net"): "__main__.Net:torch.nn.modules.module.Module"}
    assert "net.named_modules(), net.named_children()" in line(converted(text, seen), 12)
    other = {("type", "net"): "zoo.Net:torch.nn.modules.module.Module"}
    assert "net.named_sublayers(include_self=True)" in line(converted(text, other), 12)


def test_what_an_object_of_the_program_holds_stays_open() -> None:
    text = (
        "import torch\nfrom zoo import make\n\n\ndef f(n):\n    batch = make(n)\n"
        "    batch.to(n)\n    y = batch.image.split(2)\n    return batch(n).split(2), y\n"
    )
    box = converted(text, {("type", "batch"): "zoo.Batch"})
    assert [(found.code, found.line) for found in box.diagnostics] == [("API212", 8), ("API212", 9)]
    net = converted(text, {("type", "batch"): "zoo.Net:torch.nn.modules.module.Module"})
    assert [(found.code, found.line) for found in net.diagnostics] == [("API212", 8), ("API212", 9)]


def test_to_torch_too() -> None:
    text = "import paddle\nfrom zoo import make\n\n\ndef f(batch):\n    x = make(batch)\n    return x.tile([2, 2])\n"
    bare = engine("torch").convert(text.encode(), "model.py")
    settled = converted(text, {("type", "x"): "paddle.Tensor"}, "torch")
    assert settled.output != bare.output or codes(bare) == codes(settled)
    assert line(settled, 7) == "return x.tile([2, 2])"
    layer = "import paddle.nn as nn\n\n\ndef f(layer):\n    return layer._in_channels\n"
    assert line(converted(layer, {("type", "layer"): "paddle.nn.layer.conv.Conv2D"}, "torch"), 5) == (
        "return layer.in_channels"
    )


CALLEE = """\
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, dim, norm_layer):
        super().__init__()
        self.norm = norm_layer(dim, eps=1e-6)
"""


def test_the_arguments_of_a_variable_layer_follow_its_class() -> None:
    assert codes(engine("paddle").convert(CALLEE.encode(), "model.py")) == ["API226"]
    result = converted(CALLEE, {("class", "norm_layer"): "torch.nn.modules.normalization.LayerNorm"})
    assert line(result, 7) == "self.norm = norm_layer(dim, epsilon=1e-6)"
    assert codes(result) == []


@pytest.mark.parametrize(
    ("given", "written", "left"),
    [("epsilon=0.1", "eps=0.1", []), ("momentum=0.9", "momentum=0.9", ["API201"])],  # momentum counts otherwise
)
def test_the_arguments_of_a_variable_layer_of_paddle_follow_its_class(
    given: str, written: str, left: list[str]
) -> None:
    text = f"import paddle\n\n\ndef norm(layer, width):\n    return layer(width, {given})\n"
    assert codes(engine("torch").convert(text.encode(), "model.py")) == ["API226"]
    result = converted(text, {("class", "layer"): "paddle.nn.layer.norm.BatchNorm2D"}, "torch")
    assert line(result, 5) == f"return layer(width, {written})"
    assert [code for code in codes(result) if code != "NNL208"] == left


@pytest.mark.parametrize("given", ["KINDS[kind]", "layer_of(kind)", "kind.layer"])
def test_a_class_that_is_not_passed_may_have_become_an_adapter(given: str) -> None:
    text = f"import torch.nn as nn\nfrom zoo import KINDS, layer_of\n\n\ndef f(kind):\n    layer = {given}\n"
    text += f"    return layer(3, 4, 1, bias=False), {given}(3, 4, 1, bias=False)\n"
    seen = "torch.nn.modules.conv.Conv2d"
    result = converted(text, {("class", "layer"): seen, ("class", given): seen})
    assert line(result, 7) == f"return layer(3, 4, 1, bias=False), {given}(3, 4, 1, bias=False)"
    assert codes(result) == ["API201", "API201"]
    assert all("paddletorch record" not in found.hint for found in result.diagnostics), "it was asked already"


def test_a_value_that_an_adapter_would_take_otherwise_is_left() -> None:
    text = CALLEE.replace("eps=1e-6", "momentum=0.2")
    result = converted(text, {("class", "norm_layer"): "torch.nn.modules.batchnorm.BatchNorm2d"})
    assert line(result, 7) == "self.norm = norm_layer(dim, momentum=0.2)"
    assert codes(result) == ["API201"]


def test_several_layers_that_take_the_same_text_convert() -> None:
    text = "import torch.nn as nn\n\n\ndef f(drop, p):\n    return drop(p, inplace=True)\n"
    result = converted(
        text, {("class", "drop"): "torch.nn.modules.dropout.Dropout2d|torch.nn.modules.dropout.Dropout3d"}
    )
    assert line(result, 5) == "return drop(p)"
    assert codes(result) == []


def test_several_layers_that_do_not_are_reported() -> None:
    text = CALLEE.replace("eps=1e-6", "momentum=0.1")
    seen = "torch.nn.modules.batchnorm.BatchNorm2d|zoo.Norm:torch.nn.modules.module.Module"
    result = converted(text, {("class", "norm_layer"): seen})
    assert line(result, 7) == "self.norm = norm_layer(dim, momentum=0.1)"
    assert codes(result) == ["API201"]


@pytest.mark.parametrize(
    ("seen", "left"),
    [
        ("zoo.Norm:torch.nn.modules.module.Module", []),  # its constructor is the program's own
        ("zoo.make_norm", []),
        ("zoo.Norm:torch.nn.modules.normalization.LayerNorm", ["API226"]),  # perhaps inherited from torch's
        ("functools.partial", ["API226"]),
        ("builtins.object", ["API226"]),
    ],
)
def test_a_class_of_the_program_takes_its_own_arguments(seen: str, left: list[str]) -> None:
    result = converted(CALLEE, {("class", "norm_layer"): seen})
    assert line(result, 7) == "self.norm = norm_layer(dim, eps=1e-6)"
    assert codes(result) == left


def test_no_class_is_written_in_the_place_of_a_variable() -> None:
    text = "import torch.nn as nn\n\n\ndef f(act, x):\n    return act(x, inplace=True)\n"
    result = converted(text, {("class", "act"): "torch.nn.functional.relu"})
    assert line(result, 5) == "return act(x, inplace=True)"
    assert codes(result) == ["API233"]


PROMOTION = """\
import torch


def f(x, table):
    n = torch.arange(4)
    return n * table.weights(x).unsqueeze(0)
"""


@pytest.mark.parametrize(
    ("seen", "written", "left"),
    [
        ("float32", "n.astype('float32') * ", []),
        ("int64", "n * ", []),
        ("float32|float64", "n * ", ["DTY201"]),
        ("", "n * ", ["DTY202"]),
    ],
)
def test_operands_are_cast_to_the_dtype_that_runs_saw(seen: str, written: str, left: list[str]) -> None:
    result = converted(PROMOTION, {("dtype", "table.weights(x).unsqueeze(0)"): seen} if seen else {})
    assert line(result, 6).startswith(f"return {written}")
    assert codes(result) == left


MASKED = """\
import torch


def f(x, mask, labels):
    x = torch.sigmoid(x)
    x *= mask
    return torch.sigmoid(x) != labels
"""


@pytest.mark.parametrize(
    ("seen", "product", "compared", "left"),
    [
        ("bool", "x *= mask.astype('float64')", "labels.astype('float64')", []),
        ("int64", "x *= mask.astype('float64')", "labels.astype('float64')", []),
        ("float64", "x *= mask", "labels", []),
        ("float", "x *= mask", "labels", []),
        ("bool|float32", "x *= mask * 1.0", "(labels * 1.0)", []),
    ],
)
def test_a_mask_is_cast_if_runs_saw_no_floating_point_numbers(
    seen: str, product: str, compared: str, left: list[str]
) -> None:
    answers = {("dtype", "mask"): seen, ("dtype", "labels"): seen, ("dtype", "torch.sigmoid(x)"): "float64"}
    result = converted(MASKED, answers)
    assert line(result, 6) == product
    assert line(result, 7) == f"return paddle.nn.functional.sigmoid(x) != {compared}"
    assert codes(result) == left


def test_one_run_answers_for_both_sides_of_a_mask() -> None:
    text = "import torch\n\n\ndef f(x, mask):\n    return x * mask.unsqueeze(-1)\n"
    (found,) = engine("paddle").convert(text.encode(), "model.py").diagnostics
    assert [(one.ask.value, one.place[:2]) for one in found.questions] == [("dtype", (5, 15)), ("dtype", (5, 11))]


def test_a_tensor_that_nothing_else_held_may_change_in_place() -> None:
    text = "import torch\n\n\ndef f(x: torch.Tensor):\n    y = x.permute(1, 0)\n    y += 1\n    return x\n"
    assert codes(engine("paddle").convert(text.encode(), "model.py")) == ["TEN214"]
    assert codes(converted(text, {("shared", "y"): "no"})) == []
    assert codes(converted(text, {("shared", "y"): "yes"})) == ["TEN214"]
    assert codes(converted(text, {("shared", "y"): "no|yes"})) == ["TEN214"]


def test_keys_that_mean_the_same_on_both_sides_leave_the_call_as_it_is() -> None:
    text = "import torch\n\n\ndef f(model, **kwargs):\n    return torch.optim.SGD(model.parameters(), **kwargs)\n"
    assert codes(engine("paddle").convert(text.encode(), "model.py")) == ["API240"]
    without = converted(text, {("keys", "kwargs"): ""})
    assert line(without, 5) == "return paddle.optimizer.SGD(parameters=model.parameters(), **kwargs)"
    renamed = converted(text, {("keys", "kwargs"): "lr"})
    assert line(renamed, 0) == "return torch_SGD(model.parameters(), **kwargs)"
    assert codes(converted(text, {("keys", "kwargs"): "builtins.object"})) == ["API240"]


def test_a_function_that_decides_by_what_is_not_given_is_written() -> None:
    text = "import torch.nn.functional as F\n\n\ndef f(x, y, **kw):\n    return F.cross_entropy(x, y, **kw)\n"
    assert line(converted(text, {("keys", "kw"): ""}), 0) == "return torch_cross_entropy(x, y, **kw)"


def test_an_adapter_is_not_warned_of_for_keys_that_no_run_gave() -> None:
    text = "import torch.nn as nn\n\n\ndef f(n, **kwargs):\n    return nn.BatchNorm2d(n, **kwargs)\n"
    assert "API240" in codes(engine("paddle").convert(text.encode(), "model.py"))
    settled = converted(text, {("keys", "kwargs"): "momentum"})
    assert "API240" not in codes(settled)
    assert b"TorchBatchNorm2D(n, **kwargs)" in settled.output
    assert "API240" in codes(converted(text, {("keys", "kwargs"): "bias,momentum"}))


def test_text_without_a_file_cannot_be_recorded() -> None:
    (found,) = engine("paddle").convert(RECEIVER.encode(), "<stdin>").diagnostics
    assert found.questions == ()
    assert "paddletorch record" not in found.hint


NORM = "import torch\n\n\ndef size(x):\n    return torch.linalg.norm(x, 1)\n"


@pytest.mark.parametrize("vector", ["x.view(-1)", "x.reshape(8)", "x.reshape((8,))", "(x - 1).view(-1).abs()"])
def test_a_vector_that_the_file_shows_needs_no_run(vector: str) -> None:
    result = converted(NORM.replace("norm(x, 1)", f"norm({vector}, 1)"), {})
    assert codes(result) == []


LOSS = """\
import torch
from torch import nn

criterion = nn.CrossEntropyLoss(label_smoothing=0.1)


def step(model, x, y):
    return criterion(model(x), y)


def images(x, y):
    return criterion(x, y)
"""


def test_a_loss_asks_for_what_its_calls_get() -> None:
    (found,) = engine("paddle").convert(LOSS.encode(), "model.py").diagnostics
    assert found.code == "NNF203"
    assert set(found.questions) == {Question(Ask.RANK, (8, 21, 8, 29)), Question(Ask.RANK, (12, 21, 12, 22))}


def test_a_loss_of_matrices_alone_has_no_finding() -> None:
    answers = {("rank", "model(x)"): "2", ("rank", "x"): "2"}
    assert codes(converted(LOSS, answers)) == []
    assert codes(converted(LOSS, {**answers, ("rank", "x"): "4"})) == ["NNF203"]
    assert codes(converted(LOSS, {("rank", "model(x)"): "2"})) == ["NNF203"], "one call never ran"


def test_layers_of_paddle_that_take_any_number_of_axes_ask_too() -> None:
    text = "from paddle import nn\n\nnorm, x = nn.BatchNorm(4), read()\ny = norm(x)\n"
    bare, settled = converted(text, {}, "torch"), converted(text, {("rank", "x"): "4"}, "torch")
    assert "NNL202" in codes(bare)
    assert "NNL202" not in codes(settled)
