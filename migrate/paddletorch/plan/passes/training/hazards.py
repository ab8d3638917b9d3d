"""Reports differences in mixed precision that depend on several calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from paddletorch_rules.facts import facts
from paddletorch_rules.guesses import suggests

from paddletorch.plan.inference.receivers import Certainty, Receivers
from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.findings import Finding, finding
from paddletorch.plan.model.same_code import same_code
from paddletorch.plan.model.site import Site
from paddletorch.plan.model.use import Use, Uses
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.constants import constant
from paddletorch.plan.syntax.control_flow import exclusive, loop_around
from paddletorch.plan.syntax.dotted_path import path_of
from paddletorch.resolve import Scope
from paddletorch.resolve.evaluator.call_index import argument_of


def plan_hazards(view: FileView, planned: Planned) -> Changes:
    """Report each hazard of the file, without edits."""
    receivers = view.provide(Receivers).with_uses(planned.uses)
    return Changes(findings=tuple(_of_scalers(view, receivers, planned.uses)))


def _of_scalers(view: FileView, receivers: Receivers, uses: Uses) -> Iterator[Finding]:
    """Findings for files that create or use a scaler."""
    calls = _ScalerCalls(view, receivers)
    constructed = [u.site for u in uses if u.row.instance == "scaler" and u.site.role in ("call", "partial", "base")]
    if not constructed and not calls.all:
        return
    if view.target == "paddle":
        yield from _several_optimizers(view, calls, "step")
        yield from _optimizers_in_methods(view, calls)
        yield from _stale_found_inf(view, calls)
        yield from _unsuitable_autocast(view, uses, constructed, calls)
        yield from _sparse(view)
        yield from _precision(view, "double", "AMP223")
    else:
        yield from _several_optimizers(view, calls, "minimize")
        yield from _precision(view, "half", "AMP247")
        yield from _unsuitable_autocast(view, uses, constructed, calls)


class _ScalerCalls:
    """Calls of scalers' methods in source order, each with its function, the scaler's path and the method."""

    def __init__(self, view: FileView, receivers: Receivers) -> None:
        self.all: list[tuple[Scope, str, str, ast.Call]] = []
        calls = view.tree.calls_of("step", "update", "minimize", "unscale_", "scale")
        for call in sorted(calls, key=lambda c: (c.lineno, c.col_offset)):
            function = call.func
            if not isinstance(function, ast.Attribute):
                continue
            path = path_of(function.value)
            if path and receivers.certainty(function.value, "scaler") is Certainty.YES:
                self.all.append((view.tree.scopes[call].function(), path, function.attr, call))

    def by_scaler(self) -> dict[tuple[Scope, str], list[tuple[str, ast.Call]]]:
        """Method calls of each scaler in each function."""
        found: dict[tuple[Scope, str], list[tuple[str, ast.Call]]] = {}
        for scope, path, method, call in self.all:
            found.setdefault((scope, path), []).append((method, call))
        return found


def _optimizer(call: ast.Call) -> ast.expr | None:
    return call.args[0] if call.args and not isinstance(call.args[0], ast.Starred) else None


def _several_optimizers(view: FileView, scaler_calls: _ScalerCalls, method: str) -> Iterator[Finding]:
    """Report a scaler that steps several optimizers before its next update."""
    for (_, path), calls in scaler_calls.by_scaler().items():
        if "[]" in path:
            continue
        pending: list[ast.Call] = []
        for name, call in calls:
            if name == "update":
                pending = []
            if name != method:
                continue
            others = [c for c in pending if _differs(c, call) and not exclusive(view, c, call)]
            if others or _loops_over_optimizers(view, call, calls):
                yield _joint_steps(view, path, call, [*others, call], method)
            pending.append(call)


def _optimizers_in_methods(view: FileView, scaler_calls: _ScalerCalls) -> Iterator[Finding]:
    """Report functions that step a scaler's optimizers and leave the update to their caller."""
    shared: dict[tuple[Scope | None, str], list[tuple[Scope, ast.Call]]] = {}
    for (scope, path), calls in scaler_calls.by_scaler().items():
        if "[]" in path or any(name == "update" for name, _ in calls):
            continue
        for name, call in calls:
            if name == "step":
                owner = scope.enclosing_class() if path.startswith("self.") else None
                shared.setdefault((owner, path), []).append((scope, call))
    for (_, path), steps in shared.items():
        scopes = {scope for scope, _ in steps}
        names = {n for scope, call in steps for n in _stepped(view, scope, call)}
        if len(names) > 1 and (len(scopes) > 1 or len(_stepped(view, *steps[0])) > 1):
            listed = ", ".join(sorted(names))
            yield finding("AMP220", steps[-1][1], "scaler.step", name=path, optimizers=listed)


def _stepped(view: FileView, scope: Scope, call: ast.Call) -> set[str]:
    """The optimizers that a step may have: the argument, or what calls in the file pass for it."""
    optimizer = _optimizer(call)
    if optimizer is None:
        return set()
    function = scope.node
    if isinstance(optimizer, ast.Name) and isinstance(function, ast.FunctionDef):
        method = scope.parent is not None and scope.parent.kind == "class"
        given = [argument_of(c, function, optimizer.id, method) for c in view.evaluator.calls.of(function)]
        passed = {view.text(g) for g in given if g is not None}
        if passed:
            return passed
    return {view.text(optimizer)}


def _differs(first: ast.Call, second: ast.Call) -> bool:
    left, right = _optimizer(first), _optimizer(second)
    return left is not None and right is not None and not same_code(left, right)


def _loops_over_optimizers(view: FileView, call: ast.Call, calls: list[tuple[str, ast.Call]]) -> bool:
    """``for optimizer in optimizers: scaler.step(optimizer)`` without an update in that loop."""
    optimizer = _optimizer(call)
    if not isinstance(optimizer, ast.Name):
        return False
    bindings = view.tree.scopes[optimizer].lookup(optimizer.id)
    loop = loop_around(view, call)
    if not isinstance(loop, ast.For) or not any(
        view.parent(b.node) in (loop, view.parent(loop.target)) or b.node is loop.target for b in bindings
    ):
        return False
    inside = set(ast.walk(loop))
    return not any(name == "update" and c in inside for name, c in calls)


def _joint_steps(view: FileView, path: str, call: ast.Call, steps: list[ast.Call], method: str) -> Finding:
    names = ", ".join(dict.fromkeys(view.text(o) for c in steps if (o := _optimizer(c)) is not None))
    if "," not in names:
        names += ", in a loop"
    if method == "step":
        return finding("AMP220", call, "scaler.step", name=path, optimizers=names)
    what = f"minimize() runs for several optimizers ({names}): each call updates the loss scale on its own"
    return finding("AMP230", call, "scaler.minimize", what=what)


def _stale_found_inf(view: FileView, scaler_calls: _ScalerCalls) -> Iterator[Finding]:
    """Report functions that step an optimizer both through a scaler and directly."""
    direct: dict[tuple[Scope, str], list[ast.Call]] = {}
    for other in view.tree.calls_of("step"):
        if isinstance(other.func, ast.Attribute):
            direct.setdefault((view.tree.scopes[other].function(), path_of(other.func.value)), []).append(other)
    for (scope, _), calls in scaler_calls.by_scaler().items():
        for name, call in calls:
            optimizer = _optimizer(call)
            path = path_of(optimizer) if optimizer is not None else ""
            if name != "step" or not path:
                continue
            for other in direct.get((scope, path), ()):
                if not exclusive(view, call, other):
                    yield finding("AMP241", other, "optimizer.step", name=path)


def _unsuitable_autocast(
    view: FileView, uses: Iterable[Use], constructed: list[Site], scaler_calls: _ScalerCalls
) -> Iterator[Finding]:
    """Report scalers with autocast in bfloat16, where they do nothing, and scalers without autocast."""
    autocasts = [u for u in uses if u.row.instance == "autocast" and u.site.role in ("call", "partial")]
    follows = any(_scaler_follows_dtype(site) for site in constructed)
    for use in autocasts:
        site = use.site
        if follows and not _is_bfloat16(view, site):
            continue  # it is off where autocast is bfloat16
        emitted = any("bfloat16" in edit.text for edit in use.edits)
        if site.call is not None and use.converts and (emitted or _may_be_bfloat16(view, site)):
            yield finding("AMP222", site.node, site.name, use.row, dtype="bfloat16")
    if view.target == "torch":
        return
    used = any(method == "scale" for _, _, method, _ in scaler_calls.all)
    mentioned = any(token in view.source.body for token in (b"autocast", b"auto_cast", b"amp_guard"))
    if constructed and used and not mentioned:
        site = constructed[0]
        yield finding("AMP243", site.node, site.name)


def _scaler_follows_dtype(site: Site) -> bool:
    """``enabled=(dtype == torch.float16)``: the scaler is off for bfloat16 anyway."""
    if site.call is None:
        return False
    enabled = next((k.value for k in site.call.keywords if k.arg in ("enabled", "enable")), None)
    return enabled is not None and ("16" in ast.unparse(enabled) or constant(enabled) is False)


def _is_bfloat16(view: FileView, site: Site) -> bool:
    """Whether the dtype is certainly bfloat16."""
    arguments = [*site.call.args, *(k.value for k in site.call.keywords)] if site.call is not None else []
    return any(_names_dtype(view, a, {"bfloat16"}) for a in arguments if not isinstance(a, ast.Name))


def _may_be_bfloat16(view: FileView, site: Site) -> bool:
    assert site.call is not None
    keywords = {k.arg: k.value for k in site.call.keywords}
    if any(name in keywords and constant(keywords[name]) is False for name in ("enabled", "enable")):
        return False
    for argument in (*site.call.args, *keywords.values()):
        for node in ast.walk(argument):
            if isinstance(node, ast.Attribute | ast.Name | ast.Constant) and _names_dtype(view, node, {"bfloat16"}):
                return True
    return False


def _sparse(view: FileView) -> Iterator[Finding]:
    """Report embeddings with sparse gradients."""
    for call in view.tree.calls:
        if not any(k.arg == "sparse" and constant(k.value) is True for k in call.keywords):
            continue
        name = view.qualified(call.func) or ""
        if name.startswith("torch.nn.") and "mbedding" in name:
            yield finding("AMP224", call, name)


_PRECISIONS = {
    "double": {"float64", "double"},
    "half": {"float16", "half", "bfloat16"},
}


def _precision(view: FileView, kind: str, code: str) -> Iterator[Finding]:
    """Report casts of a model's parameters: ``model.half()``, ``model.to(dtype=...)``, a default dtype."""
    wanted = _PRECISIONS[kind]
    for call in view.tree.calls_of(*wanted, "to", "set_default_dtype"):
        function = call.func
        if not isinstance(function, ast.Attribute):
            continue
        if call.args and (view.qualified(function) or "").endswith(".set_default_dtype"):
            if _names_dtype(view, call.args[0], wanted):
                yield finding(code, call, view.qualified(function) or "", what=view.text(call))
            continue
        casts = function.attr in wanted and not call.args
        if function.attr == "to":
            arguments = [*call.args, *(k.value for k in call.keywords if k.arg == "dtype")]
            casts = any(_names_dtype(view, a, wanted) for a in arguments)
        if casts and _is_module(view, function.value) and not view.qualified(function):
            yield finding(code, call, "", what=view.text(call))


def _is_module(view: FileView, node: ast.expr) -> bool:
    """Whether this is a module: a constructor's call, or a variable that is called like a module."""
    chains = facts().module_chains["torch"]
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in chains:
        node = node.func.value
    if isinstance(node, ast.Call):
        if re.match(r"(torch|paddle)\.nn\.[A-Z]", view.qualified(node.func) or ""):
            return True
        class_name = path_of(node.func).rpartition(".")[2]
        return class_name[:1].isupper() and "Tensor" not in class_name
    name = path_of(node).rpartition(".")[2]
    return suggests("model", name)


def _names_dtype(view: FileView, node: ast.expr, wanted: set[str]) -> bool:
    value = constant(node)
    if isinstance(value, str):
        return value in wanted
    return (view.qualified(node) or "").rpartition(".")[2] in wanted
