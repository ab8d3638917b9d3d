"""Settings: ``[tool.paddletorch]`` of the nearest pyproject.toml that has it."""

from __future__ import annotations

import difflib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from paddletorch.model import Framework, ShimMode

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_CHOICES = {"to": get_args(Framework), "shim": get_args(ShimMode)}
_STRINGS = ("source-version", "target-version")
_LISTS = ("select", "ignore", "exclude", "tables")
_FLAGS = ("unsafe", "annotate")
KEYS = (*_CHOICES, *_STRINGS, *_LISTS, *_FLAGS)


class ConfigError(ValueError):
    """A pyproject.toml that cannot be used; the message names the file and the key."""


@dataclass(frozen=True, slots=True)
class Config:
    """What ``[tool.paddletorch]`` says; None means that it says nothing."""

    folder: Path | None = None
    """Where the pyproject.toml lies: ``exclude`` patterns are relative to it."""
    to: Framework | None = None
    source_version: str | None = None
    target_version: str | None = None
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    exclude: tuple[str, ...] | None = None
    tables: tuple[str, ...] | None = None
    shim: ShimMode | None = None
    unsafe: bool | None = None
    annotate: bool | None = None


def load_config(start: Path) -> Config:
    """Read the settings that hold for ``start``, a file or folder.

    Raises:
        ConfigError: a pyproject.toml on the way up is not TOML, or holds an unknown key or a wrong value.
    """
    start = Path(os.path.abspath(start))  # noqa: PTH100 - resolve() fails on a link that loops
    for folder in (start, *start.parents):
        file = folder / "pyproject.toml"
        if os.path.isfile(file):  # noqa: PTH113 - Path.is_file raises where a folder may not be searched
            section = _section(file)
            if section is not None:
                return _check(file, section)
    return Config()


def _section(file: Path) -> dict[str, Any] | None:
    try:
        document = tomllib.loads(file.read_bytes().decode())
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: not UTF-8: {error.reason} at byte {error.start}") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file}: not valid TOML: {error}") from error
    tool = document.get("tool", {})
    if not isinstance(tool, dict) or "paddletorch" not in tool:
        return None
    section = tool["paddletorch"]
    if not isinstance(section, dict):
        raise ConfigError(f"{file}: [tool.paddletorch] must be a table")
    return section


def _check(file: Path, section: dict[str, Any]) -> Config:
    values: dict[str, Any] = {}
    for key, value in section.items():
        where = f"{file}: [tool.paddletorch] {key}"
        if key not in KEYS:
            near = difflib.get_close_matches(key.replace("_", "-"), KEYS, n=1)
            known = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(KEYS)}"
            raise ConfigError(f"{where}: unknown key; {known}")
        if key in _CHOICES and value not in _CHOICES[key]:
            raise ConfigError(f"{where}: must be one of {', '.join(map(repr, _CHOICES[key]))}, not {value!r}")
        if key in _STRINGS and not isinstance(value, str):
            raise ConfigError(f'{where}: must be a string, such as "{value}"')
        if key in _FLAGS and not isinstance(value, bool):
            raise ConfigError(f"{where}: must be true or false, not {value!r}")
        if key in _LISTS:
            if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
                raise ConfigError(f"{where}: must be a list of strings, not {value!r}")
            if key == "tables":
                value = [str(file.parent / item) for item in value]
            value = tuple(value)
        values[key.replace("-", "_")] = value
    return Config(folder=file.parent, **values)
