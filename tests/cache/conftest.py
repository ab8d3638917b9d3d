"""A small source tree on disk whose files depend on each other, and a cache of its own."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from paddletorch.batch import one_file, run
from paddletorch.engine.engine import Engine
from paddletorch.model import Evidence, FileResult, Options
from paddletorch_rules.storage import CACHE_DIR

PADDLE = Options(target="paddle")

FILES = {
    "pyproject.toml": "",
    "pkg/__init__.py": "",
    "pkg/models.py": """
        from torch import nn

        class Net(nn.Module):
            def forward(self, x):
                return x
    """,
    "pkg/train.py": """
        import torch
        from pkg.models import Net

        net = Net()
        net.load_state_dict(torch.load("a.pt"))
    """,
    "pkg/plain.py": "print(1)\n",
}


class Tree:
    """A folder with files, and the runs over it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write(FILES)

    def __truediv__(self, name: str) -> Path:
        return self.folder / name

    def write(self, files: Mapping[str, str]) -> None:
        """Write files by their relative path; text is dedented."""
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(content))

    def run(self, options: Options = PADDLE) -> run.Run:
        """Convert all files, as a process of its own would: nothing is remembered but the cache."""
        one_file.converter_for.cache_clear()
        files = sorted(str(path) for path in self.folder.rglob("*.py"))
        return run.run(files, options, jobs=1, progress=False)

    def shown(self, options: Options = PADDLE) -> list[tuple[object, ...]]:
        """All of a run's results that a report or a writer uses."""
        return [_shown(r) for r in self.run(options).results if r.conversions or r.diagnostics or r.unlisted]

    def output(self, name: str, options: Options = PADDLE) -> str:
        """The text that the file becomes in a run."""
        found = [r for r in self.run(options).results if Path(r.path) == self.folder / name]
        return found[0].output.decode()


def _shown(result: FileResult) -> tuple[object, ...]:
    given = (result.conversions, result.diagnostics, dict(result.unlisted))
    return (result.path, result.status, result.source, result.output, *given)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder that is not there yet, which the test's runs use."""
    folder = tmp_path / "cache"
    monkeypatch.setenv(CACHE_DIR, str(folder))
    return folder


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """The source tree."""
    return Tree(tmp_path / "tree")


@pytest.fixture
def converted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the files that the engine is given, in the order of its work."""
    names: list[str] = []
    real = Engine.convert

    def convert(
        self: Engine,
        data: bytes,
        path: str,
        evidence: Evidence | None = None,
        left: frozenset[int] = frozenset(),
    ) -> FileResult:
        names.append(Path(path).name)
        return real(self, data, path, evidence, left)

    monkeypatch.setattr(Engine, "convert", convert)
    return names


@pytest.fixture
def make_tree(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Tree]:
    """Makes further trees, each in a folder of its own."""
    return lambda: Tree(tmp_path_factory.mktemp("more") / "tree")
