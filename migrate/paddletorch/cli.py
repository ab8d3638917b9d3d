"""The command line: ``paddletorch convert | run | config | explain | rules | state | parity | version``."""

from __future__ import annotations

import os
import platform

import click
import paddletorch_shim.cli

import paddletorch
from paddletorch.cli_config import config
from paddletorch.cli_convert import convert
from paddletorch.cli_explain import explain
from paddletorch.cli_rules import rules
from paddletorch.cli_run import run


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(paddletorch.__version__, "-V", "--version", prog_name="paddletorch")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Move training code between PyTorch and PaddlePaddle, both ways."""
    if os.environ.get("NO_COLOR"):
        ctx.color = False
    elif os.environ.get("FORCE_COLOR"):
        ctx.color = True


@cli.command()
def version() -> None:
    """Show the versions of paddletorch, Python and the installed frameworks."""
    from paddletorch_rules import installed

    click.echo(f"paddletorch {paddletorch.__version__}")
    click.echo(f"Python {platform.python_version()}")
    for framework in ("torch", "paddle"):
        click.echo(f"{framework} {installed(framework) or 'not installed'}")


for command in (convert, run, config, explain, rules, paddletorch_shim.cli.state, paddletorch_shim.cli.parity):
    cli.add_command(command)
