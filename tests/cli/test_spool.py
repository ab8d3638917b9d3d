"""Texts of large runs wait in a temporary file, and what is made of them is the same."""

from __future__ import annotations

import pickle
import tempfile
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
from paddletorch.batch import spool
from paddletorch.batch.run import run
from paddletorch.cli.show import write_diff
from paddletorch.model import FileResult, Options, Status
from paddletorch.output.write import write_back

CODE = "import torch\nscaler = torch.amp.GradScaler('cuda')\ny = torch.max(x, 1, out=z)\n"


@pytest.fixture
def paths(tmp_path: Path) -> list[str]:
    files = [tmp_path / f"f{number}.py" for number in range(4)]
    for number, file in enumerate(files):
        file.write_text(CODE + f"value = {number}\n")
    files[3].write_text("import torch\nprint(torch.unknown)\n")
    return list(map(str, files))


def converted(paths: list[str]) -> tuple[FileResult, ...]:
    return run(paths, Options("paddle"), jobs=1, progress=False, use_cache=False).results


def test_texts_in_a_file_are_the_same(paths: list[str], monkeypatch: pytest.MonkeyPatch, capfdbinary: Any) -> None:
    plain = converted(paths)
    write_texts(plain)
    expected = capfdbinary.readouterr().out
    assert expected
    monkeypatch.setattr(spool, "IN_MEMORY", len(plain[0].source + plain[0].output))
    kept = converted(paths)
    assert [type(result) is FileResult for result in kept] == [True, False, False, False]
    assert list(map(astuple, kept)) == list(map(astuple, plain))
    assert [result.status for result in kept] == [*[Status.CONVERTED] * 3, Status.CLEAN]
    write_texts(kept)
    assert capfdbinary.readouterr().out == expected
    assert astuple(replace(kept[1], known=plain[1].diagnostics)) == astuple(
        replace(plain[1], known=plain[1].diagnostics)
    )
    assert astuple(pickle.loads(pickle.dumps(kept[2]))) == astuple(plain[2])
    assert [write_back(result).status for result in kept[:3]] == [Status.CONVERTED] * 3
    assert [Path(path).read_bytes() for path in paths] == [result.output for result in plain]


def write_texts(results: tuple[FileResult, ...]) -> None:
    import click

    with click.Context(click.Command("convert"), color=False):
        write_diff(results)


def test_without_room_for_a_file_texts_stay_in_memory(paths: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    plain = converted(paths)

    def no_space(*arguments: Any, **named: Any) -> NoReturn:
        raise OSError("no space left on device")

    monkeypatch.setattr(spool, "IN_MEMORY", 0)
    monkeypatch.setattr(tempfile, "TemporaryFile", no_space)
    assert converted(paths) == plain
