"""--baseline: what is known is counted and not shown, whatever happens around it; what is gone is said."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paddletorch.batch.baseline import Baseline, FindingKey, read_baseline
from paddletorch.model import Diagnostic, FileResult, Options, Status

from .conftest import BROKEN, FINDING, PLAIN, Run, Tree

UNKNOWN = "import torch\n\nx = torch.foo(1)\n"
"""Has a finding and nothing to convert."""
CHECK = ("convert", "--to", "paddle", "--baseline", "known.json")
WRITE = (*CHECK, "--write-baseline")


def test_known_findings_are_counted_and_not_shown(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"a.py": UNKNOWN, "b/c.py": UNKNOWN + "y = torch.foo(1)\n" + "x = torch.foo(1)\n"})
    assert paddletorch("convert", "--to", "paddle").returncode == 1
    written = paddletorch(*WRITE)
    assert written.returncode == 0
    assert "known.json holds 4 findings: 4 new, 0 taken out" in written.stdout.decode()
    assert (folder / "known.json").read_text() == (
        '{\n "version": 1,\n "to": "paddle",\n "findings": {\n'
        '  "a.py": {\n   "API225": {\n    "x = torch.foo(1)": 1\n   }\n  },\n'
        '  "b/c.py": {\n   "API225": {\n    "x = torch.foo(1)": 2,\n    "y = torch.foo(1)": 1\n   }\n  }\n }\n}\n'
    )
    checked = paddletorch(*CHECK)
    assert checked.returncode == 0
    assert b"API225" not in checked.stdout
    assert b"4 known findings of the baseline not shown." in checked.stdout
    report = json.loads(paddletorch(*CHECK, "--format", "json").stdout)
    assert report["diagnostics"] == []
    assert report["summary"]["known"] == 4
    assert [file["known"] for file in report["files"]] == [1, 3]


def test_lines_may_move_and_new_findings_show(paddletorch: Run, tree: Tree) -> None:
    tree({"a.py": UNKNOWN})
    paddletorch(*WRITE)
    for moved in ("\r\nif 1:\r\n\tx  =  torch.foo(1)\r\n", "\n# more\nx = torch.foo(1)", "x = torch.foo(1)\n"):
        tree({"a.py": "import torch\n" + moved})
        assert paddletorch(*CHECK).returncode == 0
    tree({"a.py": UNKNOWN + "x = torch.foo(1)\nx = torch.foo(2)\n"})
    new = paddletorch(*CHECK, "-q")
    assert new.returncode == 1
    lines = new.stdout.splitlines()
    assert lines[1].startswith(b"  4:5 API225 ") and lines[-1].endswith(b"also at 5:5")


def test_other_folders_and_other_names_for_them(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"sub/a.py": UNKNOWN})
    paddletorch(*WRITE)
    (folder / "link").symlink_to("sub")
    for path in ("./sub/a.py", "sub/../sub/a.py", str(folder / "sub"), "link/a.py"):
        assert paddletorch(*CHECK, path).returncode == 0
    tree({"sub/pyproject.toml": '[tool.paddletorch]\nto = "paddle"\nbaseline = "../known.json"\n'})
    assert paddletorch("convert", "sub").returncode == 0
    stdin = ("convert", "-", "--stdin-filename", "sub/a.py", "--diff")
    assert paddletorch(*stdin, stdin=UNKNOWN.encode()).returncode == 0


def test_what_is_gone_is_named_and_taken_out(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"a.py": UNKNOWN, "b.py": UNKNOWN, "c.py": UNKNOWN, "d.py": UNKNOWN})
    paddletorch(*WRITE)
    tree({"a.py": "print()\n", "c.py": BROKEN})
    (folder / "b.py").unlink()
    result = paddletorch(*CHECK, COLUMNS="120")
    assert result.returncode == 2
    assert (
        b"2 findings of known.json are gone (a.py API225, b.py API225); --write-baseline takes that out"
        in result.stdout
    )
    assert b"c.py API225" not in result.stdout, "nothing is known of a file that failed"
    assert b"known.json holds 2 findings: 0 new, 2 taken out" in paddletorch(*WRITE).stdout
    assert set(json.loads((folder / "known.json").read_text())["findings"]) == {"c.py", "d.py"}


def test_what_a_run_says_nothing_about_stays(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"a.py": UNKNOWN, "b.py": UNKNOWN})
    paddletorch(*WRITE)
    tree({"a.py": "print()\n", "b.py": "print()\n"})
    assert b"gone" not in paddletorch(*CHECK, "--select", "AMP").stdout
    assert b"1 finding of known.json is gone (a.py API225)" in paddletorch(*CHECK, "a.py").stdout
    paddletorch(*WRITE, "a.py")
    assert set(json.loads((folder / "known.json").read_text())["findings"]) == {"b.py"}


def test_files_that_would_change_still_count(paddletorch: Run, tree: Tree) -> None:
    tree({"a.py": FINDING})
    command = ("convert", "--to", "paddle", "--baseline", "known.json")
    assert paddletorch(*command, "--write-baseline").returncode == 1
    assert b"\na.py\n  3:10 AMP101" in b"\n" + paddletorch(*command, "-v").stdout
    assert paddletorch(*command, "--write").returncode == 0


def test_conversion_with_a_baseline_in_the_settings(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"paddletorch.toml": 'to = "paddle"\nbaseline = "known.json"\n', "a.py": UNKNOWN})
    missing = paddletorch("convert", "--write")
    assert missing.returncode == 2
    assert b"known.json: no such baseline; --write-baseline makes it" in missing.stderr
    assert paddletorch("convert", "--write-baseline").returncode == 0
    assert paddletorch("convert").returncode == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not valid JSON"),
        ("<<<<<<< ours\n{}", "not valid JSON"),
        ("[]", "not a baseline"),
        ('{"version": 2}', "version 2"),
        ('{"version": 1, "to": "torch", "findings": {}}', "a baseline for --to torch, not for --to paddle"),
        ('{"version": 1, "to": "paddle", "findings": []}', "must be tables"),
        ('{"version": 1, "to": "paddle", "findings": {"a.py": {"AMP226": {"x": 0}}}}', "must be a number from 1"),
    ],
)
def test_a_baseline_that_cannot_be_used(paddletorch: Run, tree: Tree, folder: Path, text: str, message: str) -> None:
    tree({"known.json": text, "a.py": PLAIN})
    command = ("convert", "--to", "paddle", "--baseline", "known.json")
    for more in ((), ("--write",), ("--write-baseline",)):
        result = paddletorch(*command, *more)
        assert result.returncode == 2
        assert message in result.stderr.decode()
    assert (folder / "a.py").read_text() == PLAIN
    assert (folder / "known.json").read_text() == text


@pytest.mark.parametrize("option", ["--write", "--diff", "--output=copy", "-"])
def test_write_baseline_alone(paddletorch: Run, tree: Tree, option: str) -> None:
    tree({"a.py": PLAIN})
    assert b"--write-baseline is for a run that only reports" in paddletorch(*WRITE, option).stderr
    assert b"--baseline FILE" in paddletorch("convert", "--to", "paddle", "--write-baseline").stderr


@pytest.mark.parametrize("indent", [None, 1])
def test_lines_of_a_notebook_are_those_of_its_cells(
    paddletorch: Run, tree: Tree, folder: Path, indent: int | None
) -> None:
    cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": UNKNOWN}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    tree({"a.ipynb": json.dumps(notebook, indent=indent)})
    paddletorch(*WRITE)
    known = json.loads((folder / "known.json").read_text())["findings"]
    assert known == {"a.ipynb": {"API225": {"x = torch.foo(1)": 1}}}
    notebook["cells"] = [{"cell_type": "markdown", "metadata": {}, "source": ["# A\n"]}, cell]
    tree({"a.ipynb": json.dumps(notebook, indent=indent)})
    assert paddletorch(*CHECK).returncode == 0


TEXTS = st.sampled_from(["x = 1", "\ty =  2", "é = '中'", "", "z"])
FILES = st.dictionaries(st.sampled_from(["a.py", "b/c.py", "\udce9.py"]), st.lists(TEXTS, max_size=6), max_size=3)


def results_of(files: dict[str, list[str]], folder: Path) -> list[FileResult]:
    """Each line is a finding, with one of two codes."""
    results = []
    for name, lines in files.items():
        found = [Diagnostic(f"AMP20{len(text) % 2}", "", n, 1, n, 1) for n, text in enumerate(lines, 1)]
        source = "\n".join(lines).encode()
        results.append(FileResult(str(folder / name), Status.CLEAN, source, source, diagnostics=tuple(found)))
    return results


@given(before=FILES, after=FILES)
def test_nothing_is_lost_or_known_twice(
    tmp_path_factory: pytest.TempPathFactory, before: dict[str, list[str]], after: dict[str, list[str]]
) -> None:
    folder = tmp_path_factory.mktemp("tree")
    (folder / "b").mkdir()
    options = Options("paddle")

    def compare(
        baseline: Baseline, files: dict[str, list[str]]
    ) -> tuple[Counter[FindingKey], Counter[FindingKey], int, int]:
        paths = [str(folder / name) for name in files]
        compared = baseline.compare(results_of(files, folder), paths, lambda _: options)
        shown = sum(len(result.diagnostics) for result in compared.results)
        return compared.current, compared.stale, shown, sum(len(result.known) for result in compared.results)

    empty = Baseline(folder / "known.json", "paddle", Counter())
    current, stale, shown, known = compare(empty, before)
    assert (shown, known, stale.total()) == (current.total(), 0, 0)
    (folder / "known.json").write_bytes(empty.text(current))
    baseline = read_baseline(folder / "known.json", "paddle")
    assert baseline.findings == current
    assert compare(baseline, before) == (current, Counter(), 0, current.total())
    again, stale, shown, known = compare(baseline, after)
    assert known + stale.total() == current.total()
    assert known + shown == again.total()
    for name in (*before, *after):
        (folder / name).touch()  # files that are there and were not looked at keep what they have
    kept, stale, _, _ = compare(baseline, {})
    assert (kept, stale) == (current, Counter())


def test_a_baseline_with_the_code_that_a_finding_had_before(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"a.py": "import functools\n\nimport torch\n\nscaled = functools.partial(torch.add, alpha=2)\n"})
    assert paddletorch(*WRITE).returncode == 0
    now = (folder / "known.json").read_text()
    assert '"API233"' in now
    (folder / "known.json").write_text(now.replace("API233", "API210"))
    checked = paddletorch(*CHECK)
    assert checked.returncode == 0, checked.stdout
    assert b"1 known finding of the baseline not shown" in checked.stdout
    assert b"gone" not in checked.stdout
    assert paddletorch(*WRITE).returncode == 0
    assert (folder / "known.json").read_text() == now
