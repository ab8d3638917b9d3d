"""Requirements and scripts in a run over a folder: written, copied, shown, checked, and only with the option."""

from __future__ import annotations

import json
from pathlib import Path

from .conftest import PLAIN, Run, Tree

FILES = {
    "a.py": "import torch\n\nx = torch.zeros([2])\n",
    "requirements.txt": "torch\nnumpy\n",
    "run.sh": "torchrun --nproc_per_node=2 a.py\n",
    "notes.txt": "torch\n",
    "pyproject.toml": "[project]\nname = 'x'\n",
}


def test_a_run_reports_them(tree: Tree, folder: Path, paddletorch: Run) -> None:
    tree(FILES)
    result = paddletorch("convert", "--to", "paddle", "--write")
    assert result.returncode == 1
    assert "requirements.txt\n  1:1 PRJ201" in result.stdout.decode()
    assert "run.sh\n  1:1 PRJ202" in result.stdout.decode()
    assert (folder / "requirements.txt").read_text() == "torch\nnumpy\n"
    assert "3 files scanned" in result.stdout.decode()


def test_write_changes_them_with_the_option(tree: Tree, folder: Path, paddletorch: Run) -> None:
    tree(FILES)
    assert paddletorch("convert", "--to", "paddle", "--write", "--project-files").returncode == 0
    assert (folder / "requirements.txt").read_text() == "paddlepaddle\nnumpy\n"
    assert (folder / "run.sh").read_text() == "python -m paddle.distributed.launch --nproc_per_node=2 a.py\n"
    assert (folder / "notes.txt").read_text() == "torch\n"
    again = paddletorch("convert", "--to", "paddle", "--write", "--project-files")
    assert again.returncode == 0
    assert "nothing to convert" in again.stdout.decode()


def test_the_setting_does_the_same(tree: Tree, folder: Path, paddletorch: Run) -> None:
    tree({**FILES, "paddletorch.toml": "to = 'paddle'\nproject-files = true\n"})
    assert paddletorch("convert", "--write").returncode == 0
    assert (folder / "requirements.txt").read_text() == "paddlepaddle\nnumpy\n"
    tree({"requirements.txt": "torch\n"})
    paddletorch("convert", "--write", "--no-project-files")
    assert (folder / "requirements.txt").read_text() == "torch\n"


def test_a_copy_holds_them(tree: Tree, folder: Path, paddletorch: Run) -> None:
    tree({f"in/{name}": text for name, text in FILES.items()})
    assert paddletorch("convert", "--to", "paddle", "--project-files", "--output", "out", "in").returncode == 0
    assert (folder / "out" / "requirements.txt").read_text() == "paddlepaddle\nnumpy\n"
    assert (folder / "in" / "requirements.txt").read_text() == "torch\nnumpy\n"


def test_the_difference_is_shown(tree: Tree, paddletorch: Run) -> None:
    tree(FILES)
    out = paddletorch("convert", "--to", "paddle", "--project-files", "--diff").stdout.decode()
    assert "-torch\n+paddlepaddle\n" in out


def test_a_link_to_elsewhere_is_not_followed(tree: Tree, folder: Path, paddletorch: Run) -> None:
    outside = folder.parent / "requirements.txt"
    outside.write_text("torch\n")
    tree({"a.py": PLAIN})
    (folder / "requirements.txt").symlink_to(outside)
    paddletorch("convert", "--to", "paddle", "--project-files", "--write")
    assert outside.read_text() == "torch\n"


def test_a_file_that_is_named_is_taken(tree: Tree, paddletorch: Run) -> None:
    tree(FILES)
    result = paddletorch("convert", "--to", "paddle", "--project-files", "--format", "json", "requirements.txt")
    report = json.loads(result.stdout)
    assert [conversion["replacement"] for conversion in report["conversions"]] == ["paddlepaddle"]


def test_the_head_of_the_summary_names_packages(tree: Tree, paddletorch: Run) -> None:
    tree({"a.py": "import timm\nimport torch\n", "b.py": "import timm, transformers\n"})
    result = paddletorch("convert", "--to", "paddle")
    assert "Cannot run without timm, transformers, built on torch." in result.stdout.decode()
    report = json.loads(paddletorch("convert", "--to", "paddle", "--format", "json").stdout)
    assert report["summary"]["packages"] == {"timm": 2, "transformers": 1}
