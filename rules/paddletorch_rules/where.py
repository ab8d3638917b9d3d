"""Checked access to one entry of a table; whatever is wrong is an error with file, row and key."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from string import Formatter
from typing import Any

from paddletorch_rules.schema import TableError

RENAMED = {
    "instance": "gives",
    "bare": "known_without_import",
    "also": "read_also",
    "applied": "result_called_with",
    "collect": "as_list",
    "distinctive": "shows_type",
    "neutral": "same_if",
    "otherwise": "else_report",
}
"""Keys that tables of earlier releases have, and what they are called now."""


class Where:
    """Where in a table we are. The readers raise TableError for a value of the wrong kind."""

    def __init__(self, file: str, row: str) -> None:
        self.file, self.row = file, row

    def error(self, key: str, problem: str) -> TableError:
        return TableError(f"{self.file}: row {self.row!r}: key {key!r}: {problem}")

    def keys(self, data: Mapping[str, Any], allowed: frozenset[str], prefix: str = "") -> None:
        for key in data:
            if key not in allowed and RENAMED.get(key) in allowed:
                raise self.error(prefix + key, f"is called {RENAMED[key]!r}")
            if key not in allowed:
                raise self.error(prefix + key, f"unknown; known are {', '.join(sorted(allowed))}")

    def text(self, data: Mapping[str, Any], key: str, default: str | None = None, prefix: str = "") -> str:
        value = data.get(key, default)
        if not isinstance(value, str):
            problem = "missing" if value is None else f"a string is needed, not {value!r}"
            raise self.error(prefix + key, problem)
        return value

    def choice(self, data: Mapping[str, Any], key: str, allowed: tuple[str, ...], default: str) -> str:
        value = self.text(data, key, default)
        if value not in allowed:
            raise self.error(key, f"{value!r} is not one of {', '.join(allowed)}")
        return value

    def strings(self, data: Mapping[str, Any], key: str, prefix: str = "") -> tuple[str, ...]:
        value = data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.error(prefix + key, "a list of strings is needed")
        return tuple(value)

    def either(self, data: Mapping[str, Any], key: str) -> tuple[str, ...]:
        """One string or a list of them."""
        value = data.get(key, [])
        return (value,) if isinstance(value, str) else self.strings(data, key)

    def mapping(self, data: Mapping[str, Any], key: str, prefix: str = "") -> dict[str, str]:
        value = data.get(key, {})
        if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
            raise self.error(prefix + key, "a table of strings is needed")
        return dict(value)

    def flag(self, data: Mapping[str, Any], key: str, prefix: str = "", *, default: bool = False) -> bool:
        value = data.get(key, default)
        if not isinstance(value, bool):
            raise self.error(prefix + key, f"true or false is needed, not {value!r}")
        return value

    def tables(self, data: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
        value = data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.error(key, "a list of tables is needed")
        return value

    def expressions(self, data: Mapping[str, Any], key: str, prefix: str = "") -> dict[str, str]:
        found = self.mapping(data, key, prefix)
        for text in found.values():
            self.expression(text, prefix + key)
        return found

    def expression(self, text: str, key: str) -> str:
        try:
            ast.parse(filled(text).strip(), mode="eval")
        except (RecursionError, MemoryError):  # MemoryError: the parser's word for nested too deeply
            raise self.error(key, "an expression that is nested too deeply") from None
        except (SyntaxError, ValueError) as error:
            raise self.error(key, f"{text!r} is not a Python expression ({error})") from None
        return text


def filled(text: str, prefix: str = "") -> str:
    """A template with ``prefix`` and its name for each placeholder; optional ones are filled too."""
    return _Template().vformat(text, (), _Names(prefix))


class _Template(Formatter):
    """Fills a placeholder by its name, and an optional one, ``{dim:, axis=%}``, by its text."""

    def format_field(self, value: Any, format_spec: str) -> str:
        return format_spec.replace("%", value) if format_spec else str(value)


class _Names(dict[str, str]):
    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix

    def __missing__(self, key: str) -> str:
        return self._prefix + (key or "placeholder")
