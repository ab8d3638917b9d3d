"""--report FILE: the same run in several forms at once."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from .conftest import BROKEN, FINDING, PLAIN, Run, Tree, names_in

DOCS = Path(__file__).parents[2] / "docs"
SCHEMA = json.loads((DOCS / "json-format.schema.json").read_text(encoding="utf-8"))
TO = ("convert", "--to", "paddle")


def strict(schema: Any) -> Any:
    """``schema`` without the freedom to hold keys that it does not name."""
    if isinstance(schema, list):
        return [strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: strict(value) for key, value in schema.items()}
    return {**closed, "additionalProperties": False} if isinstance(schema.get("properties"), dict) else closed


def keys(schema: Any) -> Iterator[str]:
    """Every property that ``schema`` names."""
    if isinstance(schema, dict):
        properties = schema.get("properties")
        yield from properties if isinstance(properties, dict) else ()
        yield from (name for value in schema.values() for name in keys(value))
    elif isinstance(schema, list):
        yield from (name for item in schema for name in keys(item))


@pytest.mark.parametrize(
    "more", [[], ["--write"], ["--output", "../out"], ["--annotate", "--unsafe", "--shim", "auto"]]
)
def test_json_fits_its_schema(paddletorch: Run, tree: Tree, more: list[str]) -> None:
    tree({"a.py": FINDING, "c.py": BROKEN, "d.py": "import torch\n\ntorch.no_such(torch.zeros(1))\n"})
    report = json.loads(paddletorch(*TO, "--format", "json", *more, ".").stdout)
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(report, strict(SCHEMA))


def test_every_key_of_the_schema_is_described() -> None:
    page = (DOCS / "json-format.md").read_text(encoding="utf-8")
    names = set(keys(SCHEMA))
    assert {"format_version", "diagnostics", "exit_code", "replacement"} <= names
    assert [name for name in sorted(names) if f"`{name}`" not in page] == []


def test_the_same_run_gives_the_same_bytes(process: Run, tree: Tree) -> None:
    tree({f"p{n}/m.py": FINDING for n in range(9)})
    for form in ("json", "sarif"):
        first, second = (process(*TO, "--format", form, PYTHONHASHSEED=seed) for seed in "12")
        assert first.stdout == second.stdout


def test_several_files_beside_the_text(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"a.py": FINDING})
    result = paddletorch(*TO, "--report", "r.json", "--report", "r.sarif", "--format", "github", "--write")
    assert result.returncode == 1
    assert result.stdout.startswith(b"::error file=a.py")
    assert json.loads((folder / "r.json").read_text())["options"]["mode"] == "write"
    assert json.loads((folder / "r.sarif").read_text())["version"] == "2.1.0"


def test_a_report_goes_with_a_diff_and_with_stdin(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"a.py": PLAIN})
    assert paddletorch(*TO, "--diff", "--report", "d.json").stdout.startswith(b"--- a.py")
    assert json.loads((folder / "d.json").read_text())["options"]["mode"] == "diff"
    assert b"paddle" in paddletorch(*TO, "-", "--report", "s.json", stdin=PLAIN.encode()).stdout
    assert json.loads((folder / "s.json").read_text())["files"][0]["path"] == "<stdin>"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("report.xml", "the name ends in none of .json"),
        ("no/r.json", "no such folder: no"),
        ("dir.json", "is a folder"),
    ],
)
def test_a_report_that_cannot_be_is_refused_before_the_run(
    paddletorch: Run, tree: Tree, folder: Path, name: str, why: str
) -> None:
    tree({"a.py": PLAIN})
    (folder / "dir.json").mkdir()
    result = paddletorch(*TO, "--write", "--report", name)
    assert result.returncode == 2
    assert why in " ".join(result.stderr.decode().split())
    assert (folder / "a.py").read_text() == PLAIN


def test_a_report_that_cannot_be_written_is_an_error(paddletorch: Run, tree: Tree) -> None:
    tree({"a.py": PLAIN})
    result = paddletorch(*TO, "--report", "/dev/full/r.json")
    assert result.returncode == 2
    tree({"closed.json": ""})
    Path("closed.json").chmod(0o444)
    result = paddletorch(*TO, "--report", "closed.json")
    assert result.returncode == 2
    assert b"--report closed.json: marked read-only" in result.stderr
    assert Path("closed.json").read_text() == ""


@pytest.mark.skipif(os.name == "nt", reason="links and pipes are POSIX")
@pytest.mark.parametrize("name", ["r.sarif", "r.json", "r.html", "known.json"])
def test_nothing_is_written_through_a_link(process: Run, tree: Tree, folder: Path, tmp_path: Path, name: str) -> None:
    written = ("--baseline", name, "--write-baseline") if name == "known.json" else ("--report", name)
    outside = tmp_path / "outside"
    outside.write_text('{"version": 1, "to": "paddle", "findings": {}}')
    tree({"a.py": PLAIN})
    (folder / name).symlink_to(outside)
    assert process(*TO, *written).returncode < 2
    assert len(outside.read_bytes()) == 46
    assert not (folder / name).is_symlink()
    assert len((folder / name).read_bytes()) > 46
    (folder / name).unlink()
    os.mkfifo(folder / name)
    result = process(*TO, *written)  # which ends after 120 s
    assert result.returncode == 2
    assert b"not a regular file" in result.stderr
    assert names_in(folder) == sorted(["a.py", name])


def test_a_report_keeps_the_mode_of_the_one_before(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"a.py": PLAIN, "old.json": "", "plain": ""})
    (folder / "old.json").chmod(0o640)
    paddletorch(*TO, "--report", "old.json", "--report", "new.json")
    modes = [(folder / name).stat().st_mode for name in ("old.json", "new.json", "plain")]
    assert modes[0] & 0o777 == 0o640 and modes[1] == modes[2]
