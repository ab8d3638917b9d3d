"""Walks over the parameters of Paddle's layers, which meet the running statistics of normalization as well.

In torch those are buffers. What copies, writes or counts all parameters, such as an average of a model's weights, gets
them too; what asks which of them train, or looks at their gradients, leaves them out on both sides. No walk over the
buffers of Paddle's layers meets them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from paddletorch.model import Edit
from paddletorch.plan.inference.receivers import Certainty, Receivers
from paddletorch.plan.model.changes import NOTHING, Changes, Planned, joined
from paddletorch.plan.model.refusals import Refused
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.spelling import spelled
from paddletorch.plan.passes.tensors.statistics import may_hold_statistics

_CODE = "NNM101"
_FUNCTIONS = {
    "parameters": "paddle_parameters",
    "named_parameters": "paddle_named_parameters",
    "buffers": "paddle_buffers",
    "named_buffers": "paddle_named_buffers",
}

_LAYERS = frozenset({"children", "named_children", "named_sublayers", "sublayers"})
"""Methods that give the layers of a layer."""

_ASKS = frozenset({"stop_gradient", "trainable", "grad", "gradient", "is_leaf"})
"""Attributes by which code tells parameters that train from others."""

_TAKES = frozenset(
    {"abs", "astype", "clone", "copy", "deepcopy", "detach", "flatten", "max", "mean", "min", "norm", "numel", "numpy"}
) | {"pow", "reshape", "set_value", "shape", "size", "square", "std", "sum", "tolist", "var"}
"""Members that copy, write, count or compute with a tensor; methods in place end with an underscore."""


def plan_parameters_with_statistics(view: FileView, planned: Planned) -> Changes:
    """Let walks that copy, write or count parameters meet the statistics, as they do in Paddle, and no other."""
    return joined(_with_statistics(view, planned, member, call) for member, call in _walks(view))


def _walks(view: FileView) -> Iterator[tuple[ast.Attribute, ast.Call]]:
    """Each ``model.parameters()``, or the like, whose elements are copied, written or counted; all of the buffers."""
    receivers = view.provide(Receivers)
    for method in _FUNCTIONS:
        for member in view.tree.members.get(method, ()):
            call = view.parent(member)
            if not isinstance(call, ast.Call) or call.func is not member or call.args or call.keywords:
                continue
            possible = receivers.certainty(member.value, "module") is not Certainty.NO or _is_walked(view, member.value)
            matters = method.endswith("buffers") or _counts(view, call)
            if (
                possible
                and matters
                and may_hold_statistics(view, member.value)
                and view.is_located(call)
                and view.is_sources(member.value)
            ):
                yield member, call


def _is_walked(view: FileView, node: ast.expr) -> bool:
    """Whether it is a layer out of a walk over another one's: ``for name, layer in model.named_children():``."""
    reached = view.evaluator.reaching(node) if isinstance(node, ast.Name) else ()
    walks = [b.value.func for b in reached if b.kind in ("iterate", "unpack") and isinstance(b.value, ast.Call)]
    return bool(walks) and all(isinstance(walk, ast.Attribute) and walk.attr in _LAYERS for walk in walks)


def _counts(view: FileView, call: ast.Call) -> bool:
    """Whether it matters that the statistics are among the parameters."""
    around = view.parent(call)
    if isinstance(around, ast.Call) and isinstance(around.func, ast.Name) and call in around.args:
        if around.func.id in ("len", "dict"):
            return True
        call, around = around, view.parent(around)  # list(model.parameters()), zip(a.parameters(), b.parameters())
    if isinstance(around, ast.comprehension) and around.iter is call:
        whole = view.parent(around)
        if any(_asks_what_stays(node) for node in (getattr(whole, "elt", None), *around.ifs)):
            return True
        parts = [] if whole is None else [n for n in ast.iter_child_nodes(whole) if n is not around]
        return _matters(view, around.target, [*parts, *around.ifs])
    return isinstance(around, ast.For) and around.iter is call and _matters(view, around.target, around.body)


def _asks_what_stays(node: ast.AST | None) -> bool:
    """``p.stop_gradient`` as it is, which holds for the statistics too: ``[n for n, p in walk if p.stop_gradient]``."""
    return isinstance(node, ast.Attribute) and node.attr == "stop_gradient"


def _matters(view: FileView, target: ast.expr, parts: Iterable[ast.AST]) -> bool:
    """Whether the code copies, writes or counts what the loop's variables hold, and does not ask what trains."""
    variables = {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
    reads = [n for part in parts for n in ast.walk(part) if isinstance(n, ast.Name) and n.id in variables]
    users = [(node, view.parent(node)) for node in reads]
    members = [user for _, user in users if isinstance(user, ast.Attribute)]
    if any(n.attr in _ASKS and isinstance(n.ctx, ast.Load) for n in members):
        return False
    if any(n.attr in _TAKES or (n.attr.endswith("_") and not n.attr.startswith("_")) for n in members):
        return True
    return any(_computes(view, node, user) for node, user in users)


def _computes(view: FileView, node: ast.Name, user: ast.AST | None) -> bool:
    """Whether ``user`` is arithmetic with the parameter, or hands it to Paddle: ``paddle.assign(q, p)``."""
    if isinstance(user, ast.keyword):
        user = view.parent(user)
    if isinstance(user, ast.Call) and node is not user.func:
        made = user.func.func if isinstance(user.func, ast.Call) else user.func  # initializer.Normal()(p)
        return (view.qualified(made) or "").startswith(f"{view.settings.source}.")
    return isinstance(user, ast.BinOp | ast.AugAssign)


def _with_statistics(view: FileView, planned: Planned, member: ast.Attribute, call: ast.Call) -> Changes:
    if view.is_deselected(_CODE, call):
        return NOTHING
    name = _FUNCTIONS[member.attr]
    edit = Edit(view.source.span(call), "", _CODE, (f"{name}(", view.source.span(member.value), ")"))
    try:
        changes = spelled(view, planned.naming.aliases, call, (edit,), f"module.{member.attr}")
    except Refused:
        return NOTHING
    written = view.conversion(_CODE, call, f"module.{member.attr}", name, f"Module.{member.attr}")
    return changes._replace(conversions=(written,), handled=frozenset({member}))
