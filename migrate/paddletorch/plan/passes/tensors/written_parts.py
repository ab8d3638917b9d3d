"""Methods in place on a part of a tensor, ``y[:, :2].mul_(2)``, on the way to Paddle: no gradient flows through them.

Measured on 3.3.1: the values are right, but the gradients of ``y``, and of a tensor that is written, are those from
before. What is assigned to the part has the right ones: ``y[:, :2] *= 2``.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping

from paddletorch_rules.facts import facts
from paddletorch_rules.hooks.arguments import is_fresh

from paddletorch.model import Edit, Span
from paddletorch.plan.inference.aliasing import Aliasing
from paddletorch.plan.inference.dtypes import dtypes_of
from paddletorch.plan.inference.in_place_calls import is_in_place, writes_in_place
from paddletorch.plan.inference.no_grad import is_without_grad
from paddletorch.plan.inference.overloads import kinds
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.findings import Finding, finding
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.precedence import is_closed
from paddletorch.plan.syntax.statements import comments_in
from paddletorch.resolve.evaluator.call_index import argument_of, is_method
from paddletorch.resolve.facts.dtypes import category
from paddletorch.resolve.facts.tensors import FORWARD
from paddletorch.resolve.values import Local
from paddletorch.text.source import has_line_end

_CODE = "TEN106"
_REPORTED = "AGD203"

_WHAT = "in Paddle no gradient flows through what a method writes into a view"
_WHAT_IS_ASSIGNED = (
    "in Paddle what is assigned to a view of {base} does not change the gradients of {base}; assign to a part of it"
)

_OPERATORS: Mapping[str, str] = {
    "add_": "+=",
    "sub_": "-=",
    "subtract_": "-=",
    "mul_": "*=",
    "multiply_": "*=",
    "div_": "/=",
    "divide_": "/=",
    "true_divide_": "/=",
    "copy_": "=",
    "fill_": "=",
}
"""What assigns the same as a method with one argument."""

_OTHERS = frozenset({"requires_grad_", "retain_grad_", "set_", "resize_", "resize_as_", "share_memory_", "apply_"})
"""Methods that change something else than values."""


_WITHOUT_GRADIENT = ("torch.nn.init.", "torch.nn.utils.")
"""Functions in place that no gradient flows through in torch either."""

_EFFECTS = ast.Call | ast.NamedExpr | ast.Await


def plan_written_parts(view: FileView, planned: Planned) -> Changes:
    """Assign to parts of tensors what methods write into them; report other views that gradients flow through."""
    writers = ((call, _written_by(view, call)) for call in view.tree.calls)
    wanted = [
        (call, node)
        for call, node in writers
        if node is not None and not is_without_grad(view, call) and view.is_sources(node)
    ]
    methods = [
        _assigned(view, call, node, _name(call))
        if isinstance(node, ast.Subscript) and _is_method_of(call, node) and _is_wanted(view, node)
        else _reported(view, call, node)
        for call, node in wanted
        if call.func not in planned.handled
    ]
    return joined([*methods, Changes(findings=tuple(_stored(view)))])


def _written_by(view: FileView, call: ast.Call) -> ast.expr | None:
    """What a call writes into: the object of a method in place, or the first argument of such a function."""
    name = _name(call)
    in_place = writes_in_place(name) and name not in _OTHERS
    if not in_place and not is_in_place(call):
        return None
    qualified = view.qualified(call.func) or ""
    if qualified.startswith("torch."):
        first = call.args[0] if call.args and not qualified.startswith(_WITHOUT_GRADIENT) else None
        return None if isinstance(first, ast.Starred) else first
    return call.func.value if in_place and isinstance(call.func, ast.Attribute) else None


def _name(call: ast.Call) -> str:
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _is_method_of(call: ast.Call, node: ast.expr) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.value is node


def _reported(view: FileView, call: ast.Call, node: ast.expr) -> Changes:
    """A view of another kind, ``y.t().mul_(2)``, or one that has a name, of what gradients may flow through."""
    if not _is_view_of_computed(view, node):
        return NOTHING
    return Changes(findings=(finding(_REPORTED, call.func, f"tensor.{_name(call)}", what=_WHAT),))


def _stored(view: FileView) -> Iterator[Finding]:
    """Assignments to a part of a view, ``y.view(-1)[0] = 1``, where what it is a view of is read afterwards."""
    aliasing = view.provide(Aliasing)
    for part in view.tree.of_kind(ast.Subscript):
        whole, statement = part.value, view.statement(part)
        if not isinstance(part.ctx, ast.Store) or statement is None or not view.source_tensor(whole).is_certain:
            continue
        if is_without_grad(view, part) or not _is_view_of_computed(view, whole):
            continue
        named = isinstance(whole, ast.Name)
        holder = aliasing.holder(whole, statement) if named else aliasing.of_value(whole, statement)
        if holder is not None and holder.memory == "view":
            yield finding(_REPORTED, part, "torch.Tensor", what=_WHAT_IS_ASSIGNED.format(base=holder.text))


def _is_view_of_computed(view: FileView, node: ast.expr) -> bool:
    """Whether the expression, or what the variable holds, may be a view of what gradients may flow through."""
    given = (
        [b.value for b in view.evaluator.reaching(node) if b.value is not None] if isinstance(node, ast.Name) else ()
    )
    return any(_is_computed(view, base) for one in (given or (node,)) for base in _bases(view, one))


def _bases(view: FileView, node: ast.expr, *, within: bool = False, called: bool = True) -> Iterator[ast.Name]:
    """The variables of which the expression may be a view; a variable itself only ``within`` a view.

    ``called``: also through a function of the file that is called.
    """
    parts: list[tuple[ast.expr, bool]] = []
    if isinstance(node, ast.Name):
        if within:
            yield node
    elif isinstance(node, ast.IfExp):
        parts = [(node.body, within), (node.orelse, within)]
    elif isinstance(node, ast.NamedExpr):
        parts = [(node.value, within)]
    elif isinstance(node, ast.Subscript) and _may_be_view(view, node):
        parts = [(node.value, True), *((element, False) for element in _elements(view, node.value))]
    elif (operand := _viewed(view, node)) is not None:
        parts = [(operand, True)]
    elif isinstance(node, ast.Call) and called:
        parts = [(argument, within or is_part) for argument, is_part in _given_back(view, node)]
    for part, is_within in parts:
        yield from _bases(view, part, within=is_within, called=called)


def _given_back(view: FileView, call: ast.Call) -> Iterator[tuple[ast.expr, bool]]:
    """Arguments that a function of the file gives back: as they are, or (true) views of them."""
    for value in view.evaluator.values(call.func):
        function = value.node if isinstance(value, Local) else None
        if not isinstance(function, ast.FunctionDef | ast.Lambda):
            continue
        scope = view.tree.own[function]
        for name, is_part in {p for node in scope.returns if node is not None for p in _parameters(view, node)}:
            argument = argument_of(call, function, name, is_method(scope))
            if argument is not None:
                yield argument, is_part


def _parameters(view: FileView, node: ast.expr, seen: frozenset[ast.AST] = frozenset()) -> Iterator[tuple[str, bool]]:
    """The parameters of a function that an expression in it may be, or (true) may be a view of."""
    names = [node] if isinstance(node, ast.Name) else _bases(view, node, called=False)
    for name in names:
        for binding in view.evaluator.reaching(name):
            if binding.kind == "parameter":
                yield binding.name, name is not node
            elif binding.kind == "assign" and binding.value is not None and binding.node not in seen:
                for parameter, is_part in _parameters(view, binding.value, seen | {binding.node}):
                    yield parameter, is_part or name is not node


def _viewed(view: FileView, node: ast.expr) -> ast.expr | None:
    """What the expression is a view of by the name of a function or member: ``x.t()``, ``torch.t(x)``, ``x.T``."""
    function = node.func if isinstance(node, ast.Call) else node
    if not isinstance(function, ast.Attribute) or function.attr not in _views():
        return None
    if isinstance(node, ast.Call) and (view.qualified(function) or "").startswith("torch."):
        return node.args[0] if node.args else None
    return function.value if not _is_detached(node) else None


def _elements(view: FileView, node: ast.expr) -> Iterator[ast.expr]:
    """The elements of the list or tuple that a variable holds."""
    for binding in view.evaluator.reaching(node) if isinstance(node, ast.Name) else ():
        if binding.kind == "assign" and isinstance(binding.value, ast.List | ast.Tuple):
            yield from binding.value.elts


def _may_be_view(view: FileView, part: ast.Subscript) -> bool:
    """As :func:`_has_basic_index`; what an unseen function gives may be a number too."""
    return all(_is_basic(view, index) or _may_be_number(view, index) for index in _indices(part))


def _may_be_number(view: FileView, index: ast.expr) -> bool:
    return isinstance(index, ast.Call) and kinds(view, index).isdisjoint({"Tensor", "sequence", "bool"})


def _indices(part: ast.Subscript) -> list[ast.expr]:
    return part.slice.elts if isinstance(part.slice, ast.Tuple) else [part.slice]


def _views() -> Collection[str]:
    return facts().views["torch"]


def _is_computed(view: FileView, name: ast.Name) -> bool:
    """Whether the variable is a tensor that is computed or a module's input, and not made of numbers or of integers."""
    found = view.source_tensor(name)
    if not found.is_certain:
        return False
    dtype = view.provide(dtypes_of).of(name)
    if dtype is not None and category(dtype) < category("float32"):
        return False
    if FORWARD in found.origins:
        return True
    given = [binding.value for binding in view.evaluator.reaching(name) if binding.kind == "assign"]
    return any(
        isinstance(value, ast.BinOp | ast.Call) and not is_fresh(value) and not _is_detached(value) for value in given
    )


def _is_wanted(view: FileView, part: ast.Subscript) -> bool:
    """Whether the part is a view of a tensor, and gradients may be asked for."""
    if not view.source_tensor(part.value).is_certain or _is_detached(part.value):
        return False
    return _has_basic_index(view, part) and not _gives_tuple(part.value)


def _gives_tuple(node: ast.expr) -> bool:
    """Whether the part is one of several results: ``x.max(0)[1]``."""
    name = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
    return name in facts().with_indices["torch"] or name in facts().tuple_results


def _has_basic_index(view: FileView, part: ast.Subscript) -> bool:
    return all(_is_basic(view, index) for index in _indices(part))


def _is_detached(node: ast.expr) -> bool:
    while isinstance(node, ast.Call | ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute) and node.attr in ("data", "detach"):
            return True
        node = node.func if isinstance(node, ast.Call) else node.value
    return False


def _is_basic(view: FileView, index: ast.expr) -> bool:
    """Whether the index gives a view: behind tensors and lists torch would write into a copy that nothing keeps."""
    if isinstance(index, ast.Slice):
        return True
    if isinstance(index, ast.Constant):
        return index.value is Ellipsis or type(index.value) is int
    if isinstance(index, ast.List | ast.Compare):
        return False
    found = kinds(view, index)
    if isinstance(index, ast.Call):
        return "int" in found and "Tensor" not in found
    return "int" in found or found.isdisjoint({"Tensor", "sequence", "bool"})


def _assigned(view: FileView, call: ast.Call, part: ast.Subscript, name: str) -> Changes:
    if view.is_deselected(_CODE, call):
        return NOTHING
    statement = view.parent(call)
    if not isinstance(statement, ast.Expr):
        return Changes(findings=(finding(_REPORTED, part, f"tensor.{name}", what=_WHAT),))
    whole, written = view.source.span(statement), view.source.span(part)
    left, right = ("", "") if is_closed(view.source.slice(written)) else ("(", ")")
    operator = _OPERATORS.get(name)
    alone = len(call.args) == 1 and not call.keywords and not isinstance(call.args[0], ast.Starred)
    if name == "zero_" and not call.args and not call.keywords:
        edits = (Edit(whole, "", _CODE, (left, written, right, " = 0")),)
    elif operator is not None and alone:
        given = view.source.span(call.args[0])
        before, after = ("(", ")") if has_line_end(view.source.body[given.start : given.end]) else ("", "")
        edits = (Edit(whole, "", _CODE, (left, written, f"{right} {operator} {before}", given, after)),)
    elif comments_in(view, whole) or any(isinstance(node, _EFFECTS) for node in ast.walk(part)):
        return Changes(findings=(finding(_REPORTED, part, f"tensor.{name}", what=_WHAT),))
    else:
        target = Edit(Span(whole.start, whole.start), "", _CODE, (left, written, f"{right} = "))
        copied = Edit(Span(written.end, written.end), ".clone()", _CODE)
        return Changes((target, copied))
    conversion = view.conversion(_CODE, call, f"tensor.{name}", f"{view.text(part)} {operator or '='} ...")
    return Changes(edits, (conversion,), handled=frozenset({call.func}))
