"""Settings: ``paddletorch.toml``, or ``[tool.paddletorch]`` of a pyproject.toml; the nearest to a file holds for it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, get_args

from paddletorch_rules.bounded import SETTINGS_BYTES, read_regular

from paddletorch.inputs.gitignore import is_repository, with_separator
from paddletorch.model import Framework, InitialValues, ShimMode
from paddletorch.model.options import MAX_FILE_SECONDS, MAX_FILE_SIZE

NAMES = ("paddletorch.toml", "pyproject.toml")
"""Names of settings files; of two in one folder the first goes before the other, as ruff.toml does."""

_CHOICES = {"to": get_args(Framework), "shim": get_args(ShimMode), "initial-values": get_args(InitialValues)}
_STRINGS = ("source-version", "target-version", "baseline")
_LISTS = ("select", "ignore", "exclude", "tables")
_TABLES = ("per-file-ignores",)
_PATHS = ("baseline", "tables")
_FLAGS = ("unsafe", "annotate", "verify", "markdown", "project-files")
_LIMITS = {"max-file-size": (int,), "max-file-seconds": (int, float)}
_MOST = {"max-file-size": MAX_FILE_SIZE, "max-file-seconds": MAX_FILE_SECONDS}
"""What settings may raise the limits to: who wrote them is not who pays for the run."""
_MOST_TABLES = 20
"""Each may take seconds to be read."""
KEYS = (*_CHOICES, *_STRINGS, *_LISTS, *_TABLES, *_FLAGS, *_LIMITS)


@dataclass(frozen=True, slots=True)
class Search:
    """How far up settings are looked for, and which are used."""

    named: tuple[Path, ...] = ()
    """The folders that the command named, or that hold the files that it named; absolute."""
    trust: bool = False
    """Whether another user's settings are used too, and what settings may not say of themselves."""
    _repositories: dict[Path, Path | None] = field(default_factory=dict, compare=False, repr=False)
    _sections: dict[Path, dict[str, Any] | None] = field(default_factory=dict, compare=False, repr=False)
    _files: dict[tuple[Path, Path | str], Path | None] = field(default_factory=dict, compare=False, repr=False)
    _upwards: dict[Path, tuple[Path, ...]] = field(default_factory=dict, compare=False, repr=False)
    _folders: dict[Path, tuple[Path, ...]] = field(default_factory=dict, compare=False, repr=False)

    def folders(self, start: Path) -> tuple[Path, ...]:
        """Where settings for ``start`` are looked for, the nearest first.

        The last one is the top of the repository or, without one, the current folder, if ``start`` lies in it; a named
        folder above that goes before it.
        """
        if start not in self._folders:
            upwards = self._from(start)
            here = Path.cwd()
            top = self._repository_of(upwards) or (
                here if here in upwards else start if start.is_dir() else start.parent
            )
            tops = {top, *self.named}
            last = max(number for number, folder in enumerate(upwards) if folder in tops)
            self._folders[start] = upwards[: last + 1]
        return self._folders[start]

    def _from(self, start: Path) -> tuple[Path, ...]:
        """``start`` and all folders that hold it: the same objects for all that lie in one, whose hashes are kept."""
        below: list[Path] = []
        folder = start
        while folder not in self._upwards and folder.parent != folder:
            below.append(folder)
            folder = folder.parent
        upwards = self._upwards.setdefault(folder, (folder,))
        for one in reversed(below):
            upwards = self._upwards[one] = (one, *upwards)
        return upwards

    def _repository_of(self, upwards: Sequence[Path]) -> Path | None:
        """The first of the folders that holds a repository; each is looked at once."""
        known, below = self._repositories, []
        for one in upwards:
            if one in known:
                break
            below.append(one)
            if is_repository(one):
                known[one] = one
                break
        found = known.get(one)
        known.update(dict.fromkeys(below, found))
        return found

    def file_in(self, folder: Path, relative: Path | str) -> Path | None:
        """The file with this path below ``folder``, which may be a link to nothing; None: it is a folder, or not there.

        Each is looked at once: most folders of a run have the same ones above them.
        """
        key = folder, relative
        if key not in self._files:
            file = folder / relative
            found = os.path.lexists(file) and not os.path.isdir(file)  # noqa: PTH112 - Path raises
            self._files[key] = file if found else None
        return self._files[key]

    def section(self, file: Path) -> dict[str, Any] | None:
        """As :func:`read_section`; a file is read once.

        Raises:
            ConfigError: the file cannot be read or is not TOML.
        """
        if file not in self._sections:
            self._sections[file] = read_section(file)
        return self._sections[file]

    def may_have_tables(self, config: Config) -> bool:
        """Whether ``config`` names no tables, lies where it may, or is trusted."""
        if self.trust or not config.tables or config.file is None:
            return True
        upwards = self._from(config.file)
        return any(folder in upwards for folder in (Path.cwd(), *self.named))


def owner_not_trusted(file: Path) -> str | None:
    """Who owns ``file``, if that is neither root nor the user of this process."""
    if not hasattr(os, "geteuid"):
        return None
    try:
        owner = file.stat().st_uid
    except OSError:
        return None  # reading it says what is wrong
    user = os.geteuid()
    known = {0, user}
    if user == 0 and os.environ.get("SUDO_UID", "").isdecimal():
        known.add(int(os.environ["SUDO_UID"]))
    return None if owner in known else f"another user ({owner})"


class ConfigError(ValueError):
    """A settings file that cannot be used; the message names the file and the key."""


class LeftOut(NamedTuple):
    """What was found and not used."""

    key: str
    """As in :data:`KEYS`; empty: the whole file."""
    why: str
    """A sentence that names the file."""


@dataclass(frozen=True, slots=True)
class Config:
    """What one settings file says; None means that it says nothing."""

    file: Path | None = None
    """None: no settings file was found. Patterns and paths in it are relative to its folder."""
    left_out: tuple[LeftOut, ...] = ()
    to: Framework | None = None
    source_version: str | None = None
    target_version: str | None = None
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] | None = None
    """Patterns in gitignore syntax, each with the codes that are ignored in the files that it matches."""
    exclude: tuple[str, ...] | None = None
    tables: tuple[str, ...] | None = None
    """As absolute paths."""
    baseline: str | None = None
    """As an absolute path."""
    shim: ShimMode | None = None
    initial_values: InitialValues | None = None
    unsafe: bool | None = None
    annotate: bool | None = None
    verify: bool | None = None
    markdown: bool | None = None
    project_files: bool | None = None
    max_file_size: int | None = None
    max_file_seconds: float | None = None

    def where(self, key: str) -> str:
        """``key`` (as in :data:`KEYS`) as messages name it."""
        assert self.file is not None
        return _where(self.file, key)

    def dotted(self, key: str) -> str:
        """``key`` as TOML's dotted key from the top of the file."""
        return key if self.file is None or _is_own(self.file) else f"tool.paddletorch.{key}"


def load_config(start: Path, search: Search | None = None) -> Config:
    """Read the settings that hold for ``start``, a file or folder: those of the nearest file upwards.

    Settings files are not merged. A pyproject.toml without ``[tool.paddletorch]`` is passed over.
    One that may not be used ends the search: nothing above it was meant for what lies below.

    Raises:
        ConfigError: a file on the way up is not TOML, or holds an unknown key or a wrong value.
    """
    start = Path(os.path.abspath(start))  # noqa: PTH100 - resolve() fails on a link that loops
    search = search or Search()
    for folder in search.folders(start):
        for file in settings_files(folder, search):
            others = None if search.trust else owner_not_trusted(file)
            try:
                section = search.section(file)
                if section is not None and others is None:
                    config = _check(file, section)
                    if not search.may_have_tables(config):
                        return Config(left_out=(LeftOut("", _outside(file)),))
                    return config if search.trust else _bounded(config, search.folders(start)[-1])
            except ConfigError:
                if others is None:
                    raise
                section = {}
            if section is not None and others is not None:
                return Config(left_out=(LeftOut("", _of_others(file, others)),))
    return Config()


def find_trusted(relative: Path, start: Path, search: Search) -> tuple[Path | None, str]:
    """The nearest file with this path below a folder that holds ``start``, or why the one there is not used."""
    start = Path(os.path.abspath(start))  # noqa: PTH100 - as in load_config
    for folder in search.folders(start):
        file = search.file_in(folder, relative)
        if file is not None:
            others = None if search.trust else owner_not_trusted(file)
            return (file, "") if others is None else (None, _of_others(file, others))
    return None, ""


def _of_others(file: Path, others: str) -> str:
    return f"{file} was left out: it belongs to {others}; --trust uses it"


def _outside(file: Path) -> str:
    return (
        f"{file} was left out: it names tables, which say what is written into the code, and lies outside of the "
        "current folder and of what the command named; --trust uses it"
    )


def _bounded(config: Config, top: Path) -> Config:
    """``config`` without what whoever wrote it may not say for whoever runs it: files elsewhere, and longer runs."""
    inside = with_separator(os.path.realpath(top))
    kept: dict[str, Any] = {}
    left_out: list[LeftOut] = []
    for key in _PATHS:
        value = getattr(config, key)
        named = (value,) if isinstance(value, str) else value or ()
        outside = [path for path in named if not os.path.realpath(path).startswith(inside)]
        if outside:
            kept[key] = tuple(path for path in named if path not in outside) or None
            way_out = f"--{key}, or --trust, uses what lies elsewhere"
            why = f"{config.where(key)}: left out {', '.join(outside)}: not in {top}; {way_out}"
            left_out.append(LeftOut(key, why))
    for key, most in _MOST.items():
        name = key.replace("-", "_")
        value = getattr(config, name)
        if value is not None and not 0 < value <= most:
            kept[name] = None
            why = f"settings may lower the limit of {most:,}, not lift it; --{key}, or --trust, does"
            left_out.append(LeftOut(key, f"{config.where(key)}: left out: {why}"))
    return replace(config, left_out=tuple(left_out), **kept) if left_out else config


def settings_files(folder: Path, search: Search) -> list[Path]:
    """The files in ``folder`` that may hold settings, in the order in which they are asked."""
    files = (search.file_in(folder, name) for name in NAMES)
    return [file for file in files if file is not None and os.path.exists(file)]  # noqa: PTH110 - Path raises


def read_section(file: Path) -> dict[str, Any] | None:
    """The settings that ``file`` holds, unchecked; None for a pyproject.toml that has none.

    Raises:
        ConfigError: the file cannot be read or is not TOML.
    """
    from paddletorch_rules.toml_text import parse_toml  # slow to import, and not needed where there are no settings

    try:
        document: dict[str, Any] = parse_toml(read_regular(file, SETTINGS_BYTES).decode())
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: not UTF-8: {error.reason} at byte {error.start}") from error
    except RecursionError as error:
        raise ConfigError(f"{file}: nested too deeply") from error
    except ValueError as error:  # also a number of more digits than Python reads
        raise ConfigError(f"{file}: not valid TOML: {error}") from error
    if _is_own(file):
        return document
    tool = document.get("tool", {})
    if not isinstance(tool, dict) or "paddletorch" not in tool:
        return None
    section: object = tool["paddletorch"]
    if not isinstance(section, dict):
        raise ConfigError(f"{file}: [tool.paddletorch] must be a table")
    return section


def _is_own(file: Path) -> bool:
    return file.name == NAMES[0]


def _where(file: Path, key: str) -> str:
    return f"{file}: {key}" if _is_own(file) else f"{file}: [tool.paddletorch] {key}"


def _check(file: Path, section: dict[str, Any]) -> Config:
    values: dict[str, Any] = {}
    for key, value in section.items():
        where = _where(file, key)
        if key not in KEYS:
            raise ConfigError(f"{where}: unknown key; {_instead(file, key)}")
        if key in _CHOICES and value not in _CHOICES[key]:
            raise ConfigError(f"{where}: must be one of {', '.join(map(repr, _CHOICES[key]))}, not {value!r}")
        if key in _STRINGS and not isinstance(value, str):
            raise ConfigError(f'{where}: must be a string, such as "{value}"')
        if key in _FLAGS and not isinstance(value, bool):
            raise ConfigError(f"{where}: must be true or false, not {value!r}")
        if key in _LIMITS and (isinstance(value, bool) or not isinstance(value, _LIMITS[key]) or not value >= 0):
            raise ConfigError(f"{where}: must be a number, 0 for no limit, not {value!r}")
        if key in _LISTS:
            value = _strings(where, value)
        if key in _PATHS and "\0" in "".join(value):
            raise ConfigError(f"{where}: no path has a NUL character in it")
        if key in _TABLES:
            if not isinstance(value, dict):
                raise ConfigError(f'{where}: must be a table, such as {{"tests/" = ["AMP213"]}}, not {value!r}')
            value = tuple((pattern, _strings(f"{where}.{pattern!r}", codes)) for pattern, codes in value.items())
        if key == "tables":
            if len(value) > _MOST_TABLES:
                raise ConfigError(f"{where}: more than {_MOST_TABLES} tables")
            value = tuple(str(file.parent / item) for item in value)
        if key == "baseline":
            value = str(file.parent / value)
        values[key.replace("-", "_")] = value
    return Config(file=file, **values)


def _strings(where: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConfigError(f"{where}: must be a list of strings, not {value!r}")
    return tuple(value)


def _instead(file: Path, key: str) -> str:
    if key == "tool" and _is_own(file):
        return f"keys stand at the top of {file.name}, without [tool.paddletorch]"
    import difflib  # slow to import, and only mistakes need it

    near = difflib.get_close_matches(key.replace("_", "-"), KEYS, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(KEYS)}"
