"""Downloads and unpacks the projects of projects.txt: one folder for each under DIR.

    python benchmarks/fetch.py DIR [PROJECT...]

Nothing is installed and nothing of the projects is run, except what pip needs to read the metadata of a source
distribution.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import click

PROJECTS = Path(__file__).with_name("projects.txt")


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("projects", nargs=-1)
def main(folder: Path, projects: tuple[str, ...]) -> None:
    """Fetch PROJECTS (pip requirements; default: all of projects.txt) into FOLDER."""
    listed = [line for line in PROJECTS.read_text().splitlines() if line and not line.startswith("#")]
    folder.mkdir(parents=True, exist_ok=True)
    failed = [requirement for requirement in projects or listed if not _fetch(requirement, folder)]
    if failed:
        raise click.ClickException(f"could not be had from the package index: {', '.join(failed)}")


def _fetch(requirement: str, folder: Path) -> bool:
    target = folder / requirement.partition("==")[0].replace("-", "_")
    if target.exists():
        return True
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", place, requirement]
        # source distributions first: they hold whole repositories, tests included
        source = ["--no-binary", ":all:", "--no-build-isolation"]
        for options in (source, []):
            if subprocess.run([*command, *options], capture_output=True, check=False).returncode == 0:
                break
        else:
            return False
        (archive,) = Path(place).iterdir()
        shutil.unpack_archive(archive, target, "zip" if archive.suffix == ".whl" else None)
    click.echo(f"{requirement} -> {target}")
    return True


if __name__ == "__main__":
    main()
