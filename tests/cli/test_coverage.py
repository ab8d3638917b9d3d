"""What the report says about the fates of API uses, and about what is left; every form adds them up to the same."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paddletorch.model import Diagnostic, Fate, Fates, FileResult, Severity, Status
from paddletorch.model.counts import fates_of
from paddletorch.report.coverage import left_lines, measure, total_line

Run = Callable[..., "subprocess.CompletedProcess[bytes]"]
Tree = Callable[[Mapping[str, str]], None]

CODE = "import torch\n\nscaler = torch.amp.GradScaler()\ntorch.no_such(torch.no_such(1))\nprint(scaler._scale)\n"
MORE = "from torch import no_such, nothing\n\nno_such(nothing())\n"
KEYS = ("converted", "same", "needs_you", "not_examined")


def _result(uses: Mapping[str, Fates]) -> FileResult:
    return FileResult("a.py", Status.CLEAN, b"", b"", unlisted=uses)


def test_what_stands_in_a_dropped_argument_is_converted(paddletorch: Run, tree: Tree) -> None:
    tree({"a.py": "import torch\n\nx = torch.zeros(2, layout=torch.strided, device=torch.device('cpu'))\n"})
    uses = json.loads(paddletorch("convert", "--to", "paddle", "--format", "json").stdout)["summary"]["uses"]["total"]
    assert [uses[key] for key in KEYS] == [3, 0, 0, 0]


def test_names_are_counted_over_files_the_most_frequent_first(paddletorch: Run, tree: Tree) -> None:
    tree({"a.py": CODE, "b.py": MORE})
    report = json.loads(paddletorch("convert", "--to", "paddle", "--format", "json").stdout)
    names = {entry["name"]: entry for entry in report["summary"]["uses"]["names"]}
    assert next(iter(names)) == "torch.no_such"
    assert names["torch.no_such"]["not_examined"] == 3 and names["torch.nothing"]["not_examined"] == 1
    assert names["torch.amp.GradScaler"]["converted"] == 1
    total = report["summary"]["uses"]["total"]
    assert tuple(total) == KEYS
    assert (total["converted"], total["needs_you"], total["not_examined"]) == (1, 1, 4)
    by_file = [entry["uses"]["torch.no_such"]["not_examined"] for entry in report["files"]]
    assert by_file == [2, 1]


def test_names_that_are_left_are_listed_on_request(paddletorch: Run, tree: Tree) -> None:
    tree({"a.py": CODE, "b.py": MORE})
    total = b"6 uses: 1 converted, 1 needs you, 4 not examined.\n"
    plain = paddletorch("convert", "--to", "paddle", "--format", "full").stdout
    assert total in plain and b"Left to do" not in plain
    for form in ("full", "text"):
        listed = paddletorch("convert", "--to", "paddle", "--coverage", "--format", form).stdout
        assert b"Left to do\n     3  torch.no_such (not examined)\n" in listed


def test_nothing_is_said_without_uses(paddletorch: Run, tree: Tree) -> None:
    tree({"a.py": "x = 1\n"})
    shown = paddletorch("convert", "--to", "paddle", "--coverage").stdout.decode()
    assert shown == "1 file scanned: nothing to convert.\n\nNothing is left to do.\n"


@pytest.mark.parametrize(
    ("fates", "line"),
    [
        (Fates(converted=1), "1 use: 1 converted."),
        (Fates(1999, 0, 0, 1), "2,000 uses: 1,999 converted, 1 not examined."),
        (Fates(3, 2, 1, 0), "6 uses: 3 converted, 2 the same on both sides, 1 needs you."),
        (Fates(0, 0, 2, 2), "4 uses: 2 need you, 2 not examined."),
        (Fates(), "No uses."),
    ],
)
def test_total_line(fates: Fates, line: str) -> None:
    assert total_line(fates) == line


def test_long_lists_are_cut_and_still_add_up() -> None:
    coverage = measure([_result({f"torch.f{n}": Fates(not_examined=n) for n in range(1, 31)})])
    lines = list(left_lines(coverage))
    assert lines[1].split(maxsplit=2) == ["30", "torch.f30", "(not examined)"]
    assert len(lines) == 22 and "of 10 more names" in lines[-1]
    assert sum(int(line.split()[0]) for line in lines[1:]) == coverage.total.left
    mixed = measure([_result({"torch.f": Fates(2, 0, 1, 3), "torch.g": Fates(converted=9)})])
    assert list(left_lines(mixed))[1:] == ["     4  torch.f (1 needs you, 3 not examined)"]


_COUNT = st.integers(0, 5)
_FATES = st.builds(Fates, _COUNT, _COUNT, _COUNT, _COUNT)


@given(st.lists(st.dictionaries(st.sampled_from("abcd"), _FATES)))
def test_no_use_is_lost(files: list[dict[str, Fates]]) -> None:
    coverage = measure(map(_result, files))
    assert coverage.total.total == sum(fates.total for file in files for fates in file.values())
    assert sum(fates.total for fates in coverage.names.values()) == coverage.total.total
    counts = [fates.total for fates in coverage.names.values()]
    assert counts == sorted(counts, reverse=True)


@pytest.mark.parametrize(
    ("severity", "examined", "fate"),
    [
        (Severity.ERROR, True, Fate.NEEDS_YOU),
        (Severity.WARNING, True, Fate.NEEDS_YOU),
        (Severity.WARNING, False, Fate.NOT_EXAMINED),
        (Severity.ERROR, False, Fate.NOT_EXAMINED),
        (Severity.INFO, True, None),
    ],
)
def test_what_a_finding_counts_as(severity: Severity, examined: bool, fate: Fate | None) -> None:
    found = Diagnostic("API225", "", 1, 1, 1, 5, severity, name="torch.f", examined=examined)
    assert found.fate is fate
    result = FileResult("a.py", Status.CLEAN, b"", b"", diagnostics=(found, found))
    assert fates_of([result]) == (Fates() if fate is None else Fates(**{fate.value: 1}))


PARTS = [("torch/utils/data", "paddle"), ("torch/nn/parallel", "paddle"), ("paddle/vision/models", "torch")]
"""Parts of the installed frameworks, which use them as programs do."""


@pytest.fixture(params=PARTS, ids=lambda part: part[0])
def part(request: pytest.FixtureRequest, folder: Path) -> str:
    """A real tree, with a notebook of which one cell cannot be read, and an unused suppression; the target."""
    place, target = request.param
    package, _, inner = place.partition("/")
    spec = importlib.util.find_spec(package)
    assert spec is not None and spec.origin is not None
    shutil.copytree(Path(spec.origin).parent / inner, folder / "part", ignore=shutil.ignore_patterns("__pycache__"))
    cells = [f"import {package}\nx = {package}.zeros([1])", f"{package}.zeros([", "foo.max(1)"]
    notebook = {
        "cells": [
            {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": cell}
            for cell in cells
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 4,
    }
    (folder / "part" / "book.ipynb").write_text(json.dumps(notebook))
    (folder / "part" / "broken.py").write_text(f"import {package}\n{package}.zeros([\n")
    (folder / "part" / "put_off.py").write_text(
        f"import {package}\n{package}.no_such()  # paddletorch: ignore[API225]\n"
    )
    return str(target)


def _sum(counts: list[dict[str, int]]) -> dict[str, int]:
    return {key: sum(one[key] for one in counts) for key in KEYS}


def test_every_form_adds_up_to_the_same(paddletorch: Run, folder: Path, part: str) -> None:
    """The four fates, over files and names, against what is listed: in JSON, SARIF, HTML and text."""
    to = ("convert", "--to", part)
    made = paddletorch(*to, "--format", "json", "--report", "r.sarif", "--report", "r.html")
    report: dict[str, Any] = json.loads(made.stdout)
    uses = report["summary"]["uses"]
    total = uses["total"]
    assert total["not_examined"] >= 3 and total["needs_you"] and total["converted"] and total["same"]
    assert _sum([fates for file in report["files"] for fates in file["uses"].values()]) == total
    assert _sum(uses["names"]) == total
    # the lists
    fate_of: dict[tuple[Any, ...], set[str]] = {}
    for found in report["diagnostics"]:
        if found["fate"] is not None:
            place = tuple(found[key] for key in ("path", "line", "column", "end_line", "end_column", "name"))
            fate_of.setdefault(place, set()).add(found["fate"])
    assert len(fate_of) + uses["without_finding"] == total["needs_you"] + total["not_examined"]
    assert sum("needs_you" not in fates for fates in fate_of.values()) <= total["not_examined"]
    assert sum(one["fate"] == "converted" for one in report["conversions"]) == total["converted"]
    assert sum(entry["count"] for entry in report["summary"]["conversions"]) == total["converted"]
    assert sum(report["summary"]["left"].values()) == sum(one["fate"] is not None for one in report["diagnostics"])
    assert made.returncode == report["summary"]["exit_code"] == 2
    # SARIF and HTML
    run = json.loads((folder / "r.sarif").read_text())["runs"][0]
    assert run["properties"]["uses"] == {**total, "total": sum(total.values())}
    data = re.search(r'id="data">(.*?)</script>', (folder / "r.html").read_text())
    assert data is not None
    page = json.loads(data[1])
    assert page["uses"] == [sum(column) for column in zip(*(file["uses"] for file in page["files"]), strict=True)]
    assert page["uses"] == list(total.values())
    assert sum(len(file["conversions"]) for file in page["files"]) == total["converted"]
    # text: what it prints, and what it lists
    shown = paddletorch(*to, "--statistics", "--coverage").stdout.decode()
    for key, label in zip(KEYS, ("converted", "the same on both sides", "need you", "not examined"), strict=True):
        assert f"{total[key]:9,}  {label}\n" in shown
    codes = {code: int(n.replace(",", "")) for n, code in re.findall(r"^ +([\d,]+)  ([A-Z]{3}\d{3})  ", shown, re.M)}
    assert codes == report["summary"]["left"]
    left = shown.partition("Left to do\n")[2].partition("\n\n")[0].splitlines()
    assert sum(int(line.split()[0].replace(",", "")) for line in left) == total["needs_you"] + total["not_examined"]
    assert "Nothing is left" not in shown and "100 %" not in shown and "done" not in shown


def test_the_exit_code_is_that_of_the_fates(paddletorch: Run, tree: Tree) -> None:
    """0 only where no use is left that the user has not put off."""
    for code, ignore, expected in ((MORE, "", 1), (MORE, "API225", 0), ("import torch.zeros\n", "", 1)):
        tree({"a.py": code})
        options = ("--ignore", ignore) if ignore else ()
        made = paddletorch("convert", "--to", "paddle", *options)
        assert made.returncode == expected, made.stdout
        assert (b"Nothing is left to do" in made.stdout) is False
    tree({"a.py": "import os\n"})
    assert b"Nothing is left to do" in paddletorch("convert", "--to", "paddle").stdout


def test_fates_can_be_added() -> None:
    assert Counter(asdict(Fates(1, 2, 3, 4) + Fates(1, 1, 1, 1))) == Counter(asdict(Fates(2, 3, 4, 5)))
