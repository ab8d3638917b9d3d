"""What a recorded run of the program could answer, so that a finding may go."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping

from paddletorch.model.questions import Ask, Question, place_of
from paddletorch.plan.inference.dtypes import dtypes_of
from paddletorch.plan.inference.keywords import seen_items
from paddletorch.plan.model.findings import Finding
from paddletorch.plan.model.view import FileView
from paddletorch.resolve import NoneValue, Qualified, Unknown
from paddletorch.resolve.facts.dtypes import FLOATING


def open_questions(view: FileView, finding: Finding) -> tuple[Question, ...]:
    """The questions behind a finding that is made because something is unknown; none for any other finding.

    What a row's hook asked is with the finding already.
    """
    if view.evidence is None or (finding.code not in _QUESTIONS and not finding.questions):
        return ()
    by_code = _QUESTIONS[finding.code](view, finding.node) if finding.code in _QUESTIONS else ()
    asked = (*finding.questions, *by_code)
    return tuple(dict.fromkeys(question for question in asked if not view.evidence.answers(question)))


def _type_of_receiver(view: FileView, node: ast.AST) -> Iterator[Question]:
    """The type of ``x`` in ``x.size()`` or ``x.size``."""
    member = node.func if isinstance(node, ast.Call) else node
    if isinstance(member, ast.Attribute):
        yield from _asked(view, Ask.TYPE, [member.value])


def _type_of_unknown_receiver(view: FileView, node: ast.AST) -> Iterator[Question]:
    """As ``_type_of_receiver``, for findings that known receivers have too."""
    if isinstance(node, ast.Attribute) and _is_unknown(view, node.value):
        yield from _type_of_receiver(view, node)


def _types_of_arguments(view: FileView, node: ast.AST) -> Iterator[Question]:
    if isinstance(node, ast.Call):
        unknown = (a for a in _arguments(node) if _is_unknown(view, a))
        yield from _asked(view, Ask.TYPE, unknown)


def _keys(view: FileView, node: ast.AST) -> Iterator[Question]:
    """The keys behind each ``**`` of a call, or of the call of the API."""
    call = node if isinstance(node, ast.Call) else view.parent(node)
    if isinstance(call, ast.Call):
        spread = [k.value for k in call.keywords if k.arg is None]
        yield from _asked(view, Ask.KEYS, (v for v in spread if seen_items(view, v) is None))


def _callee(view: FileView, node: ast.AST) -> Iterator[Question]:
    """What is called, and with which keys."""
    if isinstance(node, ast.Call):
        yield from _asked(view, Ask.CLASS, [node.func])
        yield from _keys(view, node)


def _call_of_the_shim(view: FileView, node: ast.AST) -> Iterator[Question]:
    """What the shim would look at when the program runs: an unknown callee, and keys."""
    if isinstance(node, ast.Call):
        if _is_unknown(view, node.func):
            yield from _asked(view, Ask.CLASS, [node.func])
        yield from _keys(view, node)


def _variable(view: FileView, node: ast.AST) -> Iterator[Question]:
    """What a name is that is called, where nothing but a run can tell all that it may be."""
    call = view.parent(node)
    if isinstance(node, ast.expr) and isinstance(call, ast.Call) and call.func is node and _is_open(view, node):
        yield from _asked(view, Ask.CLASS, [node])


def _is_open(view: FileView, node: ast.expr) -> bool:
    values = view.evaluator.values(node)
    known = all(isinstance(v, Qualified | NoneValue | Unknown) for v in values)
    return known and any(isinstance(v, Unknown) for v in values)


def _dtypes(view: FileView, node: ast.AST) -> Iterator[Question]:
    """The dtypes of an operation's other operands that are not known to the bit."""
    operation = view.parent(node)
    while isinstance(operation, ast.List | ast.Tuple):
        operation = view.parent(operation)
    dtypes = view.provide(dtypes_of)
    operands = (o for o in _operands(operation) if o is not node and dtypes.of(o) in (None, FLOATING))
    yield from _asked(view, Ask.DTYPE, (o for o in operands if dtypes.number(o) is None))


def _dtypes_of_all(view: FileView, node: ast.AST) -> Iterator[Question]:
    """As ``_dtypes``, and the dtype of the operand itself that the finding is about."""
    if isinstance(node, ast.expr):
        yield from _asked(view, Ask.DTYPE, [node])
    yield from _dtypes(view, node)


def _operands(operation: ast.AST | None) -> Iterator[ast.expr]:
    if isinstance(operation, ast.BinOp):
        yield from (operation.left, operation.right)
    elif isinstance(operation, ast.Compare):
        yield from (operation.left, *operation.comparators)
    elif isinstance(operation, ast.AugAssign):
        yield from (operation.target, operation.value)
    elif isinstance(operation, ast.Call):
        if isinstance(operation.func, ast.Attribute):
            yield operation.func.value
        for argument in _arguments(operation):
            yield from argument.elts if isinstance(argument, ast.List | ast.Tuple) else (argument,)


def _sharing(view: FileView, node: ast.AST) -> Iterator[Question]:
    """Whether something else holds the tensor that is written into, and whether it is one at all."""
    target = node.args[0] if isinstance(node, ast.Call) and node.args else node
    if isinstance(target, ast.expr):
        if _is_unknown(view, target):
            yield from _asked(view, Ask.TYPE, [target])
        yield from _asked(view, Ask.SHARED, [target])


def _arguments(call: ast.Call) -> Iterator[ast.expr]:
    yield from (a for a in call.args if not isinstance(a, ast.Starred))
    yield from (k.value for k in call.keywords if k.arg is not None)


def _is_unknown(view: FileView, node: ast.expr) -> bool:
    """Whether nothing, or not everything, is known of what an expression can be."""
    values = view.evaluator.values(node)
    return any(isinstance(v, Unknown) for v in values) or all(isinstance(v, NoneValue) for v in values)


def _asked(view: FileView, ask: Ask, nodes: Iterable[ast.expr]) -> Iterator[Question]:
    """The question about each expression; those inside strings have no place of their own."""
    yield from (Question(ask, place_of(node)) for node in nodes if not view.in_string(node))


_QUESTIONS: Mapping[str, Callable[[FileView, ast.AST], Iterator[Question]]] = {
    "API201": _variable,
    "API203": _keys,
    "API212": _type_of_receiver,
    "API224": _types_of_arguments,
    "API226": _callee,
    "API227": _call_of_the_shim,
    "API229": _keys,
    "API234": _type_of_receiver,
    "API240": _keys,
    "DTY201": _dtypes,
    "DTY202": _dtypes,
    "DTY203": _dtypes_of_all,
    "NNL209": _type_of_unknown_receiver,
    "NNL211": _sharing,
    "TEN214": _sharing,
}
"""By the code of the finding; each is asked of the node that the finding is about."""
