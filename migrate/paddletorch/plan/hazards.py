"""Measured hazards that no single call shows: found in a whole file that uses a scaler."""

from __future__ import annotations

from paddletorch.plan.calls import Outcome
from paddletorch.plan.context import FileContext
from paddletorch.plan.receivers import Receivers
from paddletorch.plan.sites import Site


def find_hazards(context: FileContext, receivers: Receivers, planned: list[tuple[Site, Outcome]]) -> None:
    """Report each hazard of the file once."""
