"""Reads the command whose run is to be recorded: ``python train.py``, ``python -m pkg.train``, ``pytest``."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from paddletorch_shim.importhook.installed import installed_program

_PYTHON = re.compile(r"(python|pypy)[\d.]*w?(\.exe)?", re.IGNORECASE)

_FLAGS = frozenset("bBdEiIOPqsSuvVxh?")
"""Options of the interpreter that are a letter alone."""

_WITH_VALUE = frozenset("WX")

_HINT = "give python FILE, python -m MODULE or pytest, and a launcher of other processes this command to start"


class CommandError(ValueError):
    """The command is none that could be recorded; the message says why."""


@dataclass(frozen=True, slots=True)
class Command:
    """A Python program and how it is started."""

    kind: Literal["script", "module", "pytest"]
    name: str
    """The path of the script or folder, or the name of the module."""
    arguments: tuple[str, ...]
    options: tuple[str, ...] = ()
    """Of the interpreter."""
    is_module: bool = False
    """Whether it is started by ``-m``."""


def parse(words: Sequence[str]) -> Command:
    """What ``words`` start.

    Raises:
        CommandError: no Python program, or none that this interpreter runs.
    """
    if not words:
        raise CommandError("no command: paddletorch record -- python train.py")
    first, *rest = words
    if _PYTHON.fullmatch(Path(first).name):
        _check_interpreter(first)
        return _of_interpreter(tuple(rest))
    if first in ("pytest", "py.test"):
        return Command("pytest", first, tuple(rest))
    path = Path(first)
    if path.suffix in (".py", ".pyw") or (path / "__main__.py").is_file():
        return Command("script", first, tuple(rest))
    if not path.exists() and installed_program(first) is None:
        raise CommandError(f"no such program: {first}")
    if path.name == "torchrun":
        started = "torchrun --no-python paddletorch record -- python train.py"
        raise CommandError(f"torchrun starts processes of its own, so let it start this command: {started}")
    raise CommandError(f"{first} is no Python program: {_HINT}")


def _check_interpreter(name: str) -> None:
    found = installed_program(name)
    if os.sep not in name and found is None:
        return  # the interpreter at hand will do
    if found is None:
        raise CommandError(f"no such program: {name}")
    here = Path(sys.executable)
    if os.sep in name and Path(found).absolute().parent != here.parent:
        raise CommandError(f"paddletorch runs in {here}: install it for {name}, and use {name} -m paddletorch record")


def _of_interpreter(words: tuple[str, ...]) -> Command:
    number = 0
    while number < len(words) and words[number].startswith("-") and words[number] not in ("-", "--"):
        word = words[number]
        if word.startswith("--"):
            raise CommandError(f"python {word} is no program that could be recorded")
        for at, letter in enumerate(word[1:], 1):
            rest = word[at + 1 :]
            if letter == "m":
                before = (*words[:number], *([word[:at]] if at > 1 else []))
                after = ((rest,) if rest else ()) + words[number + 1 :]
                return _module(after, before)
            if letter in _WITH_VALUE:
                number += 0 if rest else 1
                break
            if letter not in _FLAGS:
                raise CommandError(f"python -{letter} cannot be recorded: put the program into a file")
        number += 1
    number += words[number : number + 1] == ("--",)
    if number >= len(words) or words[number] == "-":
        raise CommandError("python without a file or a module is no program that could be recorded")
    return Command("script", words[number], words[number + 1 :], tuple(w for w in words[:number] if w != "--"))


def _module(words: tuple[str, ...], options: tuple[str, ...]) -> Command:
    if not words:
        raise CommandError("python -m: the name of a module is missing")
    kind: Literal["module", "pytest"] = "pytest" if words[0] == "pytest" else "module"
    return Command(kind, words[0], words[1:], options, is_module=True)
