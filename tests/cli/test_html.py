"""The HTML report: one page, nothing from outside, whatever the files hold."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paddletorch.model import Diagnostic, FileResult, Options, Status
from paddletorch.report.html import payload, render
from paddletorch.report.html.highlight import LONGEST, highlighted
from paddletorch.report.html.hunks import CONTEXT, hunks_of
from paddletorch.report.html.rule_help import linked
from paddletorch.report.record import Origin, Report
from paddletorch.report.summary import summarise
from paddletorch.text.lines import text_lines

from .conftest import BROKEN, FINDING, PLAIN, Run, Tree

TO = ("convert", "--to", "paddle")
HOSTILE = (
    "import torch\n\n"
    'x = "</script><script>alert(1)</script><!-- <img src=x onerror=alert(2)> ${data} &lt;\u202e"\n'
    "scaler = torch.amp.GradScaler()\nprint(scaler._scale)  # </script>\n"
)
HOSTILE_NAME = "<img src=x onerror=alert(3)>&amp;'\"$data.py"


class Page(HTMLParser):
    """What a browser would make of the elements of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open = dict(attrs).get("id") or tag if tag in ("script", "style") else ""

    def handle_endtag(self, tag: str) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open:
            self.texts[self._open] = self.texts.get(self._open, "") + data


def page_of(*results: FileResult, origin: Origin | None = None) -> Page:
    options = Options(target="paddle")
    summary = summarise(results, options, scanned=len(results), applied=False)
    return Page(render(Report(results, summary, options, "report", origin or Origin())))


def text_of(line: list[Any]) -> str:
    return "".join(run if isinstance(run, str) else run[1] for run in line)


def test_the_policy_lets_nothing_in_and_knows_the_page_s_own_parts(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"a.py": FINDING})
    assert paddletorch(*TO, "--report", "r.html").returncode == 1
    page = Page((folder / "r.html").read_text(encoding="utf-8"))
    (policy,) = [a["content"] for t, a in page.elements if t == "meta" and a.get("http-equiv")]
    assert policy and policy.startswith("default-src 'none';")
    for kind in ("script", "style"):
        digest = base64.b64encode(hashlib.sha256(page.texts[kind].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}';" in policy
    for tag, attributes in page.elements:
        assert not {"src", "style", "srcset", "onclick", "onerror", "onload"} & set(attributes)
        assert tag not in ("link", "img", "iframe", "object", "base")


def test_it_holds_the_whole_run(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"a.py": FINDING, "sub/b.py": PLAIN, "c.py": BROKEN})
    result = paddletorch(*TO, "--report", "r.html", "--report", "r.json", "--target-version", "3.3")
    assert result.returncode == 2
    page = Page((folder / "r.html").read_text(encoding="utf-8"))
    data = json.loads(page.texts["data"])
    report = json.loads((folder / "r.json").read_text())
    assert data["options"] == ["--target-version 3.3"]
    assert [file["path"] for file in data["files"]] == [file["path"] for file in report["files"]]
    assert sum(len(file["findings"]) for file in data["files"]) == len(report["diagnostics"])
    assert sum(len(file["conversions"]) for file in data["files"]) == len(report["conversions"])
    helps = {a["id"] for t, a in page.elements if t == "template"}
    assert helps == {f"help-{code}" for code in data["codes"]} >= {"help-AMP101", "help-AMP226", "help-SRC001"}
    assert linked("AMP101") and {f"help-{code}" for code in linked("AMP101")} <= helps
    diffs = [json.loads(page.texts[f"diff-{file['diff']}"]) for file in data["files"]]
    shown = ["\n".join(text_of(line) for hunk in diff for block in hunk[3:] for line in block[0]) for diff in diffs]
    assert "print(scaler._scale)" in shown[0] and BROKEN.strip() in shown[1]


def test_nothing_of_a_file_becomes_an_element(paddletorch: Run, tree: Tree, folder: Path) -> None:
    harmless = paddletorch(*TO, "--format", "html", "-", stdin=FINDING.encode()).stderr.decode()
    tree({HOSTILE_NAME: HOSTILE})
    result = paddletorch(*TO, "--format", "html")
    assert result.returncode == 1
    page = Page(result.stdout.decode())
    assert [t for t, _ in page.elements] == [t for t, _ in Page(harmless).elements]
    data = json.loads(page.texts["data"])
    assert data["files"][0]["path"] == HOSTILE_NAME
    line = text_of(json.loads(page.texts["diff-0"])[0][4][0][1])
    assert line == HOSTILE.splitlines()[2].replace("\u202e", "\ufffd")


@pytest.mark.parametrize("name", ["new\nline.py", "esc\x1b[31m.py", b"latin-\xe9.py", "中文.py"])
def test_odd_file_names(paddletorch: Run, folder: Path, name: str | bytes) -> None:
    (folder / os.fsdecode(name)).write_text(PLAIN)
    data = json.loads(Page(paddletorch(*TO, "--format", "html").stdout.decode()).texts["data"])
    assert data["files"][0]["path"].isprintable()


def test_its_head_says_of_what_when_and_how_it_was_made(paddletorch: Run, tree: Tree, folder: Path) -> None:
    commit = "0123456789abcdef" * 2 + "01234567"
    tree({"p/a.py": PLAIN, "p/pyproject.toml": '[project]\nname = "my-net"\n', "p/.git/HEAD": f"{commit}\n"})
    first, again = (paddletorch(*TO, "--format", "html", "p", SOURCE_DATE_EPOCH="86400").stdout for _ in range(2))
    assert first == again
    said = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", first.decode()))
    command = "paddletorch convert --to paddle --format html p"
    assert said == {"Project": "my-net", "Date": "1970-01-02 00:00 UTC", "Commit": commit, "Command": command}
    assert "<title>my-net: torch to paddle</title>" in first.decode()


def test_nothing_of_its_head_becomes_an_element() -> None:
    evil = "</dd><script>alert(1)</script>$data${data}\u202e\"'<img src=x>"
    page = page_of(origin=Origin(evil, evil, evil, evil))
    plain = page_of(origin=Origin("p", "d", "c", "m"))
    assert [tag for tag, _ in page.elements] == [tag for tag, _ in plain.elements]
    assert page.texts["data"] == plain.texts["data"]


def test_packages_are_counted_by_file(paddletorch: Run, tree: Tree) -> None:
    maybe = "try:\n    import timm\nexcept ImportError:\n    timm = None\nimport torch\n"
    tree({"a.py": "import timm\nimport torchmetrics\n", "b.py": "import timm\n", "c.py": maybe})
    data = json.loads(Page(paddletorch(*TO, "--format", "html").stdout.decode()).texts["data"])
    assert [entry[:3] for entry in data["packages"]] == [["timm", 2, 1], ["torchmetrics", 1, 0]]
    assert all(hint for *_, hint in data["packages"])


def test_a_full_page_lists_the_rest_without_diffs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(payload, "DIFF_BYTES", 1)
    result = FileResult("a.py", Status.CONVERTED, b"a\n", b"b\n")
    page = page_of(result, result)
    data = json.loads(page.texts["data"])
    assert [file["diff"] for file in data["files"]] == [0, None]
    assert "diff-1" not in page.texts


def test_links_of_explanations_stay_inside_or_are_whole(paddletorch: Run, tree: Tree, folder: Path) -> None:
    fixtures = Path(__file__).parents[2] / "fixtures" / "to_paddle"
    tree({path.name: path.read_bytes() for path in fixtures.glob("*.in.py")})
    paddletorch(*TO, "--report", "../r.html")
    text = (folder.parent / "r.html").read_text(encoding="utf-8")
    page = Page(text)
    codes = json.loads(page.texts["data"])["codes"]
    assert len(codes) > 50
    for tag, attributes in page.elements:
        if tag == "a" and (href := attributes["href"]) and href.startswith("#code-"):
            assert href.removeprefix("#code-") in codes
        elif tag == "a":
            assert href and re.match(r"https://|#(overview|folders|codes|apis|packages|files)$", href)


source = st.text(st.sampled_from("ab#'\"\n\r\t \\f{}é\u202e\x00\x1c"), max_size=60)


@settings(deadline=None)
@given(source)
def test_colours_keep_the_text(text: str) -> None:
    lines = text_lines(text.encode())
    found = highlighted(lines)
    assert len(found) == len(lines)
    for runs, line in zip(found, lines, strict=True):
        shown = "".join(part for _, part in runs)
        assert len(shown) == len(line.rstrip("\r\n"))
        assert all(a == b for a, b in zip(shown, line, strict=False) if b.isprintable())
        assert all(character.isprintable() or character == "\t" for character in shown)


def test_long_lines_are_cut() -> None:
    ((*runs, (name, more)),) = highlighted([f"x = '{'a' * 600}'\n"])
    assert sum(len(text) for _, text in runs) == LONGEST
    assert (name, more) == ("cut", "… 106 more")


lines = st.lists(st.sampled_from("abc"), max_size=40)


@settings(deadline=None)
@given(lines, lines, st.sets(st.integers(0, 45)))
def test_hunks_show_every_change_and_finding_once(old: list[str], new: list[str], found: set[int]) -> None:
    source, output = ("".join(f"{line}\n" for line in text) for text in (old, new))
    findings = tuple(Diagnostic("AMP226", "m", line, 1, line, 1) for line in sorted(found))
    status = Status.CONVERTED if source != output else Status.CLEAN
    hunks = hunks_of(FileResult("a.py", status, source.encode(), output.encode(), diagnostics=findings))
    at = 0
    made: list[str] = []
    seen: set[int] = set()
    for hunk in hunks:
        assert hunk.old_start > at
        made += old[at : hunk.old_start - 1]  # what is not shown stays
        assert hunk.new_start == len(made) + 1
        at = hunk.old_start - 1
        for block in hunk.blocks:
            before = ["".join(text for _, text in line) for line in block.old]
            assert before == old[at : at + len(before)]
            seen |= set(range(at + 1, at + 1 + len(before)))
            at += len(before)
            shown = block.old if block.new is None else block.new
            made += ["".join(text for _, text in line) for line in shown]
    assert made + old[at:] == new
    assert {line for line in found if 0 < line <= len(old)} <= seen
    if not found and source == output:
        assert not hunks
    elif len(found) == 1 and source == output:
        assert len(seen) <= 2 * CONTEXT + 1


@pytest.mark.parametrize("fixed", ["9" * 20, "9" * 5000])
def test_a_time_that_no_calendar_has(paddletorch: Run, tree: Tree, monkeypatch: pytest.MonkeyPatch, fixed: str) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", fixed)
    tree({"a.py": PLAIN})
    result = paddletorch("convert", "--to", "paddle", "--report", "r.html", "a.py")
    assert result.returncode == 2
    assert b"SOURCE_DATE_EPOCH" in result.stderr
