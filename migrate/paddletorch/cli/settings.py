"""What the command line and the settings files say together, for each file of a run."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from paddletorch.cli.error import Refusal
from paddletorch.inputs.config import Config, ConfigError, Search, load_config
from paddletorch.inputs.gitignore import MOST_PATTERNS, Exclusion, Ignore, with_separator
from paddletorch.model import Options
from paddletorch.model.codes import areas, nearest, unknown_code
from paddletorch.model.options import MAX_FILE_SECONDS, MAX_FILE_SIZE


class RunSettings:
    """Settings by file: the command line's word, else that of the nearest settings file, else the default.

    Methods raise Refusal or UsageError for what cannot be used, and say where it was written; paths are files or
    folders as the user gave them.
    """

    def __init__(self, given: Mapping[str, Any], paths: Sequence[str] = ()) -> None:
        """``given``: values of the command line by parameter name; what is missing, None or empty was not given.

        ``paths``: the files and folders that the command names.
        """
        folders = (_absolute(path if os.path.isdir(path) else os.path.dirname(path)) for path in paths)  # noqa: PTH112, PTH120
        self._search = Search(tuple(dict.fromkeys(map(Path, folders))), bool(given.get("trust")))
        self._given = {name: value for name, value in given.items() if value is not None and value != ()}
        self._configs: dict[str, Config] = {}
        self._by_spelling: dict[str, Config] = {}
        """The same by folder as the command spells it, which each of its files asks for."""
        self._options: dict[Path | None, Options] = {}
        self._ignores: dict[Path, list[tuple[Ignore, bool, tuple[str, ...]]]] = {}

    @property
    def search(self) -> Search:
        """How far up settings are looked for."""
        return self._search

    def config(self, folder: str) -> Config:
        """The settings file that holds for the files in ``folder``."""
        found = self._by_spelling.get(folder)
        if found is None:
            absolute = _absolute(folder)
            if absolute not in self._configs:
                try:
                    self._configs[absolute] = load_config(Path(absolute), self._search)
                except ConfigError as error:
                    raise Refusal(str(error)) from error
            found = self._by_spelling[folder] = self._configs[absolute]
        return found

    def remarks(self) -> list[str]:
        """Which settings files were found so far and not used, and why; and which releases nobody knows."""
        doubts = [doubt for options in self._options.values() for doubt in _doubts(options)]
        found = [one for config in self._configs.values() for one in config.left_out]
        left_out = [one.why for one in found if one.key.replace("-", "_") not in self._given]
        return list(dict.fromkeys(left_out + doubts))

    def file_config(self, path: str) -> Config:
        """The settings file that holds for the file at ``path``, which need not exist."""
        return self.config(os.path.dirname(path) or os.curdir)  # noqa: PTH120 - keeps "" apart from "."

    def says_direction(self, config: Config) -> bool:
        """Whether it is known to which framework the files of ``config`` go."""
        return "to" in self._given or config.to is not None

    def options(self, path: str) -> Options:
        """What holds for the file at ``path``, its per-file-ignores included."""
        config = self.file_config(path)
        options = self.base(config)
        ignored = self._ignored(path, config)
        return replace(options, ignore=tuple(dict.fromkeys((*options.ignore, *ignored)))) if ignored else options

    def overall(self, path: str, files: Sequence[str]) -> Options:
        """What reports say of a run over ``path``, in which ``files`` were found, as a whole."""
        config = self.config(path)
        if self.says_direction(config) or not files:
            return self.base(config)
        return self.options(files[0])

    def base(self, config: Config) -> Options:
        """What holds for the files of ``config`` without its per-file-ignores."""
        if config.file not in self._options:
            if not self.says_direction(config):
                raise click.UsageError(_no_direction(config))
            self._options[config.file] = self._merge(config)
        return self._options[config.file]

    def exclusion(self, folder: str) -> Exclusion:
        """What is left out in ``folder``."""
        if "exclude" in self._given:
            return Exclusion(tuple(self._given["exclude"]), os.curdir)
        config = self.config(folder)
        if config.file is None:
            return Exclusion()
        return Exclusion(config.exclude or (), str(config.file.parent), config.where("exclude"))

    def takes_markdown(self, folder: str) -> bool:
        """Whether a run over ``folder`` takes its Markdown files."""
        given = self._given.get("markdown")
        return bool(self.config(folder).markdown if given is None else given)

    def baseline(self, path: str) -> str | None:
        """The baseline that the file at ``path`` is compared with."""
        return self._given["baseline"] if "baseline" in self._given else self.file_config(path).baseline

    def _merge(self, config: Config) -> Options:
        def setting(name: str, default: Any) -> Any:
            if name in self._given:
                return self._given[name]
            configured = getattr(config, name)
            return default if configured is None else configured

        tables = tuple(setting("tables", ()))
        options = Options(
            target=setting("to", None),
            source_version=setting("source_version", None),
            target_version=setting("target_version", None),
            select=known_codes(self._where("select", config), tuple(setting("select", ())), tables),
            ignore=known_codes(self._where("ignore", config), tuple(setting("ignore", ())), tables),
            unsafe=setting("unsafe", False),
            annotate=setting("annotate", False),
            verify=setting("verify", False),
            shim=setting("shim", "never"),
            initial_values=setting("initial_values", "target"),
            tables=tables,
            project_files=setting("project_files", False),
            max_file_size=setting("max_file_size", MAX_FILE_SIZE),
            max_file_seconds=setting("max_file_seconds", MAX_FILE_SECONDS),
        )
        for key, framework, specifier in (
            ("source-version", options.source, options.source_version),
            ("target-version", options.target, options.target_version),
        ):
            from paddletorch_rules import select

            try:
                select(framework, specifier)
            except ValueError as error:
                raise Refusal(f"{self._where(key, config)}: {error}") from error
        return options

    def _where(self, key: str, config: Config) -> str:
        """The place that the value of ``key`` comes from."""
        given = key.replace("-", "_") in self._given
        return f"--{key}" if given or config.file is None else config.where(key)

    def _ignored(self, path: str, config: Config) -> list[str]:
        """The codes that the settings' per-file-ignores have for the file at ``path``."""
        if not config.per_file_ignores or config.file is None:
            return []
        if config.file not in self._ignores:
            self._ignores[config.file] = self._read_ignores(config)
        absolute = os.path.abspath(path)  # noqa: PTH100 - a link is matched by its own name
        found = self._ignores[config.file]
        return [
            c
            for ignore, wanted, codes in found
            if ignore.leaves_out_within(absolute, is_dir=False) is wanted
            for c in codes
        ]

    def _read_ignores(self, config: Config) -> list[tuple[Ignore, bool, tuple[str, ...]]]:
        """Each pattern, whether it must match, and its codes."""
        assert config.file is not None
        folder = Ignore(with_separator(str(config.file.parent)))
        read = []
        if len(config.per_file_ignores or ()) > MOST_PATTERNS:
            raise Refusal(f"{config.where('per-file-ignores')}: more than {MOST_PATTERNS:,} patterns")
        for pattern, codes in config.per_file_ignores or ():
            where = f"{config.where('per-file-ignores')}.{pattern!r}"
            positive = pattern.removeprefix(
                "!"
            )  # alone, gitignore's "!" would match nothing: here it inverts, as in ruff
            if not positive.strip() or positive.startswith("#"):
                raise Refusal(f"{where}: the pattern matches no file")
            try:
                ignore = folder.with_lines([positive])
            except ValueError as error:
                raise Refusal(f"{where}: {error}") from error
            read.append((ignore, positive == pattern, known_codes(where, codes, self.base(config).tables)))
        return read


def _doubts(options: Options) -> list[str]:
    """What is doubtful about the releases that a run is for."""
    if options.source_version is None and options.target_version is None:
        return []
    from paddletorch_rules.releases import doubt

    doubts = doubt(options.source, options.source_version), doubt(options.target, options.target_version)
    return [one for one in doubts if one]


def _no_direction(config: Config) -> str:
    file = f"{config.file}, which is nearest to it" if config.file else "[tool.paddletorch]"
    said = f"say where the code goes: --to paddle or --to torch (or 'to' in {file})"
    return "; ".join([said, *(one.why for one in config.left_out)])


def _absolute(path: str) -> str:
    return os.path.abspath(path)  # noqa: PTH100 - resolve() fails on a link that loops


@functools.cache
def known_codes(where: str, values: Sequence[str], tables: tuple[str, ...]) -> tuple[str, ...]:
    """Split, check and normalise areas, codes and prefixes that were given at ``where``."""
    wanted = [code.strip().upper() for value in values for code in value.split(",") if code.strip()]
    if not wanted:
        return ()
    from paddletorch_rules import TableError, load

    try:
        table = load(tables)
    except TableError as error:
        raise Refusal(str(error)) from error
    unknown = unknown_code(wanted, table.codes)
    if unknown is not None:
        known = areas(table.codes) | table.codes
        message = f"{where}: no such code or area: {unknown}{nearest(unknown, known)}"
        raise click.UsageError(message) if where.startswith("--") else Refusal(message)
    return tuple(dict.fromkeys(wanted))
