"""Walks over the parameters of a model: in Paddle they meet the statistics of normalization, which are torch's buffers.

What counts, lists, adds up or writes the parameters gets a list without the statistics. They have no gradient, so what
only trains the parameters, such as an optimizer, stays as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from paddletorch.model import Conversion, Edit, Span
from paddletorch.plan.inference.receivers import Certainty, Receivers
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.findings import finding, refused
from paddletorch.plan.model.refusals import Refused
from paddletorch.plan.model.view import FileView
from paddletorch.plan.passes.tensors.statistics import may_hold_statistics, walked_by_function
from paddletorch.plan.syntax.brackets import with_brackets
from paddletorch.plan.syntax.free_names import free_name

_CODE = "NNM101"
_NOT_CONVERTED = "NNM205"
_SEEN = frozenset({"dict", "enumerate", "map", "sorted", "zip"})
"""Python's functions whose result shows each parameter."""

_FUNCTIONS = {"parameters": "torch_parameters", "named_parameters": "torch_named_parameters"}
"""Written functions that give what torch's method gives."""

_LISTS = frozenset({"list", "tuple"})
_VECTORS = (".parameters_to_vector", ".vector_to_parameters")


def plan_walked_parameters(view: FileView, planned: Planned) -> Changes:
    """Leave the statistics out of the parameters that code looks at."""
    walks = (_plan_or_report(view, planned, member, call) for member, call in _listed(view))
    return joined([change for change in walks if change is not None])


def _plan_or_report(view: FileView, planned: Planned, member: ast.Attribute, call: ast.Call) -> Changes | None:
    try:
        return _plan(view, planned, member, call)
    except Refused as stop:  # no quotation marks are left for the condition
        return Changes(findings=(refused(stop.refusal, call, f"module.{member.attr}"),))


def _listed(view: FileView) -> Iterator[tuple[ast.Attribute, ast.Call]]:
    """Each ``model.parameters()``, or the like, of a model that may have a normalization with statistics."""
    receivers = view.provide(Receivers)
    for method in ("parameters", "named_parameters"):
        for member in view.tree.members.get(method, ()):
            call = view.parent(member)
            if not isinstance(call, ast.Call) or call.func is not member or call.args or call.keywords:
                continue
            possible = receivers.certainty(member.value, "module") is not Certainty.NO
            if (
                possible
                and may_hold_statistics(view, member.value)
                and view.is_located(call)
                and view.is_sources(member.value)
            ):
                yield member, call


def _plan(view: FileView, planned: Planned, member: ast.Attribute, call: ast.Call) -> Changes | None:
    """What becomes of one ``model.parameters()``; None if the statistics make no difference there."""
    walk = view.parent(call)
    if isinstance(walk, ast.comprehension) and walk.iter is call:
        return None if _is_for_training(view, walk) else _filtered_walk(view, member, call, walk)
    if isinstance(walk, ast.For) and walk.iter is call:
        if _is_indifferent(walk.body, _variables(walk.target)[-1:]):
            return None
        return _list_without_statistics(view, member, call, walk.target)
    if not _is_looked_at(view, call):
        return None
    if isinstance(walk, ast.Call) and isinstance(walk.func, ast.Name) and walk.func.id == "zip":
        if all(_walks_over(one, _FUNCTIONS) for one in walk.args):
            return walked_by_function(view, planned, member, call, _FUNCTIONS[member.attr])
        # what the others of zip() walk over may have statistics, too
        details = {"what": f".{member.attr}()", "difference": "statistics of normalization are among Paddle's"}
        return Changes(findings=(finding(_NOT_CONVERTED, member, f"module.{member.attr}", **details),))
    return _list_without_statistics(view, member, call, None)


def _walks_over(node: ast.expr, methods: Collection[str]) -> bool:
    called = node.func if isinstance(node, ast.Call) and not (node.args or node.keywords) else None
    return isinstance(called, ast.Attribute) and called.attr in methods


def _is_looked_at(view: FileView, call: ast.Call) -> bool:
    """Whether what gets the parameters depends on which and how many they are: ``u, v = m.parameters()``."""
    parent = view.parent(call)
    if isinstance(parent, ast.Assign):
        return isinstance(parent.targets[0], ast.Tuple | ast.List)
    if not isinstance(parent, ast.Call) or call not in parent.args:
        return False
    name = parent.func.id if isinstance(parent.func, ast.Name) else ""
    own = not name or not view.tree.scopes[parent.func].lookup(name)
    if (name in _SEEN and own) or name == "OrderedDict":
        walk = view.parent(parent)
        is_loop = isinstance(walk, ast.For) and walk.iter is parent
        return not is_loop or not isinstance(walk, ast.For) or not _is_indifferent(walk.body, _variables(walk.target))
    if name in _LISTS and own:
        return not _is_handed_on(view, parent)
    return (view.qualified(parent.func) or "").endswith(_VECTORS)


def _is_handed_on(view: FileView, made: ast.expr) -> bool:
    """Whether the list goes to a call, or to another list, directly or by the name that it gets."""
    parent = view.parent(made)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        name = parent.targets[0]
        reads = view.tree.reads(view.tree.scopes[name].lookup(name.id)) if name in view.tree.scopes else []
        return bool(reads) and all(_goes_to_call(view, read) for read in reads)
    if isinstance(parent, ast.Subscript) and parent.value is made:
        return ast.unparse(parent.slice) in ("0", "1")  # a normalization's own come first
    return _goes_to_call(view, made)


def _goes_to_call(view: FileView, value: ast.expr) -> bool:
    parent = view.parent(value)
    if isinstance(parent, ast.keyword):
        return True
    if isinstance(parent, ast.BinOp):
        return _is_handed_on(view, parent)
    if isinstance(parent, ast.Dict):
        return True  # a group of an optimizer
    called = parent.func if isinstance(parent, ast.Call) else None
    if called is None or value is called:
        return False
    return not isinstance(called, ast.Name) or called.id not in _SEEN | _LISTS | {"len", "reversed", "iter"}


def _variables(target: ast.expr) -> list[str]:
    return [node.id for node in ast.walk(target) if isinstance(node, ast.Name)]


def _is_for_training(view: FileView, walk: ast.comprehension) -> bool:
    """Whether the walk leaves out what does not train, or makes the list of an optimizer."""
    variables = _variables(walk.target)[-1:]
    if any(_needs_training(test, variables) for test in walk.ifs):
        return True
    around: ast.AST | None = view.parent(walk)
    if not isinstance(around, ast.GeneratorExp | ast.ListComp) or not isinstance(around.elt, ast.Name):
        return False
    while isinstance(around, ast.expr | ast.keyword):
        if isinstance(around, ast.Call):
            return ".optim" in (view.qualified(around.func) or "")
        around = view.parent(around)
    return False


def _needs_training(test: ast.expr, variables: Sequence[str]) -> bool:
    """Whether statistics do not pass the test: ``p.requires_grad``, ``p.grad is not None``, ``p.dim() > 1``."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(_needs_training(value, variables) for value in test.values)
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.comparators[0], ast.Constant):
        limit = test.comparators[0].value
        if isinstance(test.ops[0], ast.IsNot):
            return limit is None and _is_member(test.left, variables, ("grad",))
        least = {ast.Gt: 1, ast.GtE: 2}.get(type(test.ops[0]))
        return isinstance(limit, int) and least is not None and limit >= least and _are_axes(test.left, variables)
    return _is_member(test, variables, ("requires_grad", "grad"))


def _are_axes(asked: ast.expr, variables: Sequence[str]) -> bool:
    """Whether this is the number of a parameter's axes: ``p.dim()``, ``p.ndim``, ``len(p.shape)``."""
    if not isinstance(asked, ast.Call):
        return _is_member(asked, variables, ("ndim",))
    if ast.unparse(asked.func) == "len" and len(asked.args) == 1:
        return _is_member(asked.args[0], variables, ("shape",))
    return not asked.args and _is_member(asked.func, variables, ("dim",))


def _is_member(node: ast.expr, variables: Sequence[str], names: Sequence[str]) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr in names
        and isinstance(node.value, ast.Name)
        and node.value.id in variables
    )


def _is_indifferent(body: Sequence[ast.stmt], variables: Sequence[str]) -> bool:
    """Whether the loop does the same if it meets statistics: it freezes, or looks only at what trains."""
    for statement in body:
        if isinstance(statement, ast.If) and isinstance(statement.test, ast.UnaryOp):
            skips = len(statement.body) == 1 and isinstance(statement.body[0], ast.Continue)
            if skips and isinstance(statement.test.op, ast.Not) and _needs_training(statement.test.operand, variables):
                return True  # what follows is for what trains
        if not _does_nothing(statement, variables):
            return False
    return True


def _does_nothing(statement: ast.stmt, variables: Sequence[str]) -> bool:
    if isinstance(statement, ast.If):
        skipped = _needs_training(statement.test, variables)
        return (skipped or _is_indifferent(statement.body, variables)) and _is_indifferent(statement.orelse, variables)
    if isinstance(statement, ast.Assign):
        kept = statement.value.value if isinstance(statement.value, ast.Constant) else ...
        return all(
            (_is_member(target, variables, ("requires_grad",)) and kept is False)
            or (_is_member(target, variables, ("grad",)) and kept is None)
            for target in statement.targets
        )
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        return _is_member(call.func, variables, ("requires_grad_",)) and [
            ast.unparse(given) for given in (*call.args, *(k.value for k in call.keywords))
        ] == ["False"]
    return isinstance(statement, ast.Pass | ast.Continue | ast.Break)


def _filtered_walk(view: FileView, member: ast.Attribute, call: ast.Call, walk: ast.comprehension) -> Changes:
    """``for p in model.parameters()`` of a comprehension, with a condition that leaves the statistics out."""
    target = walk.target
    plain = isinstance(target, ast.Name) if member.attr == "parameters" else _is_pair(target)
    if not plain or walk.is_async:
        return _list_without_statistics(view, member, call, target)
    if view.is_deselected(_CODE, call):
        return NOTHING
    edits: tuple[Edit, ...] = ()
    if isinstance(target, ast.Tuple) and isinstance(target.elts[0], ast.Name):
        name = target.elts[0].id
    else:
        name = free_name(view, call, "name")
        edits = (
            Edit(view.source.span(target), f"{name}, {view.source.slice(view.source.span(target))}", _CODE),
            Edit(view.source.attribute_name(member), "named_parameters", _CODE),
        )
    after = with_brackets(view.source, view.source.span(call), view.source.span(target).end).end
    condition = Edit(Span(after, after), view.quoted(f" if {_is_no_statistic(name)}", call), _CODE)
    return Changes((*edits, condition), (_counted(view, call, member),), handled=frozenset({member}))


def _is_pair(target: ast.expr) -> bool:
    names = target.elts if isinstance(target, ast.Tuple) else []
    return len(names) == 2 and all(isinstance(name, ast.Name) for name in names) and len(set(_variables(target))) == 2


def _list_without_statistics(view: FileView, member: ast.Attribute, call: ast.Call, target: ast.expr | None) -> Changes:
    """A list of the parameters that torch has, in place of the call; its variables are those of the loop."""
    if view.is_deselected(_CODE, call):
        return NOTHING
    own = _variables(target) if target is not None and _is_pair(target) else []
    if not own:
        is_kept = isinstance(target, ast.Name) and member.attr == "parameters"
        parameter = target.id if is_kept and isinstance(target, ast.Name) else free_name(view, call, "parameter")
        own = [free_name(view, call, "name"), parameter]
    element = own[1] if member.attr == "parameters" else f"({', '.join(own)})"
    model = view.source.span(member.value)
    parts = (
        f"[{element} for {', '.join(own)} in ",
        model,
        f".named_parameters() if {view.quoted(_is_no_statistic(own[0]), call)}]",
    )
    made = view.parent(call)
    is_list = isinstance(made, ast.Call) and isinstance(made.func, ast.Name) and made.func.id == "list"
    edit = Edit(view.source.span(made if is_list and isinstance(made, ast.Call) else call), "", _CODE, parts)
    return Changes((edit,), (_counted(view, call, member),), handled=frozenset({member}))


def _is_no_statistic(name: str) -> str:
    return f"{name}.split('.')[-1] not in ('_mean', '_variance')"


def _counted(view: FileView, call: ast.expr, member: ast.Attribute) -> Conversion:
    return view.conversion(
        _CODE, call, f"module.{member.attr}", "the parameters that torch has", f"Module.{member.attr}"
    )
