"""Writes the compiled form of the built-in tables, which a wheel brings."""

from __future__ import annotations

from pathlib import Path

from paddletorch_rules import adapters, compiled, facts, guesses, hooks, packages, table


def compile_built_in(folder: Path) -> None:
    """Write what a wheel brings into ``folder``: its copy of :data:`compiled.FOLDER`.

    Raises:
        TableError: a table is wrong.
        OSError: the folder cannot be written to.
    """
    tables = table.built_in_files()
    compiled.write(folder, "tables", tables, table.read(tables))
    compiled.write(folder, "facts", [facts.FILE], facts.read())
    compiled.write(folder, "guesses", [guesses.FILE], guesses.read())
    compiled.write(folder, "packages", [packages.FILE], packages.plain())
    compiled.write(folder, "hooks", [], hooks.places())
    adapters.write_compiled(folder)
