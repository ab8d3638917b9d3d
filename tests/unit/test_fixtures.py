"""Every fixture converts to its recorded text and findings, once and for all.

``python -m pytest tests/unit/test_fixtures.py --update-fixtures`` writes NAME.out.py and NAME.txt anew, as the engine
converts now; with ``-k findings`` NAME.txt alone. Read the difference before you commit it.
"""

from __future__ import annotations

import ast
import io
import tokenize

import pytest
from paddletorch.model import Options
from paddletorch_rules import load

from ..fixture_files import FIXTURES, Fixture, line_of, with_fixtures


def is_recorded(fixture: Fixture) -> bool:
    """Whether the fixture has files for what comes out."""
    return not fixture.name.startswith("untouched/")


@with_fixtures()
def test_output(fixture: Fixture, pytestconfig: pytest.Config) -> None:
    output = fixture.result.output
    if pytestconfig.getoption("update_fixtures") and is_recorded(fixture):
        fixture.file("out.py").write_bytes(output)
        return
    assert output.decode("latin-1") == fixture.output.decode("latin-1")


@with_fixtures()
def test_findings(fixture: Fixture, pytestconfig: pytest.Config) -> None:
    found = [line_of(finding) for finding in fixture.result.diagnostics]
    if pytestconfig.getoption("update_fixtures") and is_recorded(fixture):
        fixture.file("txt").write_text("".join(f"{line}\n" for line in found), encoding="utf-8")
        return
    assert found == list(fixture.findings)


@with_fixtures(lambda fixture: fixture.findings)
def test_messages_are_complete(fixture: Fixture) -> None:
    assert fixture.result.diagnostics
    for diagnostic in fixture.result.diagnostics:
        assert diagnostic.message.strip()
        assert "\n" not in diagnostic.message
        assert "…" not in diagnostic.message + diagnostic.hint, "a hole of the message was not filled"


@with_fixtures()
def test_second_run_changes_nothing(fixture: Fixture) -> None:
    output = fixture.result.output
    assert fixture.convert(output).output == output


@with_fixtures()
def test_recorded_files_parse(fixture: Fixture) -> None:
    ast.parse(fixture.source)
    ast.parse(fixture.output)


def comments(data: bytes) -> list[str]:
    """Every comment, in order."""
    tokens = tokenize.tokenize(io.BytesIO(data).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


@with_fixtures(lambda fixture: comments(fixture.source))
def test_no_comment_is_lost(fixture: Fixture) -> None:
    left = comments(fixture.result.output)
    for comment in comments(fixture.source):
        assert comment in left
        left.remove(comment)


FRAMEWORKS = {"torch", "paddle", "torchvision"}


def imported(code: bytes) -> set[str]:
    """The names of frameworks that import statements bind."""
    imports = [n for n in ast.walk(ast.parse(code)) if isinstance(n, ast.Import | ast.ImportFrom)]
    return {a.asname or a.name.partition(".")[0] for n in imports for a in n.names} & FRAMEWORKS


@with_fixtures(lambda fixture: imported(fixture.source))  # snippets import nothing
def test_a_program_that_imports_its_framework_imports_the_other(fixture: Fixture) -> None:
    output = fixture.result.output
    names = [n for n in ast.walk(ast.parse(output)) if isinstance(n, ast.Name)]
    assigned = {n.id for n in names if isinstance(n.ctx, ast.Store)}
    assert {n.id for n in names} & FRAMEWORKS - assigned <= imported(output)


def test_every_finding_that_source_code_can_cause_has_a_fixture() -> None:
    spec = load().diagnostics
    seen = {code for fixture in FIXTURES for code in fixture.codes}
    # bad files and files of other kinds have tests of their own
    # AMP240 belongs to a run's summary; no source code is known for API232
    elsewhere = {code for code in spec if code.startswith(("SRC", "PRJ"))} | {"AMP240", "API232"}
    assert set(spec) - elsewhere - seen == set()


@with_fixtures(lambda fixture: "select" not in fixture.settings)
def test_no_import_is_left_unsaid(fixture: Fixture) -> None:
    """A finding names what each import of the source in the output imports, or is about a line that reads its name."""
    source = Options(target=fixture.target).source
    before, after = ast.parse(fixture.source), ast.parse(fixture.result.output)
    found = fixture.result.diagnostics
    for statement in [node for node in ast.walk(after) if isinstance(node, ast.Import | ast.ImportFrom)]:
        for alias in statement.names:
            module = statement.module if isinstance(statement, ast.ImportFrom) else ""
            whole = ".".join(part for part in (module, alias.name) if part and part != "*")
            if getattr(statement, "level", 0) or whole.partition(".")[0] != source:
                continue
            name = alias.asname or alias.name.partition(".")[0]
            reads = [node for node in ast.walk(before) if isinstance(node, ast.Name) and node.id == name]
            lines = {node.lineno for node in reads}
            named = [f for f in found if whole in f.name or whole in f.message]
            assert named or any(lines & set(range(f.line, f.end_line + 1)) for f in found), ast.unparse(statement)
