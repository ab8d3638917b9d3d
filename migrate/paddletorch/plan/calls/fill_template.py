"""Writes what a template says in place of an expression: arguments move, each with its own edits."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from string import Formatter
from typing import NamedTuple

from paddletorch_rules import Form, Framework, Let
from paddletorch_rules.hooks import argument_hook
from paddletorch_rules.hooks.arguments import PLAIN
from paddletorch_rules.hooks.arguments import is_pure as is_cheap

from paddletorch.model import Edit, Span
from paddletorch.plan.calls.arguments import plan_arguments
from paddletorch.plan.calls.binding import CallBinding
from paddletorch.plan.calls.decisions import ASSIGNMENT, Decisions
from paddletorch.plan.calls.over_lines import over_lines
from paddletorch.plan.model.argument_plan import ArgumentPlan
from paddletorch.plan.model.findings import Finding
from paddletorch.plan.model.refusals import (
    ArgumentsNotReadable,
    EvaluatedTwice,
    MissingArgument,
    Refused,
    UnseenArguments,
)
from paddletorch.plan.model.same_code import same_code
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.placeholders import (
    ANYWHERE,
    enclosing_kinds,
    expression,
    names_inside,
    required_precedences,
)
from paddletorch.plan.syntax.precedence import is_closed, precedence_of, required_precedence
from paddletorch.plan.syntax.side_effects import is_pure
from paddletorch.plan.syntax.stars import spans_to_bracket
from paddletorch.plan.syntax.temporaries import hoist, rows_of
from paddletorch.text.call_spans import LayoutError, run_of_arguments
from paddletorch.text.unfilled import unfilled_placeholders

Part = str | Span
Arguments = Mapping[str, ast.expr | tuple[ast.expr, ast.expr] | str]
"""What stands for each placeholder: an argument, a run of arguments, or text."""


class Placeholder(NamedTuple):
    """One placeholder of a template: the parameter's name, and whether any expression may stand there."""

    name: str
    free: bool


def compose(
    binding: CallBinding, decisions: Decisions, form: Form, template: str, whole: ast.expr | None = None
) -> tuple[list[Edit], tuple[Finding, ...]]:
    """Edits that put the filled template in the place of ``whole`` (the call, if not given), and findings.

    Raises:
        Refused: a value has no counterpart, or would be evaluated twice or in another order.
    """
    view, node, code = binding.view, whole or binding.expression, binding.row.code
    if binding.opaque and binding.row.ignores_arguments:
        return [Edit(view.source.span(node), template, code)], ()  # whatever is given does not count
    if binding.opaque:
        raise Refused(UnseenArguments(view.text(binding.expression)))
    binding = binding.spelled_out()
    plan = plan_arguments(binding, decisions, form)
    arguments = {**_arguments(binding, form, plan), **decisions.values}
    let = decisions.let if decisions.template is not None else form.let
    in_lines = _above(binding, let, arguments, node) if let is not None and let.expression == template else None
    if in_lines is not None:
        return [*in_lines, *plan.edits], plan.findings
    try:
        parts = fill(view, template, arguments, node)
    except Refused as stop:
        if not isinstance(stop.refusal, EvaluatedTwice):
            raise
        parameters = stop.refusal.names
        repeated = [(n, v) for n in parameters if isinstance(v := arguments.get(n), ast.expr)]
        found = hoist(view, binding.expression, repeated, code) if repeated else None
        if found is None and repeated and all(_becomes_pure(view, v) for _, v in repeated):
            parts = fill(view, template, arguments, node, are_pure=[v for _, v in repeated])
            return [_written(view, node, parts, code), *plan.edits], plan.findings
        if found is None:  # the parameter's name is the target's, which the file does not show
            written = (view.text(v) if isinstance(v := arguments.get(n), ast.expr) else n for n in parameters)
            raise Refused(EvaluatedTwice(tuple(written))) from None
        names, above = found
        parts = fill(view, template, {**arguments, **names}, node)
        return [_written(view, node, parts, code), above, *plan.edits], plan.findings
    span = place_of(view, node, template)
    if "".join(p if isinstance(p, str) else view.source.slice(p) for p in parts) == view.source.slice(span):
        return list(plan.edits), plan.findings  # it stands there already
    return [_written(view, node, parts, code)._replace(span=span), *plan.edits], plan.findings


def _written(view: FileView, node: ast.expr, parts: Sequence[Part], code: str) -> Edit:
    return Edit(view.source.span(node), "", code, tuple(over_lines(view, node, parts)))


def place_of(view: FileView, node: ast.expr, template: str) -> Span:
    """What the filled template takes the place of: an assignment stands in no brackets, so it takes the statement's."""
    statement = view.parent(node)
    is_assignment = isinstance(statement, ast.Expr) and ASSIGNMENT.match(template)
    return view.source.span(statement if is_assignment and isinstance(statement, ast.Expr) else node)


def _above(binding: CallBinding, let: Let, arguments: Arguments, node: ast.expr) -> list[Edit] | None:
    """The template with what it evaluates once assigned in lines of their own, if there is room for them."""
    values = {name: value for _, name in let.names if isinstance(value := arguments[name], ast.expr)}
    is_whole = isinstance(binding.view.parent(node), ast.Expr)  # y[1:].add_(z) becomes an assignment, without lines
    read = Counter(name for _, name, _, _ in Formatter().parse(let.body))
    twice = {name for name, count in read.items() if count > 1 and not is_whole}
    repeated = [(n, v) for n, v in values.items() if not (is_cheap if n in twice else is_pure)(v)]
    found = hoist(binding.view, binding.expression, repeated, binding.row.code) if repeated else None
    if found is None:
        return None
    names, above = found
    parts = fill(binding.view, let.body, {**arguments, **names}, node)
    return [Edit(binding.view.source.span(node), "", binding.row.code, tuple(parts)), above]


def fill(
    view: FileView,
    template: str,
    arguments: Arguments,
    node: ast.expr,
    are_pure: Sequence[ast.expr] = (),
) -> list[Part]:
    """The template's text with arguments for its placeholders: source spans, or text for what the call leaves out.

    ``are_pure``: arguments that may be evaluated again although their text does not show it.

    Raises:
        Refused: an argument would be evaluated twice or in another order, or is missing.
    """
    pieces = list(pieces_of(_bare(template), arguments))
    _check_order(view, pieces, arguments, are_pure)
    text = "".join(p if isinstance(p, str) else "__placeholder__" for p in pieces)
    _check_scopes(view, pieces, arguments, text, node)
    is_alone = text == "__placeholder__"  # the argument stands where the whole expression stood
    tightness = (required_precedence(view.parent(node), node),) if is_alone else required_precedences(text)
    parts: list[Part] = []
    number = 0
    for piece, bare in zip(pieces, are_bare(pieces), strict=True):
        if isinstance(piece, str):
            parts.append(view.quoted(piece, node))
            continue
        value = arguments[piece.name]
        if isinstance(value, str) and (unfilled := unfilled_placeholders(value)):
            raise Refused(MissingArgument(value, unfilled[0]))
        parts += argument(view, value, tightness[number], node, bare)
        number += 1
    if _needs_brackets(view, text, node):
        parts = ["(", *parts, ")"]
    return parts


def are_bare(pieces: Sequence[str | Placeholder]) -> list[bool]:
    """Whether each piece stands in no brackets of the others, where a line break would end the statement."""
    depths, depth = [], 0
    for piece in pieces:
        depths.append(depth)
        if isinstance(piece, str):
            depth += sum(map(piece.count, "([{")) - sum(map(piece.count, ")]}"))
    outside = min(0, depth)  # half an expression may close brackets that others opened
    return [one <= outside for one in depths]


@lru_cache(maxsize=512)
def _bare(template: str) -> str:
    """The template without brackets around the whole of it: they are put where they are needed."""
    if not (template.startswith("(") and template.endswith(")")):
        return template
    try:
        inner = ast.parse("".join(_sample(template[1:-1])), mode="eval").body
        whole = ast.parse("".join(_sample(template)), mode="eval").body
    except (SyntaxError, ValueError):
        return template
    return template if isinstance(inner, ast.Tuple) or not same_code(inner, whole) else template[1:-1]


def _sample(template: str) -> Iterator[str]:
    for text, name, spec, _ in Formatter().parse(template):
        yield text
        if name is not None:
            yield spec.replace("%", name) if spec else name


def _arguments(
    binding: CallBinding, form: Form, plan: ArgumentPlan
) -> dict[str, ast.expr | tuple[ast.expr, ast.expr] | str]:
    """What stands for each parameter of the target: an argument, a run of arguments (a list), or text."""
    found: dict[str, ast.expr | tuple[ast.expr, ast.expr] | str] = {}
    call = binding.node
    signature = form.signature(binding.view.settings.target_releases.newest)
    variadic = {p.name for p in signature.parameters if p.variadic} if signature is not None else set()
    for pair in binding.row.parameters:
        target_name = pair.name(binding.target)
        bound = binding.given.get(pair.name(binding.view.settings.source) or "")
        if target_name is None or bound is None or bound.dict_key is not None:
            continue
        if bound.position is None:
            found[target_name] = bound.value
        elif target_name in variadic:  # which the plan leaves in its place
            found[target_name] = (bound.value, bound.rest[-1]) if bound.rest else bound.value
    values = [*call.args, *(k.value for k in call.keywords)]
    for index, name in plan.keywords.items():
        last = plan.lists.get(index, index)
        found[name] = (values[index], values[last]) if last != index else values[index]
    for name, text in (*plan.prepend, *plan.append):
        found[name] = text
    if binding.receiver is not None:
        found["self"] = binding.receiver
    for parameter in signature.parameters if signature is not None else ():
        if parameter.default == "None" and _is_none(found.get(parameter.name)):
            del found[parameter.name]  # as good as not given
        if parameter.name not in found and parameter.default is not None:
            found[parameter.name + "="] = parameter.default
    return found


def _is_none(value: object) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def pieces_of(template: str, arguments: Mapping[str, object]) -> Iterator[str | Placeholder]:
    for text, name, spec, _ in Formatter().parse(template):
        if text:
            yield text
        if name is None:
            continue
        if spec:
            before, _, after = spec.partition("%")
            if name in arguments:
                yield from pieces_of(before, arguments)
                yield Placeholder(name, True)
                yield from pieces_of(after, arguments)
        elif name in arguments:
            yield Placeholder(name, True)
        elif name + "=" in arguments:
            yield str(arguments[name + "="])
        else:
            raise Refused(MissingArgument(template, name))


def _check_order(
    view: FileView, pieces: list[str | Placeholder], arguments: Mapping[str, object], are_pure: Sequence[ast.expr]
) -> None:
    """Each argument that may have an effect is evaluated once, in the order of the source."""
    order: list[tuple[int, str]] = []
    for piece in pieces:
        value = arguments[piece.name] if isinstance(piece, Placeholder) else ""
        nodes = [value] if isinstance(value, ast.expr) else list(value) if isinstance(value, tuple) else []
        if nodes and not all(n in are_pure or is_pure(n) for n in nodes):
            assert isinstance(piece, Placeholder)
            order.append((view.source.span(nodes[0]).start, piece.name))
    if len({name for _, name in order}) < len(order) or order != sorted(order):
        raise Refused(EvaluatedTwice(tuple(dict.fromkeys(name for _, name in order))))


def _becomes_pure(view: FileView, node: ast.expr) -> bool:
    """Whether all that is impure in it are calls whose counterpart is arithmetic, as a second run would find it."""
    calls = [n for n in ast.walk(node) if isinstance(n, ast.Call) and not is_pure(n)]
    rest = (n for n in ast.walk(node) if not isinstance(n, ast.Call))
    return all(isinstance(n, PLAIN) for n in rest) and all(_is_arithmetic(view, call) for call in calls)


def _is_arithmetic(view: FileView, call: ast.Call) -> bool:
    rows = rows_of(view, call)
    others = [row for row in rows if not _writes_arithmetic(row.hook, view.target)]
    found = [form.template for row in others for form in row.forms(view.target)]
    return bool(rows) and all(template is not None and _calls_nothing(template) for template in found)


def _writes_arithmetic(name: str | None, target: Framework) -> bool:
    """Whether the hook writes ``y * 5`` for ``y.mul(5)``."""
    hook = argument_hook(name, target) if name is not None else None
    return hook is not None and hook.arithmetic


@lru_cache(maxsize=512)
def _calls_nothing(template: str) -> bool:
    try:
        return is_pure(ast.parse("".join(_sample(template)), mode="eval").body)
    except (SyntaxError, ValueError):
        return False


def _check_scopes(
    view: FileView,
    pieces: list[str | Placeholder],
    arguments: Arguments,
    text: str,
    node: ast.expr,
) -> None:
    """An argument that goes into a lambda or a comprehension must mean the same there."""
    kinds = enclosing_kinds(text)
    scope = view.tree.scopes.get(node, view.tree.scope)
    hidden = scope.bindings if scope.kind == "class" else ()  # a class's names are not seen from there
    if hidden and not names_inside(text).isdisjoint(hidden):  # a hook has written the names of an argument
        raise Refused(EvaluatedTwice(tuple(sorted(names_inside(text).intersection(hidden)))))
    for name, kind in zip((p.name for p in pieces if isinstance(p, Placeholder)), kinds, strict=True):
        value = arguments[name]
        if not kind:
            continue
        values = [value] if isinstance(value, ast.expr) else list(value) if isinstance(value, tuple) else []
        forbidden = {"iterable": (ast.NamedExpr,), "inside": _BOUND_TO_SCOPE}[kind]
        nodes = [n for v in values for n in ast.walk(v)]
        if any(isinstance(n, forbidden) for n in nodes):
            raise Refused(EvaluatedTwice((name,)))
        if kind == "inside" and any(isinstance(n, ast.Name) and n.id in hidden for n in nodes):
            raise Refused(EvaluatedTwice((name,)))


_BOUND_TO_SCOPE = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)


def argument(
    view: FileView,
    value: ast.expr | tuple[ast.expr, ast.expr] | str,
    place: int,
    node: ast.expr,
    is_bare: bool = False,
) -> list[Part]:
    """The text of an argument in the place of ``node``; ``is_bare``: no brackets of the template are around it."""
    if isinstance(value, str):
        return [view.quoted(value, node)]
    if isinstance(value, tuple):
        return _run(view, *value)
    if isinstance(value, ast.Starred):
        return _with_brackets(view, view.source.span(value), [value])
    span = view.source.span(value)
    text = view.source.slice(span)
    bare_tuple = isinstance(value, ast.Tuple) and not text.startswith("(")
    generator = isinstance(value, ast.GeneratorExp) and not text.startswith("(")
    loose = not isinstance(value, ast.Tuple | ast.GeneratorExp) and precedence_of(value) < place
    several_lines = (is_bare or place > ANYWHERE) and not is_closed(text)
    bound = isinstance(value, _IN_BRACKETS)
    if bare_tuple or generator or loose or several_lines or bound:
        return ["(", span, ")"]
    return [span]


def _run(view: FileView, first: ast.expr, last: ast.expr) -> list[Part]:
    call = view.parent(first)
    while call is not None and not isinstance(call, ast.Call):
        call = view.parent(call)
    assert call is not None  # only a call has a run of arguments
    try:
        run = run_of_arguments(view.source, call, first, last)
    except LayoutError as error:
        raise Refused(ArgumentsNotReadable(str(error))) from None
    within = (one for one in call.args if run.start <= view.source.span(one).start < run.end)
    return _with_brackets(view, run, within)


def _with_brackets(view: FileView, run: Span, arguments: Iterable[ast.expr]) -> list[Part]:
    """The text of the arguments with the brackets that their stars need in a list."""
    parts: list[Part] = []
    start = run.start
    for star in spans_to_bracket(view.source, arguments):
        parts += [Span(start, star.start), "(", star, ")"]
        start = star.end
    return [*parts, Span(start, run.end)] if start < run.end else parts


_IN_BRACKETS = (ast.NamedExpr, ast.Yield, ast.YieldFrom)
"""Expressions that may not stand everywhere without brackets around them."""


def _needs_brackets(view: FileView, text: str, node: ast.expr) -> bool:
    """Whether the filled template needs brackets where the old expression stood."""
    top = expression(text)
    if top is None:
        return False
    parent = view.parent(node)
    if isinstance(top, ast.Tuple):
        return not text.startswith("(") and not isinstance(parent, ast.Assign | ast.Return | ast.Expr)
    return precedence_of(top) < required_precedence(parent, node)
