"""Why a use stays as it is."""

from __future__ import annotations


class Refusal(Exception):
    """A site that must not be edited; carries the finding that says why."""

    def __init__(self, code: str, **holes: str) -> None:
        super().__init__(code)
        self.code = code
        self.holes = holes
