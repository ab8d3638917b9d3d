"""The changes of a file by statement, and files that are planned with some of them left."""

from __future__ import annotations

import pytest
from paddletorch.engine.statement_changes import statement_changes
from paddletorch.model import FileResult, Framework, Options, StatementChange, Status

from ...fixture_files import engine_for

MODEL = """\
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)

    def forward(self, x):
        if x.view(-1).sum() > 0:
            return torch.gather(
                x, 1, x.long()
            )
        return torch.zeros(3, 4)
"""


def convert(text: str, left: frozenset[int] = frozenset(), target: Framework = "paddle") -> FileResult:
    return engine_for(Options(target=target)).convert(text.encode(), "<x>", None, left)


def asked(result: FileResult) -> list[StatementChange]:
    return [change for change in statement_changes(result) if change.to_leave]


def test_each_statement_is_a_change_with_its_uses() -> None:
    found = [(change.first, change.last, [one.name for one in change.conversions]) for change in asked(convert(MODEL))]
    assert found == [
        (2, 2, ["torch.nn.Linear"]),
        (5, 5, ["torch.nn.Module"]),
        (11, 11, ["tensor.view"]),
        (12, 14, ["torch.gather", "tensor.long"]),
        (15, 15, ["torch.zeros"]),
    ]


def test_an_import_stands_for_the_uses_whose_text_stays() -> None:
    change = asked(convert(MODEL))[0]
    assert (change.old, change.new) == ("import torch.nn as nn\n", "import paddle.nn as nn\n")
    assert change.to_leave == {8} and [one.line for one in change.elsewhere] == [8]


def test_an_import_that_others_need_is_not_asked_about() -> None:
    assert statement_changes(convert(MODEL))[0].to_leave == frozenset()


def test_the_changes_put_together_are_the_converted_text() -> None:
    result = convert(MODEL)
    lines = MODEL.splitlines(keepends=True)
    for change in reversed(statement_changes(result)):
        assert "".join(lines[change.first - 1 : change.last]) == change.old
        lines[change.first - 1 : change.last] = [change.new]
    assert "".join(lines).encode() == result.output


@pytest.mark.parametrize("number", range(5))
def test_what_is_left_stays_and_the_rest_is_planned_with_it(number: int) -> None:
    change = asked(convert(MODEL))[number]
    result = convert(MODEL, change.to_leave)
    assert result.status is Status.CONVERTED
    assert all(MODEL.splitlines()[line - 1] in result.output.decode().splitlines() for line in change.to_leave)
    assert not any(again.to_leave <= change.to_leave for again in asked(result))
    compile(result.output, "x", "exec")


def test_a_name_whose_import_stays_is_written_in_full_elsewhere() -> None:
    result = convert(MODEL, frozenset({8}))
    assert b"import torch.nn as nn\n" in result.output and b"class Net(paddle.nn.Layer):" in result.output


def test_with_all_lines_left_nothing_changes() -> None:
    assert convert(MODEL, frozenset(range(1, 20))).status is Status.CLEAN


def test_leaving_is_no_reason_for_verify_to_refuse() -> None:
    engine = engine_for(Options(target="paddle", verify=True))
    result = engine.convert(MODEL.encode(), "<x>", None, frozenset({15}))
    assert result.status is Status.CONVERTED and b"torch.zeros(3, 4)" in result.output


def test_an_indented_text_that_ends_without_a_line_end() -> None:
    text = "import torch\r\n\r\nx = torch.rand(2, 3)"
    (change,) = asked(convert(text))
    assert (change.old, change.new) == ("x = torch.rand(2, 3)", "x = paddle.rand([2, 3])")
    assert convert(text, change.to_leave).output == text.encode()
