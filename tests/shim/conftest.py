"""Fixtures for tests that run the frameworks' own scalers beside the shim's."""

from __future__ import annotations

from collections.abc import Iterator

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
