"""Every fixture converts to its recorded text and findings, once and for all."""

from __future__ import annotations

import ast
import io
import tokenize
from typing import TYPE_CHECKING

from paddletorch.engine.engine import Engine
from paddletorch.model import Options

if TYPE_CHECKING:
    from conftest import Fixture


def test_output(fixture: Fixture) -> None:
    assert fixture.convert(fixture.source).output.decode("latin-1") == fixture.output.decode("latin-1")


def test_findings(fixture: Fixture) -> None:
    diagnostics = fixture.convert(fixture.source).diagnostics
    found = [f"{d.line}:{d.column} {d.code} {d.severity.value}" for d in diagnostics]
    assert found == list(fixture.findings)


def test_messages_are_complete(fixture: Fixture) -> None:
    for diagnostic in fixture.convert(fixture.source).diagnostics:
        assert diagnostic.message.strip()
        assert "…" not in diagnostic.message + diagnostic.hint, "a hole of the message was not filled"


def test_second_run_changes_nothing(fixture: Fixture) -> None:
    output = fixture.convert(fixture.source).output
    assert fixture.convert(output).output == output


def test_recorded_files_parse(fixture: Fixture) -> None:
    ast.parse(fixture.source)
    ast.parse(fixture.output)


def test_no_comment_is_lost(fixture: Fixture) -> None:
    left = _comments(fixture.convert(fixture.source).output)
    for comment in _comments(fixture.source):
        assert comment in left
        left.remove(comment)


def test_a_program_that_imports_its_framework_imports_the_other(fixture: Fixture) -> None:
    if _imported(fixture.source):  # snippets import nothing
        output = fixture.convert(fixture.source).output
        names = [n for n in ast.walk(ast.parse(output)) if isinstance(n, ast.Name)]
        assigned = {n.id for n in names if isinstance(n.ctx, ast.Store)}
        assert {n.id for n in names} & FRAMEWORKS - assigned <= _imported(output)


FRAMEWORKS = {"torch", "paddle", "torchvision"}


def _imported(code: bytes) -> set[str]:
    """The names of frameworks that import statements bind."""
    imports = [n for n in ast.walk(ast.parse(code)) if isinstance(n, ast.Import | ast.ImportFrom)]
    return {a.asname or a.name.partition(".")[0] for n in imports for a in n.names} & FRAMEWORKS


def _comments(data: bytes) -> list[str]:
    tokens = tokenize.tokenize(io.BytesIO(data).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


def test_every_finding_that_source_code_can_cause_has_a_fixture(all_fixtures: list[Fixture]) -> None:
    spec = Engine(Options(target="paddle")).settings.table.diagnostics
    seen = {line.split()[1] for fixture in all_fixtures for line in fixture.findings}
    # bad files have tests of their own; AMP240 belongs to a run's summary
    elsewhere = {code for code in spec if code.startswith("SRC")} | {"AMP240"}
    assert set(spec) - elsewhere - seen == set()
