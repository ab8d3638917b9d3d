"""Where each kind of project file holds requirements and commands."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from typing import TypeGuard

from paddletorch_rules.packages import packages

from paddletorch.model import Framework
from paddletorch.model.project_kinds import ProjectKind
from paddletorch.project_files.found import COMMAND, ENVIRONMENT, Found
from paddletorch.project_files.launchers import launch
from paddletorch.project_files.pip_commands import installed
from paddletorch.project_files.pyproject import in_pyproject
from paddletorch.project_files.requirements import INDEX, Target, in_list, left_with_index
from paddletorch.project_files.shell import commands

_IMAGE = re.compile(r"[ \t]*FROM[ \t]+(?:--\S+[ \t]+)*(?P<image>\S+)", re.IGNORECASE)
_INSTRUCTION = re.compile(r"[ \t]*(?:RUN|CMD|ENTRYPOINT)[ \t]+(?P<list>\[)", re.IGNORECASE)
_IN_LIST: dict[Framework, re.Pattern[str]] = {
    "torch": re.compile(r"torchrun|torch\.distributed\.(?:launch|run)"),
    "paddle": re.compile(r"fleetrun|paddle\.distributed\.launch"),
}
_IMAGES: dict[Framework, re.Pattern[str]] = {"torch": re.compile("pytorch|torch"), "paddle": re.compile("paddle")}
_CONDA: dict[Framework, re.Pattern[str]] = {
    "torch": re.compile(r"(?:[\w-]+::)?(?:pytorch(?:-cuda|-gpu|-mutex)?|torchvision|torchaudio|libtorch)\b(?!-)"),
    "paddle": re.compile(r"(?:[\w-]+::)?paddlepaddle(?:-gpu)?\b(?!-)"),
}
_ITEM = re.compile(
    r"(?P<indent>[ \t]*)-[ \t]+(?P<quote>['\"]?)"
    r"(?P<text>(?:[^#\r\n \t]|[ \t]+(?![#\r\n \t]|\Z))*?)(?P=quote)[ \t]*(?:#.*)?\Z"
)
_SECTION = re.compile(r"\[(?P<name>[^\]]+)\]")
_INI_KEY = re.compile(r"(?P<key>[\w.-]+)[ \t]*[=:]")
_INI_KEYS = {"options": ("install_requires", "setup_requires", "tests_require")}
_SETUP_KEYWORDS = ("install_requires", "setup_requires", "tests_require", "extras_require")


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Each line with its place, without its end."""
    for match in re.finditer(r"[^\r\n]+", text):
        yield match.start(), match[0]


def _in_requirements(text: str, target: Target) -> list[Found]:
    items: list[tuple[int, str]] = []
    indexes: list[Found] = []
    for start, line in _lines(text):
        bare = line.lstrip()
        if not bare.startswith(("#", "-")):
            items.append((start, line))
        elif (index := INDEX[target.source].search(line)) and bare.startswith("-"):
            place = start + len(line) - len(bare)
            instead = "Name the target's index for the device by hand, or remove the line."
            indexes.append(Found(place, start + len(line), ENVIRONMENT, index[0], "it has builds by device", instead))
    found = in_list(items, target)
    return [*indexes, *(left_with_index(found, target.source, text) if indexes else found)]


def _in_setup_cfg(text: str, target: Target) -> list[Found]:
    lists: dict[str, list[tuple[int, str]]] = {}
    section, key = "", ""
    for start, line in _lines(text):
        if header := _SECTION.match(line):
            section, key = header["name"], ""
            continue
        begin = 0
        if named := _INI_KEY.match(line):
            wanted = section == "options.extras_require" or named["key"] in _INI_KEYS.get(section, ())
            key, begin = f"{section}.{named['key']}" if wanted else "", named.end()
        if key and not line.lstrip().startswith(("#", ";")):
            lists.setdefault(key, []).append((start + begin, line[begin:]))
    return [one for items in lists.values() for one in in_list(items, target)]


def in_setup_script(text: str, target: Target) -> list[Found]:
    """The requirements in a ``setup.py``: elements of lists that ``setup`` is given, or that a variable holds."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    nodes = list(ast.walk(module))
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    given = [keyword.value for call in calls for keyword in call.keywords if keyword.arg in _SETUP_KEYWORDS]
    named = {node.id for value in given for node in ast.walk(value) if isinstance(node, ast.Name)}
    for node in nodes:
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            given += [node.value] if named & {_root(one) for one in targets} else []
    lists = {inner: None for value in given for inner in ast.walk(value) if isinstance(inner, _LISTS)}
    starts = [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", text))]
    found: list[Found] = []
    for several in lists:
        assert isinstance(several, _LISTS)
        texts = {_place(one, text, starts): str(one.value) for one in several.elts if _is_text(one)}
        places = sorted(texts)
        written = {place + 1 for place, value in texts.items() if text.startswith((f"'{value}'", f'"{value}"'), place)}
        for one in in_list(((place + 1, value) for place, value in texts.items()), target):
            whole = places[bisect_left(places, one.start) - 1] + 1 in written
            found.append(one if whole else one.left("its text is put together"))
    return sorted(found, key=lambda one: one.start)


_LISTS = ast.List | ast.Tuple | ast.Set


def _is_text(node: ast.expr) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _place(node: ast.expr, text: str, starts: list[int]) -> int:
    """The place of a node's first character."""
    start = starts[node.lineno - 1]
    line = text[start : start + node.col_offset].encode()[: node.col_offset]
    return start + len(line.decode(errors="ignore"))


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _in_conda(text: str, target: Target) -> list[Found]:
    found: list[Found] = []
    pip: list[tuple[int, str]] = []
    top, pip_indent = "", -1
    for start, line in _lines(text):
        if re.match(r"[\w-]+[ \t]*:", line):
            top, pip_indent = line.partition(":")[0].strip(), -1
            continue
        item = _ITEM.match(line)
        if item is None or top != "dependencies":
            continue
        indent, place = len(item["indent"]), start + item.start("text")
        if item["text"].strip() == "pip:":
            pip_indent = indent
        elif 0 <= pip_indent < indent:
            pip.append((place, item["text"]))
        else:
            pip_indent = -1
            if package := _CONDA[target.source].match(item["text"]):
                problem = "conda takes it from a channel of its own"
                instead = f"Name {target.distribution} below `pip:`, or in the target's channel."
                found.append(Found(place, start + item.end("text"), ENVIRONMENT, package[0], problem, instead))
    return [*found, *left_with_index(in_list(pip, target), target.source, text)]


def _in_docker(text: str, target: Target) -> list[Found]:
    found: list[Found] = []
    for start, line in _lines(text):
        image = _IMAGE.match(line)
        if image is not None and _IMAGES[target.source].search(image["image"]):
            instead = f"Choose an image of {target.target}, or one without a framework."
            place = start + image.start("image")
            found.append(
                Found(
                    place, start + image.end("image"), ENVIRONMENT, image["image"], "the image is made for it", instead
                )
            )
        listed = _INSTRUCTION.match(line)
        if listed is not None and (command := _IN_LIST[target.source].search(line)):
            problem, instead = "it is written as a list", "Write it by hand, one string a word."
            found.append(Found(start + command.start(), start + command.end(), COMMAND, command[0], problem, instead))
    return [*found, *_commands(text, target, docker=True)]


def _in_shell(text: str, target: Target) -> list[Found]:
    return _commands(text, target)


def _commands(text: str, target: Target, *, docker: bool = False) -> list[Found]:
    found: list[Found] = []
    three = re.search(r"\bpython3\b", text) and not re.search(r"\bpython(?![\w.])", text)
    known = packages(target.source)
    for words in commands(text, comments_between=docker):
        if not words:
            continue
        found += installed(words, text, target)
        started = launch(words, target.source, "python3" if three else "python")
        if started is not None:
            found.append(started)
        elif package := known.of(words[0].text) if words[0].text in ("accelerate", "deepspeed", "colossalai") else None:
            problem = f"{package.name} is built on {target.source}"
            found.append(Found(words[0].start, words[0].end, COMMAND, words[0].text, problem, package.instead))
    return found


def in_command(text: str, target: Target) -> list[Found]:
    """What the commands of a notebook's cell name."""
    return _commands(text, target)


READERS: Mapping[ProjectKind, Callable[[str, Target], list[Found]]] = {
    "requirements": _in_requirements,
    "pyproject": in_pyproject,
    "setup.cfg": _in_setup_cfg,
    "conda": _in_conda,
    "docker": _in_docker,
    "shell": _in_shell,
}
"""What names the source framework in the text of each kind of project file."""
