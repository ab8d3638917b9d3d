"""``-``: source in, converted source out, report on stderr; nothing is ever lost."""

from __future__ import annotations

import json
from pathlib import Path

from .conftest import BROKEN, FINDING, PLAIN, Run, Tree

STDIN = ("convert", "--to", "paddle", "-")


def test_converted_source_on_stdout(paddletorch: Run) -> None:
    result = paddletorch(*STDIN, stdin=PLAIN.replace("\n", "\r\n").encode())
    assert result.returncode == 0
    assert b"paddle.amp.GradScaler" in result.stdout
    assert result.stdout.count(b"\r\n") == result.stdout.count(b"\n") > 0
    assert b"1 file scanned" in result.stderr


def test_findings_on_stderr_under_the_given_name(paddletorch: Run) -> None:
    result = paddletorch(*STDIN, "--stdin-filename", "dir/a.py", "-q", stdin=FINDING.encode())
    assert result.returncode == 1
    assert b"paddle" in result.stdout and b"AMP226" not in result.stdout
    assert result.stderr.startswith(b"dir/a.py\n  4:7 AMP226")


def test_failure_gives_the_source_back(paddletorch: Run) -> None:
    source = BROKEN.encode() + b"\xff"
    result = paddletorch(*STDIN, stdin=source)
    assert result.returncode == 2
    assert result.stdout == source
    assert b"SRC00" in result.stderr


def test_nothing_to_do_gives_the_source_back(paddletorch: Run) -> None:
    for source in (b"", b"x = 1", b"\xff not python"):
        result = paddletorch(*STDIN, stdin=source)
        assert (result.returncode, result.stdout) == (0, source)


def test_diff(paddletorch: Run) -> None:
    result = paddletorch(*STDIN, "--diff", "--stdin-filename", "a.py", stdin=PLAIN.encode())
    assert result.returncode == 1
    assert result.stdout.startswith(b"--- a.py\n+++ a.py\n@@ ")


def test_json_report_goes_to_stderr(paddletorch: Run) -> None:
    result = paddletorch(*STDIN, "--format", "json", stdin=PLAIN.encode())
    assert b"paddle" in result.stdout
    assert json.loads(result.stderr)["options"]["mode"] == "stdin"


def test_settings_are_those_of_the_current_folder(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"pyproject.toml": '[tool.paddletorch]\nto = "paddle"\n'})
    assert b"paddle" in paddletorch("convert", "-", stdin=PLAIN.encode()).stdout
