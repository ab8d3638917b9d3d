"""The requirements in a ``pyproject.toml``, by their places in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from paddletorch_rules.toml_text import parse_toml

from paddletorch.project_files.found import Found
from paddletorch.project_files.requirements import Target, in_list, requirement

_TOKEN = re.compile(
    r'''(?P<comment>\#[^\n]*)
    |(?P<long>"""(?:[^\\]|\\.)*?"""|\'\'\'.*?\'\'\')
    |"(?P<basic>(?:[^"\\\n]|\\.)*)"
    |'(?P<literal>[^'\n]*)'
    |(?:^|(?<=\n))[ \t]*\[(?P<header>[^\[\]\n]+)\]
    |(?:^|(?<=\n))[ \t]*(?P<key>[\w.-]+)[ \t]*=''',
    re.VERBOSE | re.DOTALL,
)
_POETRY = re.compile(r"tool\.poetry\.(?:group\.[\w-]+\.)?(?:dev-)?dependencies")


def in_pyproject(text: str, target: Target) -> list[Found]:
    """Requirements of the project, its extras, its groups and its build; a text that is no TOML has none."""
    try:
        data = parse_toml(text)
    except (ValueError, RecursionError):
        return []
    wanted = set(_requirements(data))
    lists: dict[str, list[tuple[int, str]]] = {}
    for path, place, value in _strings(text):
        if value in wanted:
            lists.setdefault(path, []).append((place, value))
    return [*(one for items in lists.values() for one in in_list(items, target)), *_of_poetry(text, target)]


def _requirements(data: dict[str, Any]) -> Iterator[str]:
    project = _table(data, "project")
    lists = [project.get("dependencies"), *_table(project, "optional-dependencies").values()]
    lists += [_table(data, "build-system").get("requires"), *_table(data, "dependency-groups").values()]
    for several in lists:
        if isinstance(several, list):
            yield from (one for one in several if isinstance(one, str))


def _table(data: dict[str, Any], name: str) -> dict[str, Any]:
    found = data.get(name)
    return found if isinstance(found, dict) else {}


def _strings(text: str) -> Iterator[tuple[str, int, str]]:
    """The strings without escapes in the lists that hold requirements: the list's name, the place and the string."""
    section, key = "", ""
    for match in _TOKEN.finditer(text):
        if match["header"] is not None:
            section, key = match["header"].strip(), ""
        elif match["key"] is not None:
            key = match["key"]
        else:
            name = "basic" if match["basic"] is not None else "literal"
            value = match[name]
            if value is not None and "\\" not in value and _holds_requirements(f"{section}.{key}"):
                yield f"{section}.{key}", match.start(name), value


def _holds_requirements(path: str) -> bool:
    return bool(
        re.fullmatch(
            r"\.?project\.(?:dependencies|optional-dependencies\.[\w-]+)|build-system\.requires|dependency-groups\.[\w-]+",
            path,
        )
    )


def _of_poetry(text: str, target: Target) -> Iterator[Found]:
    """Poetry's requirements, whose names are keys."""
    section = ""
    for match in _TOKEN.finditer(text):
        if match["header"] is not None:
            section = match["header"].strip()
        elif match["key"] is not None and _POETRY.fullmatch(section):
            one = requirement(match["key"], target)
            if one is not None:
                one = one.moved(match.start("key"))
                own = "Poetry names the package by a key" if one.edits else one.problem
                yield one.left(own, one.instead or f"Write {target.distribution} and its versions by hand.")
