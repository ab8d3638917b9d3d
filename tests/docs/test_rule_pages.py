"""The documentation of the rules says what the tables and the engine say."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from packaging.version import Version
from paddletorch.model import Options, Status
from paddletorch_rules import Row, load
from paddletorch_rules.releases import KNOWN, Framework

from ..fixture_files import engine_for

DOCS = Path(__file__).parents[2] / "docs"
TABLE = load()
ROWS: dict[str, list[Row]] = {}
for _row in TABLE.rows:
    ROWS.setdefault(_row.code, []).append(_row)
CODES = sorted({*ROWS, *TABLE.diagnostics})
PAGES = {page.stem: page.read_text(encoding="utf-8") for page in (DOCS / "rules").glob("*.md")}
DEFAULTS = (DOCS / "defaults.md").read_text(encoding="utf-8")

ROW_HEADINGS = [
    "What it does",
    "Why it matters",
    "Example",
    "Parameters",
    "Spellings and defaults by release",
    "What to do",
    "Applicability",
]
AREA_HEADINGS = ["What it does", "Why it matters", "Example", "APIs", "What to do", "Applicability"]
DIAGNOSTIC_HEADINGS = ["What it finds", "Why it matters", "Example", "What to do", "Applicability"]

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_EXAMPLE = re.compile(
    r"^Before, `(?P<options>--to [^`]+)`:\n\n```python\n(?P<before>.*?)^```\n\n"
    r"After(?:: unchanged\.|:\n\n```python\n(?P<after>.*?)^```)\n(?:\nReports (?P<reports>.*?)\.\n)?",
    re.DOTALL | re.MULTILINE,
)
_OPTIONS = {
    "--initial-values": "initial_values",
    "--to": "target",
    "--source-version": "source_version",
    "--target-version": "target_version",
    "--shim": "shim",
}


@dataclass(frozen=True)
class Example:
    """One before / after pair of a page and what it says is reported."""

    options: Options
    before: str
    after: str
    reports: list[str]


def _options(text: str) -> Options:
    words = iter(shlex.split(text))
    given: dict[str, object] = {}
    for word in words:
        if word == "--unsafe":
            given["unsafe"] = True
        elif word == "--select":
            given["select"] = tuple(next(words).split(","))
        else:
            given[_OPTIONS[word]] = next(words)
    return Options(**given)  # type: ignore[arg-type]


def _examples() -> Iterator[object]:
    for name, text in [*sorted(PAGES.items()), ("defaults", DEFAULTS)]:
        for number, match in enumerate(_EXAMPLE.finditer(text), 1):
            before, after = match["before"], match["after"]
            reports = match["reports"].split(", ") if match["reports"] else []
            example = Example(_options(match["options"]), before, before if after is None else after, reports)
            yield pytest.param(example, id=f"{name}-{number}")


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    assert sorted(PAGES) == CODES


@pytest.mark.parametrize("code", CODES)
def test_title_and_headings(code: str) -> None:
    lines = PAGES[code].splitlines()
    spec = TABLE.diagnostics.get(code) or TABLE.areas.get(code)
    name = spec.name if spec is not None else ROWS[code][0].id
    assert lines[0] == f"# {code} {name}"
    assert lines[2].strip() and not lines[2].startswith("#"), "a summary stands below the title"
    headings = [line.removeprefix("## ") for line in lines if line.startswith("## ")]
    expected = AREA_HEADINGS if code in TABLE.areas else ROW_HEADINGS if code in ROWS else DIAGNOSTIC_HEADINGS
    assert [one for one in headings if one != "Remarks"] == expected
    assert ("Remarks" in headings) == any(row.remark for row in ROWS.get(code, ()))
    sections = re.split(r"^## .*\n", PAGES[code], flags=re.MULTILINE)[1:]
    assert all(section.strip() for section in sections)


@pytest.mark.parametrize("code", CODES)
def test_severity_and_applicability_are_the_tables(code: str) -> None:
    spec = TABLE.diagnostics.get(code)
    if spec is not None:
        said = PAGES[code].partition("## Applicability\n\n")[2]
        assert said.startswith(f"Severity: {spec.severity}")
        assert f"Applicability: {spec.applicability}." in said


@pytest.mark.parametrize("name", [*CODES, "defaults"])
def test_blocks_parse_and_every_before_is_an_example(name: str) -> None:
    text = DEFAULTS if name == "defaults" else PAGES[name]
    blocks = _BLOCK.findall(text)
    assert blocks
    for language, block in blocks:
        assert language in ("python", "text", "toml")
        if language == "python":
            ast.parse(block)
    assert text.count("\nBefore, ") == len(_EXAMPLE.findall(text))
    assert text.count("```") == 2 * len(blocks)


@pytest.mark.parametrize("example", list(_examples()))
def test_the_engine_writes_and_reports_what_the_page_says(example: Example) -> None:
    result = engine_for(example.options).convert(example.before.encode(), "example.py")
    assert result.status is not Status.FAILED
    assert result.output.decode() == example.after
    assert [f"`{d.code}` on line {d.line}" for d in result.diagnostics] == example.reports


NEVER_IN_CODE = {"API232", "AMP240"}
"""Findings that no code leads to: one about what is not expected to stand between arguments, one about the run."""


@pytest.mark.parametrize("code", sorted(c for c in TABLE.diagnostics if not c.startswith(("SRC", "PRJ"))))
def test_every_finding_has_an_example_of_its_own(code: str) -> None:
    """SRC codes are about files that cannot be read or results that are held back, PRJ codes about other files."""
    reported = {
        found for match in _EXAMPLE.finditer(PAGES[code]) for found in re.findall(r"`(\w+)`", match["reports"] or "")
    }
    assert (code in reported) is (code not in NEVER_IN_CODE)


def test_every_row_of_the_whole_api_is_of_a_declared_area() -> None:
    assert {row.code for row in TABLE.rows if row.whole} == set(TABLE.areas)


@pytest.mark.parametrize("code", [code for code in CODES if code in ROWS and code not in TABLE.areas])
def test_a_row_page_names_its_parameters_and_signatures(code: str) -> None:
    _, _, rest = PAGES[code].partition("## Parameters\n\n")
    parameters, _, spellings = rest.partition("## Spellings and defaults by release\n\n")
    spellings = spellings.partition("## What to do")[0]
    for row in ROWS[code]:
        for pair in row.parameters:
            sides = [f"`{side}`" if side else "" for side in (pair.torch, pair.paddle)]
            assert f"| {sides[0]} | {sides[1]} |" in parameters
        for form in (*row.torch, *row.paddle):
            assert all(f"`{name}`" in spellings for name in form.names)
            assert form.template is None or f"`{form.template}`" in spellings
            assert all(f"{since}: `{signature.text}`" in spellings for since, signature in form.signatures)
    known = {f"`{s.text}`" for row in ROWS[code] for f in (*row.torch, *row.paddle) for _, s in f.signatures}
    assert set(re.findall(r"^  - \S+: (`.*`)$", spellings, re.MULTILINE)) == known


@pytest.mark.parametrize("name", [*CODES, "defaults"])
def test_links_lead_somewhere(name: str) -> None:
    folder = DOCS if name == "defaults" else DOCS / "rules"
    text = DEFAULTS if name == "defaults" else PAGES[name]
    for link in re.findall(r"\]\(([^)]+)\)", text):
        assert (folder / link).is_file(), link


def _scaler_table() -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """Parameter names and the cells of each row of the scaler's table."""
    section = DEFAULTS.partition("## The scaler\n\n")[2]
    for line in section.splitlines()[2:]:
        if not line.startswith("|"):
            return
        label, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        yield tuple(re.findall(r"`(\w+)`", label)), cells


@pytest.mark.parametrize(
    ("column", "row_id", "side", "old"),
    [
        (0, "GradScaler", "paddle", True),
        (1, "GradScaler", "paddle", False),
        (2, "AmpScaler", "paddle", None),
        (3, "GradScaler", "torch", None),
    ],
)
def test_the_scaler_defaults_are_the_tables(column: int, row_id: str, side: Framework, old: bool | None) -> None:
    releases = [v for v in KNOWN[side] if old is None or (v < Version("2.5.1")) is old]
    form = next(f for f in TABLE.row(row_id).forms(side) if f.signature(releases[0]) is not None)
    compared = 0
    for names, cells in _scaler_table():
        for release in releases:
            signature = form.signature(release)
            assert signature is not None
            found = [p for p in signature.parameters if p.name in names]
            if found and found[0].name != "device":
                assert found[0].default is not None
                assert float(ast.literal_eval(cells[column])) == float(ast.literal_eval(found[0].default))
                compared += 1
    assert compared >= 5 * len(releases)
