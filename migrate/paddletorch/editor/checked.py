"""What is known of one version of an open file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from paddletorch.api.result import Result
from paddletorch.model import FileResult, StatementChange


class Unusable(ValueError):
    """A file cannot be checked as its settings are; the message says why."""


@dataclass(frozen=True)
class Checked:
    """The result for the text of an open file."""

    result: Result[str] | Result[bytes]
    file: FileResult
    """The result as it is shown: findings that the baseline knows are apart."""
    remarks: tuple[str, ...] = ()
    """What the user should know of the settings."""

    @cached_property
    def changes(self) -> tuple[StatementChange, ...]:
        """The changes by statement."""
        return self.result.changes

    @property
    def output(self) -> str:
        """The converted text."""
        return self.file.output.decode("utf-8")


Check = Callable[[str, str, frozenset[int]], Checked | None]
"""Checks a path's text, with the statements on some lines left; None for a file that the settings exclude.

Raises:
    Unusable: the settings of the file cannot be used, or do not say where its code goes.
"""
