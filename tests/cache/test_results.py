"""Results from the cache are those that a run without it gives, whatever has changed in between."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from paddletorch.model import Options
from paddletorch_rules import load
from paddletorch_rules.storage import NO_CACHE

if TYPE_CHECKING:
    from .conftest import Tree

TYPED = "net.set_state_dict"
"""What ``net.load_state_dict`` becomes where ``net`` is known to be a module."""

NO_MODULE = "class Net:\n    def load_state_dict(self, x): ...\n"


def test_a_second_run_converts_nothing_and_says_the_same(cache: Path, tree: Tree, converted: list[str]) -> None:
    cold = tree.shown()
    assert len(cold) == 2
    assert converted == ["models.py", "train.py"]
    assert tree.shown() == cold
    assert tree.run().scanned == 4
    assert tree.run().notes == ()
    assert len(converted) == 2


def test_only_what_changed_is_converted_again(cache: Path, tree: Tree, converted: list[str]) -> None:
    tree.run()
    converted.clear()
    tree.write({"pkg/train.py": "import torch\nx = torch.arange(3)\n"})
    assert "paddle.arange" in tree.output("pkg/train.py")
    assert converted == ["train.py"]


def _changed_class(tree: Tree) -> None:
    tree.write({"pkg/models.py": NO_MODULE})


def _removed(tree: Tree) -> None:
    (tree / "pkg/models.py").unlink()


def _package_instead(tree: Tree) -> None:
    tree.write({"pkg/models/__init__.py": NO_MODULE})


def _same_name_nearer(tree: Tree) -> None:
    tree.write({"pkg/pkg/__init__.py": "", "pkg/pkg/models.py": NO_MODULE})
    (tree / "pkg/__init__.py").unlink()
    (tree / "pkg/models.py").unlink()


@pytest.mark.parametrize("change", [_changed_class, _removed, _package_instead, _same_name_nearer])
def test_a_file_that_counted_for_another_one_changes(cache: Path, tree: Tree, change: Callable[[Tree], None]) -> None:
    assert TYPED in tree.output("pkg/train.py")
    change(tree)
    assert TYPED not in tree.output("pkg/train.py")


def test_a_file_that_was_missing_appears(cache: Path, tree: Tree) -> None:
    models = (tree / "pkg/models.py").read_text()
    _removed(tree)
    assert TYPED not in tree.output("pkg/train.py")
    tree.write({"pkg/models.py": models})
    assert TYPED in tree.output("pkg/train.py")


def test_a_file_further_away_counts_too(cache: Path, tree: Tree) -> None:
    tree.write({"pkg/base.py": "from torch import nn\nclass Base(nn.Module): ...\n"})
    tree.write({"pkg/models.py": "from .base import Base\nclass Net(Base): ...\n"})
    assert TYPED in tree.output("pkg/train.py")
    tree.write({"pkg/base.py": NO_MODULE.replace("Net", "Base")})
    assert TYPED not in tree.output("pkg/train.py")


def test_times_and_sizes_of_files_do_not_count(cache: Path, tree: Tree) -> None:
    train = tree / "pkg/train.py"
    tree.run()
    before = train.stat()
    train.write_text(train.read_text().replace("net", "ten"))
    os.utime(train, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert train.stat().st_size == before.st_size
    assert "ten.set_state_dict" in tree.output("pkg/train.py")


def test_the_same_text_in_another_folder_is_another_file(cache: Path, tree: Tree) -> None:
    tree.write({"pkg/train.py": (tree / "pkg/train.py").read_text().replace("pkg.models", ".models")})
    shutil.copytree(tree / "pkg", tree / "other")
    tree.write({"other/models.py": NO_MODULE})
    for _ in range(2):
        assert TYPED in tree.output("pkg/train.py")
        assert TYPED not in tree.output("other/train.py")


@pytest.mark.parametrize(
    "options",
    [
        Options(target="torch"),
        Options(target="paddle", target_version="2.6"),
        Options(target="paddle", source_version="installed"),
        Options(target="paddle", select=("AMP",)),
        Options(target="paddle", unsafe=True),
        Options(target="paddle", annotate=True),
        Options(target="paddle", initial_values="source"),
    ],
    ids=str,
)
def test_other_options_are_other_results(
    cache: Path, tree: Tree, monkeypatch: pytest.MonkeyPatch, options: Options
) -> None:
    tree.run()
    first, second = tree.shown(options), tree.shown(options)
    monkeypatch.setenv(NO_CACHE, "1")
    assert first == second == tree.shown(options)


def test_a_table_of_the_user_counts_by_its_content(cache: Path, tree: Tree, tmp_path: Path) -> None:
    table = tmp_path / "mine.toml"
    row = '[[row]]\nid = "mine"\ncode = "MYL101"\ntitle = "Mine"\n[[row.torch]]\nnames = ["torch.mine"]\n'
    row += 'signature = "()"\n[[row.paddle]]\nnames = ["paddle.NAME"]\nsignature = "()"\n'
    tree.write({"pkg/train.py": "import torch\ntorch.mine()\n"})
    options = Options(target="paddle", tables=(str(table),))
    for name in ("one", "two"):
        table.write_text(row.replace("NAME", name))
        load.cache_clear()
        assert f"paddle.{name}()" in tree.output("pkg/train.py", options)


def test_a_table_that_is_wrong_is_an_error_whatever_is_in_the_cache(cache: Path, tree: Tree, tmp_path: Path) -> None:
    table = tmp_path / "mine.toml"
    table.write_text("")
    tree.run(Options(target="paddle", tables=(str(table),)))
    table.write_text("[[rows]]")
    load.cache_clear()
    with pytest.raises(ValueError, match="rows"):
        tree.run(Options(target="paddle", tables=(str(table),)))


def test_a_failure_is_not_kept(cache: Path, tree: Tree, converted: list[str]) -> None:
    tree.write({"pkg/train.py": "import torch\ntorch.add(\n"})
    tree.run()
    converted.clear()
    tree.run()
    assert converted == ["train.py"]


def test_without_a_cache_nothing_is_kept(
    cache: Path, tree: Tree, converted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(NO_CACHE, "1")
    tree.run()
    tree.run()
    assert converted == ["models.py", "train.py"] * 2
    assert not cache.exists()


CHANGES = (
    ("pkg/models.py", "from torch import nn\nclass Net(nn.Module): ...\n"),
    ("pkg/models.py", NO_MODULE),
    ("pkg/models.py", "from .base import *\n"),
    ("pkg/models.py", "from .base import Net\n"),
    ("pkg/models.py", "from pkg.train import Net\n"),
    ("pkg/models.py", "import torch\nNet = torch.nn.Linear\n"),
    ("pkg/models.py", None),
    ("pkg/base.py", "from torch import nn\nclass Net(nn.Module): ...\n"),
    ("pkg/base.py", "Net = dict\n"),
    ("pkg/base.py", "from pkg.models import Net\n"),
    ("pkg/base.py", None),
    ("pkg/__init__.py", None),
    ("pkg/__init__.py", ""),
    ("src/pkg/__init__.py", "from .models import Net\n"),
    ("src/pkg/models.py", "Net = dict\n"),
    ("pkg/train.py", "import torch\nfrom .models import Net\nnet = Net()\nnet.load_state_dict(x)\n"),
    ("pkg/train.py", "import torch\nfrom pkg import models\nnet = models.Net()\nnet.load_state_dict(x)\n"),
    ("setup.py", ""),
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.lists(st.sampled_from(CHANGES), min_size=1, max_size=3), min_size=1, max_size=5))
def test_after_any_changes_the_cache_makes_no_difference(
    steps: list[list[tuple[str, str | None]]], make_tree: Callable[[], Tree]
) -> None:
    tree = make_tree()
    for step in steps:
        for name, content in step:
            if content is None:
                (tree / name).unlink(missing_ok=True)
            else:
                tree.write({name: content})
        with_cache = tree.shown()
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(NO_CACHE, "1")
            assert with_cache == tree.shown()
