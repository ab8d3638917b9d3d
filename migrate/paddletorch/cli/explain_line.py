"""``paddletorch explain FILE:LINE``: what happens on a line, and why."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from paddletorch.cli.error import Refusal
from paddletorch.cli.evidence import ProjectEvidence
from paddletorch.cli.settings import RunSettings
from paddletorch.model import Conversion, Diagnostic, StatementChange, Status
from paddletorch.report.printable import printable

if TYPE_CHECKING:
    from paddletorch.model import Options

_API_LIST = re.compile(r"^## APIs$.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def explain_line(path: str, line: int, cell: int | None, given: dict[str, Any]) -> Iterator[str]:
    """The lines to print; ``line`` counts from 1, in the notebook's ``cell`` if there is one.

    Raises:
        Refusal: the file or its settings cannot be used, or it has no such line.
        UsageError: the settings do not say where the code goes.
    """
    from paddletorch.batch.one_file import UnusableOptions, converter_for
    from paddletorch.inputs.read import SourceFile, read
    from paddletorch.text.lines import text_lines

    settings = RunSettings(given, [path])
    options = settings.options(path)
    file = read(path, options.max_file_size)
    if not isinstance(file, SourceFile):
        raise Refusal(f"{path}: {file.diagnostics[0].message}")
    evidence = ProjectEvidence(settings, {"evidence": None, "no_evidence": False}, [path]).by_path.get(path)
    try:
        result = converter_for(options).convert(file.data, path, evidence=evidence)
    except UnusableOptions as error:
        raise Refusal(str(error)) from error
    lines = text_lines(file.data) if cell is None else []
    if cell is None and not 0 < line <= max(len(lines), 1):
        raise Refusal(f"{path} has {len(lines)} lines")
    change = next((c for c in result.changes if c.first <= line <= c.last), None) if cell is None else None
    first, last = (change.first, change.last) if change else (line, line)

    def is_here(one: Conversion | Diagnostic) -> bool:
        if cell is not None:
            return one.cell is not None and (one.cell.number, one.cell.line) == (cell, line)
        end = max(one.end_line, one.line) if isinstance(one, Diagnostic) else one.line
        return one.line <= last and first <= end

    where = f"cell {cell}:{line}" if cell is not None else str(line)
    yield printable(f"{path}:{where}, to {options.target}")
    yield from _text(lines[first - 1 : last], change)
    found = [one for one in result.findings if (one.line and is_here(one)) or result.status is Status.FAILED]
    conversions = [one for one in result.conversions if is_here(one)]
    if not found and not conversions:
        if change is None:
            yield f"The line stays as it is: nothing of {options.source} on it changes, and nothing is reported."
        else:
            yield "No use of the API stands here: the line changes for those that are converted elsewhere."
        return
    yield from _conversions(conversions, change, options)
    for one in found:
        yield from ["", printable(f"{one.code} {one.message}"), *([printable(f"    {one.hint}")] if one.hint else [])]
    yield from _pages(dict.fromkeys(one.code for one in found))


def _text(lines: list[str], change: StatementChange | None) -> Iterator[str]:
    yield from ("    " + printable(one.rstrip("\r\n")) for one in lines)
    if change is not None:
        yield "becomes"
        yield from ("    " + printable(one.rstrip("\r\n")) for one in change.new.splitlines())


def _conversions(conversions: list[Conversion], change: StatementChange | None, options: Options) -> Iterator[str]:
    """Each use with its row."""
    from paddletorch.cli.lookup import answer_lines, answers

    shown: set[tuple[str, str]] = set()
    for one in conversions:
        if (one.name, one.row) in shown:
            continue
        shown.add((one.name, one.row))
        yield ""
        own_class = f"{options.source}.Tensor" if one.name.startswith("tensor.") else ""
        name = f"{own_class}.{one.name.partition('.')[2]}" if own_class else one.name
        said = [a for a in answers(name, options.tables) if a.get("row") == one.row and a["to"] == options.target]
        if not said:
            yield printable(f"{one.name} becomes {one.replacement}   [{one.code} {one.row}]".rstrip(" []"))
        for answer in said[:1]:
            yield from map(printable, answer_lines(answer))
    others = () if change is None else change.elsewhere
    if others:
        numbers = ", ".join(map(str, sorted({one.line for one in others})))
        yield from ["", f"The import is for the uses on line {numbers} too, whose text stays."]
    codes = list(dict.fromkeys(one.code for one in conversions))
    if codes:
        yield from ["", *(f"'paddletorch explain {code}' has the page of {code}" for code in codes)]


def _pages(codes: dict[str, None]) -> Iterator[str]:
    """The pages of findings, without their lists of APIs."""
    from paddletorch.report.rule_page import page

    for code in codes:
        text = page(code)
        if text:
            yield from ["", *_API_LIST.sub("", text).rstrip().splitlines()]
