"""How the arguments of one call are converted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from paddletorch.model import Edit
from paddletorch.plan.model.findings import Finding


class ArgumentPlan(NamedTuple):
    """How a call's arguments are converted, before it is decided how the call is written.

    ``keywords`` maps the position of each argument that remains to its name in the target;
    ``append`` are arguments to add; ``edits`` change values; ``lists`` map the position of an
    argument to that of the last one with which it becomes one list; ``drop_keys`` are the source's
    names to remove from the dict behind ``**``.
    """

    keywords: Mapping[int, str]
    drop: frozenset[int]
    drop_keys: frozenset[str]
    prepend: tuple[tuple[str, str], ...]
    append: tuple[tuple[str, str], ...]
    edits: tuple[Edit, ...]
    lists: Mapping[int, int]
    findings: tuple[Finding, ...]
    """What is to be said of the arguments, though the call converts."""
