"""Promises of ``--verify``: what was written for a project file can be read, and a second run would change nothing."""

from __future__ import annotations

import configparser
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from packaging.requirements import InvalidRequirement, Requirement
from paddletorch_rules.toml_text import parse_toml

from paddletorch.model.project_kinds import ProjectKind
from paddletorch.project_files.found import REQUIREMENT, Found
from paddletorch.project_files.lines import Lines


class Broken(NamedTuple):
    """A promise that does not hold, and the line it comes from; 0 for the file as a whole."""

    line: int
    problem: str


def unreadable(kind: ProjectKind, old: str, new: str, changed: Sequence[Found]) -> Broken | None:
    """What can no longer be read in ``new``, the converted ``old``; None if all can that could be before."""
    lines = Lines(old)
    for one in changed:
        problem = _requirement(one.replacement) if one.code == REQUIREMENT else ""
        if problem:
            return Broken(lines.position(one.start)[0], problem)
    read = _PARSERS.get(kind)
    if read is not None and not read(old) and (problem := read(new)):
        return Broken(0, problem)
    return None


def changed_again(second: Sequence[Found], new: str) -> Broken | None:
    """The first thing in ``new`` that a second run would change; None if it would change nothing."""
    one = next((one for one in second if one.edits), None)
    if one is None:
        return None
    line = Lines(new).position(one.start)[0]
    return Broken(line, f"line {line} of the result: {one.name} would become {one.replacement}")


def _requirement(text: str) -> str:
    try:
        Requirement(text)
    except InvalidRequirement as error:
        return f"{text} is no requirement: {str(error).splitlines()[0]}"
    return ""


def _toml(text: str) -> str:
    try:
        parse_toml(text)
    except (ValueError, RecursionError) as error:
        return f"the result is no TOML: {error}"
    return ""


def _ini(text: str) -> str:
    try:
        configparser.ConfigParser(interpolation=None, strict=False).read_string(text)
    except configparser.Error as error:
        return f"the result is no INI file: {error}"
    return ""


_PARSERS: Mapping[ProjectKind, Callable[[str], str]] = {"pyproject": _toml, "setup.cfg": _ini}
"""What is wrong with a text, or "", for kinds that have a parser in the standard library."""
