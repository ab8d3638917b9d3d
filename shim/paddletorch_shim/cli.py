"""The shim's part of the command line: ``paddletorch state …`` and ``paddletorch parity``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

if TYPE_CHECKING:
    from paddletorch_rules import Framework


class Refusal(click.ClickException):
    """What was asked cannot be done; the message says why."""

    exit_code = 2


@click.group()
def state() -> None:
    """Scaler states in checkpoints."""


@state.command("convert")
@click.argument("source", metavar="IN", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("target", metavar="OUT", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--to", type=click.Choice(["paddle", "torch"]), required=True, help="The framework that will load OUT."
)
@click.option("--key", help="Where the state is in a larger dict, for example 'trainer.scaler'.")
def convert_state(source: Path, target: Path, to: str, key: str | None) -> None:
    """Convert the loss-scaler state in the checkpoint IN into a new file OUT.

    OUT holds the scaler's state dict alone. IN is never changed and none of its code is run.
    """
    from paddletorch_shim import checkpoints

    try:
        found_at, known = checkpoints.convert(source, target, cast("Framework", to), key)
    except KeyError as error:
        raise Refusal(str(error.args[0])) from error
    except (RuntimeError, TypeError, ValueError, OSError) as error:
        raise Refusal(str(error)) from error
    where = f" (from key {found_at})" if found_at else ""
    click.echo(
        f"{target}: {to} scaler state, scale {known.scale:g}, {known.good} finite steps counted{where}"
    )
