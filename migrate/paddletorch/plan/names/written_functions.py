"""Functions and classes that converted text calls, such as ``torch_chunk``: a file gets its own, below its imports."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping

from paddletorch_rules.adapters import Definition, functions

from paddletorch.model import Edit
from paddletorch.plan.model.refusals import NameTaken, Refused
from paddletorch.plan.model.view import FileView
from paddletorch.plan.model.written_code import is_same

_CALLED = re.compile(r"(?<![\w.])(?:(?:torch|paddle)_[a-z_0-9]+(?=\()|(?:Torch|Paddle)[A-Z][A-Za-z]+\b)")


def functions_in(view: FileView, edits: Iterable[Edit]) -> dict[str, Definition]:
    """The functions of the tables that new text calls, and those that these call, by name."""
    known: Mapping[str, Definition] | None = None
    found: dict[str, Definition] = {}
    texts = [edit.written for edit in edits]
    for text in texts:  # which grows
        named = "(" in text or "Paddle" in text or "Torch" in text
        names = [name for name in _CALLED.findall(text) if name not in found] if named else []
        if names and known is None:
            known = functions(view.target)
        for name in dict.fromkeys(names):
            if known is not None and name in known:
                found[name] = known[name]
                texts.append(known[name].text)
    return found


def written_class(view: FileView, template: str | None) -> str:
    """The class that a file gets, if that is what a template makes an object of: ``PaddleMaxout({groups})``."""
    name = (template or "").partition("(")[0]
    one = functions(view.target).get(name) if _CALLED.fullmatch(name) else None
    return name if one is not None and one.text.lstrip().startswith("class ") else ""


def missing_functions(view: FileView, edit: Edit, api: str) -> list[tuple[Definition, int]]:
    """The functions that an edit calls and that the file lacks, each with the place where it can be written.

    Raises:
        Refused: the file has another object of that name, or no import below which a function can stand.
    """
    found: list[tuple[Definition, int]] = []
    for one in functions_in(view, [edit]).values():
        if has_function(view, one):
            continue
        place = place_below_imports(view, edit, one) if is_free(view, one.name) else None
        if place is None:
            raise Refused(NameTaken(one.name, api))
        found.append((one, place))
    return found


def has_function(view: FileView, one: Definition) -> bool:
    """Whether an earlier conversion has written the function into the file."""
    bindings = view.tree.scope.bindings.get(one.name, ())
    nodes = [binding.node for binding in bindings]
    return len(nodes) == 1 and isinstance(nodes[0], ast.FunctionDef | ast.ClassDef) and is_same(nodes[0], one)


def is_free(view: FileView, name: str) -> bool:
    """Whether the file has no such name, in any scope, and reads none from elsewhere.

    The frameworks' own modules have none of the names that conversions write.
    """
    if name in view.evaluator.bare or name in view.source.unread_names or view.evaluator.star_may_bind(name):
        return False
    return name not in view.tree.bound


def place_below_imports(view: FileView, edit: Edit, one: Definition) -> int | None:
    """Where a function is written that an edit calls: below the module's last import above it, else at the top.

    Where there is no line of its own, below an earlier import: what a function reads is asked for when it runs. The
    bases of a class are read where it stands, so it must stand below an import of the source. None if there is none.
    """
    ends, places, served = view.provide(_places)
    number = bisect_right(ends, edit.span.start) - 1
    if number < 0 or places[number] is not None:
        return places[number] if number >= 0 else None
    earlier = served if one.text.lstrip().startswith("class ") else places
    return next((place for place in reversed(earlier[:number]) if place is not None), None)


_LINE_ENDS = re.compile(rb"[\r\n]*")


def _places(view: FileView) -> tuple[list[int], list[int | None], list[int | None]]:
    """Where the module's imports end, in order, and the place below each for a function, if it has one.

    The first entry is that of the module's top, for what stands above all imports. Then the places once more, but for
    those above which the module does not import the source.
    """
    body = view.tree.module.body
    closed = any(isinstance(s, ast.Global) for s in body)
    ends: list[int] = [0]
    places: list[int | None] = [None if closed else place_at_top(view)]
    served: list[int | None] = [None]
    has_source = False
    for number, statement in enumerate(body):
        if not _imports(statement):
            continue
        end = statement.end_lineno
        is_last = number + 1 == len(body)
        shut = closed or end is None or is_last or body[number + 1].lineno <= end
        has_source = has_source or _imports_source(view, statement)
        ends.append(view.source.span(statement).end)
        places.append(None if shut or end is None else _below(view, end))
        served.append(places[-1] if has_source else None)
    return ends, places, served


def place_at_top(view: FileView) -> int | None:
    """The start of the first statement of the module that may have others above it; None if there is no such line."""
    body = view.tree.module.body
    head = 1 if ast.get_docstring(view.tree.module, clean=False) is not None else 0
    while head < len(body) and _is_future(body[head]):
        head += 1
    if head == len(body):
        return None
    line = view.source.first_line(body[head])
    if head and line <= (body[head - 1].end_lineno or line):
        return None
    return view.source.line_span(line).start


def _imports_source(view: FileView, statement: ast.stmt) -> bool:
    """Whether a statement imports the source, whatever happens."""
    if isinstance(statement, ast.Import):
        return any(view.settings.is_of_source(alias.name) for alias in statement.names)
    return (
        isinstance(statement, ast.ImportFrom)
        and not statement.level
        and view.settings.is_of_source(statement.module or "")
    )


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _below(view: FileView, line: int) -> int:
    """Where the first line with text begins below ``line``."""
    found = _LINE_ENDS.match(view.source.body, view.source.line_span(line).end)
    assert found is not None
    return found.end()


def _imports(statement: ast.stmt) -> bool:
    """Whether a statement imports, or tries to, and does nothing else."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return True
    if isinstance(statement, ast.Try):
        return all(_imports(s) for s in statement.body)
    return isinstance(statement, ast.If) and all(_imports(s) for s in (*statement.body, *statement.orelse))
