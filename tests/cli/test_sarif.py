"""SARIF: valid by the standard's own schema, positions that hold, fixes that give what --write gives."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from email.message import Message
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes, urljoin, urlparse

import jsonschema
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from paddletorch.engine.engine import Engine
from paddletorch.model import Diagnostic, FileResult, Options, Status
from paddletorch.report import rule_page, sarif
from paddletorch.report.record import Report
from paddletorch.report.sarif_rules import Rules
from paddletorch.report.summary import summarise
from paddletorch.text.source import Source
from paddletorch_rules import load

from .conftest import BROKEN, FINDING, PLAIN, Run, Tree

FIXTURES = Path(__file__).parents[2] / "fixtures"
SCHEMA = json.loads((Path(__file__).parent / "schemas" / "sarif-2.1.0.json").read_text(encoding="utf-8"))
TO = ("convert", "--to", "paddle", "--format", "sarif")
OPTIONS = Options(target="paddle")
ENGINE = Engine(OPTIONS)
NON_ASCII = 'import torch\n\nscaler = torch.amp.GradScaler()\nprint("é𝄞", scaler._scale)\n'

Log = dict[str, Any]


def checked(text: str | bytes) -> Log:
    """The only run of a log that the schema accepts."""
    log = json.loads(text)
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    jsonschema.Draft202012Validator(SCHEMA, format_checker=checker).validate(log)
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        place = result["locations"][0]["physicalLocation"]["artifactLocation"]
        assert run["artifacts"][place["index"]]["location"]["uri"] == place["uri"]
    return run  # type: ignore[no-any-return]


def by_code(run: Log, code: str) -> Log:
    (found,) = [result for result in run["results"] if result["ruleId"] == code]
    return found  # type: ignore[no-any-return]


def region(result: Log) -> Log:
    return result["locations"][0]["physicalLocation"]["region"]  # type: ignore[no-any-return]


def lines_of(text: str) -> list[str]:
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text)


def apply(fix: Log, text: str) -> str:
    """``text`` with the replacements of a fix, as a viewer makes them."""
    starts = [0]
    for line in lines_of(text):
        starts.append(starts[-1] + len(line))
    (change,) = fix["artifactChanges"]
    for replacement in reversed(change["replacements"]):
        deleted = replacement["deletedRegion"]
        start = starts[deleted["startLine"] - 1] + deleted["startColumn"] - 1
        end = starts[deleted["endLine"] - 1] + deleted["endColumn"] - 1
        text = text[:start] + replacement.get("insertedContent", {"text": ""})["text"] + text[end:]
    return text


def rendered(result: FileResult) -> str:
    return sarif.render(Report([result], summarise([result], OPTIONS, scanned=1, applied=False), OPTIONS, "report"))


def test_a_tree_of_real_code(paddletorch: Run, folder: Path) -> None:
    for name in ("to_paddle", "untouched", "training"):
        shutil.copytree(FIXTURES / name, folder / name)
    result = paddletorch(*TO, ".")
    run = checked(result.stdout)
    assert len(run["results"]) > 100
    for descriptor in run["tool"]["driver"]["rules"]:
        assert descriptor["help"]["markdown"].startswith(f"# {descriptor['id']}")
        assert "file:" not in descriptor.get("helpUri", "")
    report = json.loads(paddletorch("convert", "--to", "paddle", "--format", "json", ".").stdout)
    findings = [r for r in run["results"] if not r["message"]["text"].startswith("Would convert ")]
    failures = run["invocations"][0]["toolExecutionNotifications"]
    assert len(findings) + sum(f["level"] == "error" for f in failures) == len(report["diagnostics"])
    fixed = {r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in run["results"] if "fixes" in r}
    assert fixed == {file["path"] for file in report["files"] if file["status"] == "converted" and file["conversions"]}


def test_regions_count_code_points(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"a.py": NON_ASCII})
    run = checked(paddletorch(*TO).stdout)
    assert run["columnKind"] == "unicodeCodePoints"
    place = region(by_code(run, "AMP226"))
    line = NON_ASCII.splitlines()[place["startLine"] - 1]
    assert line[place["startColumn"] - 1 : place["endColumn"] - 1] == "scaler._scale"
    digest = hashlib.sha256(NON_ASCII.encode()).hexdigest()
    assert run["artifacts"][0]["hashes"] == {"sha-256": digest}


@pytest.mark.parametrize("name", ["a b#c%20.py", "中é.py", "q?x:y.py", b"latin-\xe9.py"])
def test_names_are_percent_encoded_from_the_top_of_the_repository(
    paddletorch: Run, folder: Path, name: str | bytes
) -> None:
    (folder / ".git").mkdir()
    sub = folder / "sub"
    sub.mkdir()
    (sub / os.fsdecode(name)).write_text(FINDING)
    run = checked(paddletorch(*TO, "sub").stdout)
    place = by_code(run, "AMP226")["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place["uriBaseId"] == "%SRCROOT%"
    assert unquote_to_bytes(place["uri"]) == b"sub/" + os.fsencode(name)
    base = run["originalUriBaseIds"]["%SRCROOT%"]["uri"]
    path = unquote_to_bytes(urlparse(urljoin(base, place["uri"])).path)
    assert Path(os.fsdecode(path)).read_text() == FINDING


def test_files_outside_the_root_have_whole_uris(paddletorch: Run, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "else where.py").write_text(FINDING)
    run = checked(paddletorch(*TO, str(tmp_path / "else where.py")).stdout)
    place = by_code(run, "AMP226")["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place["uri"].startswith("file:///") and place["uri"].endswith("/else%20where.py")
    assert "uriBaseId" not in place


def test_failures_are_notifications_of_the_invocation(paddletorch: Run, tree: Tree) -> None:
    tree({"a.py": FINDING, "broken.py": BROKEN})
    result = paddletorch(*TO)
    assert result.returncode == 2
    run = checked(result.stdout)
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    assert invocation["exitCode"] == 2
    failure, note = invocation["toolExecutionNotifications"]
    assert failure["descriptor"]["id"] == "SRC001" and failure["level"] == "error"
    assert failure["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "broken.py"
    assert note["descriptor"]["id"] == "AMP240" and note["level"] == "note"
    assert {r["ruleId"] for r in run["results"]} == {"AMP101", "AMP226"}


def test_what_was_written_is_no_result(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"a.py": FINDING})
    run = checked(paddletorch(*TO, "--write").stdout)
    assert [r["ruleId"] for r in run["results"]] == ["AMP226"]
    assert "paddle" in (folder / "a.py").read_text()


def test_fingerprints_stay_when_lines_move(paddletorch: Run, tree: Tree) -> None:
    tree({"a.py": FINDING + "print(scaler._scale)\n", "b.py": "\n\n# more\n" + FINDING + "print(scaler._scale)\n"})
    run = checked(paddletorch(*TO).stdout)
    prints = [tuple(r["partialFingerprints"].values()) for r in run["results"] if r["ruleId"] == "AMP226"]
    assert len(prints) == 4
    assert prints[:2] == prints[2:] and prints[0] != prints[1]


NEWLINES = ("\n", "\r\n", "\r")


@pytest.mark.parametrize(
    ("number", "path"),
    list(enumerate(sorted((FIXTURES / "to_paddle").glob("*.in.py")))),
    ids=lambda value: getattr(value, "stem", ""),
)
def test_the_fix_of_a_file_is_its_conversion(number: int, path: Path) -> None:
    newline = NEWLINES[number % len(NEWLINES)]
    # No line end at the end; one encoding, since spans are what this is about.
    text = Source(path.read_bytes()).text.rstrip("\n").replace("\n", newline).replace("latin-1", "utf-8")
    result = ENGINE.convert(text.encode(), "<stdin>")
    run = json.loads(rendered(result))["runs"][0]
    fixes = [fix for r in run["results"] for fix in r.get("fixes", [])]
    assert len(fixes) == (1 if result.status is Status.CONVERTED and result.conversions else 0)
    for fix in fixes:
        assert apply(fix, text) == result.output.decode()


text = st.lists(st.sampled_from(["a", "b", "\n", "\r\n", "\r", "\f", "é", "\x1c"]), max_size=12).map("".join)


@settings(deadline=None)
@given(text, text)
def test_fixes_of_any_text(old: str, new: str) -> None:
    assume(old != new)
    made = ENGINE.convert(PLAIN.encode(), "<stdin>").conversions
    result = FileResult("a.py", Status.CONVERTED, old.encode(), new.encode(), made)
    (found,) = json.loads(rendered(result))["runs"][0]["results"]
    assert apply(found["fixes"][0], old) == new


def test_a_finding_about_the_whole_file_has_no_region() -> None:
    findings = (Diagnostic("AMP226", "at a line", 1, 1, 1, 2), Diagnostic("AMP240", "of the file", 0, 0, 0, 0))
    run = checked(rendered(FileResult("a.py", Status.CLEAN, b"x\n", b"x\n", diagnostics=findings)))
    assert [r["ruleId"] for r in run["results"]] == ["AMP240", "AMP226"]
    assert "region" not in run["results"][0]["locations"][0]["physicalLocation"]


def test_findings_of_the_baseline_are_suppressed_results(paddletorch: Run, tree: Tree) -> None:
    tree({"a.py": FINDING})
    command = (*TO, "--baseline", "known.json")
    paddletorch(*command, "--write-baseline")
    tree({"a.py": FINDING + "print(scaler._init_scale)\n"})
    run = checked(paddletorch(*command).stdout)
    suppressed = {
        result["locations"][0]["physicalLocation"]["region"]["startLine"]: result["suppressions"]
        for result in run["results"]
        if result["ruleId"].startswith("AMP2")
    }
    assert {line: [s["kind"] for s in found] for line, found in suppressed.items()} == {4: ["external"], 5: []}


def test_every_rule_has_its_page_as_help() -> None:
    for code in sorted({row.code for row in load().rows} | set(load().diagnostics)):
        rules = Rules(load())
        rules.result(code, "warning")
        (descriptor,) = rules.descriptors
        told = descriptor["help"]
        assert told["text"] == told["markdown"] and "\n## " in told["markdown"], code


@pytest.mark.parametrize(
    ("named", "uri"),
    [
        (["Documentation, https://docs.example.org/tool/"], "https://docs.example.org/tool/rules/AMP226.html"),
        (["Source, https://example.org"], None),
        (["Documentation, javascript:alert(1)"], None),
        ([], None),
    ],
)
def test_the_link_is_to_the_site_that_the_package_names(
    monkeypatch: pytest.MonkeyPatch, named: list[str], uri: str | None
) -> None:
    described = Message()
    for entry in named:
        described["Project-URL"] = entry
    monkeypatch.setattr(rule_page.metadata, "metadata", lambda name: described)
    rule_page._site.cache_clear()
    try:
        run = checked(rendered(ENGINE.convert(FINDING.encode(), "a.py")))
    finally:
        rule_page._site.cache_clear()
    (descriptor,) = [one for one in run["tool"]["driver"]["rules"] if one["id"] == "AMP226"]
    assert descriptor.get("helpUri") == uri
