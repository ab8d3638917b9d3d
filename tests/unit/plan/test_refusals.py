"""Why calls stay: codes that were split from API210, and what no fixture can show."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest
from paddletorch.engine.engine import Engine
from paddletorch.model import FileResult, Options
from paddletorch.plan.calls import arguments
from paddletorch.text.call_spans import LayoutError

from ...fixture_files import engine_for

SHARED = "import torch\n\noptions = {}\noptions['inplace'] = True\nlayer = torch.nn.ReLU(**options)"
"""Causes API231 on its last line."""
WHOLE = "import functools\n\nimport torch\n\nscaled = functools.partial(torch.add, alpha=2)"
"""Causes API233 on its last line."""
MISFIT = "import torch\n\nlayer = torch.nn.ReLU(other=1)"
"""Causes API210 on its last line."""
SPLIT = [pytest.param(SHARED, "API231", id="API231"), pytest.param(WHOLE, "API233", id="API233")]


def convert(text: str, **options: object) -> FileResult:
    return engine_for(Options(target="paddle", **options)).convert(f"{text}\n".encode(), "x.py")  # type: ignore[arg-type]


def codes(result: FileResult) -> list[str]:
    return [d.code for d in result.diagnostics]


@pytest.mark.parametrize(("text", "code"), SPLIT)
@pytest.mark.parametrize("name", ["{code}", "API210", "API"])
def test_a_comment_with_the_former_code_holds(text: str, code: str, name: str) -> None:
    assert codes(convert(text)) == [code]
    assert codes(convert(f"{text}  # paddletorch: ignore[{name.format(code=code)}]")) == []


@pytest.mark.parametrize(("text", "code"), SPLIT)
def test_options_with_the_former_code_hold(text: str, code: str) -> None:
    assert codes(convert(text, ignore=("API210",))) == []
    assert codes(convert(text, select=("API210",))) == [code]
    assert codes(convert(text, select=("API228",))) == []


@pytest.mark.parametrize(("text", "code"), SPLIT)
def test_the_new_code_does_not_mean_the_former_one(text: str, code: str) -> None:
    assert codes(convert(MISFIT)) == ["API210"]
    assert codes(convert(MISFIT, ignore=(code,))) == ["API210"]
    assert "API210" in codes(convert(f"{MISFIT}  # paddletorch: ignore[{code}]"))


def test_a_call_that_cannot_be_taken_apart_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """No source code is known that does this."""

    def unreadable(*_: object) -> NoReturn:
        raise LayoutError("cannot read the call at line 3")

    text = "import torch\n\nlayer = torch.nn.LayerNorm(3, eps=1e-3)"
    assert codes(convert(text)) == []
    monkeypatch.setattr(arguments, "read_layout", unreadable)
    result = convert(text)
    assert result.output.decode() == f"{text}\n"
    assert [(d.code, d.message) for d in result.diagnostics] == [
        (
            "API232",
            "the arguments of torch.nn.LayerNorm cannot be edited: cannot read the call at line 3; left as it is",
        )
    ]


def test_classes_of_other_files_get_no_placeholders(tmp_path: Path) -> None:
    (tmp_path / "base.py").write_text(
        "import torch\nfrom torch.utils.data.distributed import DistributedSampler\n\n\n"
        "class Sampler(DistributedSampler):\n    pass\n\n\n"
        "class Steps(torch.optim.lr_scheduler.StepLR):\n    pass\n"
    )
    file = tmp_path / "use.py"
    text = (
        "import torch\nfrom base import Sampler, Steps\n\n\n"
        "def start(data, optimizer):\n    return Sampler(data, shuffle=False), Steps(optimizer, step_size=3)\n"
    )
    file.write_text(text)
    result = Engine(Options("paddle"), tree=True).convert(file.read_bytes(), str(file))
    assert "return Sampler(data, shuffle=False), Steps(optimizer, step_size=3)" in result.output.decode()
    assert codes(result) == ["DAT201"]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("def f(norm=None):\n    norm = functools.partial(norm)\n    return norm(3, eps=1.0)", "norm(3, eps=1.0)"),
        ("a = b = None\na = b\nb = a\na(3, eps=1.0)", "a(3, eps=1.0)"),
        ("n = functools.partial(torch.nn.LayerNorm, 3)\nn = functools.partial(n, eps=1.0)\nn()", "n()"),
    ],
)
def test_partial_objects_that_name_themselves_end(source: str, target: str) -> None:
    assert target in convert(f"import functools\nimport torch\n{source}").output.decode()


def test_a_written_function_needs_its_builtins() -> None:
    code = "import torch\n\nmax = len\n\n\ndef f(x, n):\n    return torch.chunk(x, n)\n"
    result = convert(code)
    assert codes(result) == ["API213"]
    assert "torch.chunk(x, n)" in result.output.decode()
