"""Worker processes that die at the worst moments: no file but the one in work is lost."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from paddletorch.batch import pool
from paddletorch.batch.one_file import convert_at
from paddletorch.batch.pool import convert_in_pool
from paddletorch.model import Options

CODE = "import torch\nscaler = torch.amp.GradScaler('cuda')\n"


@pytest.mark.parametrize("handed_out", [0, 1, 3])
def test_worker_dies_while_work_is_handed_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, handed_out: int) -> None:
    filler = "".join(f"value_{n} = {n}\n" for n in range(8000))
    for number in range(12):  # the first tasks hold several
        (tmp_path / f"f{number:02}.py").write_text(CODE + filler)
    submit = ProcessPoolExecutor.submit
    calls, refused = [], []

    def die_then_submit(executor: ProcessPoolExecutor, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        calls.append(arguments)
        if len(calls) == handed_out + 1:
            first = submit(executor, os.getpid)  # so that a worker is there, and known
            os.kill(first.result(), signal.SIGKILL)
            end = time.monotonic() + 600
            while not executor._broken:
                assert time.monotonic() < end, "the pool did not notice"
                time.sleep(0.002)
        try:
            return submit(executor, function, *arguments)
        except BrokenProcessPool:
            refused.append(arguments)
            raise

    paths = sorted(tmp_path.iterdir())
    sizes = [path.stat().st_size for path in paths]
    with monkeypatch.context() as patched:
        patched.setattr(pool.ProcessPoolExecutor, "submit", die_then_submit)
        results = list(convert_in_pool(list(map(str, paths)), sizes, Options(target="paddle"), 1))
    assert refused, "the pool was never broken while work was handed out"
    assert [result.result.path for result in results] == [str(path) for path in paths]
    assert all(b"paddle.amp.GradScaler" in result.result.output for result in results)


def test_results_without_edits_are_otherwise_the_same(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(CODE)
    options = Options(target="paddle")
    whole = convert_at(str(path), options)
    assert whole.result.edits
    bare = whole._replace(result=replace(whole.result, edits=()))
    assert convert_at(str(path), options, with_edits=False) == bare
    assert list(convert_in_pool([str(path)], [len(CODE)], options, 1, with_edits=False)) == [bare]
