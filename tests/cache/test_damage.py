"""A cache that is damaged, in use, not ours or not writable: the run is as without one, and says so if it must."""

from __future__ import annotations

import marshal
import os
import pickle
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from paddletorch.batch.cache import store
from paddletorch_rules import compiled, load
from paddletorch_rules.compile_built_in import compile_built_in
from paddletorch_rules.facts import facts
from paddletorch_rules.storage import CACHE_DIR, UntrustedFolder, cache_folder

from ..full_disk import files_up_to

if TYPE_CHECKING:
    from .conftest import Tree


def database(cache: Path) -> Path:
    """The file with the results."""
    (found,) = cache.glob("results-*.sqlite")
    return found


def _garbage(path: Path) -> None:
    path.write_bytes(os.urandom(5_000))


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _bits(path: Path) -> None:
    data = path.read_bytes()
    place = data.index(b"torch.load")
    path.write_bytes(data.replace(data[place : place + 10], b"torch.save"))


def _positions(path: Path) -> None:
    with closing(sqlite3.connect(path)) as open_database, open_database:
        open_database.execute("UPDATE results SET rests_on=x'ffffffff', findings=NULL")


def _manifest(path: Path) -> None:
    with closing(sqlite3.connect(path)) as open_database, open_database:
        open_database.execute("UPDATE manifests SET names='{'")


@pytest.mark.parametrize("damage", [_garbage, _cut, _bits, _positions, _manifest])
def test_a_damaged_cache_is_noted_and_replaced(cache: Path, tree: Tree, damage: Callable[[Path], None]) -> None:
    cold = tree.shown()
    damage(database(cache))
    ran = tree.run()
    assert [note.partition(" is damaged")[0] for note in ran.notes] == [f"the cache {cache / 'results-1.sqlite'}"]
    assert tree.shown() == cold
    assert tree.run().notes == ()
    assert tree.shown() == cold


def _of_another_user(path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    os.chown(path, 12345, 12345)


def _writable(path: Path) -> None:
    path.chmod(0o666)


def _link(path: Path) -> None:
    path.rename(path.parent.parent / "elsewhere")
    path.symlink_to(path.parent.parent / "elsewhere")


def _link_to_nothing(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.parent.parent / "made")


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no such modes here")
@pytest.mark.parametrize("change", [_of_another_user, _writable, _link, _link_to_nothing, _pipe])
def test_a_cache_that_others_may_have_written_is_not_used(
    cache: Path, tree: Tree, converted: list[str], change: Callable[[Path], None]
) -> None:
    """What it holds would be written into the code."""
    cold = tree.shown()
    path = database(cache)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    change(path)
    before = (cache.parent / "elsewhere").read_bytes() if change is _link else b""
    converted.clear()
    ran = tree.run()
    assert len(converted) == 2
    assert ran.notes == (
        f"the cache {path} is not the user's alone: it was not used, and the next run makes a new one",
    )
    assert not os.path.lexists(path) and not (cache.parent / "made").exists()
    assert change is not _link or (cache.parent / "elsewhere").read_bytes() == before
    assert tree.shown() == cold
    assert tree.run().notes == ()


def test_a_folder_in_its_place_is_noted(cache: Path, tree: Tree) -> None:
    cold = tree.shown()
    path = database(cache)
    path.unlink()
    path.mkdir()
    assert tree.run().notes == (f"the cache {path} is not the user's alone: it was not used, and it cannot be removed",)
    assert tree.shown() == cold


def test_another_kind_of_database_is_left_alone(cache: Path, tree: Tree) -> None:
    cold = tree.shown()
    path = database(cache)
    path.unlink()
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("CREATE TABLE results (anything)")
    assert tree.shown() == cold


def test_a_writer_that_never_ends_is_not_waited_for(
    cache: Path, tree: Tree, converted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cold = tree.shown()
    monkeypatch.setattr(store, "_PATIENCE", 0.1)
    with closing(sqlite3.connect(database(cache))) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert tree.shown() == cold
        assert tree.run().notes == ()
    converted.clear()
    assert tree.shown() == cold
    assert converted == []


def test_many_processes_at_once(cache: Path, tree: Tree, converted: list[str]) -> None:
    tree.write({f"pkg/part{n}.py": f"import torch\nx{n} = torch.arange({n})\n" for n in range(20)})
    command = [sys.executable, "-m", "paddletorch", "convert", "--to", "paddle", "--format", "json"]
    files = sorted(str(path) for path in (tree / "pkg").glob("*.py"))
    batches = [files, files[::2], files[1::2], files[:9]]
    running = [
        subprocess.Popen([*command, *batch], stdout=subprocess.PIPE, stderr=subprocess.PIPE) for batch in batches
    ]
    for process in running:
        output, errors = process.communicate(timeout=120)
        assert process.returncode == 1, errors
        assert b'"notes": []' in output
    assert len(tree.run().results) == 22
    assert converted == []


def test_what_was_not_asked_for_in_a_long_time_goes(
    cache: Path, tree: Tree, converted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.run()
    with closing(sqlite3.connect(database(cache))) as open_database, open_database:
        open_database.execute("UPDATE results SET used = used - 40")
    tree.run()
    assert converted == ["models.py", "train.py"]
    with closing(sqlite3.connect(database(cache))) as open_database, open_database:
        open_database.execute("UPDATE results SET used = used - 100")
    tree.write({"pkg/new.py": "import torch\n"})
    monkeypatch.setattr(store.Store, "read", lambda self, wanted: ({}, []))
    (tree / "pkg/train.py").unlink()
    tree.run()
    with closing(sqlite3.connect(database(cache))) as open_database:
        assert open_database.execute("SELECT count(*) FROM results").fetchone() == (4,)


def test_the_cache_stays_below_its_limit(cache: Path, tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_LIMIT", 100_000)
    for number in range(30):
        text = "".join(f"import torch\nx{n} = torch.arange({n * number})\n" for n in range(100))
        tree.write({f"pkg/part{number}.py": text})
        tree.run()
    assert database(cache).stat().st_size < 400_000
    with closing(sqlite3.connect(database(cache))) as open_database:
        kept = open_database.execute("SELECT count(*) FROM manifests").fetchone()[0]
        used = open_database.execute("SELECT count(DISTINCT manifest) FROM results").fetchone()[0]
    assert kept == used > 0


def test_a_folder_that_cannot_be_made_is_no_cache(tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(CACHE_DIR, str(tmp_path / "file" / "cache"))
    assert cache_folder() is None
    assert len(tree.shown()) == 2
    assert tree.run().notes == ()


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="folders have no such modes here")
def test_a_folder_that_others_can_write_to_is_not_used(cache: Path, tree: Tree) -> None:
    cache.mkdir()
    cache.chmod(0o777)
    with pytest.raises(UntrustedFolder):
        cache_folder()
    ran = tree.run()
    assert ran.notes == (f"{cache}: not used as a cache, because other users can write to it",)
    assert list(cache.iterdir()) == []


def test_the_folder_is_made_for_the_user_alone(cache: Path) -> None:
    assert cache_folder() == cache
    if hasattr(os, "geteuid"):
        assert stat.S_IMODE(cache.stat().st_mode) == 0o700


class _Attack:
    def __reduce__(self) -> tuple[object, ...]:
        return (exec, ("import pathlib, os; pathlib.Path(os.environ['PADDLETORCH_CACHE_DIR'], 'attacked').touch()",))


def _spoilt(whole: bytes) -> list[bytes]:
    """What may lie in a copy's place: a foreign file, a part, another content behind the same beginning, nothing."""
    middle = len(whole) // 2
    bit = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    other = marshal.dumps({"rows": ()})
    return [pickle.dumps(_Attack()), whole[:middle], bit, whole[: compiled._HEAD] + other, other, b""]


def test_a_spoilt_copy_of_the_tables_is_not_used(cache: Path) -> None:
    load.cache_clear()
    table = load()
    (copy,) = cache.glob("tables-*")
    assert compiled.restore("tables", table.digest) is not None
    for planted in _spoilt(copy.read_bytes()):
        copy.write_bytes(planted)
        assert compiled.restore("tables", table.digest) is None
    assert not (cache / "attacked").exists()


def test_a_spoilt_copy_of_the_facts_is_not_used(cache: Path) -> None:
    facts.cache_clear()
    read = facts()
    (copy,) = cache.glob("facts-*")
    for planted in _spoilt(copy.read_bytes()):
        copy.write_bytes(planted)
        facts.cache_clear()
        assert facts() == read
    assert not (cache / "attacked").exists()


def test_what_a_wheel_brings_is_used_while_it_is_of_the_files(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compile_built_in(tmp_path / "brought")
    written = {path.name: path.read_bytes() for path in (tmp_path / "brought").iterdir()}
    compile_built_in(tmp_path / "again")
    assert {path.name: path.read_bytes() for path in (tmp_path / "again").iterdir()} == written
    monkeypatch.setattr(compiled, "FOLDER", tmp_path / "brought")
    before = set(cache.glob("*"))  # what checking the tables has asked for
    for read in (load, facts):
        read.cache_clear()
    assert load().row("scaler.scale").torch
    assert facts().views
    assert set(cache.glob("*")) == before
    assert compiled.restore("tables", "0" * 32) is None  # of other files
    monkeypatch.setattr(compiled, "_code", lambda: "other code")
    assert compiled.restore("tables", load().digest) is None
    load.cache_clear()


def test_few_copies_of_the_tables_stay(cache: Path) -> None:
    load.cache_clear()
    load()
    (copy,) = cache.glob("tables-*")
    for number in range(12):
        compiled.keep("tables", f"{number:016}", {})  # whose size does not count
    copies = sorted(path.name for path in cache.glob("tables-*"))
    assert len(copies) == 8
    assert copy.name not in copies


def test_a_full_disk_leaves_no_part_of_a_copy(cache: Path, tree: Tree, tmp_path: Path) -> None:
    cold = tree.shown()
    for file in cache.iterdir():
        file.unlink()
    command = [sys.executable, "-m", "paddletorch", "convert", "--to", "paddle", "."]
    done = subprocess.run(command, cwd=tree / "pkg", capture_output=True, check=False, preexec_fn=files_up_to(20_000))
    assert done.returncode == 1, done.stderr
    assert done.stderr == b""
    assert [file for file in cache.iterdir() if file.suffix == ".tmp"] == []
    assert tree.shown() == cold


def test_what_a_killed_run_has_begun_goes_in_time(cache: Path) -> None:
    cache.mkdir(mode=0o700)
    old, young = cache / "tmpold.tables.tmp", cache / "tmpyoung.tables.tmp"
    for file in (old, young):
        file.write_bytes(b"part")
    os.utime(old, (1, 1))
    compiled.keep("tables", "0" * 16, {})
    assert not old.exists() and young.exists()
