"""Reports members that no table has of what is certainly a tensor of the source: ``tensor.no_such_method()``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch_rules.facts import facts

from paddletorch.plan.model.changes import NOTHING, Changes, Fate, Planned
from paddletorch.plan.model.findings import finding
from paddletorch.plan.model.view import FileView
from paddletorch.plan.uses.count import UNKNOWN_API
from paddletorch.resolve import Instance


def plan_unknown_members(view: FileView, planned: Planned) -> Changes:
    """Report each member that stays as it is, unless only some rules are selected."""
    if view.settings.options.select:
        return NOTHING
    found = [(node, f"{view.settings.source}.Tensor.{node.attr}") for node in _unknown(view, planned)]
    kept = view.kept(planned.edits) if found else None
    found = [(node, name) for node, name in found if kept is None or kept.touches(view.source.attribute_name(node))]
    return Changes(
        findings=tuple(finding(UNKNOWN_API, node, name) for node, name in found),
        counted=tuple((name, Fate.UNKNOWN) for _, name in found),
    )


def _unknown(view: FileView, planned: Planned) -> Iterator[ast.Attribute]:
    known = view.settings.member_names | facts().shared_members | view.tree.class_members
    known |= view.tree.stores_by_name.keys() | _asked(view)
    sites = {use.site.node for use in planned.uses}
    for name in sorted(view.tree.members.keys() - known):
        nodes = [n for n in view.tree.members[name] if isinstance(n.ctx, ast.Load) and n not in sites]
        if not name.startswith("__"):
            yield from (node for node in nodes if _is_tensor(view, node.value))


def _asked(view: FileView) -> frozenset[str]:
    """Names of members that the file asks for before it reads them: ``hasattr(output, "latents")``."""
    calls = (call for call in view.tree.calls if isinstance(call.func, ast.Name) and call.func.id == "hasattr")
    asked = (call.args[1] for call in calls if len(call.args) == 2)
    return frozenset(str(name.value) for name in asked if isinstance(name, ast.Constant))


def _is_tensor(view: FileView, node: ast.expr) -> bool:
    """Whether an expression can be nothing but a tensor of the source framework itself."""
    values = view.evaluator.objects(node)
    return bool(values) and all(
        isinstance(value, Instance)
        and value.type == "tensor"
        and value.node is None
        and not value.external_class
        and value.api.startswith(f"{view.settings.source}.")
        for value in values
    )
