"""Errors of the command line that end the run."""

from __future__ import annotations

import click

from paddletorch.model.interrupts import exit_code


class Refusal(click.ClickException):
    """What was asked cannot be done; the message says why."""

    exit_code = 2


def require_framework(framework: str, why: str) -> None:
    """Refuse what needs a framework that cannot be imported here, and say how it comes; ``why`` ends the sentence."""
    from importlib.util import find_spec

    if find_spec(framework) is None:
        raise Refusal(f"{framework} is not installed here, and {why}: pip install 'paddletorch[{framework}]'")


class Interrupted(click.ClickException):
    """Ctrl-C or the like; the message says what had been done by then."""

    def __init__(self, message: str, stop: KeyboardInterrupt) -> None:
        super().__init__(message)
        self.exit_code = exit_code(stop)  # type: ignore[misc]  # click reads it from the instance

    def format_message(self) -> str:
        return f"interrupted; {self.message}"
