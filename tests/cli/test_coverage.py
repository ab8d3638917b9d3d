"""What the report says about the share of API uses that were converted, and about what is left."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paddletorch.model import FileResult, Status, Uses
from paddletorch.report.coverage import count_of, left_lines, measure, total_line

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]
Tree = Callable[[Mapping[str, str]], None]

CODE = "import torch\n\nscaler = torch.amp.GradScaler()\ntorch.no_such(torch.no_such(1))\nprint(scaler._scale)\n"
MORE = "from torch import no_such, nothing\n\nno_such(nothing())\n"


def _result(uses: Mapping[str, Uses]) -> FileResult:
    return FileResult("a.py", Status.CLEAN, b"", b"", uses=uses)


def test_names_are_counted_over_files_the_most_frequent_first(paddletorch: Run, tree: Tree) -> None:
    tree({"a.py": CODE, "b.py": MORE})
    report = json.loads(paddletorch("convert", "--to", "paddle", "--format", "json").stdout)
    names = {entry["name"]: entry for entry in report["summary"]["uses"]["names"]}
    assert next(iter(names)) == "torch.no_such"
    assert names["torch.no_such"]["unknown"] == 3 and names["torch.nothing"]["unknown"] == 1
    assert names["torch.amp.GradScaler"]["converted"] == 1
    total = report["summary"]["uses"]["total"]
    assert set(total) == {"converted", "same", "reported", "unknown"}
    assert (total["converted"], total["reported"], total["unknown"]) == (1, 1, 4)
    by_file = [entry["uses"]["torch.no_such"]["unknown"] for entry in report["files"]]
    assert by_file == [2, 1]


def test_names_that_are_left_are_listed_on_request(paddletorch: Run, tree: Tree) -> None:
    tree({"a.py": CODE, "b.py": MORE})
    total = b"6 API uses: 1 converted, 1 reported, 4 unknown (16.6 % done).\n"
    plain = paddletorch("convert", "--to", "paddle").stdout
    assert total in plain and b"Left to do" not in plain
    listed = paddletorch("convert", "--to", "paddle", "--coverage").stdout
    assert total in listed
    assert b"Left to do\n     3  torch.no_such (unknown)\n" in listed


def test_nothing_is_said_without_uses(paddletorch: Run, tree: Tree) -> None:
    tree({"a.py": "x = 1\n"})
    assert b"API use" not in paddletorch("convert", "--to", "paddle", "--coverage").stdout


@pytest.mark.parametrize(
    ("uses", "line"),
    [
        (Uses(converted=1), "1 API use: 1 converted (100 % done)."),
        (Uses(1999, 0, 0, 1), "2000 API uses: 1999 converted, 1 unknown (99.9 % done)."),
        (Uses(3, 2, 1, 0), "6 API uses: 3 converted, 2 the same on both sides, 1 reported (83.3 % done)."),
        (Uses(0, 0, 0, 2), "2 API uses: 2 unknown (0 % done)."),
    ],
)
def test_total_line(uses: Uses, line: str) -> None:
    assert total_line(measure([_result({"torch.f": uses})])) == line


def test_long_lists_are_cut() -> None:
    coverage = measure([_result({f"torch.f{n}": Uses(unknown=n) for n in range(1, 31)})])
    lines = list(left_lines(coverage))
    assert lines[1].split() == ["30", "torch.f30", "(unknown)"]
    assert len(lines) == 22 and "and 10 more names" in lines[-1]
    mixed = measure([_result({"torch.f": Uses(2, 0, 1, 3), "torch.g": Uses(converted=9)})])
    assert list(left_lines(mixed))[1:] == ["     4  torch.f (3 unknown, 1 reported)"]


_COUNT = st.integers(0, 5)
_USES = st.builds(Uses, _COUNT, _COUNT, _COUNT, _COUNT)


@given(st.lists(st.dictionaries(st.sampled_from("abcd"), _USES)))
def test_no_use_is_lost(files: list[dict[str, Uses]]) -> None:
    coverage = measure(map(_result, files))
    assert count_of(coverage.total) == sum(count_of(uses) for file in files for uses in file.values())
    assert sum(map(count_of, coverage.names.values())) == count_of(coverage.total)
    counts = [count_of(uses) for uses in coverage.names.values()]
    assert counts == sorted(counts, reverse=True)
