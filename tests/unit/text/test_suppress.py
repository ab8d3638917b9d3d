"""``# paddletorch: ignore`` comments: what they keep away, and what is said of those that keep nothing away."""

from __future__ import annotations

import io
import tokenize
from pathlib import Path

import pytest
from paddletorch.engine.engine import Engine
from paddletorch.model import Diagnostic, FileResult, Framework, Options

from ...fixture_files import Fixture, converted, engine_for, with_fixtures

SCALER = "import torch\n\nscaler = torch.amp.GradScaler()"
PRIVATE = f"{SCALER}\nprint(scaler._scale)"


def convert(text: str, target: Framework = "paddle", **options: object) -> FileResult:
    return engine_for(Options(target=target, **options)).convert(text.encode(), "x.py")  # type: ignore[arg-type]


def unused(result: FileResult) -> list[Diagnostic]:
    return [d for d in result.diagnostics if d.code == "API214"]


def everything_ignored(source: bytes) -> str:
    """The text with a comment at the end of each line that may have one, and no other comments."""
    text = source.decode()
    lines = text.splitlines(keepends=True)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip(" \t") + lines[row - 1][column + len(token.string) :]
    stripped = "".join(lines)
    lines = stripped.splitlines(keepends=True)
    for token in tokenize.generate_tokens(io.StringIO(stripped).readline):
        if token.type in (tokenize.NEWLINE, tokenize.NL) and lines[token.start[0] - 1].strip():
            row, column = token.start
            line = lines[row - 1]
            lines[row - 1] = f"{line[:column]}  # paddletorch: ignore{line[column:]}"
    return "".join(lines)


def is_plain(fixture: Fixture) -> bool:
    """Whether the fixture's text can be taken apart by lines."""
    return not set(fixture.source) & {0x0C, 0x0D} and fixture.source.isascii()


@with_fixtures(is_plain)
def test_a_comment_on_every_line_keeps_the_file_as_it_is(fixture: Fixture) -> None:
    text = everything_ignored(fixture.source)
    result = fixture.convert(text.encode())
    assert result.output.decode() == text
    assert {d.code for d in result.diagnostics} <= {"API214"}


@with_fixtures()
def test_a_comment_for_the_whole_file(fixture: Fixture) -> None:
    data = fixture.source + b"\n# paddletorch: ignore-file\n"
    result = fixture.convert(data)
    assert result.output == data
    assert {d.code for d in result.diagnostics} <= {"API214"}


@with_fixtures(lambda fixture: fixture.output != fixture.source)
def test_what_is_not_selected_is_not_converted(fixture: Fixture) -> None:
    result = converted(Options(target=fixture.target, select=("AMP", "LIN")), fixture.source, "x.py")
    assert {c.code[:3] for c in result.conversions} <= {"AMP", "LIN"}


@pytest.mark.parametrize(
    ("comment", "converted", "found"),
    [
        ("ignore", False, False),
        ("ignore[AMP]", False, False),
        ("ignore[AMP101]", False, False),
        ("ignore [ amp101 , AMP226 ]", False, False),
        ("ignore[AMP226]  because", True, False),
        ("ignore: we know", False, False),
        ("ignore[OPT]", True, True),
    ],
)
@pytest.mark.parametrize("form", ["{0}  # paddletorch: {1}\n", "{0}  # noqa  #paddletorch:{1}\n"])
def test_codes(form: str, comment: str, converted: bool, found: bool) -> None:
    text = form.format("import torch; scaler = torch.amp.GradScaler(); print(scaler._scale)", comment)
    result = convert(text)
    assert ("AMP101" in {c.code for c in result.conversions}) is converted
    assert ("AMP226" in {d.code for d in result.diagnostics}) is found


def test_any_line_of_an_expression_will_do() -> None:
    text = "import torch\nx = torch.rand(2, 3)\ny = x.transpose(\n    0,\n    1,\n)  # paddletorch: ignore[TEN]\n"
    assert "y = x.transpose(\n    0,\n    1,\n)" in convert(text).output.decode()
    assert "y = x.transpose(\n    0,\n    1,\n)" not in convert(text.replace("ignore[TEN]", "")).output.decode()


def test_comments_in_strings_are_not_comments() -> None:
    assert convert(f'{SCALER}; text = "# paddletorch: ignore-file"\n').conversions


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("ignore[AMP211]", "nothing to suppress here (AMP211)"),
        ("ignore[AMP101, AMP211, OPT]", "nothing to suppress here (AMP211, OPT)"),
        ("ignore-file[AMP211]", "nothing to suppress in this file (AMP211)"),
        ("ignore[AMP999]", "there is no code AMP999"),
        ("ignore[]", "there is no code in the brackets"),
        ("ignore[AMP101", "the bracket is not closed"),
        ("ignore[AMP101; OPT101]", "[AMP101; OPT101] is no list of codes: write ignore[AMP213, OPT204]"),
        ("ignore AMP101", "write ignore[AMP101]: codes stand in brackets"),
        ("ignore-next-line", "'ignore-next-line' is not known: write ignore[CODE] or ignore-file[CODE]"),
    ],
)
def test_what_suppresses_nothing_is_reported(comment: str, message: str) -> None:
    result = convert(f"{SCALER}  # paddletorch: {comment}\n")
    assert [(d.line, d.column, d.message) for d in unused(result)] == [(3, 34, message)]
    kept = "AMP101, AMP211" in comment
    assert bool(result.conversions) is not kept


@pytest.mark.parametrize("comment", ["ignore", "ignore[AMP101]", "ignore-file[AMP226]"])
def test_a_line_without_an_api(comment: str) -> None:
    assert len(unused(convert(f"print(1)  # paddletorch: {comment}\n"))) == 1


@pytest.mark.parametrize(
    ("text", "comment"),
    [
        (SCALER, "ignore[AMP101]"),
        (PRIVATE, "ignore[AMP226]"),
        ("import paddle\n\nscaler = paddle.amp.GradScaler()", "ignore[AMP101]"),
        ("import paddle\n\nx = paddle.rand([2])[::-1]", "ignore[TEN105]"),
        ("import torch\n\nscaler = torch.amp.GradScaler()", "ignore-file[AMP101]"),
    ],
)
@pytest.mark.parametrize("target", ["paddle", "torch"])
@pytest.mark.parametrize(
    "options", [{}, {"select": ("OPT", "API214")}, {"ignore": ("AMP",)}, {"shim": "always"}, {"target_version": "2.6"}]
)
def test_what_suppresses_something_in_some_run_is_used(
    text: str, comment: str, target: Framework, options: dict[str, object]
) -> None:
    """In the other direction, without the selection, or without the shim, the comment has its use."""
    assert unused(convert(f"{text}  # paddletorch: {comment}\n", target, **options)) == []


def test_reports_of_unused_comments_can_be_ignored() -> None:
    text = "print(1)  # paddletorch: ignore\n"
    assert convert(text, ignore=("API214",)).diagnostics == ()
    assert convert(text, select=("AMP",)).diagnostics == ()
    assert len(convert(text, select=("API214",)).diagnostics) == 1


def test_the_other_files_of_the_tree_are_looked_at(tmp_path: Path) -> None:
    (tmp_path / "made.py").write_text("import torch\n\n\ndef make():\n    return torch.amp.GradScaler()\n")
    file = tmp_path / "use.py"
    file.write_text("from made import make\n\nscaler = make()\nprint(scaler._scale)  # paddletorch: ignore[AMP226]\n")
    result = Engine(Options("paddle", select=("API214",)), tree=True).convert(file.read_bytes(), str(file))
    assert result.diagnostics == ()


def test_what_an_unused_comment_rests_on_is_noted(tmp_path: Path) -> None:
    """The cache has to know of files that only the search for a use in the other direction looked at."""
    (tmp_path / "made.py").write_text("import paddle\n\n\ndef make():\n    return paddle.rand([2])\n")
    file = tmp_path / "use.py"
    text = "from made import make\n\nx = make()\ny = x.astype('int32')\nprint(1)  # paddletorch: ignore[AMP226]\n"
    file.write_text(text)
    engine = Engine(Options("paddle"), tree=True)
    assert len(engine.convert(file.read_bytes(), str(file)).diagnostics) == 1
    noted = engine.dependencies(str(file))
    assert noted is not None
    assert str(tmp_path / "made.py") in noted.contents
