"""The gate's other promises: placeholders, decorators that compile, bytes, and a second run that changes nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from paddletorch.engine import engine
from paddletorch.engine.engine import Engine
from paddletorch.gate.gate import violations
from paddletorch.gate.second_run import again, changed_again
from paddletorch.gate.violation import Violation
from paddletorch.model import Conversion, Options, Status
from paddletorch.resolve import Evaluator
from paddletorch.text import source

from .broken_edits import converted, found, said


@pytest.mark.parametrize(
    ("new", "left"),
    [
        ("f([1] * ({x}.ndim - 2))", {2}),
        ("f({'x': 1}, {1, 2})", set()),
        ("f('{x}', \"{y}\")", set()),
        ("f(2)  # {x}", set()),
    ],
)
def test_no_placeholder_is_written(new: str, left: set[int]) -> None:
    problem = "{x} was never filled in"
    assert said("x = 1\nf(1)\n", ("f(1)", new)) == ([("SRC009", problem, left)] if left else [])


def test_a_set_of_one_name_may_stay() -> None:
    assert found("x = 1\nf({x}, 1)\n", ("f({x}, 1)", "f({x}, 2)")) == []


SCRIPT = "import torch\n@torch.jit.script\ndef f(x):\n    return torch.cat(x)\n"


def test_a_decorator_that_compiles_keeps_its_function() -> None:
    imports, body = ("import torch", "import paddle\nimport torch"), ("torch.cat(x)", "paddle.concat(x)")
    assert said(SCRIPT, imports, body) == [("SRC014", "torch.jit.script stays", {3, 4})]
    assert found(SCRIPT, ("import torch", "import paddle"), ("@torch.jit.script\n", ""), body) == []
    assert found(SCRIPT.replace("jit.script", "foo"), imports, body) == []
    assert found(SCRIPT.replace("@torch", "@other"), imports, body) == []


@pytest.mark.parametrize("head", ["@torch.jit.script  # c\n", "@torch.no_grad()\n@torch.compile(mode='x')\n"])
def test_other_spellings_of_such_decorators(head: str) -> None:
    code = f"import torch\n{head}def f(x):\n    return torch.cat(x)\n"
    imports = ("import torch", "import paddle\nimport torch")
    assert [one.code for one in found(code, imports, ("torch.cat(x)", "paddle.concat(x)"))] == ["SRC014"]


GUARD = "try:\n    import torch\nexcept ImportError:\n    {}\ny = torch.cat(x)\nz = torch.foo(x)\n"
BESIDE = ("import torch", "import paddle; import torch"), ("torch.cat(x)", "paddle.concat(x)")


@pytest.mark.parametrize("handler", ["torch = None", "print('no torch')", "pass"])
def test_a_guard_imports_one_framework(handler: str) -> None:
    assert said(GUARD.format(handler), *BESIDE) == [("SRC020", "'import torch' stays", {2, 5})]
    assert found(GUARD.format(handler), ("import torch", "import paddle"), BESIDE[1]) != []
    both = GUARD.format(handler).replace("import torch", "import torch, paddle")
    assert found(both, BESIDE[1]) == []


@pytest.mark.parametrize("handler", ["raise", "exit(1)"])
def test_a_guard_that_hands_on_what_it_catches_may_import_both(handler: str) -> None:
    assert found(GUARD.format(handler), *BESIDE) == []
    assert found(GUARD.format(handler).replace("ImportError", "ValueError"), *BESIDE) == []


def test_suppressed_imports_are_guarded() -> None:
    code = "import contextlib\nwith contextlib.suppress(ImportError):\n    import torch\ny = torch.cat(x)\n"
    assert [one.line for one in found(code, *BESIDE) if one.code == "SRC020"] == [2]


@pytest.mark.parametrize("codec", ["iso-8859-1", "cp932", "euc_kr", "iso2022_jp"])
def test_new_characters_that_the_codec_lacks(codec: str) -> None:
    code = f"# -*- coding: {codec} -*-\nx = 1\ny = 2\n".encode(codec)
    problem = f"the codec {codec} has no bytes for a character"
    assert said(code, ("y = 2", "y = '\N{SNOWMAN}\N{HEBREW LETTER ALEF}'")) == [("SRC015", problem, {3})]
    assert found(code, ("y = 2", "y = 'b'")) == []


INEXACT = {
    "cp932": b"\xfcK",
    "big5": b"\xa1\xfe",
    "hz": b"~{~}",
    "iso2022_jp": b"\x1b(B",
    "johab": b"\x84A",
    "mac_arabic": b"\x1b(B",
    "unicode_escape": b"\\x41",
    "utf-7": b"+AGE-",
}
"""Bytes that the codec reads, and does not write."""


@pytest.mark.parametrize("codec", INEXACT)
def test_a_codec_that_changes_bytes_is_refused(codec: str) -> None:
    code = b"# -*- coding: %s -*-\nimport torch\ns = 'a%s'\nx = torch.zeros(3)\n" % (codec.encode(), INEXACT[codec])
    result = Engine(Options("paddle")).convert(code, "a.py")
    assert (result.status, result.output) == (Status.FAILED, code)
    assert [(d.code, codec in d.message) for d in result.diagnostics] == [("SRC002", True)]


@pytest.mark.parametrize(
    "codec", ["cp932", "big5", "euc_kr", "euc_jp", "gb18030", "hz", "iso2022_jp", "latin-1", "utf-8"]
)
def test_other_files_of_such_codecs_keep_their_bytes(codec: str) -> None:
    text = "\u00e9" if codec == "latin-1" else "\u4e2d\u6587" if codec != "euc_kr" else "\ud55c"
    code = f"# -*- coding: {codec} -*-\nimport torch\ns = 'a{text}'\nx = torch.zeros(3)  # {text}\n".encode(codec)
    result = Engine(Options("paddle")).convert(code, "a.py")
    assert result.status is Status.CONVERTED
    expected = code.replace(b"import torch", b"import paddle").replace(b"torch.zeros(3)", b"paddle.zeros([3])")
    assert result.output == expected


def test_a_second_run_that_changes_something_is_found() -> None:
    text = converted("import torch\nx = 1\ny = torch.zeros(3)\n", ("x = 1", "x = torch.ones(2)"))
    found = changed_again(text, Engine(Options("paddle")).convert_source(again(text), "a.py"))
    assert found is not None
    assert (found.line, found.problem) == (2, "torch.ones would become paddle.ones")
    sound = converted("import torch\nx = 1\n", ("import torch", "import paddle"))
    assert changed_again(sound, Engine(Options("paddle")).convert_source(again(sound), "a.py")) is None


def test_verify_leaves_a_file_that_would_change_again(monkeypatch: pytest.MonkeyPatch) -> None:
    code = b"import torch\nx = torch.zeros(3)\n"
    options = Options("paddle", verify=True)
    assert Engine(options).convert(code, "a.py").status is Status.CONVERTED
    monkeypatch.setattr(Engine, "_second_run", Engine(Options("torch")))  # the way back surely changes something
    result = Engine(options).convert(code, "a.py")
    assert (result.status, result.output) == (Status.FAILED, code)
    assert [d.code for d in result.diagnostics] == ["SRC016"]


@pytest.mark.parametrize(
    "code", [b"", b"#\n", b"import torch\n\0", b"\xff\xfei\0", b"import torch\nx = torch.zeros(" + b"(" * 500]
)
def test_converting_never_raises(code: bytes) -> None:
    for target in ("paddle", "torch"):
        assert Engine(Options(target, verify=True)).convert(code, "a.py").output == code  # type: ignore[arg-type]


def test_lines_that_are_left_ask_for_no_type_again(monkeypatch: pytest.MonkeyPatch) -> None:
    code = b"import contextlib\nwith contextlib.suppress(ImportError):\n    import torch\n    import torch.jit._state\n"
    code += b"y = torch.zeros(2)\ntorch.jit._state.enable()\n"
    made: list[Evaluator] = []
    rounds: list[int] = []

    def counted(*arguments: Any, **named: Any) -> Evaluator:
        made.append(Evaluator(*arguments, **named))
        return made[-1]

    def gated(*arguments: Any) -> list[Violation]:
        rounds.append(1)
        return violations(*arguments) if len(rounds) > 1 else [Violation("SRC020", "stays", frozenset({5}))]

    monkeypatch.setattr(engine, "Evaluator", counted)
    monkeypatch.setattr(engine, "violations", gated)
    result = Engine(Options("paddle")).convert(code, "<left>")
    assert b"y = torch.zeros(2)" in result.output
    assert (len(rounds), len(made)) == (2, 1)


def test_a_removal_on_lines_that_are_left_is_not_planned_again(monkeypatch: pytest.MonkeyPatch) -> None:
    code = b"import torch\n\n\n@torch.jit.script\nclass A:\n    def f(self, x):\n        return torch.cat(x)\n"
    rounds: list[int] = []

    def gated(*arguments: Any) -> list[Violation]:
        rounds.append(1)
        return violations(*arguments) if len(rounds) > 1 else [Violation("SRC014", "stays", frozenset({5, 6, 7}))]

    monkeypatch.setattr(engine, "violations", gated)
    result = Engine(Options("paddle", max_file_seconds=20)).convert(code, "<left>")
    assert "SRC018" not in {d.code for d in result.diagnostics}
    assert b"@torch.jit.script\nclass A" in result.output


def test_no_code_that_converts_is_repeated() -> None:
    pieces = "torch.pinv(a, rtol=b.dtype.is_complex)", "paddle.pinv(a, rcond=b.dtype . is_complex)"
    text = converted(f"import torch\nimport paddle\ny = {pieces[0]}\n", pieces, ("b.dtype.is_complex", "asked(b)"))
    place = Conversion("DTY101", "dtype.is_complex", "asked(b)", 3, 24, 3, 42)
    (one,) = violations(text, "torch", "paddle", [place])
    assert (one.code, one.problem, one.lines) == ("SRC021", "'b.dtype.is_complex' would be repeated as it is", {3})
    assert violations(text, "torch", "paddle", [replace(place, end_column=41)]) == []


def test_new_lines_that_bind_one_name_twice_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """``values = pinv(values)`` above ``values = g()``, as lines in the order of the calls' ends would be."""
    placed = source._position
    monkeypatch.setattr(source, "_position", lambda edit: placed(edit)[:-1])
    code = b"import torch\ndef f():\n    y = torch.linalg.pinv(torch.linalg.pinv(g()))\n"
    result = Engine(Options(target="paddle")).convert(code, "a.py")
    assert result.output == code and {d.code for d in result.diagnostics} == {"SRC013"}
