"""To torch: ``backward`` of an autograd function gives None for each argument that is no tensor."""

from __future__ import annotations

import ast
from itertools import pairwise

from paddletorch.model import Edit, Span
from paddletorch.plan.inference.plain_arguments import is_plain, method_of, parameters_of
from paddletorch.plan.model.view import FileView


def with_nones(view: FileView, function: ast.ClassDef, code: str) -> list[Edit]:
    """Edits of what ``backward`` returns; none if nothing differs, or if it is not seen which argument is what."""
    forward, backward = method_of(function, "forward"), method_of(function, "backward")
    if forward is None or backward is None or forward.args.vararg or forward.args.kwonlyargs:
        return []
    plain = [is_plain(view, function, forward, name) for name in parameters_of(forward)]
    returned = view.tree.own[backward].returns
    edits: list[Edit] = []
    for value in returned if any(plain) else ():
        gradients = value.elts if isinstance(value, ast.Tuple) else [value] if _is_one(view, value) else []
        if len(gradients) != plain.count(False) or any(g is None or isinstance(g, ast.Starred) for g in gradients):
            return []
        found = _around(view, [g for g in gradients if g is not None], plain, code)
        if found is None:
            return []
        edits += found
    return edits


def _is_one(view: FileView, value: ast.expr | None) -> bool:
    """Whether it is one gradient, not a variable or a call that may give several."""
    if value is None or not isinstance(value, ast.Name | ast.Call):
        return value is not None
    bindings = view.tree.scopes[value].bindings.get(value.id, ()) if isinstance(value, ast.Name) else ()
    if bindings and all(isinstance(b.value, ast.BinOp | ast.UnaryOp) for b in bindings):
        return True
    return view.tensor(value).is_certain


def _around(view: FileView, gradients: list[ast.expr], plain: list[bool], code: str) -> list[Edit] | None:
    """Nones before the first gradient and after each, in the order of the arguments."""
    spans = [view.source.span(gradient) for gradient in gradients]
    between = (view.source.slice(Span(a.end, b.start)) for a, b in pairwise(spans))
    if any(text.strip() != "," for text in between):  # brackets around a gradient, or a comment
        return None
    counts = [0] * (len(gradients) + 1)
    place = 0
    for other in plain:
        counts[place] += other
        place += not other
    edits = [Edit(Span(spans[0].start, spans[0].start), "None, " * counts[0], code)] if counts[0] else []
    for span, count in zip(spans, counts[1:], strict=True):
        edits += [Edit(Span(span.end, span.end), ", None" * count, code)] if count else []
    return edits
