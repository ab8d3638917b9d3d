"""All forms, and what a conversion says of a program in one of them, beside the plain one."""

from __future__ import annotations

import ast
import functools
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from paddletorch.engine.engine import Engine
from paddletorch.model import FileResult, Framework, Options, Severity, Status

from . import blocks, names, places
from .source import Rewritten, plain
from .taken_back import first_difference, names_of, statements_of

Findings = set[tuple[str, int]]


@dataclass(frozen=True)
class Form:
    """Another way to write a program, and how what becomes of it is taken back."""

    name: str
    rewrite: Callable[[str, Framework], Rewritten | None]
    """None: there is nothing in the program that could be written so."""
    back: Callable[[ast.Module], ast.Module]


def _form(name: str, rewrite: Callable[[str], Rewritten | None], back: Callable[[ast.Module], ast.Module]) -> Form:
    return Form(name, lambda text, target: rewrite(text), back)


FORMS = {
    form.name: form
    for form in (
        _form("loop", blocks.loop, blocks.unwrapped),
        _form("both-branches", blocks.both_branches, blocks.unwrapped),
        _form("with", blocks.with_context, blocks.unwrapped),
        _form("try", blocks.tried, blocks.unwrapped),
        _form("renamed-locals", names.renamed_locals, names.names_given_back),
        _form("argument-through-a-name", names.argument_through_a_name, names.put_in_place),
        _form("receiver-through-a-name", names.receiver_through_a_name, names.put_in_place),
        _form("name-put-back", names.names_put_back, lambda tree: tree),
        _form("beside", places.beside, places.alone),
        Form("other-framework", places.beside_the_other_framework, places.alone),
        _form("method", places.as_method, places.alone),
        _form("method-with-attributes", places.as_method_with_attributes, places.alone),
        _form("imported", places.imported, lambda tree: tree),
    )
}


@dataclass(frozen=True)
class Difference:
    """How the conversion of a form differs from that of the plain program."""

    missing: tuple[tuple[str, int], ...] = ()
    """Findings that only the plain program has: code and line of the plain program."""
    more: tuple[tuple[str, int], ...] = ()
    """Findings that only the form has; line 0: in what the form added."""
    plain: str = ""
    """Of the first statement that differs, the lines that only the converted plain program has, and the other's."""
    form: str = ""

    def __str__(self) -> str:
        found = [
            f"{sign} {code} line {line}"
            for sign, ones in (("-", self.missing), ("+", self.more))
            for code, line in ones
        ]
        return "\n".join(
            [
                *found,
                *(f"- {line}" for line in self.plain.splitlines()),
                *(f"+ {line}" for line in self.form.splitlines()),
            ]
        )


@functools.cache
def _engine(options: Options, tree: bool) -> Engine:
    return Engine(options, tree=tree)


@functools.lru_cache(maxsize=64)
def _plainly(options: Options, source: bytes) -> tuple[str, FileResult] | None:
    try:
        text = plain(source)
    except (SyntaxError, ValueError, RecursionError):
        return None
    result = _engine(options, False).convert(text.encode(), "main.py")
    return None if result.status is Status.FAILED else (text, result)


def rewritten(source: bytes, options: Options, form: Form) -> Rewritten | None:
    """The program in a form; None: it cannot be written so."""
    found = _plainly(options, source)
    return form.rewrite(found[0], options.target) if found is not None else None


def difference(source: bytes, options: Options, form: Form) -> Difference | None:
    """What a conversion of the form says that it does not say of the plain program; None: nothing.

    Raises:
        LookupError: the program cannot be written in this form.
    """
    found = _plainly(options, source)
    other = form.rewrite(found[0], options.target) if found is not None else None
    if found is None or other is None:
        raise LookupError(form.name)
    text, expected = found
    known = names_of(text)
    wanted = ast.parse(expected.output)
    if form.name == "name-put-back":
        wanted = names.put_back_as(other.text, text, wanted)
    said, outputs = _converted(options, other)
    mine = {(one.code, other.joined.get(one.line, one.line)) for one in expected.diagnostics}
    if other.part is not None:  # remarks are made once for a file
        remarks = {one.code for one in expected.diagnostics if one.severity is Severity.INFO}
        mine, said = ({(code, 0 if code in remarks else line) for code, line in one} for one in (mine, said))
    same = first_difference(statements_of([wanted], known), statements_of([form.back(one) for one in outputs], known))
    its = {(code, other.joined.get(line, line)) for code, line in said}
    if same is None and mine == its:
        return None
    return Difference(tuple(sorted(mine - its)), tuple(sorted(its - mine)), *(same or ()))


def _converted(options: Options, other: Rewritten) -> tuple[Findings, list[ast.Module]]:
    if other.part is None:
        result = _engine(options, False).convert(other.text.encode(), "main.py")
        return _findings(result, other), [ast.parse(result.output)]
    engine = _engine(options, True).renewed()
    with tempfile.TemporaryDirectory() as folder:
        parts = {Path(folder, "main.py"): other, Path(folder, "form_part.py"): other.part}
        for path, one in parts.items():
            path.write_text(one.text, encoding="utf-8")
        results = [engine.convert(one.text.encode(), str(path)) for path, one in parts.items()]
    found = set().union(*(_findings(result, one) for result, one in zip(results, parts.values(), strict=True)))
    return found, [ast.parse(result.output) for result in results]


def _findings(result: FileResult, one: Rewritten) -> Findings:
    return {(found.code, one.lines.get(found.line, 0) if found.line else 0) for found in result.diagnostics}
