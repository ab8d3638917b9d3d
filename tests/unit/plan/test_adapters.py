"""Adapters of layers (`plan/uses/adapters`, `proof/write_adapters`): bound where they stand."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from paddletorch.api.convert import convert
from paddletorch.proof.write_adapters import adapters_to, toml
from paddletorch_rules import Framework, load
from paddletorch_rules.adapters import Adapter, adapters, file

SIDES: tuple[Framework, ...] = ("paddle", "torch")
EVERY = [pytest.param(target, one, id=one.of) for target in SIDES for one in adapters(target).values()]


@pytest.mark.parametrize("target", SIDES)
def test_the_file_is_what_the_converter_makes_of_the_tables(target: Framework) -> None:
    assert toml(list(adapters_to(target, load()))) == file(target).read_text(encoding="utf-8")


@pytest.mark.parametrize(("target", "adapter"), EVERY)
def test_reads_as_a_small_class(target: Framework, adapter: Adapter) -> None:
    (statement,) = ast.parse(adapter.text).body
    assert isinstance(statement, ast.ClassDef) and statement.name == adapter.name
    assert ast.unparse(statement.bases[0]).startswith(f"{target}.nn.")
    assert "lambda" not in adapter.text


@pytest.mark.parametrize("target", SIDES)
def test_every_class_can_be_made(target: Framework, tmp_path: Path) -> None:
    """Each class statement runs on the real framework, and its base is that framework's layer."""
    texts = "\n\n".join(one.text for one in adapters(target).values())
    names = [one.name for one in adapters(target).values()]
    base = {"paddle": "paddle.nn.Layer", "torch": "torch.nn.Module"}[target]
    asked = f"print(all(issubclass(one, {base}) for one in [{', '.join(names)}]))"
    program = tmp_path / "all_adapters.py"
    program.write_text(f"import {target}\n\n\n{texts}\n\n{asked}\n", encoding="utf-8")
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
