"""``paddletorch config``: the settings in force for a file or folder, and where each was written."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import click

from paddletorch.cli.error import Refusal
from paddletorch.cli.settings import RunSettings
from paddletorch.inputs.config import KEYS, Config, Search, read_section, settings_files
from paddletorch.model import Options
from paddletorch.report.printable import printable, printable_json


@click.command()
@click.argument("path", default=".", type=click.Path(exists=True))
@click.option("--trust", is_flag=True, help="Use all settings: of other users, naming files elsewhere, above limits.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="Form of the answer.")
def config(path: str, trust: bool, form: str) -> None:
    """Show the settings in force for PATH, a file or folder (default: the current folder), and where they come from.

    They are what 'paddletorch convert' takes where the command line says nothing. Settings that cannot be used
    end with exit code 2.
    """
    from paddletorch.inputs.discover import FileFilter, leaves_out
    from paddletorch.inputs.gitignore import ExcludeError

    settings = RunSettings({"trust": trust}, [path])
    found = settings.config(path)
    try:
        report = {
            "path": path,
            "file": str(found.file) if found.file else None,
            "left_out": settings.remarks(),
            "settings": {key: _setting(key, found) for key in KEYS},
            "excluded": leaves_out(FileFilter(settings.exclusion), path),
            "ignored": _ignored(settings, found, path),
        }
    except ExcludeError as error:
        raise Refusal(str(error)) from error
    if form == "json":
        click.echo(printable_json(json.dumps(report, indent=2)))
    else:
        click.echo("\n".join(map(printable, _lines(report, found))))


def _ignored(settings: RunSettings, config: Config, path: str) -> list[str] | None:
    """The codes ignored in the file at ``path``; None for a folder, and where there is no direction to check for."""
    if not settings.says_direction(config):
        return None
    if not Path(path).is_file():
        settings.base(config)  # to say what is wrong with it
        return None
    return list(settings.options(path).ignore)


def _setting(key: str, config: Config) -> dict[str, Any]:
    """Value, file and key of a setting; no file: it is the default."""
    written = getattr(config, key.replace("-", "_"))
    if written is None:
        return {"value": _default(key), "file": None, "key": None}
    value = dict(written) if key == "per-file-ignores" else written
    return {"value": value, "file": str(config.file), "key": config.dotted(key)}


def _default(key: str) -> Any:
    """What holds where nothing is written; None: nothing."""
    if key in ("exclude", "per-file-ignores"):
        return () if key == "exclude" else {}
    default = next((field.default for field in fields(Options) if field.name == key.replace("-", "_")), None)
    return None if default is MISSING else default


def _lines(report: dict[str, Any], config: Config) -> Iterator[str]:
    yield f"Settings for {report['path']}: {report['file'] or 'no settings file, so all are defaults'}"
    yield ""
    rows = [(key, _shown(setting["value"]), _origin(setting)) for key, setting in report["settings"].items()]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    for key, value, origin in rows:
        yield f"{key:{widths[0]}}  {value:{widths[1]}}  {origin}"
    yield ""
    if report["ignored"]:
        yield f"Ignored in this file, by ignore and per-file-ignores: {', '.join(report['ignored'])}"
    if report["excluded"]:
        yield "Left out by exclude, unless it is named on the command line (and then too with --force-exclude)."
    if report["settings"]["to"]["value"] is None:
        yield "No direction: 'paddletorch convert' needs --to paddle or --to torch."
    for file in settings_files(config.file.parent, Search()) if config.file else ():
        if file != config.file and read_section(file) is not None:
            yield f"Not read: {file}, because {config.file} in the same folder goes before it."
    yield from report["left_out"]
    yield "The command line goes before all of these."


def _shown(value: object) -> str:
    return "not set" if value is None else json.dumps(value, ensure_ascii=False)


def _origin(setting: dict[str, Any]) -> str:
    return f"{os.path.relpath(setting['file'])}: {setting['key']}" if setting["file"] else "default"
