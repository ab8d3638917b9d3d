"""--output DIR: a whole copy with the converted files in it; the source is never touched."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest
from paddletorch.inputs.discover import FileFilter
from paddletorch.output import copy_tree as output
from paddletorch.output.copy_tree import copy_tree
from paddletorch.output.error import OutputError

from .conftest import BROKEN, PLAIN, Run, Tree, names_in

TO = ("convert", "--to", "paddle")


def test_whole_tree_is_copied(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree(
        {
            "src/a.py": PLAIN,
            "src/sub/run.sh": "#!/bin/sh\n",
            "src/data.bin": b"\x00\xff",
            "src/third/b.py": PLAIN,
            "src/.gitignore": "*.log\n",
            "src/x.log": "",
            "src/.git/HEAD": "ref",
            "src/__pycache__/a.pyc": b"",
        }
    )
    (folder / "src/empty").mkdir()
    (folder / "src/sub/run.sh").chmod(0o755)
    (folder / "src/sub").chmod(0o750)
    os.utime(folder / "src/data.bin", (1, 1))
    result = paddletorch(*TO, "src", "--output", "new/copy", "--exclude", "third")
    assert result.returncode == 0, result.stdout + result.stderr
    copy = folder / "new/copy"
    found = sorted(path.relative_to(copy).as_posix() for path in copy.rglob("*"))
    assert found == [".gitignore", "a.py", "data.bin", "empty", "sub", "sub/run.sh", "third", "third/b.py"]
    assert "paddle.amp.GradScaler" in (copy / "a.py").read_text()
    assert (copy / "third/b.py").read_text() == PLAIN  # excluded from conversion, still part of the tree
    assert stat.S_IMODE((copy / "sub/run.sh").stat().st_mode) == 0o755
    assert stat.S_IMODE((copy / "sub").stat().st_mode) == 0o750
    assert (copy / "data.bin").stat().st_mtime == 1
    assert (folder / "src/a.py").read_text() == PLAIN
    assert names_in(folder / "new") == ["copy"]


def test_links(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"src/a.py": PLAIN, "src/sub/b.txt": "b"})
    outside = folder / "outside.py"
    outside.write_text(PLAIN)
    (folder / "src/inner.py").symlink_to("a.py")
    (folder / "src/absolute.py").symlink_to(folder / "src/a.py")
    (folder / "src/out.py").symlink_to(outside)
    (folder / "src/folder").symlink_to("sub")
    (folder / "src/dead").symlink_to("nowhere")
    assert paddletorch(*TO, "src", "--output", "copy").returncode == 0
    copy = folder / "copy"
    assert (copy / "inner.py").readlink() == Path("a.py")
    assert (copy / "absolute.py").resolve() == copy / "a.py"
    assert (copy / "folder").readlink() == Path("sub")
    assert (copy / "dead").readlink() == Path("nowhere")
    # what the link led to is outside and must not change: the copy gets a file of its own
    assert not (copy / "out.py").is_symlink()
    assert "paddle.amp.GradScaler" in (copy / "out.py").read_text()
    assert outside.read_text() == PLAIN


def test_several_paths_keep_their_names(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"one/a.py": PLAIN, "two/a.py": PLAIN, "main.py": PLAIN})
    assert paddletorch(*TO, "one", "two", "main.py", "--output", "copy").returncode == 0
    for name in ("one/a.py", "two/a.py", "main.py"):
        assert "paddle.amp.GradScaler" in (folder / "copy" / name).read_text()


def test_failed_file_is_copied_as_it_is(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"src/bad.py": BROKEN, "src/a.py": PLAIN})
    assert paddletorch(*TO, "src", "--output", "copy").returncode == 2
    assert (folder / "copy/bad.py").read_text() == BROKEN
    assert "paddle" in (folder / "copy/a.py").read_text()


def test_special_file_is_reported(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"src/a.py": PLAIN})
    os.mkfifo(folder / "src/pipe")
    result = paddletorch(*TO, "src", "--output", "copy")
    assert result.returncode == 2
    assert b"src/pipe\n  SRC004" in result.stdout
    assert names_in(folder / "copy") == ["a.py"]


def test_empty_existing_folder_is_taken(paddletorch: Run, tree: Tree, folder: Path) -> None:
    tree({"src/a.py": PLAIN})
    (folder / "copy").mkdir()
    assert paddletorch(*TO, "src", "--output", "copy").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("src", "--output", "full"), b"not empty"),
        (("src", "--output", "src/new"), b"lies in"),
        (("src", "--output", "src"), b"not empty"),
        (("src", "--output", "full/a.txt"), b"not a folder"),
        (("src", "full/src", "--output", "copy"), b"called 'src'"),
        (("src", "--output", "full/a.txt/sub"), b"cannot be made"),
    ],
)
def test_refused(paddletorch: Run, tree: Tree, folder: Path, arguments: tuple[str, ...], message: bytes) -> None:
    tree({"src/a.py": PLAIN, "full/a.txt": "x", "full/src/b.py": PLAIN})
    before = sorted(folder.rglob("*"))
    result = paddletorch(*TO, *arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert sorted(folder.rglob("*")) == before


def test_full_disk_leaves_nothing(tree: Tree, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree({"src/a.txt": "a", "src/b.txt": "b"})

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(output.shutil, "copy2", full)  # no way to fill a real disk here
    with pytest.raises(OutputError, match="No space left"):
        copy_tree(["src"], Path("copy"), [], FileFilter())
    assert names_in(folder) == ["src"]
