"""Adapters of layers (`plan/uses/adapters`, `proof/write_adapters`): bound where they stand."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from paddletorch.api.convert import convert
from paddletorch.proof.write_adapters import adapters_to, toml
from paddletorch_rules import Framework, load
from paddletorch_rules.adapters import Adapter, Definition, adapters, definitions, file

SIDES: tuple[Framework, ...] = ("paddle", "torch")
EVERY = [pytest.param(target, one, id=one.of) for target in SIDES for one in adapters(target).values()]


def base_of(adapter: Adapter) -> str:
    """The base of the adapter's class; empty if it has none."""
    (statement,) = ast.parse(adapter.text).body
    assert isinstance(statement, ast.ClassDef)
    return ast.unparse(statement.bases[0]) if statement.bases else ""


@pytest.mark.parametrize("target", SIDES)
def test_the_file_is_what_the_converter_makes_of_the_tables(target: Framework) -> None:
    assert toml(list(adapters_to(target, load()))) == file(target).read_text(encoding="utf-8")


@pytest.mark.parametrize(("target", "adapter"), EVERY)
def test_reads_as_a_small_class(target: Framework, adapter: Adapter) -> None:
    (statement,) = ast.parse(adapter.text).body
    assert isinstance(statement, ast.ClassDef) and statement.name == adapter.name
    base = base_of(adapter)
    roots = tuple(
        f"{target}.{area}." for area in ("nn", "optimizer", "optim.lr_scheduler", "utils.data", "distribution")
    )
    assert (
        base.startswith(roots)
        or base in adapter.needs
        or (not base and re.search(r"\.(ClipGradBy|metric\.|Model$|InputSpec$)", adapter.of))
    )
    assert not re.search(r"\blambda\b", adapter.text)


@pytest.mark.parametrize(("target", "adapter"), EVERY)
def test_what_it_names_is_written_too(target: Framework, adapter: Adapter) -> None:
    written = definitions(target, adapter)
    assert written[-1] == (adapter.name, adapter.text)
    own = {one.name for one in adapters(target).values()} | {one.name for one in written}
    names = {node.id for node in ast.walk(ast.parse(adapter.text)) if isinstance(node, ast.Name)}
    assert names & own <= {one.name for one in written}


def order(one: Definition) -> tuple[bool, bool]:
    """Functions, classes, and classes that derive from those."""
    head = one.text.strip().partition("\n")[0]
    return head.startswith("class "), "(" in head and "." not in head


@pytest.mark.parametrize("target", SIDES)
def test_every_class_can_be_made(target: Framework, tmp_path: Path) -> None:
    """Each class statement runs on the real framework, and its base is that framework's layer or what it stands for."""
    written = dict.fromkeys(part for one in adapters(target).values() for part in definitions(target, one))
    texts = "\n\n".join(one.text for one in sorted(written, key=order))
    layers = [one for one in adapters(target).values() if ".nn." in base_of(one) and not one.is_base]
    names = [one.name for one in layers]
    base = {"paddle": "paddle.nn.Layer", "torch": "torch.nn.Module"}[target]
    asked = f"print(all(issubclass(one, {base}) for one in [{', '.join(names)}]))"
    program = tmp_path / "all_adapters.py"
    program.write_text(
        f"import collections\nimport math\n\nimport {target}\n\n\n{texts}\n\n{asked}\n", encoding="utf-8"
    )
    run = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    assert run.stdout.strip() == "True", run.stderr


HEAD = "import torch\nfrom torch import nn\n\n\ndef f(options):\n"


CALL = "nn.Conv2d(3, 4, **options)"
IN_FUNCTION = f"def f(options):\n    from torch import nn\n    return {CALL}\n"
GUARDED = f"try:\n    from torch import nn\nexcept ImportError:\n    nn = None\ndef f(options):\n    return {CALL}\n"


@pytest.mark.parametrize(
    ("source", "left"),
    [
        pytest.param(f"{HEAD}    TorchConv2D = 3\n    return {CALL}, TorchConv2D\n", True, id="the name is taken"),
        pytest.param(IN_FUNCTION, True, id="imported in a function"),
        pytest.param(GUARDED, True, id="imported in try"),
        pytest.param(f"{HEAD}    return {CALL}\n", False, id="imported above"),
        pytest.param(f"from torch import nn; c = lambda options: {CALL}\n", True, id="on one line"),
    ],
)
def test_stands_only_where_it_is_bound(source: str, left: bool) -> None:
    result = convert(source, to="paddle", verify=True)
    assert ("class TorchConv2D" in result.output) != left
    compile(result.output, "x.py", "exec")


def test_one_class_serves_all_calls_and_the_windows_line_ends_stay() -> None:
    source = (HEAD + "    return nn.Conv2d(3, 4, **options), nn.Conv2d(3, 4, 1, **options)\n").replace("\n", "\r\n")
    output = convert(source, to="paddle", verify=True).output
    assert output.count("class TorchConv2D(paddle.nn.Conv2D):") == 1
    assert output.count("\n") == output.count("\r\n")
    assert "return TorchConv2D(3, 4, **options), TorchConv2D(3, 4, 1, **options)" in output


ATTENTION = """import torch
from torch import nn


class Reader(nn.Module):
    def __init__(self, width, flag):
        super().__init__()
        self.attention = nn.MultiheadAttention({arguments})

    def forward(self, x, mask):
        {call}
        return out
"""
FIRST = "width, 2, batch_first=True"


@pytest.mark.parametrize(
    ("arguments", "call", "adapted"),
    [
        pytest.param(FIRST, "out, _ = self.attention(x, x, x)", False, id="as Paddle's"),
        pytest.param("width, 2", "out, _ = self.attention(x, x, x)", True, id="batches second"),
        pytest.param("width, 2, batch_first=flag", "out, _ = self.attention(x, x, x)", True, id="a flag"),
        pytest.param(FIRST, "out, _ = self.attention(x, x, x, attn_mask=mask)", True, id="a mask"),
        pytest.param(FIRST, "out, _ = self.attention(x, x, x, mask)", True, id="a mask of keys"),
        pytest.param(FIRST, "out = self.attention(x, x, x)", True, id="a pair that would need a lambda"),
        pytest.param(FIRST, "out, _ = self.attention(*x)", True, id="arguments that are not seen"),
        pytest.param("width, 2, add_zero_attn=True", "out, _ = self.attention(x, x, x)", False, id="what no layer has"),
        pytest.param("width, 2, device='cuda'", "out, _ = self.attention(x, x, x)", False, id="a text of torch's"),
    ],
)
def test_a_layer_keeps_the_calls_that_paddles_own_cannot_take(arguments: str, call: str, adapted: bool) -> None:
    result = convert(ATTENTION.format(arguments=arguments, call=call), to="paddle", verify=True)
    assert ("class TorchMultiHeadAttention(paddle.nn.MultiHeadAttention):" in result.output) == adapted
    assert "lambda" not in result.output
    if adapted:
        assert call in result.output
        assert result.output.count("def merged_mask(") == 1
        assert convert(result.output, to="paddle").output == result.output
        assert {d.code for d in result.findings} == {"NNL207"}


def test_layers_that_one_call_may_call_are_adapters_or_none() -> None:
    plain = "nn.MultiheadAttention(width, 2, batch_first=True)"
    source = ATTENTION.format(arguments="width, 2", call="out = self.attention(x, x, x)")
    either = source.replace("        self.attention = ", f"        self.attention = {plain} if width > 8 else ")
    output = convert(either, to="paddle", verify=True).output
    assert "= TorchMultiHeadAttention(width, 2, batch_first=True) if width > 8 else TorchMultiHeadAttention(" in output
    left = either.replace("batch_first=True", "batch_first=True, device='cuda'")
    output = convert(left, to="paddle", verify=True).output
    assert "class TorchMultiHeadAttention" not in output
    assert "else nn.MultiheadAttention(width, 2)" in output


def test_a_layer_beside_an_adapter_stays_one_of_the_target() -> None:
    plain = "nn.MultiheadAttention(width, 2, batch_first=True)"
    source = ATTENTION.format(arguments="width, 2", call="out = self.attention(x, x, x)")
    both = source.replace("        self.attention = ", f"        self.other = {plain}\n        self.attention = ")
    output = convert(both, to="paddle", verify=True).output
    assert "self.other = nn.MultiHeadAttention(width, 2, need_weights=True)" in output
    assert "self.attention = TorchMultiHeadAttention(width, 2)" in output


ENCODER = """import torch
from torch import nn


def encode(src, mask, padding):
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer({arguments}), 2, norm=nn.LayerNorm(8))
    return encoder({call})
"""


@pytest.mark.parametrize(
    ("arguments", "call", "adapted"),
    [
        pytest.param("8, 2, 16, batch_first=True", "src", set(), id="as Paddle's"),
        pytest.param("8, 2", "src", {"TorchTransformerEncoderLayer"}, id="batches second"),
        pytest.param("8, 2, 16, batch_first=True", "src, mask", {"TorchTransformerEncoder"}, id="a mask"),
        pytest.param(
            "8, 2, 16, batch_first=True", "src, None, padding", {"TorchTransformerEncoder"}, id="a mask of padding"
        ),
        pytest.param(
            "8, 2, 16, batch_first=True, activation=nn.GELU()", "src", {"TorchTransformerEncoderLayer"}, id="a layer"
        ),
        pytest.param("8, 2, bias=False", "src, mask", {"TorchTransformerEncoder"}, id="what no layer has"),
        pytest.param(
            "8, 2, bias=True", "src, mask", {"TorchTransformerEncoder", "TorchTransformerEncoderLayer"}, id="both"
        ),
    ],
)
def test_each_class_of_an_encoder_is_an_adapter_where_it_needs_one(
    arguments: str, call: str, adapted: set[str]
) -> None:
    output = convert(ENCODER.format(arguments=arguments, call=call), to="paddle", verify=True).output
    classes = {node.name for node in ast.parse(output).body if isinstance(node, ast.ClassDef)}
    assert classes == adapted
    assert f"return encoder({call})" in output


def test_adapters_come_before_the_shim() -> None:
    source = ATTENTION.format(arguments="width, **flag", call="out = self.attention(x, x, x)")
    output = convert(source, to="paddle", shim="auto").output
    assert "TorchMultiHeadAttention(width, **flag)" in output
    assert "paddletorch_shim" not in output
