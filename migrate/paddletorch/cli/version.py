"""The command ``version``."""

from __future__ import annotations

import platform

import click
from paddletorch_rules import installed

import paddletorch


@click.command()
def version() -> None:
    """Show the versions of paddletorch, Python and the installed frameworks."""
    click.echo(f"paddletorch {paddletorch.__version__}")
    click.echo(f"Python {platform.python_version()}")
    for framework in ("torch", "paddle"):
        click.echo(f"{framework} {installed(framework) or 'not installed'}")
