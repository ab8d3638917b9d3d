"""The command line: ``paddletorch convert | record | try | compare | run | config | explain | rules | state | …``."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

import click

import paddletorch
from paddletorch.cli.error import Refusal

_COMMANDS = {
    "compare": "paddletorch.cli.compare",
    "config": "paddletorch.cli.config",
    "convert": "paddletorch.cli.convert",
    "explain": "paddletorch.cli.explain",
    "lookup": "paddletorch.cli.lookup",
    "lsp": "paddletorch.cli.lsp",
    "parity": "paddletorch_shim.cli",
    "record": "paddletorch.cli.record",
    "rules": "paddletorch.cli.rules",
    "run": "paddletorch.cli.run",
    "state": "paddletorch_shim.cli",
    "try": "paddletorch.cli.try_out:try_out",
    "version": "paddletorch.cli.version",
}
"""The module of each command, and its name there if that is another one: only the one that is run is imported."""

_IN_LINES = (click.BadParameter, getattr(click.exceptions, "NoArgsIsHelpError", click.BadParameter))
"""Errors that are click's own words, in lines; the second, which shows the help, came with click 8.2."""


class _Commands(click.Group):
    def main(self, *args: Any, **kwargs: Any) -> Any:
        """As click's; what errors say of files and tables is fit to be printed."""
        try:
            return super().main(*args, **kwargs)
        except click.ClickException as error:
            if isinstance(error, _IN_LINES):
                raise
            from paddletorch.report.printable import printable

            error.message = printable(error.message)  # type: ignore[misc]  # where click reads it
            raise

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click's; a command that is not there is answered with the nearest one that is."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from paddletorch.model.codes import nearest

            near = nearest(args[0], self.list_commands(ctx))
            if not near:
                raise
            raise click.UsageError(error.message.rstrip(".") + near, ctx) from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*self.commands, *_COMMANDS})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in _COMMANDS and cmd_name not in self.commands:
            module, _, name = _COMMANDS[cmd_name].partition(":")
            self.add_command(getattr(import_module(module), name or cmd_name))
        return super().get_command(ctx, cmd_name)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(paddletorch.__version__, "-V", "--version", prog_name="paddletorch")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Move training code between PyTorch and PaddlePaddle, both ways."""
    try:
        os.getcwd()  # noqa: PTH109 - asked for to see whether it is there
    except FileNotFoundError:
        raise Refusal("the current folder is gone: go to one that is there") from None
    if os.environ.get("NO_COLOR"):
        ctx.color = False
    elif os.environ.get("FORCE_COLOR"):
        ctx.color = True
