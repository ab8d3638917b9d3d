"""--write: whole or not at all, and nothing about the file changes but its text."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from paddletorch.model import FileResult, Status
from paddletorch.output import write

from .conftest import PLAIN, Run, Tree, names_in

WRITE = ("convert", "--to", "paddle", "--write")


def converted(path: str) -> FileResult:
    return FileResult(path, Status.CONVERTED, b"old\n", b"new\n")


def test_mode_and_owner_are_kept(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"a.py": PLAIN})
    file = folder / "a.py"
    file.chmod(0o751)
    if os.geteuid() == 0:
        os.chown(file, 12345, 23456)
    before = file.stat()
    assert paddletorch(*WRITE).returncode == 0
    after = file.stat()
    assert b"paddle.amp.GradScaler" in file.read_bytes()
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert after.st_mtime_ns > before.st_mtime_ns
    assert names_in(folder) == ["a.py"]


def test_link_stays_a_link(paddletorch: Run, tree: Tree, folder: Path) -> None:
    real = folder.parent / "real.py"
    real.write_text(PLAIN)
    (folder / "a.py").symlink_to("../real.py")
    assert paddletorch(*WRITE, "--follow-links").returncode == 0
    assert (folder / "a.py").readlink() == Path("../real.py")
    assert "paddle.amp.GradScaler" in real.read_text()


def test_second_run_changes_nothing(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"a.py": PLAIN})
    paddletorch(*WRITE)
    before = (folder / "a.py").stat()
    assert paddletorch(*WRITE).returncode == 0
    after = (folder / "a.py").stat()
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)


def test_changed_meanwhile_is_left_alone(folder: Path) -> None:
    file = folder / "a.py"
    file.write_bytes(b"edited by someone\n")
    result = write.write_back(converted(str(file)))
    assert result.status is Status.FAILED
    assert [diagnostic.code for diagnostic in result.diagnostics] == ["SRC007"]
    assert not result.conversions
    assert file.read_bytes() == b"edited by someone\n"


def test_vanished_meanwhile(folder: Path) -> None:
    result = write.write_back(converted(str(folder / "gone.py")))
    assert [diagnostic.code for diagnostic in result.diagnostics] == ["SRC005"]
    assert names_in(folder) == []


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_full_disk_leaves_the_file_and_no_other(folder: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    file = folder / "a.py"
    file.write_bytes(b"old\n")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    # No way to fill a real disk here.
    monkeypatch.setattr(*((os, "fsync") if step == "fsync" else (os, "replace")), full)
    result = write.write_back(converted(str(file)))
    assert result.status is Status.FAILED
    assert result.diagnostics[0].code == "SRC005"
    assert "No space left" in result.diagnostics[0].message
    assert file.read_bytes() == b"old\n"
    assert names_in(folder) == ["a.py"]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs POSIX permissions")
@pytest.mark.parametrize("what", ["file", "folder"])
def test_read_only_for_a_plain_user(folder: Path, what: str) -> None:
    file = folder / "sub" / "a.py"
    file.parent.mkdir()
    file.write_bytes(b"old\n")
    if what == "file":
        file.chmod(0o444)
        file.parent.chmod(0o777)
    else:
        file.chmod(0o666)
        file.parent.chmod(0o555)
    for parent in [*file.parents][:5]:  # pytest closes its own folders to other users
        if parent.stat().st_uid == os.geteuid() and parent != file.parent:
            parent.chmod(parent.stat().st_mode | stat.S_IXOTH | stat.S_IROTH)
    script = (
        "import os, sys\n"
        "from paddletorch.model import FileResult, Status\n"
        "from paddletorch.output.write import write_back\n"
        "if os.geteuid() == 0: os.setuid(65534)\n"
        "result = write_back(FileResult(sys.argv[1], Status.CONVERTED, b'old\\n', b'new\\n'))\n"
        "print(result.status.value, result.diagnostics[0].code)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(file)], capture_output=True, text=True, check=False)
    file.parent.chmod(0o755)
    assert done.stdout.split() == ["failed", "SRC005"], done.stderr
    assert file.read_bytes() == b"old\n"
    assert names_in(file.parent) == ["a.py"]


def _links(folder: Path) -> tuple[Path, Path]:
    """A file and a folder outside of ``folder``, with links to them in it and a link back from outside."""
    outside = folder.parent / "outside"
    (outside / "deep").mkdir(parents=True)
    for file in (outside / "one.py", outside / "deep" / "two.py"):
        file.write_text(PLAIN)
    (folder / "one_link.py").symlink_to("../outside/one.py")
    (folder / "deep_link").symlink_to(outside / "deep")
    (outside / "deep" / "back").symlink_to(folder)
    return outside / "one.py", outside / "deep" / "two.py"


def test_links_out_of_the_given_paths_are_not_followed(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"a.py": PLAIN, "inner/b.py": PLAIN})
    (folder / "inner_link.py").symlink_to("inner/b.py")
    one, two = _links(folder)
    result = paddletorch(*WRITE)
    assert result.returncode == 0
    assert b"2 files scanned" in result.stdout
    note = b"links out of the given paths were not followed, as --follow-links would: deep_link, one_link.py"
    assert note in b" ".join(result.stdout.split())
    assert one.read_text() == two.read_text() == PLAIN
    assert b"3 files scanned" in paddletorch("convert", "--to", "paddle", "--diff").stderr  # what only looks may look


def test_links_out_of_the_given_paths_are_followed_where_that_is_asked_for(paddletorch: Run, folder: Path) -> None:
    one, two = _links(folder)
    result = paddletorch(*WRITE, "--follow-links")
    assert result.returncode == 0
    assert b"2 files scanned" in result.stdout
    assert b"were not followed" not in result.stdout
    assert "paddle.amp" in one.read_text() and "paddle.amp" in two.read_text()
    assert (folder / "one_link.py").is_symlink()


def test_a_link_that_is_named_is_what_was_asked_for(paddletorch: Run, folder: Path) -> None:
    one, two = _links(folder)
    assert paddletorch(*WRITE, "one_link.py", "deep_link").returncode == 0
    assert "paddle.amp" in one.read_text() and "paddle.amp" in two.read_text()


def test_links_and_a_copy_do_not_go_together(paddletorch: Run) -> None:
    result = paddletorch("convert", "--to", "paddle", "--output", "new", "--follow-links")
    assert result.returncode == 2
    assert b"--follow-links does not go with it" in result.stderr


@pytest.mark.parametrize("mode", [0o444, 0o555, 0o464, 0o000])
def test_a_file_that_its_owner_may_not_write_is_not_replaced_by_root_either(
    paddletorch: Run, tree: Tree, folder: Path, mode: int
) -> None:
    tree({"a.py": PLAIN, "b.py": PLAIN})
    (folder / "a.py").chmod(mode)
    before = (folder / "a.py").stat()
    result = paddletorch(*WRITE)
    (folder / "a.py").chmod(0o644)
    assert result.returncode == 2
    assert b"a.py\n  SRC00" in result.stdout
    assert (folder / "a.py").read_text() == PLAIN
    assert (folder / "a.py").stat().st_ino == before.st_ino
    assert "paddle.amp" in (folder / "b.py").read_text()
