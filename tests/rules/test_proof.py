"""Every row's examples, run on both frameworks in both directions; and that the record and the page say so.

A proof that was found with the same code, row and frameworks is not made again (``--cache-clear`` makes all anew).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from paddletorch.cli.main import cli
from paddletorch.proof.proof import Verdict
from paddletorch.proof.render import failure_lines
from paddletorch.proof.worker import Prover
from paddletorch_rules import Row, load, verified

from ..once import code_digest, digest, from_run_to_run, versions

TABLE = load()


@cache
def environment() -> str:
    """All that a proof depends on beside its row."""
    return "\n".join([code_digest(), sys.version, versions("torch", "paddlepaddle", "numpy", "libcst")])


def key(row: Row) -> str:
    """Changes with all that the row's proof depends on."""
    return digest(environment(), row.id, verified.digest(row, TABLE))


@pytest.fixture(scope="module")
def prover() -> Iterator[Prover]:
    with Prover() as made:
        yield made


@pytest.mark.parametrize("file", sorted({row.file for row in TABLE.rows}))
def test_rows_are_proven_as_recorded(file: str, prover: Prover, pytestconfig: pytest.Config) -> None:
    record = verified.read()
    rows = [row for row in TABLE.rows if row.file == file]
    failing: list[str] = []

    def directions(row: Row) -> Any:
        """Those that the proof covers; None if it fails, so that it is made again in the next run."""
        proof = prover.prove(row)
        lines = list(failure_lines(proof))
        failing.extend(lines)
        return None if lines else list(proof.directions)

    proven = from_run_to_run(pytestconfig, f"proofs/{file}", {key(row): partial(directions, row) for row in rows})
    told = click.unstyle("\n".join(failing))
    assert not failing, f"paddletorch rules check --execute --only {file}\n{told}"
    found = {row.id: tuple(proven[key(row)]) for row in rows if proven[key(row)]}
    recorded = {row.id: record.directions(row, TABLE) for row in TABLE.rows if row.file == file}
    told = "paddletorch rules check --execute --record writes the record anew"
    assert {row_id: targets for row_id, targets in recorded.items() if targets} == found, told


def test_names_of_rows_are_unique() -> None:
    files: dict[str, list[str]] = {}
    for row in TABLE.rows:
        files.setdefault(row.id, []).append(row.file)
    assert {row_id: found for row_id, found in files.items() if len(found) > 1} == {}


def test_record_is_in_step() -> None:
    assert not verified.read().stale(TABLE), "paddletorch rules check --execute --record writes it anew"


def test_changed_rows_are_not_verified(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(_SIN.format(offset=""))
    (tmp_path / "b.toml").write_text(_SIN.format(offset="tolerance = 1e-3"))
    before, after = load((str(tmp_path / "a.toml"),)), load((str(tmp_path / "b.toml"),))
    row = before.row("Sin")
    digest = verified.digest(row, before)
    record = verified.Record({"Sin": verified.RecordedProof(digest, ("paddle", "torch"), "2.13.0", "3.3.1")})
    record.write(tmp_path / "verified.json")
    read = verified.read(tmp_path / "verified.json")
    assert read.entries == record.entries
    assert read.directions(row, before) == ("paddle", "torch") and not read.stale(before)
    assert not read.directions(after.row("Sin"), after) and read.stale(after) == ["Sin"]
    assert read.stale(TABLE) == ["Sin"]


def test_listed_marks_follow_the_record() -> None:
    result = CliRunner().invoke(cli, ["rules", "list"], catch_exceptions=False)
    listed = [line.rpartition("  ")[2] for line in result.output.splitlines()]
    record = verified.read()
    both = sum(len(record.directions(row, TABLE)) == 2 for row in TABLE.rows)
    one = sum(len(record.directions(row, TABLE)) == 1 for row in TABLE.rows)
    assert listed.count("verified") == both
    assert sum(mark in ("verified to torch", "verified to paddle") for mark in listed) == one
    assert set(listed) <= {"verified", "verified to torch", "verified to paddle", "unverified", "no counterpart"}


def test_rows_without_a_counterpart_need_no_proof(prover: Prover) -> None:
    row = next(row for row in TABLE.rows if not row.paddle)
    assert prover.prove(row).verdict is Verdict.REPORTED


_SIN = """
[defaults]
code = "ZZZ101"
gives = "tensor"

[[row]]
id = "Sin"
override = true
torch = "torch.sin(input, *, out=None)"
paddle = "paddle.sin(x, name=None)"
pairs = ["input/x"]
example = "torch.sin(x)"
{offset}
"""
