"""Text around a call: what a hook puts before and behind it, in parts of its arguments, and in statements after it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch.model import Edit, Span
from paddletorch.plan.calls.binding import CallBinding
from paddletorch.plan.calls.decisions import Decisions, parameters_in
from paddletorch.plan.calls.fill_template import Arguments, Part, are_bare, argument, fill, pieces_of, place_of
from paddletorch.plan.calls.translate import translate_edits, translated_text
from paddletorch.plan.model.refusals import EvaluatedTwice, Refused
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.placeholders import ANYWHERE
from paddletorch.plan.syntax.precedence import ATOM
from paddletorch.plan.syntax.side_effects import is_pure
from paddletorch.plan.syntax.statements import place_after


def surrounding(binding: CallBinding, decisions: Decisions, object_name: str = "") -> list[Edit]:
    """Edits for what is put around the call, and in the place of parts of its arguments.

    ``object_name`` is that of a parent's constructor: what stands around other calls follows in a statement of its own.

    Raises:
        Refused: an argument would be evaluated twice or in another order.
    """
    view, node, code = binding.view, binding.expression, binding.row.code
    arguments = _given(binding, decisions)
    edits: list[Edit] = list(decisions.beside)
    if any(decisions.around):
        whole, over = view.source.span(node), place_of(view, node, decisions.around[0])
        parts: list[Part] = []
        for number, text in enumerate(decisions.around):
            filled, inside = _filled(binding, text, arguments)
            edits += inside
            parts += [*filled, object_name or whole] if number == 0 else filled
        if object_name:
            statement = view.parent(node)
            assert isinstance(statement, ast.stmt)
            place, separator = place_after(view, statement)
            parts = [whole, Span(whole.end, place), separator, *parts]
            over = Span(whole.start, place)
        edits.insert(0, Edit(over, "", code, tuple(parts)))
    for part, text in decisions.replaced:
        names = parameters_in(text)
        if not all(is_pure(value) for n in names if isinstance(value := arguments[n], ast.expr)):
            raise Refused(EvaluatedTwice(tuple(names)))
        edits.append(Edit(view.source.span(part), "", code, tuple(fill(view, text, arguments, part))))
    return edits


def following(binding: CallBinding, decisions: Decisions, path: str) -> list[Edit]:
    """Edits that do the decided steps to the object, ``path``, in statements after the call's own."""
    view, call, arguments = binding.view, binding.expression, _given(binding, decisions)
    statement = view.parent(call)
    assert isinstance(statement, ast.stmt)
    whole = view.source.span(call)
    place, line = place_after(view, statement)
    parts: list[Part] = [whole, Span(whole.end, place)]
    edits: list[Edit] = []
    for text in _lines(decisions, path, line, " " * view.source.indent):
        filled, inside = _filled(binding, text, arguments)
        parts += filled
        edits += inside
    return [Edit(Span(whole.start, place), "", binding.row.code, tuple(parts)), *edits]


def _lines(decisions: Decisions, path: str, line: str, indent: str) -> Iterator[str]:
    """The steps as statements; ``line`` begins each of them."""
    for step in decisions.steps:
        if step.once is not None:  # a function's parameter holds what is evaluated once
            alone = Decisions(steps=(step,)).with_steps_around("m")
            yield f"{line}{path}{alone.around[1]}"
            continue
        start = line
        if step.each:
            yield f"{line}for name, parameter in {path}.named_parameters():"
            yield f"{line}{indent}if name.startswith('{step.each}'):"
            start = line + 2 * indent
        for number, (condition, text) in enumerate(step.cases):
            word = "if" if number == 0 else "elif"
            before = f"{start}{word} {condition}:{start}{indent}" if condition else start
            yield (before + text).replace("{object}", path)


def _given(binding: CallBinding, decisions: Decisions) -> dict[str, ast.expr | tuple[ast.expr, ast.expr] | str]:
    """What stands for the placeholders of text that is put around the call or after it."""
    arguments: dict[str, ast.expr | tuple[ast.expr, ast.expr] | str] = {
        n: translated_text(binding.view, b.value, b.text, binding.values(n)) if b.text else b.value
        for n, b in binding.given.items()
    }
    if binding.receiver is not None:
        arguments["self"] = binding.receiver
    return {**arguments, **decisions.values}


def _filled(binding: CallBinding, text: str, arguments: Arguments) -> tuple[list[Part], list[Edit]]:
    """The text with arguments for its placeholders, and the edits inside those."""
    view, code = binding.view, binding.row.code
    translated: dict[Span, list[Edit]] = {}
    for name in parameters_in(text):
        bound = binding.given.get(name)
        if bound is not None and not bound.text:
            values = binding.values(name)
            translated[view.source.span(bound.value)] = translate_edits(view, bound.value, values, code)
    parts: list[Part] = []
    edits: list[Edit] = []
    for piece in _around(view, text, arguments, binding.expression):
        beside, inside = _beside(piece, translated.get(piece, []) if isinstance(piece, Span) else [])
        parts += beside
        edits += inside
    return parts, edits


def _beside(part: Part, edits: list[Edit]) -> tuple[list[Part], list[Edit]]:
    """An argument with what is inserted right before and behind it as parts of their own, and the edits inside it.

    An insertion at the edge of an argument that leaves the call would otherwise stay where the argument was.
    """
    if not isinstance(part, Span):
        return [part], []
    if any(e.span == part for e in edits):
        return [next(e.text for e in edits if e.span == part)], []
    before = [e.text for e in edits if e.span == Span(part.start, part.start)]
    after = [e.text for e in edits if e.span == Span(part.end, part.end)]
    inside = [e for e in edits if e.span.start != e.span.end or part.start < e.span.start < part.end]
    return [*before, part, *after], inside


def _around(
    view: FileView,
    text: str,
    arguments: Arguments,
    node: ast.expr,
) -> list[Part]:
    """Half an expression, or a statement: its placeholders stand between brackets, or begin a line."""
    parts: list[Part] = []
    pieces = list(pieces_of(text, arguments))
    neighbours = zip(["", *pieces], pieces, [*pieces[1:], ""], are_bare(pieces), strict=False)
    for before, piece, after, bare in neighbours:
        if isinstance(piece, str):
            parts.append(view.quoted(piece, node))
            continue
        begins = isinstance(before, str) and not before.strip()
        is_called = isinstance(after, str) and after.startswith("(")
        parts += argument(view, arguments[piece.name], ATOM if begins or is_called else ANYWHERE, node, bare)
    return parts
