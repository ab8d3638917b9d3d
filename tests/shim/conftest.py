"""Fixtures for tests that run the frameworks' own scalers beside the shim's."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    import torch

    torch.set_num_threads(1)


@pytest.fixture
def active_paddle_scaler() -> Iterator[None]:
    """Paddle's own GradScaler works on the CPU inside the test."""
    from paddletorch_shim.parity.scalers import paddle_scaler_active

    with paddle_scaler_active():
        yield


class SameProcess:
    """Stands for the pool with the process of the target's model: the same calls, without starting a process.

    What is handed over is pickled, and modules of the test's models are imported anew, as in a process of its own.
    """

    def __init__(self, workers: int, mp_context: object, initializer: object) -> None:
        assert workers == 1

    def __enter__(self) -> SameProcess:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        from paddle.utils import unique_name  # the tests on a GPU run without Paddle, too

        done: Future[Any] = Future()
        path, nets = list(sys.path), sys.modules.pop("nets", None)
        try:
            with unique_name.guard():  # Paddle numbers parameters from 0 again
                done.set_result(pickle.loads(pickle.dumps(function(*pickle.loads(pickle.dumps(arguments))))))
        except Exception as error:
            done.set_exception(error)
        finally:
            sys.path[:] = path
            sys.modules.pop("nets", None)
            if nets is not None:
                sys.modules["nets"] = nets
        return done


@pytest.fixture
def target_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model of the target is made here; ``test_weights_check`` has the process that it has otherwise."""
    from paddletorch_shim.weights import job

    monkeypatch.setattr(job, "ProcessPoolExecutor", SameProcess)
