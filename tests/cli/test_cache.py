"""The cache as a user meets it: every report is the same from a second run, and --no-cache keeps nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from paddletorch_rules.storage import CACHE_DIR, NO_CACHE

from .conftest import FINDING, PLAIN, Run, Tree

FILES = {"a.py": PLAIN, "b.py": FINDING, "c.py": "print('no API')\n", "pkg/__init__.py": "", "pkg/d.py": FINDING}
CONVERT = ("convert", "--to", "paddle")


@pytest.fixture
def cache(tmp_path: Path) -> dict[str, str]:
    """The environment of runs that share an empty cache."""
    return {CACHE_DIR: str(tmp_path / "cache")}


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--quiet",),
        ("--coverage",),
        ("--diff",),
        ("--format", "json"),
        ("--format", "sarif"),
        ("--format", "github"),
        ("--jobs", "1"),
        ("--annotate", "--diff"),
    ],
)
def test_the_report_of_a_second_run_is_the_same(
    paddletorch: Run, tree: Tree, cache: dict[str, str], options: tuple[str, ...]
) -> None:
    tree(FILES)
    without = paddletorch(*CONVERT, *options, "--no-cache", **cache)
    cold, warm = (paddletorch(*CONVERT, *options, **cache) for _ in range(2))
    for run in (cold, warm):
        assert (run.stdout, run.stderr, run.returncode) == (without.stdout, without.stderr, without.returncode)


def test_what_is_written_comes_from_the_cache_too(
    paddletorch: Run, tree: Tree, folder: Path, cache: dict[str, str]
) -> None:
    tree(FILES)
    paddletorch(*CONVERT, **cache)
    assert paddletorch(*CONVERT, "--output", "../copy", **cache).returncode == 1
    assert paddletorch(*CONVERT, "--write", **cache).returncode == 1
    for name in FILES:
        assert (folder / name).read_bytes() == (folder.parent / "copy" / name).read_bytes()
    assert b"paddle.amp.GradScaler" in (folder / "pkg/d.py").read_bytes()


def test_no_cache_keeps_nothing(process: Run, tree: Tree, cache: dict[str, str]) -> None:
    tree(FILES)
    process(*CONVERT, **cache, **{NO_CACHE: "1"})
    assert not Path(cache[CACHE_DIR]).exists()
    process(*CONVERT, "--no-cache", **cache)
    kept = sorted(path.name.partition("-")[0] for path in Path(cache[CACHE_DIR]).iterdir())
    assert {"facts", "packages", "tables"} <= set(kept) and "results" not in kept


def test_a_damaged_cache_is_a_note(paddletorch: Run, tree: Tree, cache: dict[str, str]) -> None:
    tree(FILES)
    first = paddletorch(*CONVERT, **cache)
    (results,) = Path(cache[CACHE_DIR]).glob("results-*")
    results.write_bytes(b"no database")
    second = paddletorch(*CONVERT, **cache)
    assert second.returncode == first.returncode
    assert f"the cache {results} is damaged" in " ".join(second.stdout.decode().split())
    assert paddletorch(*CONVERT, **cache).stdout == first.stdout


def test_a_wrong_table_is_said_even_without_files(process: Run, folder: Path, cache: dict[str, str]) -> None:
    (folder / "wrong.toml").write_text("[[rows]]\n")
    for _ in range(2):
        run = process(*CONVERT, "--tables", "wrong.toml", **cache)
        assert run.returncode == 2
        assert b"wrong.toml" in run.stderr
