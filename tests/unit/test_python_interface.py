"""The Python interface: text in, result out, whatever the text; wrong options are errors at once."""

from __future__ import annotations

import ast
import inspect
import json
import os
import subprocess
import sys
import textwrap
import threading
import warnings
from pathlib import Path
from typing import Any, get_args

import paddletorch
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paddletorch.model import Options
from paddletorch.model.counts import converted, places

MODULE = "import torch\n\nx = torch.zeros(2, 3)\ny = x.view(-1)\nz = torch.jit.save(x, 'x')\nw = unseen().max(1)\n"
CONVERTED = "import paddle\nimport torch\n\nx = paddle.zeros([2, 3])\ny = x.reshape([-1])\n"


def test_text_in_text_out() -> None:
    result = paddletorch.convert(MODULE, to="paddle")
    assert result.source == MODULE
    assert result.output.startswith(CONVERTED)
    assert result.changed and result.status is paddletorch.Status.CONVERTED
    assert result.path == "<string>"
    assert {conversion.replacement for conversion in result.conversions} >= {"paddle.zeros"}
    assert [finding.line for finding in result.findings] == [5, 6]


def test_bytes_in_bytes_out() -> None:
    assert paddletorch.convert(MODULE.encode(), to="paddle").output == paddletorch.convert(
        MODULE, to="paddle"
    ).output.encode("utf-8")


def test_the_fates_are_those_of_the_uses_and_sum_to_all() -> None:
    result = paddletorch.convert(MODULE, to="paddle")
    fates, unlisted = result.fates, sum(result.file.unlisted.values(), paddletorch.Fates())
    assert fates.converted == len(converted(result.file)) > 0
    assert fates.left == len(places(result.findings)) + unlisted.left > 0
    assert fates.total == fates.converted + fates.same + fates.needs_you + fates.not_examined
    assert not fates.done
    assert paddletorch.convert("import torch\nx = torch.zeros(2)\n", to="paddle").fates.done


def test_nothing_to_convert_gives_the_text_itself() -> None:
    text = "print('é')\r\n"
    result = paddletorch.convert(text, to="torch")
    assert result.output is text and not result.changed and result.fates.total == 0


@pytest.mark.parametrize(
    "text",
    [
        "# -*- coding: latin-1 -*-\nimport torch\nx = torch.zeros(2)  # é 🙂\n",
        "# -*- coding: no-such-codec -*-\nimport torch\nx = torch.zeros(2)\n",
        "\ufeffimport torch\nx = torch.zeros(2)\n",
        "import torch\r\nx = torch.zeros(2)  # é\r\n",
    ],
)
def test_a_str_has_no_encoding(text: str) -> None:
    result = paddletorch.convert(text, to="paddle")
    assert result.output == text.replace("torch.zeros(2)", "paddle.zeros([2])").replace("import torch", "import paddle")


@pytest.mark.parametrize(
    ("source", "code"),
    [
        (b"import torch\n# \xff\n", "SRC002"),
        (b"# coding: no-such-codec\nimport torch\n", "SRC002"),
        ("import torch\n".encode("utf-16"), "SRC002"),
        ("import torch\n# \ud800\n", "SRC002"),
        ("import torch\nx = torch.\n", "SRC001"),
        (b"import torch\nx = (\n", "SRC001"),
        ("import torch\n\0\n", "SRC001"),
        (b"import torch\n\0\n", "SRC001"),
        ("import torch\n" + "x = torch.a" + "[0]" * 100_000 + "\n", "SRC008"),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_bad_input_is_a_result(source: Any, code: str) -> None:
    result = paddletorch.convert(source, to="paddle")
    assert result.status is paddletorch.Status.FAILED
    assert [finding.code for finding in result.findings] == [code]
    assert result.output == source and type(result.output) is type(source)


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(), st.binary()))
def test_it_raises_for_no_text(source: Any) -> None:
    head: Any = "import torch\n" if isinstance(source, str) else b"import torch\n"
    for whole in (source, head + source, source + head):
        result = paddletorch.convert(whole, to="paddle")
        assert type(result.output) is type(whole)
        assert result.changed is (result.output != whole)


def test_a_fault_of_the_converter_is_a_result_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError("row")

    monkeypatch.setattr("paddletorch.engine.engine.Engine._convert_parsed", fail)
    result = paddletorch.convert(MODULE, to="paddle")
    assert [finding.code for finding in result.findings] == ["SRC900"]
    assert "KeyError" in result.findings[0].message and result.output == MODULE


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"to": "jax"}, "to must be one of 'torch', 'paddle', not 'jax'"),
        ({"shim": "yes"}, "shim must be one of"),
        ({"target_version": "3.x"}, "3.x"),
        ({"source_version": "one"}, "one"),
        ({"select": ["AMP999"]}, "select: no such code or area: AMP999"),
        ({"ignore": ["NOPE"]}, "ignore: no such code or area: NOPE"),
        ({"tables": ["no-such-file.toml"]}, "no-such-file.toml"),
    ],
)
def test_a_wrong_option_is_an_error(options: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"to": "paddle", **options}
    with pytest.raises(ValueError, match=message):
        paddletorch.convert(MODULE, **given)
    with pytest.raises(ValueError, match=message):
        paddletorch.Converter(**given)


def test_a_broken_table_is_named(tmp_path: Path) -> None:
    table = tmp_path / "own.toml"
    table.write_text("[[row]]\nid = 'x'\nwrong = 1\n")
    with pytest.raises(paddletorch.TableError, match=r"own\.toml"):
        paddletorch.convert(MODULE, to="paddle", tables=[table])


@pytest.mark.parametrize("option", ["select", "ignore", "tables"])
def test_one_string_is_not_several(option: str) -> None:
    given: dict[str, Any] = {"to": "paddle", option: "AMP"}
    with pytest.raises(TypeError, match=f"{option} takes several"):
        paddletorch.convert(MODULE, **given)


def test_only_text_is_converted() -> None:
    source: Any = bytearray(b"import torch\n")
    with pytest.raises(TypeError, match="bytearray"):
        paddletorch.convert(source, to="paddle")


def test_each_option_has_its_effect(tmp_path: Path) -> None:
    def output(text: str, **options: Any) -> str:
        return paddletorch.convert(text, to="paddle", **options).output

    scaler = "import torch\nscaler = torch.amp.GradScaler('cuda')\n"
    assert "incr_every_n_steps" in output(scaler)
    assert output(scaler, target_version=">=2.6") != output(scaler)
    assert output(scaler, source_version="2.4") == output(scaler)
    assert output(MODULE, select=["amp"]) == output(MODULE, ignore=["TEN", "API", "LIN"]) == MODULE
    assert "# paddletorch: NNM204" in output(MODULE, annotate=True)
    shimmed = "import torch\nscaler = torch.amp.GradScaler('cuda')\nscaler.unscale_(a)\nscaler.unscale_(b)\n"
    assert "paddletorch_shim" in output(scaler, shim="always")
    assert "paddletorch_shim" not in output(shimmed)
    table = tmp_path / "own.toml"
    table.write_text(
        "[defaults]\ncode = 'MIN101'\n"
        "[[row]]\nid = 'mine'\ntorch = 'torch.mine(a)'\npaddle = 'paddle.mine(a)'\nexample = 'torch.mine(x)'\n"
    )
    assert "paddle.mine(1)" in output("import torch\ntorch.mine(1)\n", tables=[table])


def test_unsafe_edits_are_asked_for() -> None:
    fixture = Path(__file__).parents[2] / "fixtures"
    texts = [file.read_bytes() for file in sorted((fixture / "to_paddle").glob("*.in.py"))]
    safe, unsafe = (
        [paddletorch.convert(text, to="paddle", unsafe=wanted).output for text in texts] for wanted in (False, True)
    )
    assert safe != unsafe


def test_the_signatures_have_every_option() -> None:
    fields = set(Options.__dataclass_fields__) - {"target"} | {"to"}
    for function in (paddletorch.convert, paddletorch.Converter):
        named = set(inspect.signature(function).parameters)
        assert fields <= named
        assert not any(p.kind is p.VAR_KEYWORD for p in inspect.signature(function).parameters.values())


def test_documents_by_name_or_kind() -> None:
    fenced = "# Title\n\n```python\nimport torch\nx = torch.zeros(2)\n```\n"
    by_name = paddletorch.convert(fenced, to="paddle", path="page.md")
    assert "paddle.zeros([2])" in by_name.output and by_name.output.startswith("# Title")
    assert paddletorch.convert(fenced, to="paddle", kind="markdown").output == by_name.output
    cells = [{"cell_type": "code", "source": "import torch\ntorch.ones(2)", "metadata": {}, "outputs": []}]
    notebook = json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": cells})
    assert "paddle.ones([2])" in paddletorch.convert(notebook, to="paddle", path="a.ipynb").output
    python = paddletorch.convert("import torch\nx = torch.zeros(2)\n", to="paddle", path="odd.md", kind="python")
    assert "paddle.zeros([2])" in python.output


def _tree(folder: Path, made: str) -> Path:
    (folder / "made.py").write_text(f"import torch\n\ndef make():\n    return {made}\n")
    script = folder / "train.py"
    script.write_text("from made import make\nimport torch\n\ntorch.ones(1)\nmake().max(1)\n")
    return script


def test_files_around_the_path_are_looked_up_anew(tmp_path: Path) -> None:
    script = _tree(tmp_path, "torch.zeros(2)")
    assert "paddle.max" in paddletorch.convert(script.read_text(), to="paddle", path=script).output
    assert "make().max(1)" in paddletorch.convert(script.read_text(), to="paddle").output  # which stands nowhere
    _tree(tmp_path, "dict()")
    assert "make().max(1)" in paddletorch.convert(script.read_text(), to="paddle", path=script).output


def test_a_converter_remembers_the_files_around_until_renewed(tmp_path: Path) -> None:
    script = _tree(tmp_path, "torch.zeros(2)")
    converter = paddletorch.Converter("paddle")
    assert "paddle.max" in converter.convert(script.read_bytes(), script).output.decode()
    dependencies = converter.dependencies(str(script))
    assert dependencies is not None and str(tmp_path / "made.py") in dependencies.contents
    _tree(tmp_path, "dict()")
    assert "paddle.max" in converter.convert(script.read_text(), script).output
    assert "make().max(1)" in converter.renewed().convert(script.read_text(), script).output


def test_str_and_bytes_see_the_same_tree(tmp_path: Path) -> None:
    script = _tree(tmp_path, "torch.zeros(2)")
    text = paddletorch.convert(script.read_text(), to="paddle", path=script)
    data = paddletorch.convert(script.read_bytes(), to="paddle", path=str(script))
    assert text.output.encode() == data.output
    assert text.findings == data.findings and text.fates == data.fates


def test_warnings_of_the_parser_do_not_reach_the_caller() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        result = paddletorch.convert("import torch\nx = torch.zeros(2)\ny = '\\d' is 1\n", to="paddle")
    assert result.changed and not caught


def test_threads_convert_the_same() -> None:
    found: list[str] = []
    texts = [MODULE + f"v{n} = torch.ones({n})\n" for n in range(8)]
    threads = [
        threading.Thread(target=lambda text=text: found.append(paddletorch.convert(text, to="paddle").output))
        for text in texts
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted(paddletorch.convert(text, to="paddle").output for text in texts)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_process_forked_meanwhile_can_convert() -> None:
    program = """
        import os, threading, time, warnings
        warnings.simplefilter("ignore")
        import paddletorch
        text = "import torch\\n" + "x = torch.zeros(2)\\n" * 3000
        thread = threading.Thread(target=lambda: paddletorch.convert(text, to="paddle"))
        paddletorch.convert("import torch\\nx = torch.zeros(2)\\n", to="paddle")
        thread.start()
        time.sleep(0.05)
        child = os.fork()
        if child == 0:
            os._exit(0 if paddletorch.convert("import torch\\nx = torch.zeros(2)\\n", to="paddle").changed else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        thread.join()
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, timeout=60)


def test_importing_the_package_imports_nothing_else() -> None:
    program = "import sys; before = set(sys.modules); import paddletorch; print(*sorted(set(sys.modules) - before))"
    found = subprocess.run(
        [sys.executable, "-S", "-c", _with_path(program)], capture_output=True, text=True, check=True
    )
    assert {name.partition(".")[0] for name in found.stdout.split()} <= {"paddletorch", *sys.stdlib_module_names}
    assert len(found.stdout.split()) < 10, "importlib and what it needs"


def test_converting_python_imports_neither_click_nor_libcst() -> None:
    program = "import sys, paddletorch; paddletorch.convert('import torch\\nx = torch.zeros(2)\\n', to='paddle')\n"
    program += "print(*{'click', 'libcst', 'rich', 'torch', 'paddle', 'markdown_it'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.split() == []


def _with_path(program: str) -> str:
    """Without site's own start-up files, which import what they like."""
    return f"import sys; sys.path[:0] = {sys.path!r}; " + program


def test_all_that_is_public_is_there_and_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
    for name in paddletorch.__all__:
        assert getattr(paddletorch, name) is not None
        assert f"`{name}`" in page, name
    assert set(paddletorch.__all__) <= set(dir(paddletorch))
    with pytest.raises(AttributeError, match="no attribute 'Engine'"):
        _ = paddletorch.Engine  # type: ignore[attr-defined]


def test_the_kinds_are_those_of_the_documents() -> None:
    from paddletorch.api.converter import Kind
    from paddletorch.model.document_kinds import DocumentKind

    assert set(get_args(Kind)) == {"python", *get_args(DocumentKind)}


def test_the_examples_of_the_page_run() -> None:
    page = (Path(__file__).parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
    blocks = [part.partition("```")[0] for part in page.split("```python\n")[1:]]
    assert blocks
    for block in blocks:
        namespace: dict[str, Any] = {}
        exec(compile(ast.parse(block), "docs/python.md", "exec"), namespace)
